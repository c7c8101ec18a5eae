"""Where an artifact came from, and the commands that make it again."""

from __future__ import annotations

import shlex
from dataclasses import fields
from typing import Any

from nlptx.settings import SEED, CountSettings, PcaSettings, Settings, TrainSettings

_STAGES: dict[str, tuple[str, type[Settings], str]] = {
    "cooccurrence": ("cooccur", CountSettings, "cooccur.npz"),
    "embeddings": ("pca", PcaSettings, "embeddings.npz"),
    "model": ("train", TrainSettings, "model.npz"),
}


def chain(header: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the headers from the first stage to this one."""
    headers = [header]
    while headers[0].get("made_from"):
        headers.insert(0, headers[0]["made_from"])
    return headers


def command(header: dict[str, Any]) -> str:
    """Return the command line that makes this artifact from its input; settings at their default are left out."""
    name, cls, output = _STAGES[header["kind"]]
    words = ["nlptx", name]
    if name == "cooccur":
        words.append("CORPUS")
    elif name == "pca":
        words.append("cooccur.npz")
    else:
        words += ["DATA", "-e", "embeddings.npz"]
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
    if header["seed"] != SEED and name != "cooccur":
        words += ["--seed", str(header["seed"])]
    return " ".join(shlex.quote(word) for word in [*words, "-o", output])
