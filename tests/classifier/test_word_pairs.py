"""Tests of the search for pairs of words whose effects depend on each other."""

import numpy as np
import pytest
from reviews import make_reviews, small_fit

from nlptx.classifier.explain import explain
from nlptx.classifier.model import Model
from nlptx.classifier.word_pairs import strongest_pairs


def log_odds(model, ids, label):
    p = model.probabilities([np.array(ids, np.int32)])[0, label]
    return np.log(p / (1 - p))


def test_the_effect_is_the_second_difference_of_the_log_odds():
    model = small_fit(ngrams=3, ngram_min_texts=1, epochs=3)
    words = make_reviews(1, shortest=15)[0][0].split()
    seen = explain(model, " ".join(words))
    ids = model.vocabulary.encode_tokens(seen.words).tolist()
    pairs = strongest_pairs(model, seen, 50)
    assert pairs
    for pair in pairs:
        without = {
            removed: log_odds(model, [i for n, i in enumerate(ids) if n not in removed], seen.label)
            for removed in ((), (pair.first,), (pair.second,), (pair.first, pair.second))
        }
        assert pair.first < pair.second
        assert pair.with_first == pytest.approx(without[()] - without[pair.second,], abs=1e-5)
        assert pair.without_first == pytest.approx(without[pair.first,] - without[pair.first, pair.second], abs=1e-5)
    effects = [abs(pair.interaction) for pair in pairs]
    assert effects == sorted(effects, reverse=True)
    assert strongest_pairs(model, seen, 2) == pairs[:2]


def test_words_that_contribute_independently_form_no_pairs():
    model = small_fit(ngrams=1)
    model.flat[:] = 0  # without the network and the linear models, no word has an effect
    assert strongest_pairs(model, explain(model, "good1 w1 w2 bad3")) == []


def test_a_text_of_one_word_has_no_pairs():
    model = small_fit()
    assert strongest_pairs(model, explain(model, "good1")) == []


@pytest.mark.parametrize(
    ("text", "first", "second"), [("This is not good.", "not", "good"), ("Not bad at all.", "not", "bad")]
)
def test_the_bundled_model_reverses_a_negated_word(text, first, second):
    model = Model.load()
    seen = explain(model, text)
    found = {(seen.words[pair.first], seen.words[pair.second]): pair for pair in strongest_pairs(model, seen)}
    pair = found[first, second]
    assert pair.with_first > 0.5
    assert pair.without_first < -0.5
