"""Labels of any scalar type: predictions keep the type, even after loading; invalid labels are rejected."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from reviews import KINDS, make_reviews, run, small_embeddings

import nlptx
from nlptx.artifacts.container import build, read
from nlptx.classifier import label_types
from nlptx.errors import CorruptError, InputTypeError, LabelError

TEXTS, NAMES = make_reviews(24)
SETTINGS = nlptx.TrainSettings(epochs=1, ngrams=0, width=8, lr=0.01)
# Pairs of labels to use in place of neg and pos.
PAIRS = {
    "str": ("neg", "pos"),
    "int": (0, 1),
    "negative int": (-1, 1),
    "huge int": (-(10**30), 10**30),
    "bool": (False, True),
    "float": (0.1, 1e300),
    "infinite": (-np.inf, np.inf),
    "numpy.str": (np.str_("neg"), np.str_("pos")),
    "numpy.bool": (np.bool_(False), np.bool_(True)),
    **{f"numpy.{kind}": (np.dtype(kind).type(0), np.dtype(kind).type(7)) for kind in ("int8", "int64", "uint64")},
    **{
        f"numpy.{kind}": (np.dtype(kind).type(0.1), np.dtype(kind).type(7))
        for kind in ("float16", "float32", "float64")
    },
    "mixed": ("neg", 1),
    "mixed numbers": (0, np.float32(0.1)),
    "bool and str": (True, "1"),
}


def train(labels, **more):
    return nlptx.fit(TEXTS, labels, small_embeddings(), SETTINGS, jobs=1, **more)


def labels_of(pair):
    return [pair[NAMES[number] == "pos"] for number in range(len(TEXTS))]


@pytest.mark.parametrize("pair", PAIRS.values(), ids=PAIRS)
def test_predicted_labels_have_the_type_of_the_training_labels(tmp_path, pair):
    labels = labels_of(pair)
    model = train(labels, valid=(TEXTS[:4], labels[:4]))
    probabilities = model.predict_proba(TEXTS, 1)
    model.save(tmp_path / "m.npz")
    read_back = nlptx.Model.load(tmp_path / "m.npz")
    for each in (model, read_back):
        predicted = each.predict(TEXTS, 1)
        assert set(map(type, predicted)) <= set(map(type, pair))
        assert {(type(label), label) for label in each.labels} == {(type(label), label) for label in pair}
        assert np.array_equal(each.predict_proba(TEXTS, 1), probabilities)
    assert nlptx.evaluate(read_back, TEXTS, labels).confusion.sum() == len(TEXTS)


def test_both_types_of_64_bit_integers_are_supported(tmp_path):
    """NumPy has two such types; one of them is read back as the other one."""
    for kind in (np.int64, np.longlong):
        model = train(labels_of((kind(1), kind(2))))
        model.save(tmp_path / "m.npz")
        assert nlptx.Model.load(tmp_path / "m.npz").labels == model.labels == [1, 2]


@pytest.mark.parametrize("collection", [np.array, pd.Series, pd.Categorical, iter, tuple])
def test_labels_may_be_any_collection(collection):
    labels = [int(name == "pos") for name in NAMES]
    assert np.array_equal(train(collection(labels)).flat, train(labels).flat)


@pytest.mark.parametrize(
    ("pair", "order", "values"),
    [
        ((10, 9), [9, 10], [-1, 1]),
        ((True, False), [False, True], [-1, 1]),
        ((0.5, -1.5), [-1.5, 0.5], [-1, 1]),
        (("a", 1), [1, "a"], None),
    ],
)
def test_labels_are_sorted_according_to_their_type(pair, order, values):
    model = train(labels_of(pair))
    assert (model.labels, model.values) == (order, values)


def test_str_labels_are_stored_without_types(tmp_path):
    train(NAMES).save(tmp_path / "m.npz")
    details = read(tmp_path / "m.npz").details
    assert details["labels"] == ["neg", "pos"]
    assert "label_types" not in details


# ---------------------------------------------------------------- invalid labels


class Never:
    """Replaces the training function, and fails if called, because labels must be checked before training starts."""

    def __call__(self, *arguments):
        raise AssertionError("training has begun")


@pytest.mark.parametrize(
    ("value", "kind", "message"),
    [
        (None, ValueError, "is None; expected a label"),
        (float("nan"), ValueError, r"is nan \(float\); expected a label"),
        (np.ma.masked, ValueError, r"is masked \(numpy.MaskedConstant\); expected a label"),
        (np.float32("nan"), ValueError, r"nan.* \(numpy.float32\); expected a label"),
        (pd.NA, ValueError, r"is <NA> \(pandas.NAType\); expected a label"),
        (b"pos", TypeError, r"is b'pos' \(bytes\); expected a str, bool, int, float or NumPy scalar"),
        (("pos",), TypeError, r"is \('pos',\) \(tuple\); expected a str"),
        ([1], TypeError, r"is \[1\] \(list\); expected a str"),
        (1j, TypeError, r"is 1j \(complex\); expected a str"),
        (pd.Timestamp(0), TypeError, r"Timestamp\); expected a str"),
    ],
    ids=str,
)
@pytest.mark.parametrize("argument", ["labels", "valid"])
def test_invalid_labels_are_rejected_before_training(monkeypatch, value, kind, message, argument):
    monkeypatch.setattr("nlptx.training.fit.encode", Never())
    labels = [*NAMES[:5], value, *NAMES[6:]]
    with pytest.raises(kind, match=rf"^`{'labels' if argument == 'labels' else 'valid.1.'}\[5\]` .*{message}"):
        train(labels) if argument == "labels" else train(NAMES, valid=(TEXTS, labels))


@pytest.mark.parametrize(
    "pair",
    [(1, True), (0, False), (1, 1.0), (1, "1"), (True, "True"), (1, np.int64(1)), (np.float32(0.1), 0.1)],
    ids=str,
)
def test_ambiguous_labels_are_rejected_before_training(monkeypatch, pair):
    monkeypatch.setattr("nlptx.training.fit.encode", Never())
    with pytest.raises(
        ValueError, match=r"`labels\[0\]` is .* and `labels\[1\]` is .*cannot be mistaken for each other"
    ):
        train([pair[0], pair[1], *labels_of(("neg", "pos"))[2:]])


def test_zero_and_negative_zero_are_the_same_label():
    model = train([(0.0, -0.0, 1.0)[number % 3] for number in range(len(TEXTS))])
    assert model.labels == [0.0, 1.0]


NO_LABELS = ["np" * 12, 5, {"pos": 1}, pd.DataFrame({"label": NAMES}), np.array([NAMES])]


@pytest.mark.parametrize("labels", NO_LABELS, ids=lambda labels: type(labels).__name__)
def test_an_invalid_collection_of_labels_is_rejected(labels):
    with pytest.raises(TypeError, match=r"`labels` is .*expected a list or other iterable of labels"):
        train(labels)


@pytest.mark.parametrize("convert", [np.array, np.ndarray.tolist, list, pd.DataFrame], ids=lambda kind: kind.__name__)
def test_the_hint_for_a_matrix_of_labels_names_lists_of_labels_and_the_class_that_accepts_it(convert):
    with pytest.raises(TypeError) as caught:
        train(convert(np.eye(len(TEXTS), dtype=int)))
    advice = "pass a list of str for each text; TextClassifier also accepts a matrix of 0 and 1."
    assert caught.value.hint.endswith(f"For several labels per text, {advice}")


# ---------------------------------------------------------------- files


@pytest.mark.parametrize(
    ("names", "types"),
    [
        (["0", "1"], "int"),
        (["0", "1"], ["int"]),
        (["0", "1"], ["int", 3]),
        (["0", "1"], ["int", "complex"]),
        (["0", "one"], ["int", "int"]),
        (["0", "01"], ["int", "int"]),
        (["0", "1"], ["bool", "bool"]),
        (["0", "nan"], ["float", "float"]),
        (["0", "300"], ["int", "numpy.int8"]),
    ],
)
def test_damaged_label_types_are_detected(names, types):
    artifact = train(NAMES).to_artifact()
    damaged = replace(artifact, details={**artifact.details, "labels": names, "label_types": types})
    with pytest.raises(CorruptError, match="label"):
        build(damaged, nlptx.Model.from_artifact, "m.npz")


def test_every_type_has_a_unique_name():
    """Only NumPy's second type of 64-bit integers shares the name of the first one."""
    shared = {np.longlong, np.ulonglong} - {np.int64, np.uint64}
    assert len(label_types._TYPE_NAMES.keys() - shared) == len(label_types._TYPES)
    assert label_types.restore_labels(["neg", "1", "True"], ["str", "int", "numpy.bool"]) == ["neg", 1, True]


