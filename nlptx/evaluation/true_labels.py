"""Converts the true labels of evaluation data to classes of a model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from numpy.typing import NDArray

from nlptx.classifier.label_sets import find_label_sets
from nlptx.classifier.label_types import find_labels
from nlptx.classifier.model import Model
from nlptx.errors import MAX_QUOTED, LabelError, listed, quoted
from nlptx.evaluation.label_spellings import match_labels

# Maximum number of labels of the data that a message lists.
_MAX_LISTED = 10
# Maximum number of labels of the model that a message lists.
_MAX_NAMED = 20


def find_targets(
    labels: Sequence[str] | Sequence[tuple[str, ...]],
    model: Model,
    positions: Sequence[str],
    on_note: Callable[[str], None],
    label_map: Mapping[str, str] | None = None,
) -> NDArray:
    """Return the class of each text, (texts,) int64, or, for a multi-label model, all its classes, (texts, C) bool.

    A label that the model spells differently is accepted, and a note reports it.

    Args:
        labels: label of each text; for a multi-label model, all labels of each text.
        model: the classifier.
        positions: position of each text in the input.
        on_note: called with a note about labels that the model spells differently.
        label_map: label map that was applied to the labels.

    Raises:
        LabelError: a label of the data is not a label of the model; the label map replaces a label of the model with
            another label of the model, or with a different spelling of it; or a text has several labels or none,
            although the model is not multi-label.
    """
    sets = [(label,) if isinstance(label, str) else label for label in labels]
    known = model.label_names
    unfit = [row for row, each in enumerate(sets) if len(each) != 1]
    if unfit and model.multi_label is None:
        raise LabelError(
            f"this text has {len(sets[unfit[0]])} labels, but the model predicts exactly one label for each text",
            where=positions[unfit[0]],
            hint="Leave `label_separator` out, or use a multi-label model.",
        )
    distinct = list(dict.fromkeys(label for each in sets for label in each))
    matches = match_labels(distinct, known)
    if matches is None:
        unknown = _unknown(distinct, known)
        row = next(row for row, each in enumerate(sets) if unknown[0] in each)
        raise _unknown_labels(unknown, known, positions[row])
    _check_map(label_map or {}, known, matches)
    understood = {old: new for old, new in matches.items() if old != new}
    if understood:
        pairs = [f"{old} as {new}" for old, new in sorted(understood.items())]
        on_note(
            f"labels in the data are read as model labels: {listed(pairs, _MAX_LISTED)};"
            " if that is wrong, map them with `label_map=OLD=NEW`"
        )
    read = [tuple(matches[label] for label in each) for each in sets]
    if model.multi_label is not None:
        return find_label_sets(read, known)
    return find_labels([label for (label,) in read], known)


def _check_map(label_map: Mapping[str, str], known: Sequence[str], matches: Mapping[str, str]) -> None:
    """Raise LabelError if the label map makes it impossible for some predictions of the model to be correct."""
    for old, new in label_map.items():
        if old in known and new not in known and matches.get(new, old) != old:
            raise LabelError(
                f"`label_map` replaces {old!r} with {new!r}, but {new!r} is read as the model's label {matches[new]!r}",
                hint="Map labels of the data to labels of the model, not the other way round.",
            )
        if old in known and new in known and old not in label_map.values():
            raise LabelError(
                f"`label_map` replaces {old!r} with {new!r}, but the model predicts {old!r}, which could then never be"
                " correct",
                hint="To combine labels, map them when the model is trained. For a trained model, replace them in a"
                " table with its predictions, such as that of nlptx predict.",
            )


def _unknown(labels: Sequence[str], known: Sequence[str]) -> list[str]:
    """Return the labels that match no model label or, if there are none, those that the model spells differently."""
    unmatched = [label for label in labels if match_labels([label], known) is None]
    return unmatched or [label for label in labels if label not in known]


def _unknown_labels(unknown: Sequence[str], known: Sequence[str], where: str) -> LabelError:
    """Return the error for labels that the model does not have. ``where`` is the position of the first one."""
    named = listed([quoted(label) for label in unknown], _MAX_LISTED)
    what = f"label {named} is not one of" if len(unknown) == 1 else f"labels {named} are not among"
    which = "it" if len(unknown) == 1 else "each of them"
    options = [f"`label_map={label.replace('=', chr(92) + '=')}=NEW`" for label in unknown[:_MAX_LISTED]]
    hint = f"Map {which} to one of the model's labels: {' '.join(options)}."
    if any(len(label) > MAX_QUOTED for label in unknown):
        hint = "Such long labels may be texts; check `text_column` and `label_column`."
    return LabelError(f"{what} the model's labels: {listed(known, _MAX_NAMED)}", where=where, hint=hint)
