"""What ``train`` reads: labelled texts, texts without labels, and held-out ones."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field, replace
from typing import Any

from nlptx.corpus.corpus import Corpus, check_label
from nlptx.corpus.document import Document, ReadOptions, non_default_options
from nlptx.errors import DataError, SettingsError
from nlptx.io import strict_json

# Parts read of a corpus that is laid out as train, test, unsup; texts of the last need no label.
SPLITS = ("train", "unsup")
_UNLABELLED = "unsup"
_HELD_OUT = "test"
_LARGEST_CARD = 1 << 16


@dataclass
class TrainingTexts:
    """The texts of a training, and what the model will say of their origin.

    Args:
        texts, labels: to learn from.
        unlabelled: texts without labels.
        valid: texts and labels held out, or None.
        source: documents and digests.
    """

    texts: list[str]
    labels: list[str]
    unlabelled: list[str]
    valid: tuple[list[str], list[str]] | None = None
    source: dict[str, Any] = field(default_factory=dict)


def read_training_data(
    data: tuple[str, ...], unlabelled: tuple[str, ...], valid: tuple[str, ...], reading: ReadOptions
) -> TrainingTexts:
    """Read everything. Raises DataError and LabelError, naming the place."""
    corpus = Corpus(data, reading)
    found = _sorted(corpus)
    source: dict[str, Any] = {"documents": corpus.documents, "sha256": corpus.sha256}
    source["reading"] = non_default_options(reading, SPLITS)
    more = Corpus(unlabelled, replace(reading, splits=(_UNLABELLED,)))
    found.unlabelled += [document.text for document in more]
    if unlabelled:
        source["unlabelled_documents"], source["unlabelled_sha256"] = more.documents, more.sha256
    if valid:
        held_out = Corpus(valid, replace(reading, splits=(_HELD_OUT,)))
        judged = _sorted(held_out)
        found.valid = judged.texts, judged.labels
        source["valid_documents"], source["valid_sha256"] = held_out.documents, held_out.sha256
    found.source = source
    return found


def read_card(path: str) -> dict[str, Any]:
    """Read a model card. Raises DataError unless it is a JSON object of moderate size, SettingsError without a file."""
    if not os.path.exists(path):
        raise SettingsError(f"{path}: no such file")
    try:
        with open(path, "rb") as file:
            data = file.read(_LARGEST_CARD + 1)
        card = strict_json.loads(data.decode()) if len(data) <= _LARGEST_CARD else None
    except (OSError, ValueError) as error:
        raise DataError(f"cannot be read as JSON: {error}", where=path) from error
    if not isinstance(card, dict):
        raise DataError(f"expected one JSON object of at most {_LARGEST_CARD >> 10} KiB", where=path)
    return card


def _sorted(corpus: Corpus) -> TrainingTexts:
    """Read a corpus. Files that are a text each come in the order of their names: 2.txt before 10.txt.

    So a folder and its archive give the same model, and texts with near numbers are neighbours: numbers often
    follow the subject, and what is held out should be of subjects of its own.
    """
    known, free = [], []
    for document in corpus:
        if document.split == _UNLABELLED:
            free.append(document)
        else:
            check_label(document, corpus.options.label_column)
            known.append(document)
    known.sort(key=_natural)
    free.sort(key=_natural)
    return TrainingTexts(
        [document.text for document in known],
        [document.label or "" for document in known],
        [document.text for document in free],
    )


def _natural(document: Document) -> list[tuple[int, str]]:
    """Return the name of a file that is one text, for sorting by the numbers in it; nothing for rows of a table."""
    if document.line:
        return []
    found = re.findall(r"[0-9]+|[^0-9]+", document.source)
    numbers = [part.lstrip("0") if part[0].isdecimal() else None for part in found]
    # The longer number is the larger one; int() would refuse very long ones.
    return [
        (0, part) if number is None else (1 + len(number), number) for part, number in zip(found, numbers, strict=True)
    ]
