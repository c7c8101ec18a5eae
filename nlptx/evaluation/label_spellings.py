"""Matches the labels in the data to the labels of a model, if their spellings differ.

Two labels match if they differ only in case, if they are the same number, or if both mean negative or both mean
positive.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Sequence

from nlptx.classifier.label_types import as_number

# Pairs of labels in the data that can mean negative and positive.
_PAIRS = (("neg", "pos"), ("negative", "positive"), ("false", "true"), ("0", "1"), ("-1", "1"))
# Pairs of numbers that mean negative and positive if both numbers occur in the data. If only one of them occurs, it may
# have another meaning.
_NUMBERS = (("0", "1"), ("-1", "1"))
_DECIMAL = re.compile(r"-?(0|[1-9][0-9]*)\.[0-9]+")
# Pairs of model labels that mean negative and positive. A model with one of these pairs accepts every pair in _PAIRS.
_WORDS = (("neg", "pos"), ("negative", "positive"))


def match_labels(written: Collection[str], known: Sequence[str]) -> dict[str, str] | None:
    """Map each label in the data to the model label with the same meaning.

    Return None if the meaning of any label is uncertain.

    Case is ignored, unless two model labels differ only in case. Numbers such as 1 and 1.0 match, unless two model
    labels are the same number. If the model labels are neg and pos, or negative and positive, the labels in the data
    may be any of these pairs: neg and pos, negative and positive, false and true, 0 and 1, -1 and 1. If the labels in
    the data are numbers, both numbers of the pair must occur, because a 1 on its own may be the lowest grade of a
    longer scale.

    Args:
        written: distinct labels in the data.
        known: labels of the model.

    >>> match_labels(["0", "1"], ["neg", "pos"]), match_labels(["1", "2"], ["neg", "pos"])
    ({'0': 'neg', '1': 'pos'}, None)
    """
    by_form: dict[str, list[str]] = {}
    for label in known:
        by_form.setdefault(_form(label), []).append(label)
    candidates = {label: [label] if label in known else by_form.get(_form(label), []) for label in written}
    if all(len(labels) == 1 for labels in candidates.values()):
        return {label: labels[0] for label, labels in candidates.items()}
    pair = _sorted_pair(known)
    return None if pair is None else _as_pair(written, pair)


def _form(label: str) -> str:
    """Return the form in which a label is compared: lower case, composed characters (NFC), and 1 instead of 1.0.

    Labels read from tables are in NFC already, but labels passed from Python may not be. Numbers with leading zeros may
    be codes, so they are compared as text.
    """
    if _DECIMAL.fullmatch(label):
        return label.rstrip("0").rstrip(".")
    return unicodedata.normalize("NFC", label).casefold()


def _sorted_pair(known: Sequence[str]) -> tuple[str, str] | None:
    """Return a model's negative and positive labels, or None if its labels are not one of the pairs in ``_WORDS``."""
    spellings = {label.casefold(): label for label in known}
    for negative, positive in _WORDS:
        if len(known) == 2 and spellings.keys() == {negative, positive}:
            return spellings[negative], spellings[positive]
    return None


def _as_pair(written: Collection[str], pair: tuple[str, str]) -> dict[str, str] | None:
    plain = {label: _plain(label) for label in written}
    distinct = set(plain.values())
    for names in _PAIRS:
        if distinct == set(names) or (distinct <= set(names) and names not in _NUMBERS):
            return {label: pair[names.index(name)] for label, name in plain.items()}
    return None


def _plain(label: str) -> str:
    """Return a label in lower case. Numbers equal to -1, 0 or 1 are returned as ``-1``, ``0`` or ``1``.

    >>> _plain("+1"), _plain("0.0"), _plain("POS")
    ('1', '0', 'pos')
    """
    number = as_number(label)
    if number is None:
        return label.casefold()
    return str(int(number)) if number in (-1, 0, 1) else label
