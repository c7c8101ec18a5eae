"""The training data passed by the caller, checked before any work starts, with each label replaced by its name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from nlptx.classifier.label_types import Label, find_labels, labels_by_name, list_labels
from nlptx.errors import InputTypeError, LabelError
from nlptx.text.arguments import check_lexicon, check_one_label_each, list_texts, with_type
from nlptx.training.sample_weights import list_weights


@dataclass(frozen=True)
class LabelledTexts:
    """Texts and the names of their labels.

    Args:
        texts, names: the training texts, and the name of the label of each text.
        valid: validation texts and the names of their labels, or None.
        unlabelled: texts without labels.
        labels: label name -> label, for each distinct label.
        weights: (texts,) weight of each text, above 0; None if all are 1.
        lexicon: word or phrase -> value; empty without a lexicon.
    """

    texts: list[str]
    names: list[str]
    valid: tuple[list[str], list[str]] | None
    unlabelled: list[str]
    labels: dict[str, Label]
    weights: NDArray[np.float64] | None = None
    lexicon: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        texts: Iterable[str],
        labels: Iterable[Label],
        valid: tuple[Iterable[str], Iterable[Label]] | None,
        unlabelled: Iterable[str],
        sample_weight: Iterable[float] | None = None,
        lexicon: Mapping[str, float] | None = None,
    ) -> LabelledTexts:
        """Check the arguments of :func:`nlptx.fit`, and leave out texts of weight 0.

        Raises DataError, InputTypeError and LabelError.
        """
        texts, labels = list_texts(texts), list_labels(labels)
        check_one_label_each(texts, labels)
        weights = None if sample_weight is None else list_weights(sample_weight, len(texts))
        if weights is not None:
            kept = np.flatnonzero(weights)
            texts, labels, weights = [texts[row] for row in kept], [labels[row] for row in kept], weights[kept]
            weights = None if (weights == 1).all() else weights
        by_name = labels_by_name(labels)
        names, distinct = list(by_name), list(by_name.values())
        name_of_each = [names[column] for column in find_labels(labels, distinct)]
        held_out = None if valid is None else _valid(valid, by_name)
        entries = {} if lexicon is None else check_lexicon(lexicon)
        return cls(texts, name_of_each, held_out, list_texts(unlabelled, "unlabelled"), by_name, weights, entries)

    def without_unlabelled(self, on_note: Callable[[str], None]) -> LabelledTexts:
        """Return the same data without the unlabelled texts, which are of no use when training starts from a model."""
        if self.unlabelled:
            on_note("the texts without labels are left out: starting from a model needs only texts with labels")
        return replace(self, unlabelled=[])


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
