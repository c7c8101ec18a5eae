"""Converts the true labels of evaluation data to classes of a model."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from numpy.typing import NDArray

from nlptx.classifier.label_sets import find_label_sets
from nlptx.classifier.label_spellings import match_labels
from nlptx.classifier.label_types import find_labels
from nlptx.classifier.model import Model
from nlptx.errors import LabelError

# Maximum number of differently spelled labels in a note.
_MAX_LISTED = 10
# Maximum number of model labels in an error message.
_MAX_NAMED = 20


def find_targets(
    labels: Sequence[str] | Sequence[tuple[str, ...]],
    model: Model,
    positions: Sequence[str],
    on_note: Callable[[str], None],
) -> NDArray:
    """Return the class of each text, (texts,) int64, or, for a multi-label model, all its classes, (texts, C) bool.

    A label may be spelled differently in the model; a note then reports this.

    Args:
        labels: label of each text; for a multi-label model, all labels of each text.
        model: the classifier.
        positions: position of each text in the input.
        on_note: called with the note.

    Raises:
        LabelError: a label of the data is not a label of the model.
    """
    sets = [(label,) if isinstance(label, str) else label for label in labels]
    known = model.label_names
    distinct = list(dict.fromkeys(label for each in sets for label in each))
    matches = match_labels(distinct, known)
    if matches is None:
        wrong = next(label for label in distinct if label not in known)
        more = ", ..." if len(known) > _MAX_NAMED else ""
        row = next(row for row, each in enumerate(sets) if wrong in each)
        escaped = wrong.replace("=", r"\=")
        raise LabelError(
            f"label {wrong!r} is not one of the model's labels: {', '.join(known[:_MAX_NAMED])}{more}",
            where=positions[row],
            hint=f"Map it to one of these: `label_map={escaped}=NEW`.",
        )
    understood = {old: new for old, new in matches.items() if old != new}
    if understood:
        pairs = [f"{old} as {new}" for old, new in sorted(understood.items())]
        more = ", ..." if len(pairs) > _MAX_LISTED else ""
        on_note(
            f"labels in the data are read as model labels: {', '.join(pairs[:_MAX_LISTED])}{more};"
            " if that is wrong, map them with `label_map=OLD=NEW`"
        )
    read = [tuple(matches[label] for label in each) for each in sets]
    if model.label_sets is not None:
        return find_label_sets(read, known)
    return find_labels([label for (label,) in read], known)
