"""Measures how rare the words of the training texts are, so that the model can later recognise unusual texts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from nlptx.classifier.surprise import TypicalSurprise
from nlptx.classifier.token_ids import encode_texts
from nlptx.text.scanner import scanner_of
from nlptx.text.vocabulary import Vocabulary

# Maximum number of texts in the sample. A larger sample would not make the stored threshold much more precise.
_MAX_TEXTS = 5000
# Maximum number of characters read from each text.
_MAX_CHARACTERS = 20_000


def measure_typical_surprise(
    vocabulary: Vocabulary, texts: Sequence[str], counted: NDArray[np.bool_] | None = None
) -> TypicalSurprise | None:
    """Measure the surprise of an evenly spaced sample of the texts; see :meth:`TypicalSurprise.measure`.

    Args:
        vocabulary: vocabulary of the model.
        texts: the texts; those whose words the vocabulary does not count are not measured.
        counted: (texts,) whether the words of each text were counted; None if all were.
    """
    rows = np.arange(len(texts)) if counted is None else np.flatnonzero(counted)
    chosen = [texts[row][:_MAX_CHARACTERS] for row in rows[:: -(-len(rows) // _MAX_TEXTS)].tolist()]
    return TypicalSurprise.measure(vocabulary, encode_texts(vocabulary, chosen, scanner_of(vocabulary.tokenizer)))
