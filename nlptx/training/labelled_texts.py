"""Before any work starts, checks the training data that the caller passed, and replaces each label by its name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nlptx.arguments.collections import check_iterable, check_lexicon, check_one_label_each, iterate_texts, list_texts
from nlptx.arguments.values import check_text, with_type
from nlptx.classifier.label_sets import (
    DEFAULT_SEPARATOR,
    LabelSet,
    are_label_sets,
    list_label_sets,
)
from nlptx.classifier.label_types import Label, find_labels, labels_by_name, list_labels
from nlptx.corpus.read_options import check_separator
from nlptx.corpus.stored_texts import StoredTexts
from nlptx.errors import InputTypeError, LabelError
from nlptx.io.memory_budget import MemoryBudget
from nlptx.training.labels import check_usable
from nlptx.training.sample_weights import list_weights
from nlptx.training.targets import split_names


@dataclass(frozen=True)
class LabelledTexts:
    """Texts and the names of their labels.

    Args:
        texts, names: the training texts, and the label name of each text. If texts may have several labels, the names
            of each text are sorted and joined by the separator.
        valid: validation texts and the names of their labels, or None.
        unlabelled: texts without labels.
        labels: name of each distinct label -> the label itself, a string or a number.
        weights: (texts,) weight of each text, above 0; None if all weights are 1.
        lexicon: word or phrase -> value; empty without a lexicon.
        separator: string between two labels of a text; None if every text has exactly one label.
    """

    texts: Sequence[str]
    names: list[str]
    valid: tuple[Sequence[str], list[str]] | None
    unlabelled: Sequence[str]
    labels: dict[str, Label]
    weights: NDArray[np.float64] | None = None
    lexicon: Mapping[str, float] = field(default_factory=dict)
    separator: str | None = None

    @classmethod
    def of(
        cls,
        texts: Iterable[str],
        labels: Iterable[Label] | Iterable[LabelSet],
        valid: tuple[Iterable[str], Iterable[Label] | Iterable[LabelSet]] | None,
        unlabelled: Iterable[str],
        sample_weight: Iterable[float] | None = None,
        lexicon: Mapping[str, float] | None = None,
        separator: str | None = None,
        budget: MemoryBudget | None = None,
    ) -> LabelledTexts:
        """Check the arguments of :func:`nlptx.fit`, and leave out texts with a weight of 0.

        If ``budget`` is given, texts that come from an iterator are stored within its memory limit.

        Raises DataError, InputTypeError, LabelError and OutputError.
        """
        texts, labels = _gather(texts, "texts", budget), list(check_iterable(labels, "labels", "labels"))
        if separator is None and are_label_sets(labels):
            separator = DEFAULT_SEPARATOR
        if separator is not None:
            check_text(separator, "label_separator")
            check_separator(separator)
        labels = _list_labels(labels, separator, "labels")
        check_one_label_each(texts, labels)
        weights = None if sample_weight is None else list_weights(sample_weight, len(texts))
        if weights is not None:
            kept = np.flatnonzero(weights)
            labels, weights = [labels[row] for row in kept], weights[kept]
            texts = texts.take(kept) if isinstance(texts, StoredTexts) else [texts[int(row)] for row in kept]
            weights = None if (weights == 1).all() else weights
        if separator is None:
            by_name = labels_by_name(labels)
            names, distinct = list(by_name), list(by_name.values())
            name_of_each = [names[column] for column in find_labels(labels, distinct)]
        else:
            by_name = {name: name for joined in labels for name in split_names(joined, separator)}
            name_of_each = labels
        check_usable(by_name)
        held_out = None if valid is None else _valid(valid, by_name, separator, budget)
        more_texts = _gather(unlabelled, "unlabelled", budget)
        entries = {} if lexicon is None else check_lexicon(lexicon)
        return cls(texts, name_of_each, held_out, more_texts, by_name, weights, lexicon=entries, separator=separator)

    @property
    def all_labels(self) -> Iterator[str]:
        """Names of the labels of all training texts, in the order of the texts."""
        return chain.from_iterable(split_names(name, self.separator) for name in self.names)

    @property
    def without_label(self) -> int:
        """Number of training texts with none of the labels."""
        return 0 if self.separator is None else self.names.count("")

    def without_unlabelled(self, on_note: Callable[[str], None]) -> LabelledTexts:
        """Return the same data without the unlabelled texts, which are not used when training starts from a model."""
        if self.unlabelled:
            on_note("the texts without labels are left out: training that starts from a model does not use them")
        return replace(self, unlabelled=[])


def _list_labels(labels: Iterable[Any], separator: str | None, name: str) -> list[Any]:
    """Check and return the label of each text; several labels of a text are joined by the separator into one str."""
    if separator is None:
        return list_labels(labels, name)
    return [separator.join(names) for names in list_label_sets(labels, separator, name)]


def _gather(texts: Iterable[str], name: str, budget: MemoryBudget | None) -> Sequence[str]:
    """Check the texts, except StoredTexts, which have already been checked, and return them as a sequence."""
    if isinstance(texts, StoredTexts):
        return texts
    if isinstance(texts, Iterator) and budget is not None:
        return StoredTexts.of(iterate_texts(texts, name), budget)
    return list_texts(texts, name)


def _valid(
    valid: tuple[Iterable[str], Iterable[Label] | Iterable[LabelSet]],
    by_name: dict[str, Label],
    separator: str | None,
    budget: MemoryBudget | None,
) -> tuple[Sequence[str], list[str]]:
    """Return the validation texts and the names of their labels."""
    if not isinstance(valid, tuple | list) or len(valid) != 2:
        raise InputTypeError(f"`valid` is {with_type(valid)}; expected a pair of texts and labels")
    texts, labels = _gather(valid[0], "valid[0]", budget), _list_labels(valid[1], separator, "valid[1]")
    check_one_label_each(texts, labels, ("valid[0]", "valid[1]"))
    names, known = {label: name for name, label in by_name.items()}, list(by_name.values())
    for position, element in enumerate(labels):
        for label in (element,) if separator is None else split_names(element, separator):
            if label not in names:
                if label in known:  # equal labels may have different hashes, such as 0.1 and np.float32(0.1)
                    names[label] = names[known[known.index(label)]]
                    continue
                raise LabelError(
                    f"`valid` has the label {label!r} at position {position};"
                    f" the training data has the labels {', '.join(by_name)}"
                )
    return texts, [names[label] for label in labels] if separator is None else labels
