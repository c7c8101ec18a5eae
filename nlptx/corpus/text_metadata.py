"""Makes the metadata of training texts that are passed as Python objects, as if they had been read from a table."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from nlptx.corpus.corpus import digest_of_weights, to_bytes
from nlptx.corpus.document import Document

_WEIGHT_COLUMN = "weight"


def describe_texts(
    texts: Sequence[str],
    names: Sequence[str | None],
    weights: Iterable[float] | None = None,
    unlabelled: Sequence[str] = (),
    valid: tuple[Sequence[str], Sequence[str | None]] | None = None,
    separator: str | None = None,
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return metadata of training texts, such as their number and their digest.

    Args:
        texts: training texts.
        names: label name of each text, or its label names joined by the separator; None if the text has no label.
        weights: weight of each text, or None. Weights are recorded as if they came from a column ``weight``.
        unlabelled: texts without labels.
        valid: held-out texts and the names of their labels, or None.
        separator: string between the labels of a text in multi-label data; None in other data.

    Returns:
        The attributes ``source`` and ``corpus`` of :class:`nlptx.corpus.training_data.TrainingTexts` for these texts.
    """
    sha256 = _hash(texts, names)
    source: dict[str, Any] = {"documents": len(texts), "sha256": sha256.hexdigest(), "reading": {}}
    if separator is not None:
        source["reading"]["label_separator"] = separator
    if weights is not None:
        source["reading"]["weight_column"] = _WEIGHT_COLUMN
        source["weights_sha256"] = digest_of_weights(weights)
    if unlabelled:
        no_names = [None] * len(unlabelled)
        sha256.update(b"".join(_documents(unlabelled, no_names)))
        source["unlabelled_documents"] = len(unlabelled)
        source["unlabelled_sha256"] = _hash(unlabelled, no_names).hexdigest()
        source["texts_sha256"] = sha256.hexdigest()
    if valid is not None:
        source["valid_documents"], source["valid_sha256"] = len(valid[0]), _hash(*valid).hexdigest()
    return source, {"documents": len(texts) + len(unlabelled), "sha256": sha256.hexdigest(), "reading": {}}


def _hash(texts: Sequence[str], names: Sequence[str | None]) -> hashlib._Hash:
    sha256 = hashlib.sha256()
    for document in _documents(texts, names):
        sha256.update(document)
    return sha256


def _documents(texts: Sequence[str], names: Sequence[str | None]) -> Iterator[bytes]:
    return (to_bytes(Document(text, name)) for text, name in zip(texts, names, strict=True))
