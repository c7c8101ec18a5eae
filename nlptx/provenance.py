"""Where an artifact came from, and the commands that make it again."""

from __future__ import annotations

import shlex
from dataclasses import fields
from typing import Any

from nlptx.artifacts import Artifact
from nlptx.settings import SEED, CountSettings, PcaSettings, Settings, TrainSettings

_STAGES: dict[str, tuple[str, type[Settings], str]] = {
    "cooccurrence": ("cooccur", CountSettings, "cooccur.npz"),
    "embeddings": ("pca", PcaSettings, "embeddings.npz"),
    "model": ("train", TrainSettings, "model.npz"),
}


def trace(artifact: Artifact) -> tuple[list[dict[str, Any]], list[str]]:
    """Return the headers from the first stage to this one, and the commands of those a stage here made."""
    headers = chain(artifact.header)
    return headers, [command(header) for header in headers if is_made_here(header)]


def chain(header: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the headers from the first stage to this one."""
    headers = [header]
    while headers[0].get("made_from"):
        headers.insert(0, headers[0]["made_from"])
    return headers


def is_made_here(header: dict[str, Any]) -> bool:
    """Say whether a stage made this, and not somebody else's program (word vectors read from text)."""
    return header["kind"] != "embeddings" or "source" not in header["details"]


def command(header: dict[str, Any]) -> str:
    """Return the command line that makes this artifact from its input; settings at their default are left out."""
    name, cls, output = _STAGES[header["kind"]]
    words = ["nlptx", name]
    if name == "cooccur":
        words.append("CORPUS")
    elif name == "pca":
        words.append("cooccur.npz")
    else:
        parent = header.get("made_from")
        words += ["DATA", "-e", "embeddings.npz" if parent is None or is_made_here(parent) else "vectors.txt"]
        if header["details"].get("source", {}).get("valid_sha256"):
            words += ["--valid", "VALID"]
    for item in fields(cls):
        value = header["settings"].get(item.name, item.default)
        if value == item.default:
            continue
        option = item.name.replace("_", "-")
        words += (
            [f"--{option}" if value else f"--no-{option}"] if isinstance(value, bool) else [f"--{option}", str(value)]
        )
    details = header["details"].get("source", {}) if name == "train" else header["details"]
    for option, value in details.get("reading", {}).items():
        if option == "splits":
            words += [part for split in value or ["all"] for part in ("--split", split)]
        else:
            words += [f"--{option.replace('_', '-')}", value]
    if header["seed"] != SEED and name != "cooccur":
        words += ["--seed", str(header["seed"])]
    return " ".join(shlex.quote(word) for word in [*words, "-o", output])
