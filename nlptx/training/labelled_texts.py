"""The training data passed by the caller, checked before any work starts, with each label replaced by its name."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from nlptx.classifier.label_types import Label, find_labels, labels_by_name, list_labels
from nlptx.errors import InputTypeError, LabelError
from nlptx.text.arguments import check_one_label_each, list_texts, with_type


@dataclass(frozen=True)
class LabelledTexts:
    """Texts and the names of their labels.

    Args:
        texts, names: training texts, and the name of the label of each.
        valid: validation texts and the names of their labels, or None.
        unlabelled: texts without labels.
        labels: distinct labels by name.
    """

    texts: list[str]
    names: list[str]
    valid: tuple[list[str], list[str]] | None
    unlabelled: list[str]
    labels: dict[str, Label]

    @classmethod
    def of(
        cls,
        texts: Iterable[str],
        labels: Iterable[Label],
        valid: tuple[Iterable[str], Iterable[Label]] | None,
        unlabelled: Iterable[str],
    ) -> LabelledTexts:
        """Check the arguments of :func:`nlptx.fit`. Raises DataError, InputTypeError and LabelError."""
        texts, labels = list_texts(texts), list_labels(labels)
        check_one_label_each(texts, labels)
        by_name = labels_by_name(labels)
        names, distinct = list(by_name), list(by_name.values())
        name_of_each = [names[column] for column in find_labels(labels, distinct)]
        held_out = None if valid is None else _valid(valid, by_name)
        return cls(texts, name_of_each, held_out, list_texts(unlabelled, "unlabelled"), by_name)


def _valid(valid: tuple[Iterable[str], Iterable[Label]], by_name: dict[str, Label]) -> tuple[list[str], list[str]]:
    """Return the validation texts and the names of their labels."""
    if not isinstance(valid, tuple | list) or len(valid) != 2:
        raise InputTypeError(f"`valid` is {with_type(valid)}; expected a pair of texts and labels")
    texts, labels = list_texts(valid[0], "valid[0]"), list_labels(valid[1], "valid[1]")
    check_one_label_each(texts, labels, ("valid[0]", "valid[1]"))
    names = {label: name for name, label in by_name.items()}
    for position, label in enumerate(labels):
        if label not in names:
            raise LabelError(
                f"`valid` has the label {label!r} at position {position}; the training data has {', '.join(by_name)}"
            )
    return texts, [names[label] for label in labels]
