"""The provenance of an artifact: the artifacts from which it was made, and the commands that reproduce it."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import fields
from typing import Any

from nlptx.artifacts.artifact import Artifact
from nlptx.artifacts.kinds import PARTS
from nlptx.errors import CorruptError
from nlptx.settings import SEED, CountSettings, NetworkSettings, PcaSettings, Settings, TrainSettings, stored_value
from nlptx.settings.without_network import EMPTY_ENCODER

_STAGES: dict[str, tuple[str, type[Settings], str]] = {
    "cooccurrence": ("cooccur", CountSettings, "cooccur.npz"),
    "embeddings": ("pca", PcaSettings, "embeddings.npz"),
    "model": ("train", TrainSettings, "model.npz"),
}

# Counting settings that determine how texts are split into words.
_TOKENS = [item for item in fields(CountSettings) if item.name in ("tokenizer", "lowercase")]

# Field of ReadOptions -> command-line option that sets it.
_READING = {
    "text_column": "--text-column",
    "label_column": "--label-column",
    "splits": "--split",
    "encoding_errors": "--encoding-errors",
    "skip_bad": "--skip-bad",
    "label_map": "--map",
    "weight_column": "--weight-column",
    "label_separator": "--label-separator",
}
# Fields of ReadOptions that do not change which texts are counted.
_LABEL_FIELDS = ("skip_bad", "label_map", "weight_column", "label_separator")


def trace(artifact: Artifact, output: str = "") -> tuple[list[dict[str, Any]], list[str]]:
    """Return the headers of all stages up to this artifact, in order, and the commands that make the artifact.

    There is one command for each stage that was run by nlptx. The commands contain placeholders for the input files.
    Options that depend on the format of the input files, such as ``--delimiter``, are omitted. If ``nlptx train``
    without ``-e`` would make the same model in one step, only that command is returned.

    Args:
        artifact: the artifact.
        output: name of the file that the last command writes; by default, the usual name for the stage.
    """
    headers = chain(artifact.header)
    if artifact.kind in (*PARTS, "words"):
        return headers, [_part_command(artifact.header)]
    if _is_one_step(headers):
        return headers, [command(headers[-1], one_step=True, output=output)]
    headers = [header for header in headers if not _is_empty(header)]
    corpus = _inputs(headers[-1]) if _is_same_corpus(headers) else ["CORPUS"]
    outputs = [_start_file(header) if header["kind"] == "model" else "" for header in headers[:-1]] + [output]
    pairs = zip(headers, outputs, strict=True)
    return headers, [command(header, corpus, output=output) for header, output in pairs if is_made_by_stage(header)]


def _part_command(header: dict[str, Any]) -> str:
    """Return the command that makes one shard of the counts, or the word list that all shards share."""
    if header["kind"] == "words":
        return "nlptx merge PARTS --words-only -o words.npz"
    number, count = (header["details"].get(name) for name in ("shard", "shards"))
    words = ["CORPUS", "--shard", f"{number}/{count}"]
    words += ["--vocabulary", "words.npz"] if header["kind"] == "pairs" else []
    return command({**header, "kind": "cooccurrence"}, words, output=f"part-{number}.npz")


def _start_file(header: dict[str, Any]) -> str:
    """Return the file name that commands use for a model from which training started: start-1.npz for the first one."""
    return f"start-{sum(before['kind'] == 'model' for before in chain(header))}.npz"


def _start_options(parent: dict[str, Any] | None) -> list[str]:
    """Return the option that names the file from which training started: another model, or word vectors.

    If no network was trained, there is no such file. The result is then empty or, if the tokenizer is not the default
    one, ``--config CONFIG``, where the placeholder CONFIG stands for the file that set the tokenizer.
    """
    if parent is not None and _is_empty(parent):
        is_default = all(stored_value(item, parent["details"]) == item.default for item in _TOKENS)
        return [] if is_default else ["--config", "CONFIG"]
    if parent is not None and parent["kind"] == "model":
        return ["--start", _start_file(parent)]
    if parent is None or is_made_by_stage(parent):
        return ["-e", "embeddings.npz"]
    of_model = parent["details"]["source"] == "model" and parent.get("made_from")
    return ["-e", _start_file(parent["made_from"]) if of_model else "vectors.txt"]


def _is_same_corpus(headers: list[dict[str, Any]]) -> bool:
    """Return whether the headers are those of counts, word vectors, and a model trained on the counted texts."""
    if [header["kind"] for header in headers] != list(_STAGES):
        return False
    counted, trained = _source(headers[0]), _source(headers[-1])
    return bool(counted.get("sha256")) and counted["sha256"] == trained.get("texts_sha256", trained.get("sha256"))


def _is_one_step(headers: list[dict[str, Any]]) -> bool:
    """Return whether ``nlptx train`` without ``-e`` makes the last artifact in ``headers`` in a single step."""
    if not _is_same_corpus(headers):
        return False
    counts, embeddings, model = headers
    reading = {name: value for name, value in _reading(model).items() if name not in _LABEL_FIELDS}
    return (
        _is_default(counts, CountSettings)
        and _is_default(embeddings, PcaSettings)
        and embeddings["seed"] == model["seed"]
        and _reading(counts) == reading
        and "memory" not in counts["details"]
    )


def _is_empty(header: dict[str, Any]) -> bool:
    """Return whether a header describes the empty word vectors of a model that was trained without a network."""
    return header["kind"] == "embeddings" and header["details"].get("source") == "none"


def _is_default(header: dict[str, Any], cls: type[Settings]) -> bool:
    return all(stored_value(item, header["settings"]) == item.default for item in fields(cls))


def _inputs(header: dict[str, Any]) -> list[str]:
    """Return placeholders for the texts that a model was trained on."""
    return ["DATA", "UNLABELLED"] if _source(header).get("unlabelled_sha256") else ["DATA"]


def chain(header: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the headers of all stages, from the first stage to the stage of ``header``."""
    headers = [header]
    while headers[0].get("made_from"):
        headers.insert(0, headers[0]["made_from"])
    return headers


