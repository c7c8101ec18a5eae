"""The scanner finds the same tokens as the tokenizer."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tricky_texts import tricky_texts

from nlptx.text.blocks import as_lines
from nlptx.text.scanner import Scanner
from nlptx.text.tokenizer import Tokenizer

TOKENIZERS = [Tokenizer(name, lowercase) for name in ("words", "expressive", "spaces") for lowercase in (True, False)]
SCANNERS = [Scanner(tokenizer) for tokenizer in TOKENIZERS]


def tokens_of(scanner, documents):
    scan = scanner.scan(as_lines(documents))
    spans = zip(scan.starts, scan.ends, strict=True)
    words = [scan.text[start:end].tobytes().decode("utf-8", "surrogatepass") for start, end in spans]
    edges = np.cumsum(scan.lengths)
    assert edges[-1] == len(words)
    return [words[end - length : end] for end, length in zip(edges, scan.lengths, strict=True)]


@pytest.mark.parametrize("scanner", SCANNERS, ids=lambda s: f"{s.tokenizer.name}-{s.tokenizer.lowercase}")
@settings(max_examples=150)
@given(documents=st.lists(tricky_texts, min_size=1, max_size=4))
@example(["a'sn't", "'ren't", "'veN'T", "'s'ren't", "n'tn't", "x\u0301N't"])
@example(["'\u017f", "n'\u017f", "\u0130STANBUL", "I\u0307", "\u0130's"])
@example(["<br<br>>", "\u00e9<br<br>>", "<b\u00adr>", "<br&gt;", "&lt;br&gt;\u00e9", "<br>\u0338"])
def test_the_scanner_finds_the_tokens_of_the_tokenizer(scanner, documents):
    assert tokens_of(scanner, documents) == [scanner.tokenizer(document) for document in documents]
