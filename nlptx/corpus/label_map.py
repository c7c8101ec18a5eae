"""Replaces labels in the data with other labels, or leaves out the rows with certain labels (option ``--map``)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from nlptx.corpus.document import normalize_label
from nlptx.errors import LabelError, SettingsError, listed

# Maximum number of labels listed in a message.
_MAX_LISTED = 10
_EQUALS_SIGN = re.compile(r"(?<!\\)=")


def parse_label_map(pairs: Iterable[str]) -> dict[str, str]:
    r"""Parse arguments of the form ``OLD=NEW``, and return the replacement of each old label.

    The first equals sign separates OLD from NEW; an equals sign that belongs to OLD is written ``\=``. If NEW is empty,
    the rows with the label OLD are left out of labelled data.

    Raises:
        SettingsError: an argument has no equals sign, OLD is empty, or an old label occurs twice.

    >>> parse_label_map(["1=pos", r"a\=b=c=d", "3="])
    {'1': 'pos', 'a=b': 'c=d', '3': ''}
    """
    result: dict[str, str] = {}
    for pair in pairs:
        parts = _EQUALS_SIGN.split(pair, maxsplit=1)
        labels = [normalize_label(part) for part in parts]
        if len(labels) != 2 or not labels[0]:
            raise SettingsError(
                f"`label_map` is {pair!r}; expected OLD=NEW, such as 1=pos, or OLD= to leave out rows labelled OLD"
            )
        old, new = labels[0].replace("\\=", "="), labels[1]
        if old in result:
            raise SettingsError(f"`label_map` replaces {old!r} twice, with {result[old]!r} and with {new!r}")
        result[old] = new
    return result


def is_removed(label: str | None, label_map: Mapping[str, str]) -> bool:
    """Return whether ``label_map`` removes a label, that is, replaces it with an empty string."""
    return label is not None and label_map.get(label) == ""


def map_labels(labels: Iterable[str], label_map: Mapping[str, str]) -> list[str]:
    """Return the labels after replacing every label that is a key of ``label_map``."""
    return [label_map.get(label, label) for label in labels]


def label_map_notes(label_map: Mapping[str, str], labels: Iterable[str]) -> Iterator[str]:
    """Yield a note if some of the labels to replace do not occur in the data.

    Args:
        label_map: labels to replace, and their replacements.
        labels: labels before the replacement, including the labels of rows that were left out.

    Raises:
        LabelError: none of the labels to replace occurs in the data, and the map renames at least one of them.
    """
    distinct = set(labels)
    missing = [old for old in label_map if old not in distinct]
    named = ", ".join(map(repr, missing))
    # A map that only removes labels causes no error if none of them occurs, because their rows may have been removed
    # earlier, as in tables of predictions.
    if missing and len(missing) == len(label_map) and any(label_map.values()):
        present = listed(sorted(distinct), _MAX_LISTED)
        raise LabelError(
            f"`label_map` replaces {named}, but the data has only the labels {present}",
            hint="Write the labels as they are in the data.",
        )
    if missing:
        yield f"`label_map` replaces {named}, but the data has no such label"
