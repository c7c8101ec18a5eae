"""Passages of long texts are used as extra training texts, and no label leaks into their features."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from reviews import make_reviews, small_embeddings
from steps import untrained

import nlptx
from nlptx.sampling.passages import LONG_TEXT, MAX_WORDS, MIN_WORDS, draw_passages
from nlptx.settings import TrainSettings

LONG, LABELS = make_reviews(30, shortest=90, longest=140)
SETTINGS = TrainSettings(width=0, epochs=1, batch=8, lsa_components=4, ngram_min_texts=1, valid_share=0.0, passages=1)


def prepared(settings=SETTINGS, labels=LABELS, texts=LONG, jobs=1):
    return untrained(texts, labels, small_embeddings(), settings, jobs=jobs)[1]


def test_passages_are_consecutive_words_of_long_texts():
    rng = np.random.default_rng(0)
    texts = [np.arange(n, dtype=np.int32) + 1000 * n for n in (0, 1, 99, 100, 101, 500)]
    passages = draw_passages(texts, 40, rng)
    assert [passage.text for passage in passages] == [3] * 40 + [4] * 40 + [5] * 40
    for text, start, ids in passages:
        assert_array_equal(ids, texts[text][start : start + len(ids)])
        assert MIN_WORDS <= len(ids) <= MAX_WORDS
        assert_array_equal(ids, np.arange(ids[0], ids[0] + len(ids)))
        assert texts[text][0] <= ids[0] <= ids[-1] <= texts[text][-1]
    lengths = {len(passage.ids) for passage in passages}
    starts = {int(passage.ids[0]) for passage in passages}
    assert len(lengths) > 20
    assert len(starts) > 60
    assert draw_passages(texts, 0, rng) == []


def test_passages_come_after_the_texts_and_have_the_class_of_their_text():
    data = prepared(TrainSettings(**{**SETTINGS.to_dict(), "passages": 2}))
    without = prepared(TrainSettings(**{**SETTINGS.to_dict(), "passages": 0}))
    long = [row for row, ids in enumerate(without.train.ids) if len(ids) >= LONG_TEXT]
    count = len(without.train)
    assert 10 < len(long) < count
    assert (without.train.passages, data.train.passages, len(data.train)) == (0, 2 * len(long), count + 2 * len(long))
    assert_array_equal(
        data.train.targets, np.concatenate([without.train.targets, without.train.targets[np.repeat(long, 2)]])
    )
    for actual, expected, ids in zip(
        data.train.ngram_features, without.train.ngram_features, without.train.ids, strict=False
    ):
        assert_array_equal(actual.token_features, expected.token_features)
        assert_array_equal(actual.text_features, expected.text_features)
        assert len(actual.token_features) == len(ids)


@pytest.mark.usefixtures("same_folds")
@pytest.mark.parametrize("components", [0, 4])
def test_the_label_of_a_text_does_not_affect_its_passages(components):
    settings = TrainSettings(**{**SETTINGS.to_dict(), "lsa_components": components})
    before = prepared(settings)
    count = len(before.train) - before.train.passages
    changed = 0
    for row in range(count):
        if len(before.train.ids[row]) < LONG_TEXT:
            continue
        labels = list(LABELS)
        labels[row] = "pos" if labels[row] == "neg" else "neg"
        after = prepared(settings, labels)
        passage = count + sum(len(ids) >= LONG_TEXT for ids in before.train.ids[:row])
        for one, other in zip(before.train.ngram_features, after.train.ngram_features, strict=True):
            changed += not np.array_equal(one.text_features, other.text_features)
        assert_array_equal(
            after.train.ngram_features[passage].token_features, before.train.ngram_features[passage].token_features
        )
        assert_array_equal(
            after.train.ngram_features[passage].text_features, before.train.ngram_features[passage].text_features
        )
        if row > 6:
            break
    assert changed  # the features of the other texts do depend on this label


def test_the_number_of_threads_does_not_change_the_passages():
    one, two = prepared(), prepared(jobs=2)
    for known, other in zip(one.train.ngram_features, two.train.ngram_features, strict=True):
        assert_array_equal(known.text_features, other.text_features)


@pytest.mark.parametrize(("texts", "passages"), [(LONG, True), (make_reviews(30)[0], False)])
def test_the_history_counts_texts_and_passages(texts, passages):
    notes = []
    model = nlptx.fit(texts, LABELS, small_embeddings(), SETTINGS, jobs=1, on_note=notes.append)
    assert model.history["train_texts"] == 30
    assert (model.history["passages"] > 0) == passages
    assert ("no passages are added, because no training text has 100 known words" in notes) != passages
