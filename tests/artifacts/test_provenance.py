"""The command that ``info`` prints contains every option that affected an artifact; hostile headers are rejected."""

import shlex
from dataclasses import asdict, fields, replace

import pytest

from nlptx.artifacts.artifact import Artifact
from nlptx.artifacts.provenance import chain, command, trace
from nlptx.cli.main import nlptx
from nlptx.corpus.label_map import parse_label_map
from nlptx.corpus.read_options import ReadOptions, non_default_options
from nlptx.errors import CorruptError
from nlptx.settings import CountSettings, PcaSettings, TrainSettings
from nlptx.settings.without_network import without_network

NEWER = ("equalize", "negative_weight", "spelling_weight")
STAGES = {"cooccurrence": CountSettings, "embeddings": PcaSettings, "model": TrainSettings}
SPLITS = dict.fromkeys(("cooccurrence", "model"), ("train", "unsup"))
READINGS = [
    {"text_column": "--my review's"},
    {"label_column": "stars; rm x"},
    {"splits": ()},
    {"splits": ("test", "train")},
    {"encoding_errors": "replace"},
]
TRAIN_READINGS = [
    {"skip_bad": True},
    {"label_map": {"1": "pos", "--a=b c": "d=e"}},
    {"weight_column": "how often"},
    {"label_separator": ";"},
]


def header(kind, settings=None, reading=None, **fields):
    source = {} if reading is None else {"reading": reading}
    details = {"source": source} if kind == "model" else source
    return Artifact(kind, asdict(settings or STAGES[kind]()), {}, None, details, **fields).header


def parsed(line):
    """Return the parameter values that click parses from a command line."""
    program, name, *words = shlex.split(line)
    assert program == "nlptx"
    with nlptx.make_context("nlptx", [name, *words]) as context:
        group, rest = nlptx.resolve_command(context, [name, *words])[1:]
        return group.make_context(name, rest, parent=context).params


def other(item):
    """Return a valid value of a setting that differs from its default."""
    if isinstance(item.default, bool):
        return not item.default
    if item.name == "loss":
        return "squared-error"  # cross-entropy is what the default, auto, would choose
    if item.metadata["choices"]:
        return next(choice for choice in item.metadata["choices"] if choice != item.default)
    values = [item.default + 1, item.default / 2, 1e-05, 0.25]
    minimum, maximum = item.metadata["minimum"], item.metadata["maximum"]
    return next(v for v in map(type(item.default), values) if v != item.default and minimum <= v <= (maximum or v))


CASES = [(kind, item) for kind, cls in STAGES.items() for item in fields(cls)]


def test_memory_is_in_the_command_if_it_affected_the_counts():
    limited = header("cooccurrence")
    assert "--memory" not in command(limited)
    limited["details"]["memory"] = 64 << 20
    assert parsed(command(limited))["memory"] == 64 << 20


@pytest.mark.parametrize(("kind", "item"), CASES, ids=[f"{kind}-{item.name}" for kind, item in CASES])
def test_every_setting_is_in_the_command(kind, item):
    settings = replace(STAGES[kind](), **{item.name: other(item)})
    params = parsed(command(header(kind, settings)))
    assert {name: params[name] for name in asdict(settings)} == asdict(settings)


@pytest.mark.parametrize("kind", SPLITS)
@pytest.mark.parametrize("change", READINGS, ids=str)
def test_every_reading_option_is_in_the_command(kind, change):
    reading = replace(ReadOptions(splits=SPLITS[kind]), **change)
    params = parsed(command(header(kind, reading=non_default_options(reading, SPLITS[kind]))))
    split = tuple(name for name in params["split"] if name != "all")
    assert reading == ReadOptions(
        params["text_column"], params["label_column"], params["input_format"], split, params["encoding_errors"]
    )


@pytest.mark.parametrize("change", TRAIN_READINGS, ids=str)
def test_every_reading_option_of_training_is_in_the_command_of_a_model(change):
    reading = replace(ReadOptions(splits=SPLITS["model"]), **change)
    params = parsed(command(header("model", reading=non_default_options(reading, SPLITS["model"]))))
    assert parse_label_map(params["map"]) == reading.label_map
    assert (params["skip_bad"], params["weight_column"]) == (reading.skip_bad, reading.weight_column)
    assert params["label_separator"] == reading.label_separator


def test_all_reading_options_are_covered_here():
    # An artifact records neither the input format nor the delimiter, because its content does not depend on them.
    # Excluded rows are recorded by the digest of their table.
    tested = {name for change in READINGS + TRAIN_READINGS for name in change}
    not_recorded = {"format", "delimiter", "exclude", "guess_text", "use_labels"}
    assert tested == {item.name for item in fields(ReadOptions)} - not_recorded


