"""Encoding texts in chunks and parallel jobs yields the same ids as encoding each text separately."""

from collections import Counter

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from reviews import make_reviews, small_embeddings, small_fit
from steps import make_context

from nlptx.io.memory_budget import MemoryBudget
from nlptx.runtime.workers import Workers
from nlptx.settings import TrainSettings
from nlptx.text import blocks, token_stream
from nlptx.text.blocks import in_blocks
from nlptx.text.token_stream import TokenStream
from nlptx.text.tokenizer import Tokenizer
from nlptx.text.vocabulary import Vocabulary, as_text
from nlptx.training import automatic, new_words
from nlptx.training.encoding import _known_ids, encode
from nlptx.training.labelled_texts import LabelledTexts
from nlptx.training.multi_label import resolve_loss

TEXTS = ["The film, the FILM!", "", "it isn't a film", "...", "Łódź \u0645\u0645 film\x00film", " ", "unheard-of " * 9]


def encoded(texts, vocabulary, max_tokens, jobs):
    """Return the ids of each text, and the count of each word."""
    with MemoryBudget() as space:
        stream = TokenStream(space)
        stream.read(in_blocks(texts), vocabulary.tokenizer, Workers(jobs))
        counts = {as_text(word): count for word, count in stream.counts().items()}
        return _known_ids(stream, vocabulary, max_tokens, MemoryBudget()), counts


@pytest.mark.parametrize("name", ["words", "spaces"])
@pytest.mark.parametrize("chunk", [1, 30, 10_000])
@pytest.mark.parametrize("max_tokens", [None, 2])
@pytest.mark.parametrize("jobs", [1, 3])
def test_encoding_in_chunks_equals_encoding_each_text(monkeypatch, name, chunk, max_tokens, jobs):
    monkeypatch.setattr(token_stream, "_CHUNK", chunk)
    monkeypatch.setattr(blocks, "BLOCK", 1)
    tokenizer = Tokenizer(name)
    expected = Counter(word for text in TEXTS for word in tokenizer(text))
    words = sorted(expected)[::2]  # every second word is unknown
    vocabulary = Vocabulary(words, np.ones(len(words), np.int64), tokenizer)
    ids, counts = encoded(TEXTS, vocabulary, max_tokens, jobs)
    assert counts == expected
    assert len(ids) == len(TEXTS)
    for text, text_ids in zip(TEXTS, ids, strict=True):
        assert text_ids.dtype == np.int32
        assert_array_equal(text_ids, vocabulary.encode(text)[:max_tokens])


def test_texts_without_a_word_have_no_ids():
    vocabulary = Vocabulary([], np.empty(0, np.int64))
    assert [len(ids) for ids in encoded(["", " "], vocabulary, None, 1)[0]] == [0, 0]


@pytest.mark.parametrize(("ngrams", "added"), [(2, True), (0, False)])
def test_words_without_a_vector_are_added_for_their_ngrams_even_if_the_vectors_are_not_trained(ngrams, added):
    texts, labels = make_reviews(30)
    texts = [f"{text} unheardof" for text in texts]
    model = small_fit(texts, labels, freeze=True, ngrams=ngrams, epochs=1)
    assert ("unheardof" in model.vocabulary.index) == added


@pytest.mark.parametrize(
    ("counted", "read", "settings", "expected"),
    [
        (0, 9, {}, 1),
        (9, 9, {}, 1),
        (10, 9, {}, 2),
        (9, 10, {}, 2),
        (10, 10, {"new_word_min_count": 1}, 1),
        (9, 9, {"new_word_min_count": 3}, 3),
        (9, 9, {"new_word_min_count": 0}, 0),
        (None, 9, {}, 2),
    ],
    ids=["no vectors", "few", "many counted", "many read", "one", "three", "none", "vectors without counts"],
)
def test_with_few_words_in_all_texts_a_new_word_needs_to_occur_only_once(
    counted, read, settings, expected, monkeypatch
):
    for module in (automatic, new_words):
        monkeypatch.setattr(module, "FEW_WORDS", 9)
    words, counts = (["known"], [counted or 0]) if counted != 0 else ([], [])
    known = Vocabulary(words, np.array(counts, np.int64))
    assert new_words.minimum_count(TrainSettings(**settings), known, {b"a": read - 1, b"b": 1}) == expected


