"""Tests of reading parts of an artifact: valid parts are returned, and invalid parts are named in an error message."""

import numpy as np
import pytest

from nlptx.artifacts.artifact import Artifact
from nlptx.artifacts.validation import read_history, read_tokenizer, read_vocabulary, require_array
from nlptx.errors import CorruptError
from nlptx.text.tokenizer import Tokenizer


def artifact(arrays=None):
    arrays = {"x": np.ones((2, 3), np.float32)} if arrays is None else arrays
    return Artifact("embeddings", {}, arrays, None, {})


def test_require_array_returns_a_matching_array():
    array = np.ones((2, 3), np.float32)
    assert require_array(artifact({"x": array}), "x", "float32", (None, 3)) is array


@pytest.mark.parametrize(
    ("name", "dtype", "shape"),
    [
        ("y", "float32", (2, 3)),
        ("x", "float64", (2, 3)),
        ("x", "float32", (3, 3)),
        ("x", "float32", (2, 4)),
        ("x", "float32", (None,)),
        ("x", "float32", (None, None, None)),
        ("x", "float32", ()),
    ],
)
def test_require_array_names_the_array_that_does_not_match(name, dtype, shape):
    with pytest.raises(CorruptError, match=f"'{name}'"):
        require_array(artifact(), name, dtype, shape)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_require_array_rejects_nan_and_infinity(value, dtype):
    array = np.ones((2, 3), dtype)
    array[1, 2] = value
    with pytest.raises(CorruptError, match="NaN"):
        require_array(artifact({"x": array}), "x", dtype, (2, 3))


def test_read_vocabulary_rejects_negative_counts():
    arrays = {"words": np.frombuffer(b"a\nb", np.uint8), "word_counts": np.array([1, -1], np.int64)}
    with pytest.raises(CorruptError, match="negative"):
        read_vocabulary(artifact(arrays), Tokenizer())


@pytest.mark.parametrize(
    "details",
    [
        {},
        {"tokenizer": "words"},
        {"tokenizer": "sed", "lowercase": True},
        {"tokenizer": "words", "lowercase": 1},
        {"tokenizer": ["words"], "lowercase": True},
    ],
)
def test_read_tokenizer_rejects_unknown_values(details):
    with pytest.raises(CorruptError, match="tokenizer"):
        read_tokenizer(details)


EPOCH = {"epoch": 1, "step": 5, "loss": 0.5, "valid_loss": 0.4, "valid_accuracy": 0.9}
HISTORY = {"epochs": [EPOCH], "curve": [[1, 0.7], [5, 0.5]], "best_epoch": 1}


@pytest.mark.parametrize(
    "history", [{}, HISTORY, {**HISTORY, "epochs": [], "best_epoch": 0}], ids=["none", "one", "cut"]
)
def test_read_history_returns_a_valid_history(history):
    assert read_history({"history": history}) == history


@pytest.mark.parametrize(
    "change",
    [
        {"epochs": None},
        {"epochs": [[]]},
        {"epochs": [{}]},
        {"epochs": [{**EPOCH, "loss": "low"}]},
        {"epochs": [{**EPOCH, "loss": 1e300}]},
        {"epochs": [{"epoch": 1, "step": 5, "valid_loss": 0.4}]},
        {"curve": "___"},
        {"curve": [[1]]},
        {"curve": [[1, True]]},
        {"curve": [[5, 0.5], [1, 0.7]]},
        {"best_epoch": 2},
        {"best_epoch": -1},
        {"best_epoch": True},
    ],
    ids=str,
)
def test_read_history_rejects_an_invalid_history(change):
    with pytest.raises(CorruptError, match="history"):
        read_history({"history": HISTORY | change})