@pytest.mark.parametrize("kind", ["embeddings", "model"])
def test_the_seed_is_in_the_command(kind):
    assert parsed(command(header(kind, seed=7)))["seed"] == 7


@pytest.mark.parametrize(
    "reading", [[], "x", {"output": "elsewhere"}, {"text_column": "a", "model": "b"}, {"label_map": [1]}], ids=str
)
def test_a_header_cannot_inject_options_into_the_command(reading):
    with pytest.raises(CorruptError):
        command(header("cooccurrence", reading=reading))


def test_a_damaged_source_is_rejected():
    with pytest.raises(CorruptError):
        command({**header("model"), "details": {"source": "here"}})


def test_the_chain_starts_with_the_counts():
    first = header("cooccurrence")
    second = {**header("embeddings"), "made_from": first}
    assert chain({**header("model"), "made_from": second})[:2] == [first, second]


# ---------------------------------------------------------------- models from one-step training


def one_step_model(counts=None, pca=None, source=None, details=None, seed=1, pca_seed=1):
    """Return a model artifact with the headers that one-step training writes, apart from the given changes."""
    first = Artifact("cooccurrence", asdict(counts or CountSettings()), {}, None, {"sha256": "a", **(details or {})})
    second = Artifact("embeddings", asdict(pca or PcaSettings()), {}, first.header, {}, pca_seed)
    about = {"source": {"sha256": "a", **(source or {})}}
    return Artifact("model", asdict(TrainSettings()), {}, second.header, about, seed)


def test_a_model_from_one_step_training_has_a_single_command():
    assert trace(one_step_model())[1] == ["nlptx train DATA -o model.npz"]
    assert trace(one_step_model(seed=7, pca_seed=7))[1] == ["nlptx train DATA --seed 7 -o model.npz"]
    free = {"unlabelled_sha256": "b", "texts_sha256": "a", "sha256": "c", "reading": {"skip_bad": True}}
    assert trace(one_step_model(source=free))[1] == ["nlptx train DATA --unlabelled UNLABELLED --skip-bad -o model.npz"]


@pytest.mark.parametrize(
    "change",
    [
        {"counts": CountSettings(window=4)},
        {"pca": PcaSettings(components=4)},
        {"pca_seed": 7},
        {"details": {"reading": {"text_column": "review"}}},
        {"details": {"memory": 64 << 20}},
        {"source": {"sha256": "b"}},
        {"source": {"texts_sha256": "b", "unlabelled_sha256": "c"}},
        {"details": {"sha256": ""}, "source": {"sha256": ""}},
    ],
    ids=str,
)
def test_any_other_model_has_a_command_for_each_stage(change):
    commands = trace(one_step_model(**change))[1]
    assert [line.split()[1] for line in commands] == ["cooccur", "pca", "train"]
    same_corpus = "sha256" not in str(change)
    assert commands[0].split()[2] == ("DATA" if same_corpus else "CORPUS")


def without_network_model(**details):
    """Return a model without word vectors, as ``train --epochs 0`` makes it."""
    words = {"source": "none", "tokenizer": CountSettings().tokenizer, "lowercase": True, **details}
    empty = Artifact("embeddings", {}, {}, None, words)
    settings = asdict(without_network(TrainSettings(epochs=0, lsa_components=7)))
    return Artifact("model", settings, {}, empty.header, {"source": {"sha256": "a"}})


def test_a_model_without_word_vectors_has_a_single_command():
    headers, commands = trace(without_network_model())
    assert commands == ["nlptx train DATA --epochs 0 --lsa-components 7 -o model.npz"]
    assert [found["kind"] for found in headers] == ["model"]
    assert "DATA --config CONFIG --epochs 0" in trace(without_network_model(lowercase=False))[1][0]


def test_damaged_reading_options_of_a_model_are_rejected():
    with pytest.raises(CorruptError):
        trace(one_step_model(source={"reading": ["text_column"]}))


def test_settings_that_an_older_artifact_lacks_have_their_former_values():
    older = header("embeddings")
    older["settings"] = {name: value for name, value in older["settings"].items() if name not in NEWER}
    values = parsed(command(older))
    assert {name: values[name] for name in NEWER} == {"equalize": 0.0, "negative_weight": 1.0, "spelling_weight": 0.0}
    assert "--equalize" not in command(header("embeddings"))
