"""Explanations: the contribution of a word is measured by removing it from the text."""

from functools import cache

import numpy as np
import pytest
from reviews import make_reviews, small_fit

import nlptx
from nlptx.classifier.explain import explain
from nlptx.classifier.model import Model
from nlptx.classifier.word_pairs import strongest_pairs
from nlptx.nn import Layout
from nlptx.settings import TrainSettings

WINDOW = 4
# Returns a trained model. A second call with the same settings returns the same model.
trained = cache(small_fit)


@pytest.mark.parametrize("pool", ["mean", "flatten"])
def test_removing_a_word_shifts_the_next_word_into_a_truncated_text(pool):
    model = small_fit(long_texts="head", attention_window=6, pool=pool)
    words = make_reviews(1, shortest=15)[0][0].split()
    words = list(dict.fromkeys(words))[:8]
    explanation = explain(model, " ".join(words))
    assert explanation.words == words[:6]
    complete = model.predict_proba([" ".join(words)], jobs=1)[0, explanation.label]
    for index, effect in enumerate(explanation.effects):
        without = " ".join(words[:index] + words[index + 1 :])
        assert effect == pytest.approx(
            complete - model.predict_proba([without], jobs=1)[0, explanation.label], abs=1e-6
        )
    # If a text is not truncated, no further word moves into the window when a word is removed.
    short = explain(model, " ".join(words[:6]))
    assert np.abs(short.effects - explanation.effects).max() > 1e-6


def outputs_of(model, windows, features):
    """Compute the network's outputs for a text from all its windows, each given as (word ids, token features)."""
    network = model.network
    parts, weights = [], []
    for ids, token_features in windows:
        if len(ids):
            layout = Layout(np.array([len(ids)]), WINDOW, separate_windows=True)
            x = network.encode(model.table[ids], layout, token_features)
            parts.append(network.pool.apply(x, layout))
            weights.append(network.pool.log_weights(x, layout))
    y = network.pool.merge(np.concatenate(parts), np.concatenate(weights), Layout(np.array([len(parts)])))
    return network.apply_head(y, Layout(np.array([1])), features)


@pytest.mark.parametrize("pool", ["mean", "max", "first", "attention"])
@pytest.mark.parametrize("length", [9, 5])
def test_in_a_long_text_the_other_windows_keep_their_vectors(pool, length):
    model = trained(attention_window=WINDOW, pool=pool, ngrams=3, ngram_min_texts=1)
    words = list(dict.fromkeys(make_reviews(1, shortest=15)[0][0].split()))[:length]
    ids = model.vocabulary.encode_tokens(words)
    seen = explain(model, " ".join(words))
    ngrams = model.ngram_features
    complete = ngrams.of(ids).token_features
    spans = np.split(np.arange(length), np.cumsum(Layout(np.array([length]), WINDOW).windows)[:-1])
    for index in range(length):
        without = ngrams.of(np.delete(ids, index))
        windows = []
        for span in spans:
            rows = span[span != index]
            changed = without.token_features[rows - (rows > index)] if index in span else complete[rows]
            windows.append((ids[rows], changed))
        y = outputs_of(model, windows, without.text_features[None])
        p = model.as_probabilities(y.astype(np.float64) / model.temperature)[0, seen.label]
        assert seen.effects[index] == pytest.approx(seen.probabilities[seen.label] - p, abs=1e-5)


def test_each_occurrence_of_a_repeated_word_has_an_effect():
    model = small_fit(ngrams=1, lsa_components=0)
    ngrams = model.ngram_features
    word = model.vocabulary.words[int(np.abs(ngrams.ratio_weights[:, 0]).argmax())]
    others = [other for other in model.vocabulary.words if other != word][:6]
    once = explain(model, " ".join([word, *others])).effects[0]
    twice = explain(model, " ".join([word, *others, word])).effects[[0, -1]]
    assert np.sign(twice).tolist() == [np.sign(once)] * 2
    assert (np.abs(twice) > 0.1 * abs(once)).all()  # each occurrence gets half of the word's weight


def test_a_text_of_one_word_is_compared_with_a_text_without_words():
    model = small_fit()
    seen = explain(model, "good1")
    assert seen.effects == pytest.approx(seen.probabilities[seen.label] - model.priors[seen.label], abs=1e-6)


@pytest.mark.parametrize("length", [1, 3, 11])
def test_received_attention_is_the_mean_over_all_query_words(length):
    model = trained(attention_window=WINDOW, blocks=2)
    text = " ".join(model.vocabulary.words[:length])
    seen = explain(model, text)
    assert len(seen.received) == len(seen.attention) == 2
    for received, matrices in zip(seen.received, seen.attention, strict=True):
        np.testing.assert_allclose(received, matrices.mean(axis=1).T, atol=1e-6)
        assert received.sum(axis=0) == pytest.approx(1, abs=1e-5)
    without = explain(model, text, attention=False)
    assert without.attention == []
    assert np.array_equal(np.stack(without.received), np.stack(seen.received))


