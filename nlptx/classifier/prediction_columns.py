"""The columns that predictions add to a table: label, confidence, score, and a probability per label."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any, TypeVar

from nlptx.corpus.columns import matching_columns

V = TypeVar("V")

# Written instead of a label if a text has no known word, or if the confidence is too low.
NO_LABEL = "?"


def prediction_columns(
    label_names: Sequence[str], label: Any, confidence: V, score: V | None, probabilities: Iterable[V]
) -> dict[str, Any]:
    """Return a dict: column name -> value. A value is that of a single text, or an array with one element per text.

    Args:
        label_names: names of the C labels.
        label: predicted label.
        confidence: probability of the predicted label.
        score: expected label value in [-1, 1]. If the labels have no order, the score is None, and the column is left
            out.
        probabilities: probabilities of the C labels.

    >>> prediction_columns(["neg", "pos"], "pos", 0.75, 0.5, [0.25, 0.75])
    {'label': 'pos', 'confidence': 0.75, 'score': 0.5, 'prob_neg': 0.25, 'prob_pos': 0.75}
    """
    columns = {"label": label, "confidence": confidence}
    if score is not None:
        columns["score"] = score
    return columns | {f"prob_{name}": p for name, p in zip(label_names, probabilities, strict=True)}


@lru_cache(maxsize=16)
def free_names(names: tuple[str, ...], taken: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names of new columns, with the prefix ``predicted_`` added to each name that is in ``taken``.

    The prefix is repeated if necessary. The comparison with ``taken`` ignores case, and spaces before or after a name.
    The reason is that looking up a column also ignores them, so a new column ``label`` could later be mistaken for an
    existing column ``Label``. The new ``names`` are not compared with each other, because two labels may differ only in
    case.

    >>> free_names(("label", "score"), ("text", "Label"))
    ('predicted_label', 'score')
    """
    free = []
    for name in names:
        while matching_columns(name, taken):
            name = f"predicted_{name}"
        free.append(name)
    return tuple(free)
