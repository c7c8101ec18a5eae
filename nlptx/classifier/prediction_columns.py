"""The columns that predictions add to a table: label, confidence, score, and a probability per label."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from typing import Any, TypeVar

V = TypeVar("V")


def prediction_columns(
    label_names: Sequence[str], label: Any, confidence: V, score: V | None, probabilities: Iterable[V]
) -> dict[str, Any]:
    """Return column name -> value, in order. Each value is for one text, or an array for several texts.

    Args:
        label_names: names of the C labels.
        label: predicted label.
        confidence: probability of the predicted label.
        score: expected label value in [-1, 1]. None if the labels have no order; the column is then left out.
        probabilities: probabilities of the C labels.

    >>> prediction_columns(["neg", "pos"], "pos", 0.75, 0.5, [0.25, 0.75])
    {'label': 'pos', 'confidence': 0.75, 'score': 0.5, 'prob_neg': 0.25, 'prob_pos': 0.75}
    """
    columns = {"label": label, "confidence": confidence}
    if score is not None:
        columns["score"] = score
    return columns | {f"prob_{name}": p for name, p in zip(label_names, probabilities, strict=True)}


def free_name(name: str, taken: Container[str]) -> str:
    """Return ``name``, preceded by ``predicted_`` as often as necessary so that the result is not in ``taken``.

    >>> free_name("label", ["text", "label"])
    'predicted_label'
    """
    while name in taken:
        name = f"predicted_{name}"
    return name
