"""Measures how rare the words of the training texts are, so that the model can later recognise unusual texts."""

from __future__ import annotations

from collections.abc import Sequence

from nlptx.classifier.surprise import TypicalSurprise
from nlptx.classifier.token_ids import encode_texts
from nlptx.text.scanner import scanner_of
from nlptx.text.vocabulary import Vocabulary

# Maximum number of texts in the sample. A larger sample would not make the stored threshold much more precise.
_MAX_TEXTS = 5000
# Maximum number of characters read from each text.
_MAX_CHARACTERS = 20_000


def measure_typical_surprise(vocabulary: Vocabulary, texts: Sequence[str]) -> TypicalSurprise | None:
    """Measure the surprise of an evenly spaced sample of the texts; see :meth:`TypicalSurprise.measure`."""
    chosen = [text[:_MAX_CHARACTERS] for text in texts[:: -(-len(texts) // _MAX_TEXTS)]]
    return TypicalSurprise.measure(vocabulary, encode_texts(vocabulary, chosen, scanner_of(vocabulary.tokenizer)))
