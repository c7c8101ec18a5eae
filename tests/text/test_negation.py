"""Negated words: which words are marked, in single texts and in large blocks of texts."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tricky_texts import tricky_texts

from nlptx.classifier import token_ids
from nlptx.classifier.token_ids import encode_texts
from nlptx.io.memory_budget import MemoryBudget
from nlptx.runtime.workers import Workers
from nlptx.text.blocks import in_blocks
from nlptx.text.scanner import Scanner
from nlptx.text.token_stream import TokenStream
from nlptx.text.tokenizer import Tokenizer
from nlptx.text.vocabulary import Vocabulary

NEGATION = Tokenizer("negation")
PIECES = [
    "and",
    "nor",
    "not",
    "Not",
    "no",
    "n't",
    "don't",
    "never",
    "but",
    ",",
    ".",
    "-",
    "'",
    '"',
    "SO GREAT",
    "far from",
    "anything but",
    "unable",
    "to",
    "instead",
    "of",
    "sooo",
    ":)",
    "9/10",
]
phrases = st.lists(st.sampled_from([*PIECES, "good", "film", "\u00e9t\u00e9", "\n", "n\u2019t"]), max_size=14).map(
    " ".join
)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("It is not good.", "it is not ¬good ."),
        ("I don't like it", "i do n't ¬like ¬it"),
        ("I dont like it", "i dont ¬like ¬it"),
        ("no one two three four five six", "no ¬one ¬two ¬three ¬four ¬five six"),
        ("not a b c, d", "not ¬a ¬b ¬c , d"),
        ("not long but dull", "not ¬long but dull"),
        ("not only good", "not only good"),
        ("I was never so bored", "i was never ¬so ¬bored"),
        ("I have never been so bored", "i have never ¬been so bored"),
        ("never seen such a film", "never ¬seen such a film"),
        ("not fun because it is long", "not ¬fun because it is long"),
        ("it is not 100% good", "it is not 100 % ¬good"),
        ("rarely works", "rarely ¬works"),
        ("not without charm", "not without charm"),
        ("you can't say it never works", "you ca n't ¬say ¬it never works"),
        ("not never not good", "not never not ¬good"),
        ("not a and not b c d e f g", "not ¬a ¬and not ¬b ¬c ¬d ¬e ¬f g"),
        ("neither good nor funny", "neither ¬good nor ¬funny"),
        ("not a , never b", "not ¬a , never ¬b"),
        ("not a b c d e never f", "not ¬a ¬b ¬c ¬d ¬e never ¬f"),
        ("not a well-made 'film'", "not ¬a ¬well - ¬made ' film '"),
        ("not SO GREAT", "not ⇪ ¬so ¬great"),
        ("not 🙂 good", "not 🙂 good"),
        ("would not recommend 2/10 good", "would not ¬recommend ② good"),
        ("not 5 good stars", "not 5 ¬good ¬stars"),
        ("not - - - - - good", "not - - - - - good"),
        ("it is far from perfect", "it is far from ¬perfect"),
        ("not far from perfect", "not ¬far from perfect"),
        ("anything but dull, but anything", "anything but ¬dull , but anything"),
        ("unable to use it", "unable to ¬use ¬it"),
        ("instead of a film", "instead of ¬a ¬film"),
        ("far. from here to there", "far . from here to there"),
        ("nothing but praise", "nothing but praise"),
        ("knot notable nothing", "knot notable nothing"),
        ("¬ good ¬good", "¬ good ¬ good"),
    ],
)
def test_words_after_a_negation_are_marked(text, tokens):
    assert NEGATION(text) == tokens.split()


def test_capital_letters_are_kept_if_the_tokenizer_keeps_them():
    assert Tokenizer("negation", lowercase=False)("Not Good. But NOT good") == [
        "Not",
        "¬Good",
        ".",
        "But",
        "NOT",
        "¬good",
    ]


@settings(max_examples=300)
@given(st.lists(tricky_texts | phrases, max_size=5), st.booleans(), st.integers(0, 300))
def test_blocks_of_texts_have_the_tokens_of_the_single_texts(texts, lowercase, memory):
    tokenizer = Tokenizer("negation", lowercase)
    expected = [tokenizer(text) for text in texts]
    with MemoryBudget(1 << 26) as budget:
        stream = TokenStream(budget)
        stream._chunk = memory + 1  # so that the texts are in several chunks
        stream.read(in_blocks(texts), tokenizer, Workers(1))
        words = [word.decode("utf-8", "surrogatepass") for word in stream.word_ids]
        ids = stream.ids.read(0, len(stream.ids))
        assert [words[number] for number in ids] == [token for tokens in expected for token in tokens]
        assert stream.word_counts[: len(words)].tolist() == np.bincount(ids, minlength=len(words)).tolist()
        assert set(ids.tolist()) == set(range(len(words)))
        stream.close()


@pytest.mark.parametrize("negation", ["not", "far from"])
def test_a_negation_acts_across_the_parts_of_a_huge_text(negation, monkeypatch):
    size = 64
    monkeypatch.setattr(token_ids, "BLOCK", size)
    monkeypatch.setattr(token_ids, "pieces", partial(token_ids.pieces, size=size))
    text = "a " * (size // 2 - 1) + f"{negation} good bad, fine" + " b" * 10
    vocabulary = Vocabulary(["¬good", "¬bad", "good"], np.ones(3, np.int64), NEGATION)
    for shift in range(16):
        shifted = "a" * shift + text
        tokens = encode_texts(vocabulary, ["not ok", shifted, "good"], Scanner(NEGATION))
        assert tokens.lengths.tolist() == [2, len(NEGATION(shifted)), 1]
        assert [ids.tolist() for ids in tokens.ids_read(vocabulary)] == [[], [0, 1], [2]]


def test_without_a_negation_its_words_are_not_marked():
    tokens = NEGATION.split("not good, never so bad")
    assert NEGATION.mark_without(tokens, set()) == NEGATION(" ".join(tokens))
    assert NEGATION.mark_without(tokens, {0}) == ["good", ",", "never", "¬so", "¬bad"]
    assert NEGATION.mark_without(tokens, {3, 5}) == ["not", "¬good", ",", "so"]
    assert NEGATION.mark_without(tokens, {2}) == ["not", "¬good", "never", "¬so", "¬bad"]
    twice = NEGATION.split("not never good")
    assert NEGATION.mark_without(twice, {0}) == ["never", "¬good"]
    assert NEGATION.mark_without(twice, {1}) == ["not", "¬good"]
    assert NEGATION.mark_without(twice, {0, 1}) == ["good"]
    pair = NEGATION.split("far from good, fine")
    assert NEGATION.mark_without(pair, {4}) == ["far", "from", "¬good", ","]
    assert NEGATION.mark_without(pair, {0}) == ["from", "good", ",", "fine"]
    assert NEGATION.mark_without(pair, {1}) == ["far", "good", ",", "fine"]
