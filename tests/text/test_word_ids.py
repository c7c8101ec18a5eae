"""Tests of word ids: words of any length, large vocabularies, and words with colliding hashes."""

from collections import Counter

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from nlptx.text.blocks import as_lines, group_by_size
from nlptx.text.scanner import Scanner
from nlptx.text.tokenizer import Tokenizer
from nlptx.text.word_ids import words_to_ids

TOKENIZER = Tokenizer("spaces", lowercase=False)
SCANNER = Scanner(TOKENIZER)
# A small alphabet, so that words often share prefixes and suffixes; its characters take 1 to 3 bytes in UTF-8.
words = st.text(st.sampled_from("ab\0\u00e9\u4e2d"), min_size=1, max_size=20)
documents = st.lists(st.lists(words, max_size=12).map(" ".join), max_size=6)


@settings(max_examples=200)
@given(documents, st.sampled_from([1, 30, 1 << 19]))
def test_ids_stand_for_the_words_in_order(texts, block_size):
    chunk = words_to_ids(map(as_lines, group_by_size(texts, block_size)), SCANNER)
    spelled = [word.decode() for word in chunk.words]
    assert len(set(spelled)) == len(spelled)
    tokens = [TOKENIZER(text) for text in texts]
    assert chunk.lengths.tolist() == [len(words_of_text) for words_of_text in tokens]
    assert [spelled[number] for number in chunk.ids] == [token for words_of_text in tokens for token in words_of_text]
    assert set(chunk.ids.tolist()) == set(range(len(spelled)))


def test_many_words_that_share_slots_have_correct_ids_and_counts():
    rng = np.random.default_rng(0)
    pool = [f"w{number:x}" for number in range(9_000)] + [f"a_longer_{number:x}" for number in range(4_000)]
    tokens = [pool[index] for index in (len(pool) * rng.random(60_000) ** 3).astype(int)]
    chunk = words_to_ids([as_lines([" ".join(tokens)])], SCANNER)
    spelled = [word.decode() for word in chunk.words]
    assert [spelled[number] for number in chunk.ids] == tokens
    assert dict(zip(spelled, chunk.counts.tolist(), strict=True)) == Counter(tokens)


def test_words_constructed_to_share_a_slot_are_distinguished():
    inverse = pow(0x9E3779B97F4A7C15, -1, 1 << 64)
    # The words have the hashes 1, 2, 3 ... The highest bits of a hash select its slot, so all share the first slot.
    colliding = [(inverse * number % (1 << 64)).to_bytes(8, "little") for number in range(1, 40_000)]
    valid = [word for word in colliding if word.isascii() and not set(word) & set(b"\0\t\n\v\f\r\x1c\x1d\x1e\x1f ")]
    assert len(valid) > 50
    chunk = words_to_ids([b" ".join(valid * 2) + b"\n"], SCANNER)
    assert [chunk.words[number] for number in chunk.ids] == valid * 2
    assert set(chunk.counts.tolist()) == {2}
