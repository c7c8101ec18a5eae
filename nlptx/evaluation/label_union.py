"""Combines true and predicted labels into one list of labels, with one spelling for each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from nlptx.errors import listed
from nlptx.evaluation.label_spellings import match_labels
from nlptx.training.labels import order_labels

# Maximum number of labels listed in a note.
_MAX_LISTED = 10


def unite_labels(
    true: Iterable[str], predicted: Iterable[str], where: str, on_note: Callable[[str], None]
) -> tuple[dict[str, str], list[str], bool]:
    """Return the common spelling of each label, the distinct spellings in order, and whether they form a scale.

    A predicted label is treated as equal to a true label if the two differ only in case, are the same number, or both
    mean negative or both mean positive, such as ``0`` and ``neg``; see :func:`.match_labels`. If several true labels
    equal the same predicted label, such as ``Bad`` and ``bad``, they get the spelling of the predicted label; otherwise
    predicted labels get the spelling of the true labels.

    Args:
        true: true labels of the texts.
        predicted: labels that are predicted or have a probability column.
        where: name of the file, for the note.
        on_note: called with a note about labels whose spelling is changed.

    >>> unite_labels(["neg", "pos"], ["Pos", "so"], "a.csv", on_note=lambda note: None)
    ({'neg': 'neg', 'pos': 'pos', 'Pos': 'pos', 'so': 'so'}, ['neg', 'pos', 'so'], False)
    """
    known, others = sorted(set(true)), sorted(set(predicted))
    spelling = {label: label for label in known}
    as_true, as_predicted = match_labels(others, known), match_labels(known, others)
    if as_true is not None and (as_predicted is None or set(as_true.values()) == set(known)):
        spelling |= as_true
    elif as_predicted is not None:
        # Every true label is predicted, but some predicted labels are not true labels. They must not prevent the others
        # from being matched.
        used = sorted(set(as_predicted.values()))
        if len(used) == len(known):
            common = {written: label for label, written in as_predicted.items()}
        else:
            common = {written: written for written in used}
        for label in others:
            match = _single_match(label, used)
            spelling[label] = common.get(match, match)
        spelling |= {label: common[written] for label, written in as_predicted.items()}
    else:
        spelling |= {label: _single_match(label, known) for label in others}
    note_spellings(spelling, where, on_note)
    distinct = set(spelling.values())
    if len(distinct) < 2:
        return spelling, sorted(distinct), False
    names, values = order_labels(distinct)
    return spelling, names, values is not None


def note_spellings(spelling: Mapping[str, str], where: str, on_note: Callable[[str], None]) -> None:
    """Call ``on_note`` if the spelling of any label is changed; ``where`` is the name of the file."""
    changed = [f"{old} as {new}" for old, new in sorted(spelling.items()) if old != new]
    if changed:
        on_note(
            f"{where}: labels are read as follows: {listed(changed, _MAX_LISTED)};"
            " if that is wrong, map them with `label_map=OLD=NEW`"
        )


def _single_match(label: str, known: Sequence[str]) -> str:
    """Return the known label that matches ``label``, or ``label`` itself if no known label or more than one matches."""
    spelling = match_labels([label], known)
    return label if spelling is None else spelling[label]