# ---------------------------------------------------------------- the command line


@pytest.fixture
def numbered(tmp_path):
    """Return the paths of a model trained in Python with the integer labels 0 and 1, and of its data as a table."""
    path, data = tmp_path / "m.npz", tmp_path / "data.tsv"
    train([int(name == "pos") for name in NAMES]).save(path)
    rows = (f"{text}\t{int(name == 'pos')}\n" for text, name in zip(TEXTS, NAMES, strict=True))
    data.write_text("text\tlabel\n" + "".join(rows))
    return path, data


def test_the_commands_accept_a_model_with_labels_of_any_type(numbered):
    path, data = numbered
    report = json.loads(run("evaluate", data, "-m", path, "--json"))
    assert [row["label"] for row in report["classes"]] == ["0", "1"]
    predicted = run("predict", data, "-m", path, "-q").splitlines()
    assert predicted[0].split("\t")[-2:] == ["prob_0", "prob_1"]
    assert {row.split("\t")[2] for row in predicted[1:]} <= {"0", "1"}
    assert json.loads(run("explain", TEXTS[0], "-m", path, "--label", "1", "--json"))["label"] == "1"
    assert "0, 1" in run("info", path)


def test_a_model_trained_on_the_command_line_has_str_labels(numbered, tmp_path):
    _, data = numbered
    small_embeddings().save(tmp_path / "e.npz")
    run("train", data, "-e", tmp_path / "e.npz", "--epochs", 1, "-q", "-o", tmp_path / "t.npz")
    assert nlptx.Model.load(tmp_path / "t.npz").labels == ["0", "1"]
    assert KINDS["train"] == read(tmp_path / "t.npz").kind


