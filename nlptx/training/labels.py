"""Labels: their order, and the value each stands for where they have one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from nlptx.errors import LabelError

# Scales people name, from worst to best.
_SCALES = (
    ("neg", "neu", "pos"),
    ("negative", "neutral", "positive"),
    ("bad", "neutral", "good"),
    ("no", "yes"),
    ("false", "true"),
)


def order_labels(labels: Iterable[str], ordered: bool = True) -> tuple[list[str], list[float] | None]:
    """Sort distinct labels, and give each a value in [-1, 1] where they form a scale.

    Numbers are a scale, as are words such as neg and pos; the ends get -1 and 1.

    Args:
        labels: the labels, repeated at will.
        ordered: False if numbers are only names.

    Returns:
        the labels in order, and their values or None.

    Raises:
        LabelError: fewer than two labels.

    >>> order_labels(["pos", "neg", "pos"])
    (['neg', 'pos'], [-1.0, 1.0])
    >>> order_labels(["1", "5", "10"])[1]
    [-1.0, -0.111..., 1.0]
    """
    distinct = sorted(set(labels))
    if len(distinct) < 2:
        raise LabelError(
            f"the data has {'only the label ' + repr(distinct[0]) if distinct else 'no labels'}; two or more are needed"
        )
    numbers = _numbers(distinct)
    if numbers is not None:
        distinct.sort(key=lambda label: numbers[label])
    if not ordered:
        return distinct, None
    if numbers is not None:
        low, high = numbers[distinct[0]], numbers[distinct[-1]]
        return distinct, [2 * (numbers[label] - low) / (high - low) - 1 for label in distinct]
    for scale in _SCALES:
        places = {label: scale.index(label.lower()) for label in distinct if label.lower() in scale}
        if len(places) == len(distinct) == len(set(places.values())) and {0, len(scale) - 1} <= set(places.values()):
            distinct.sort(key=lambda label: places[label])
            return distinct, [2 * places[label] / (len(scale) - 1) - 1 for label in distinct]
    return distinct, None


def _numbers(labels: Sequence[str]) -> dict[str, float] | None:
    try:
        numbers = {label: float(label) for label in labels}
    except ValueError:
        return None
    distinct = set(numbers.values())
    finite = all(abs(number) < 1e300 for number in distinct)  # a NaN fails this too
    return numbers if finite and len(distinct) == len(labels) else None