def test_words_that_occur_once_are_added_to_a_small_vocabulary():
    texts, labels = make_reviews(30)
    texts[0] += " unheardof"
    assert "unheardof" in small_fit(texts, labels, epochs=1).vocabulary.index
    assert "unheardof" not in small_fit(texts, labels, epochs=1, new_word_min_count=2).vocabulary.index


def test_words_of_held_out_texts_are_not_added_but_read_as_known_forms():
    texts, labels = make_reviews(20)
    rare = [f"unheard{letter}" for letter in "abcdefghijklmnopqrst"]  # each is a form of all others
    given = LabelledTexts.of([f"{text} {word}" for text, word in zip(texts, rare, strict=True)], labels, None, ())
    settings = resolve_loss(TrainSettings(valid_share=0.3), None, None)
    encoded = encode(given, small_embeddings(), settings, make_context())
    words = encoded.vocabulary.words
    added = [word for word in words if word in rare]
    assert len(encoded.valid.ids) == 6
    assert sorted(words[ids[-1]] for ids in encoded.train.ids) == sorted(added)
    assert all(words[ids[-1]] in added for ids in encoded.valid.ids)


def test_texts_that_differ_only_in_words_that_stay_unknown_are_copies():
    texts, labels = make_reviews(20)
    rows = np.random.default_rng(0).permutation(60)
    given = LabelledTexts.of([f"case{n} {texts[n % 20]}" for n in rows], [labels[n % 20] for n in rows], None, ())
    settings = resolve_loss(TrainSettings(valid_share=0.3, new_word_min_count=2), None, None)
    held_out = encode(given, small_embeddings(), settings, make_context()).held_out
    parts = [set(rows[held_out] % 20), set(rows[~held_out] % 20)]
    assert len(parts[0]) == 6
    assert not parts[0] & parts[1]


@pytest.mark.parametrize("valid", [False, True])
def test_before_training_from_a_model_validation_texts_are_also_read_with_its_words(valid):
    texts, labels = make_reviews(20)
    texts = [f"{text} good1 unknown{row}" for row, text in enumerate(texts)]
    given = LabelledTexts.of(texts, labels, (texts[:3], labels[:3]) if valid else None, ())
    start = small_embeddings()
    settings = resolve_loss(TrainSettings(valid_share=0.3), None, None)
    encoded = encode(given, start, settings, make_context(), from_model=True)
    chosen = texts[:3] if valid else [text for text, held in zip(texts, encoded.held_out, strict=True) if held]
    expected = [start.vocabulary.ids_read(text.split()) for text in chosen]
    for ids, read in zip(encoded.valid_before.ids, expected, strict=True):
        assert_array_equal(ids, read[read >= 0])
    assert encode(given, start, settings, make_context()).valid_before is None


@pytest.mark.parametrize(
    ("settings", "more"),
    [
        ({"attention_window": 6, "long_texts": "head"}, lambda number: f"tail{number}"),
        # Each number occurs twice. If both texts with a number are held out, the number stays unknown.
        ({"new_word_min_count": 2}, lambda number: f"case{number // 2}" if number % 3 else ""),
    ],
    ids=["long texts", "words of held-out texts"],
)
def test_no_held_out_text_is_read_like_a_training_text(settings, more):
    texts, labels = make_reviews(30)
    rows = np.random.default_rng(1).permutation(90)
    texts = [f"{texts[n % 30]} {more(n)}" for n in rows]
    given = LabelledTexts.of(texts, [labels[n % 30] for n in rows], None, ())
    settings = resolve_loss(TrainSettings(valid_share=0.3, **settings), None, None)
    encoded = encode(given, small_embeddings(), settings, make_context())
    read = [{tuple(ids) for ids in part.ids} for part in (encoded.train, encoded.valid)]
    assert len(encoded.valid.ids) > 5
    assert not read[0] & read[1]