def test_the_effects_of_words_in_a_long_text_needs_no_memory_for_all_pairs():
    model = small_fit(attention_window=WINDOW)
    seen = explain(model, " ".join(model.vocabulary.words[:5] * 400), attention=False)
    assert len(seen.effects) == len(seen.words) == 2000
    assert np.isfinite(seen.effects).all()


@pytest.mark.parametrize("labels", [20, 21, 30])
def test_models_of_many_labels_can_be_explained(labels):
    """If no word is repeated, the effect of a word is exactly the decrease in probability when it is removed."""
    texts = [f"w{n % labels} w{(n * 7) % 31} w{(n * 5) % 17} common" for n in range(6 * labels)]
    names = [f"L{n % labels:02}" for n in range(6 * labels)]
    model = nlptx.fit(texts, names, settings=nlptx.TrainSettings(epochs=0, ngrams=2, lsa_components=0), jobs=1)
    words = ["w1", "w4", "common", "w9"]
    found = explain(model, " ".join(words), label="L01")
    column = model.labels.index("L01")
    without = [" ".join(words[:n] + words[n + 1 :]) for n in range(len(words))]
    p = model.predict_proba([" ".join(words), *without], jobs=1)[:, column]
    assert np.allclose(found.effects, p[0] - p[1:], atol=1e-5)


@cache
def negating_model():
    """Return a model of reviews in which "not" reverses the word after it."""
    texts, labels = make_reviews(300, plain_words=10)
    opposite = {"pos": "neg", "neg": "pos"}
    negated = [text.replace("good", "not good").replace("bad", "not bad") for text in texts]
    return nlptx.fit([*texts, *negated], [*labels, *map(opposite.get, labels)], settings=TrainSettings(epochs=2))


def test_leaving_out_a_negation_takes_the_marks_from_its_words():
    model = negating_model()
    assert {"good1", "¬good1"} <= model.vocabulary.index.keys()
    words = ["w1", "not", "good1", "w2", ",", "bad2", "."]
    seen = explain(model, " ".join(words))
    assert seen.tokens == words
    assert seen.words == [words[position] for position in seen.positions]
    row = seen.words.index("not")
    p = model.predict_proba([" ".join(words), "w1 good1 w2 , bad2 ."], jobs=1)[:, seen.label]
    assert seen.effects[row] == pytest.approx(p[0] - p[1], abs=1e-6)
    assert abs(seen.effects[row]) > 0.01
    pair = next(pair for pair in strongest_pairs(model, seen, 50) if (pair.first, pair.second) == (row, row + 1))
    assert pair.with_first * pair.without_first < 0


@pytest.mark.parametrize(("word", "remaining"), [("far", "It is from perfect."), ("from", "It is far perfect.")])
def test_without_one_of_its_words_a_negation_of_two_words_has_no_effect(word, remaining):
    model, text = nlptx.Model.load(), "It is far from perfect."
    seen = explain(model, text)
    p = model.predict_proba([text, remaining], jobs=1)[:, seen.label]
    assert seen.effects[seen.words.index(word)] == pytest.approx(p[0] - p[1], abs=1e-5)


def test_each_of_several_negations_has_an_effect():
    model = negating_model()
    once, several = (
        explain(model, text) for text in ("w1 not good1 .", "w1 not good1 . w2 not good3 . w3 not good2 .")
    )
    for row, word in enumerate(several.words):
        if word == "not":
            assert np.sign(several.effects[row]) == np.sign(once.effects[once.words.index("not")])
            assert abs(several.effects[row]) > 1e-4


def test_too_many_negations_keep_the_marks_of_the_words(monkeypatch):
    model, text = negating_model(), "w1 not good1 w2 ."
    seen = explain(model, text)
    monkeypatch.setattr("nlptx.classifier.explain._MAX_WORK", 1)
    changed = seen.effects != explain(model, text).effects
    assert [word for word, differs in zip(seen.words, changed, strict=True) if differs] == ["not"]


def test_pairs_do_not_read_beyond_the_limit_of_the_model(monkeypatch):
    texts, labels = make_reviews(60, plain_words=10)
    settings = TrainSettings(epochs=1, long_texts="head", attention_window=8)
    model = nlptx.fit([f"{text} , not {text[:2]}" for text in texts], labels, settings=settings)
    assert "good1" in model.vocabulary.index
    assert "¬good1" not in model.vocabulary.index
    seen = explain(model, "w1 not good1 bad3 w2 w3 . good2 w4 w5 w6 bad1")
    assert len(seen.words) == 8  # unlike good1, ¬good1 is unknown
    lengths = set()
    score = Model.probabilities
    monkeypatch.setattr(Model, "probabilities", lambda model, ids: lengths.update(map(len, ids)) or score(model, ids))
    assert strongest_pairs(model, seen, 50)
    assert max(lengths) == 8
