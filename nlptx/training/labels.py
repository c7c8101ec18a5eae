"""Sorts the labels, and gives each a numeric value if they form a scale, such as star ratings."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from nlptx.classifier.label_types import as_number
from nlptx.classifier.prediction_columns import NO_LABEL
from nlptx.corpus.document import normalize_label
from nlptx.errors import LabelError

# Common scales of label names, from worst to best.
_SCALES = (
    ("neg", "neu", "pos"),
    ("negative", "neutral", "positive"),
    ("bad", "neutral", "good"),
    ("no", "yes"),
    ("false", "true"),
)

# Spellings of a missing value.
_MISSING = ("na", "n/a", "#n/a", "nan", "null", "none", "nil", "-")
# With more distinct labels than this, a note is printed in two cases: if they are numbers, because they are probably
# measurements, or if there are fewer than two texts per label, because the column probably contains no labels.
_MANY_LABELS = 20
# A number with a decimal comma, such as 4,5, is read as a name, although 4.5 is read as a number.
_DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+")
# Common separators between the labels in a cell.
_SEPARATORS = (";", "|", ",")
# A note is printed if some labels are not numbers, but less than this fraction of the texts have such labels.
_FEW_NAMES = 0.1
# Maximum number of labels listed in a note.
_MAX_LISTED = 5
# Maximum absolute value of a number on a scale, so that differences between numbers do not overflow.
_MAX_NUMBER = 1e300


def order_labels(labels: Iterable[str], ordered: bool = True) -> tuple[list[str], list[float] | None]:
    """Sort the distinct labels and, if they form a scale, assign each a value in [-1, 1].

    Numbers form a scale, and so do words such as ``neg`` and ``pos``. The two ends of the scale have the values -1 and
    1.

    Args:
        labels: labels, with or without duplicates.
        ordered: whether to look for a scale; False if the labels have no order, even if they are numbers.

    Returns:
        The distinct labels in order, and their values, or None if they do not form a scale.

    Raises:
        LabelError: there are fewer than two distinct labels.

    >>> order_labels(["pos", "neg", "pos"])
    (['neg', 'pos'], [-1.0, 1.0])
    >>> order_labels(["1", "5", "10"])[1]
    [-1.0, -0.111..., 1.0]
    """
    distinct = check_at_least_two(labels)
    numbers = _numbers(distinct)
    if numbers is not None:
        distinct.sort(key=lambda label: numbers[label])
    if not ordered:
        return distinct, None
    if numbers is not None:
        low, high = numbers[distinct[0]], numbers[distinct[-1]]
        return distinct, [2 * (numbers[label] - low) / (high - low) - 1 for label in distinct]
    for scale in _SCALES:
        ranks = {label: scale.index(label.lower()) for label in distinct if label.lower() in scale}
        if len(ranks) == len(distinct) == len(set(ranks.values())) and {0, len(scale) - 1} <= set(ranks.values()):
            distinct.sort(key=lambda label: ranks[label])
            return distinct, [2 * ranks[label] / (len(scale) - 1) - 1 for label in distinct]
    return distinct, None


def check_at_least_two(labels: Iterable[str]) -> list[str]:
    """Return the distinct labels in code-point order. Raise LabelError if there are fewer than two labels."""
    distinct = sorted(set(labels))
    if len(distinct) < 2:
        raise LabelError(
            f"the data has {'only the label ' + repr(distinct[0]) if distinct else 'no labels'}; two or more are needed"
        )
    return distinct


def check_usable(labels: Iterable[str]) -> None:
    """Check that labels can be written to tables and read from them.

    Raises:
        LabelError: a label is empty, differs from another only in how accents are written, or has extra white space,
            which would be removed when the label is read from a table; or a label is ``?``, which means "no answer" in
            tables of predictions.
    """
    spellings: dict[str, str] = {}
    for label in labels:
        clean = " ".join(label.split())
        if not clean:
            raise LabelError("a label is empty", hint="Leave out texts without a label, or pass them as `unlabelled`.")
        if label != clean:
            raise LabelError(
                f"the label {label!r} would be read from a file as {clean!r}",
                hint="Remove white space around labels, line breaks and repeated spaces.",
            )
        if (other := spellings.setdefault(normalize_label(label), label)) != label:
            raise LabelError(
                f"the labels {other!a} and {label!a} would be read from a file as the same label",
                hint="Write the accents in the same way (Unicode NFC).",
            )
        if label == NO_LABEL:
            raise LabelError(
                f'{label!r} cannot be used as a label, because it means "no answer" in tables of predictions',
                hint="Rename it (`label_map` does so when files are read), or leave out the texts with this label.",
            )


def label_notes(labels: Iterable[str], values: Sequence[float] | None) -> Iterator[str]:
    """Yield notes on labels that may have been misinterpreted, each with advice on what to do in that case.

    Args:
        labels: label of each text.
        values: values of the labels from :func:`order_labels`.

    >>> list(label_notes(["1", "2", "3"], [-1, 0, 1]))
    ['labels 1, 2, 3 are treated as ordered; if they are names, use `label_order=none`']
    """
    counts = Counter(labels)
    if NO_LABEL in counts:
        yield (
            f"label {NO_LABEL!r} ({_texts(counts[NO_LABEL])}) cannot be used for training, because it means"
            ' "no answer" in tables of predictions; rename it with `label_map`, or leave these rows out'
        )
    for label in sorted(counts):
        if label.lower() in _MISSING:
            yield (
                f"label {label!r} ({_texts(counts[label])}) is treated like any other label;"
                f" if it means a missing label, leave these rows out with `label_map={label}=`"
            )
    yield from _spelling_notes(counts)
    yield from _joined_notes(counts)
    if _numbers(list(counts)) is not None:
        yield from _number_notes(list(counts), values)
    elif notes := list(_number_notes_of_names(counts)):
        yield from notes
    elif len(counts) > _MANY_LABELS and 2 * len(counts) > counts.total():
        yield f"{len(counts):,} different labels for {_texts(counts.total())}: is this the label column?"


def _spelling_notes(counts: Counter[str]) -> Iterator[str]:
    by_spelling: dict[str, list[str]] = {}
    for label in sorted(counts):
        number = as_number(label)
        by_spelling.setdefault(label.casefold() if number is None else str(number), []).append(label)
    for spellings in by_spelling.values():
        if len(spellings) > 1:
            named = " and ".join(f"{label!r} ({_texts(counts[label])})" for label in spellings)
            common, *rarer = sorted(spellings, key=lambda label: -counts[label])
            merged = " ".join(f"`label_map={label}={common}`" for label in rarer)
            yield f"labels {named} are read as different labels; if they mean the same thing, merge them ({merged})"


def _joined_notes(counts: Counter[str]) -> Iterator[str]:
    """Yield a note if labels are probably lists of labels, such as "a;b" and "b;c", which share the part "b"."""
    for separator in _SEPARATORS:
        joined = [label for label in counts if separator in label and not _DECIMAL_COMMA.fullmatch(label)]
        parts = {part.strip() for label in counts for part in label.split(separator)}
        if joined and len(parts) < len(counts):
            yield (
                f"the label {min(joined)!r} is read as a single label; if texts can have several labels, set"
                f" `label_separator` to {separator!r}"
            )
            return


def _number_notes(numbers: list[str], values: Sequence[float] | None) -> Iterator[str]:
    numbers.sort(key=float)
    if len(numbers) > _MANY_LABELS:
        yield (
            f"{len(numbers):,} different numbers, {numbers[0]} to {numbers[-1]}, are read as {len(numbers):,} labels;"
            " if they are measurements, group them into a few labels, such as low, medium and high"
        )
    elif values is not None and len(numbers) > 2:
        yield f"labels {', '.join(numbers)} are treated as ordered; if they are names, use `label_order=none`"


def _number_notes_of_names(counts: Counter[str]) -> Iterator[str]:
    """Yield a note if labels were probably meant as numbers, but have no order because some are read as names."""
    if commas := sorted(filter(_DECIMAL_COMMA.fullmatch, counts)):
        yield (
            f"labels with a decimal comma, such as {commas[0]!r}, are read as names, so the labels have no order; if"
            f" they are numbers, write them with a point (`label_map={commas[0]}={commas[0].replace(',', '.')}`)"
        )
        return
    names = sorted(label for label in counts if as_number(label) is None)
    texts = sum(counts[label] for label in names)
    if 0 < texts < _FEW_NAMES * counts.total() and len(counts) - len(names) > 1:
        named = ", ".join(map(repr, names[:_MAX_LISTED])) + (", ..." if len(names) > _MAX_LISTED else "")
        yield (
            f"the labels of most texts are numbers, but not {named} ({_texts(texts)}), so all labels are read as names,"
            f" without an order; correct such labels, or leave their rows out (`label_map={names[0]}=`)"
        )


def _texts(count: int) -> str:
    return f"{count:,} text{'s' * (count > 1)}"


def _numbers(labels: Sequence[str]) -> dict[str, float] | None:
    """Return the values of distinct labels if all of them are different numbers; otherwise None."""
    numbers = {label: number for label in labels if (number := as_number(label)) is not None}
    if len(set(numbers.values())) < len(labels) or any(abs(number) > _MAX_NUMBER for number in numbers.values()):
        return None
    return numbers