@pytest.mark.skipif(np.__version__.startswith("1."), reason="in NumPy 1, np.float32(0.1) does not equal 0.1")
def test_equal_labels_of_different_types_are_the_same_label():
    """0.1 equals np.float32(0.1), but has another hash, so a dictionary with one as its key does not find the other."""
    numbers = [0.1 if name == "neg" else 0.2 for name in NAMES]
    model = train(np.array(numbers, np.float32), valid=(TEXTS[:4], numbers[:4]))
    assert model.labels == [np.float32(0.1), np.float32(0.2)]
    expected = nlptx.evaluate(model, TEXTS, np.array(numbers, np.float32))
    assert nlptx.evaluate(model, TEXTS, numbers).confusion.tolist() == expected.confusion.tolist()
    with pytest.raises(LabelError, match=r"`labels\[0\]` is 0.7 \(float\)"):
        nlptx.evaluate(model, TEXTS[:1], [0.7])
    mixed = [np.str_(name) if number % 2 else name for number, name in enumerate(NAMES)]
    assert nlptx.evaluate(train(mixed), TEXTS, mixed).texts == len(TEXTS)


@pytest.mark.parametrize(
    ("labels", "given"), [(["1", "2"], 2), ([1, 2], "2"), (["1.0", "2.0"], 2), ([True, False], "True")]
)
def test_labels_of_another_type_are_refused_with_advice(labels, given):
    model = train([labels[name == "neg"] for name in NAMES])
    with pytest.raises(LabelError) as caught:
        nlptx.evaluate(model, TEXTS[:1], [given])
    assert caught.value.hint == f"Convert the labels to the type of the model's labels, {type(labels[0]).__name__}."


@pytest.mark.parametrize("label", [b"pos", ["pos"]])
def test_advice_about_several_labels_is_given_only_for_collections(label):
    with pytest.raises(InputTypeError) as caught:
        train(["neg", *[label] * (len(TEXTS) - 1)])
    assert bool(caught.value.hint) == isinstance(label, list)