def _source(header: dict[str, Any]) -> dict[str, Any]:
    """Return the information in a header about the texts from which the artifact was made."""
    source = header["details"].get("source", {}) if header["kind"] == "model" else header["details"]
    if not isinstance(source, dict):
        raise CorruptError("the record of its texts is damaged")
    return source


def _reading(header: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of ReadOptions that a header contains: those that differed from the defaults of the command."""
    reading = _source(header).get("reading", {})
    if not isinstance(reading, dict) or not set(reading) <= set(_READING):
        raise CorruptError(f"invalid reading options {reading!r}")
    separator = header["details"].get("label_separator") if header["kind"] == "model" else None
    return reading if separator is None else {**reading, "label_separator": separator}


def _reading_options(header: dict[str, Any]) -> list[str]:
    """Return the command-line options with which the texts were read, as a list of arguments."""
    words: list[str] = []
    for name, value in _reading(header).items():
        values = (value or ["all"]) if name == "splits" else _label_map(value) if name == "label_map" else [value]
        words += [_READING[name]] if value is True else [word for part in values for word in (_READING[name], part)]
    return words


def _label_map(value: Any) -> list[str]:
    if not isinstance(value, dict) or not all(isinstance(label, str) for label in value.values()):
        raise CorruptError(f"invalid label map {value!r}")
    return [old.replace("=", r"\=") + f"={new}" for old, new in value.items()]


def is_made_by_stage(header: dict[str, Any]) -> bool:
    """Return whether ``cooccur``, ``pca`` or ``train`` made this artifact.

    Word vectors that were read from a text file or taken from a model were not made by ``pca``.
    """
    return header["kind"] in _STAGES and (header["kind"] != "embeddings" or "source" not in header["details"])


def command(
    header: dict[str, Any], corpus: Sequence[str] = ("CORPUS",), one_step: bool = False, output: str = ""
) -> str:
    """Return the command line that makes this artifact from its input, omitting settings left at their defaults.

    Args:
        header: header of the artifact.
        corpus: placeholders for the inputs of ``nlptx cooccur``.
        one_step: whether ``nlptx train`` also makes the word vectors, so that the option ``-e`` is not needed.
        output: name of the output file; by default, the usual name for the stage.
    """
    name, cls, default = _STAGES[header["kind"]]
    words = ["nlptx", name]
    if name == "cooccur":
        words += corpus
        if "memory" in header["details"]:
            words += ["--memory", str(header["details"]["memory"])]
    elif name == "pca":
        words.append("cooccur.npz")
    else:
        words += ["DATA"] if one_step else ["DATA", *_start_options(header.get("made_from"))]
        if _source(header).get("valid_sha256"):
            words += ["--valid", "VALID"]
        if _source(header).get("unlabelled_sha256"):
            words += ["--unlabelled", "UNLABELLED"]
        if _source(header).get("lexicon_sha256"):
            words += ["--lexicon", "LEXICON"]
        if _source(header).get("exclude_sha256"):
            words += ["--exclude", "EXCLUDE"]
    for item in fields(cls):
        value = stored_value(item, header["settings"])
        if value == item.default or (header["settings"].get("epochs") == 0 and value == EMPTY_ENCODER.get(item.name)):
            continue
        if item.name == "loss" and ("label_separator" in header["details"] or value == NetworkSettings.loss):
            continue  # training chooses this loss by default, so no option is needed
        option = item.name.replace("_", "-")
        words += (
            [f"--{option}" if value else f"--no-{option}"] if isinstance(value, bool) else [f"--{option}", str(value)]
        )
    if name == "train" and header["details"].get("card"):
        words += ["--card", "CARD"]
    words += _reading_options(header)
    if header["seed"] != SEED and name != "cooccur":
        words += ["--seed", str(header["seed"])]
    return " ".join(shlex.quote(word) for word in [*words, "-o", output or default])
