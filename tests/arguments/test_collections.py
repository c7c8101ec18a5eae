"""Checks of collections accept any iterable with an order, and name the first wrong element."""

import numpy as np
import pandas as pd
import pytest

from nlptx.arguments.collections import (
    check_iterable,
    check_lexicon,
    check_one_label_each,
    iterate_texts,
    list_texts,
)
from nlptx.errors import DataError, InputTypeError

TEXTS = ["good", "bad"]


@pytest.mark.parametrize(
    "texts", [TEXTS, tuple(TEXTS), iter(TEXTS), np.array(TEXTS), pd.Series(TEXTS), dict.fromkeys(TEXTS).keys()]
)
def test_any_ordered_collection_of_texts_is_accepted(texts):
    assert list_texts(texts) == TEXTS


@pytest.mark.parametrize(
    ("texts", "message", "hint"),
    [
        ("good", "`texts` is 'good' (str)", "Put a single value into a list."),
        ({"good"}, "`texts` is {'good'} (set), whose order is arbitrary", "Pass a list, in a fixed order."),
        ({"good": 1}, "`texts` is {'good': 1} (dict)", ""),
        (3, "`texts` is 3 (int)", ""),
        (pd.DataFrame({"a": TEXTS}), "`texts` is a pandas.DataFrame with 2 dimensions", "Pass one column."),
        (np.zeros((1, 1, 1)), "`texts` is a numpy.ndarray with 3 dimensions", ""),
    ],
)
def test_other_collections_are_refused(texts, message, hint):
    with pytest.raises(InputTypeError) as caught:
        check_iterable(texts, "texts", "texts")
    assert str(caught.value).splitlines()[0] == f"{message}; expected a list or other iterable of texts"
    assert caught.value.hint == hint


class Table:
    """A table without the attribute ``ndim``, like those of polars and pyarrow."""

    shape = (2, 3)

    def __iter__(self):
        return iter(["secret"])


def test_tables_without_ndim_are_refused_without_their_contents():
    with pytest.raises(InputTypeError, match=r"`texts` is a .*Table with 2 dimensions") as caught:
        check_iterable(Table(), "texts", "texts")
    assert caught.value.hint == "Pass one column."
    with pytest.raises(InputTypeError, match=r"`texts\[0\]` is a .*Table; expected a str"):
        list_texts([Table()])


def test_a_wrong_element_is_found_when_its_turn_comes():
    texts = iterate_texts(["good", None, 3])
    assert next(texts) == "good"
    with pytest.raises(InputTypeError, match=r"`texts\[1\]` is None; expected a str"):
        next(texts)


def test_numbers_of_texts_and_labels():
    check_one_label_each(TEXTS, ["pos", "neg"])
    with pytest.raises(DataError, match="`a` has 2 elements, `b` has 1; expected one label per text"):
        check_one_label_each(TEXTS, ["pos"], ("a", "b"))


def test_lexicons():
    assert check_lexicon({"good": 1, "bad": np.float32(-0.5)}) == {"good": 1.0, "bad": -0.5}
    for lexicon in (["good"], {1: 1}, {"good": "1"}, {"good": True}, {"good": float("nan")}):
        with pytest.raises(InputTypeError, match="`lexicon"):
            check_lexicon(lexicon)
