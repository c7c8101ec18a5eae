"""The scanner against the tokenizer it must agree with."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nlptx.text.blocks import as_lines
from nlptx.text.scanner import Scanner
from nlptx.text.tokenizer import Tokenizer

TOKENIZERS = [Tokenizer(name, lowercase) for name in ("words", "spaces") for lowercase in (True, False)]
SCANNERS = [Scanner(tokenizer) for tokenizer in TOKENIZERS]
# What contractions, words, marks and breaks are made of, in every order.
TRICKY = "nNtT'’sSmMdDrReEvVlL _-.<br/>\n\t\x00\x1c\x7f\x85\xa0\u0301\u200b\u200d\u0939\u093f\u0964éΣσß한👍\ud800İ1"


def tokens_of(scanner, documents):
    found = scanner.scan(as_lines(documents))
    places = zip(found.starts, found.ends, strict=True)
    words = [found.text[start:end].tobytes().decode("utf-8", "surrogatepass") for start, end in places]
    edges = np.cumsum(found.lengths)
    assert edges[-1] == len(words)
    return [words[end - length : end] for end, length in zip(edges, found.lengths, strict=True)]


texts = st.text(st.sampled_from(TRICKY), max_size=14) | st.text(max_size=12)


@pytest.mark.parametrize("scanner", SCANNERS, ids=lambda s: f"{s.tokenizer.name}-{s.tokenizer.lowercase}")
@settings(derandomize=True, deadline=None, max_examples=2000)
@given(documents=st.lists(texts, min_size=1, max_size=4))
def test_the_scanner_finds_the_tokens_of_the_tokenizer(scanner, documents):
    assert tokens_of(scanner, documents) == [scanner.tokenizer(document) for document in documents]
