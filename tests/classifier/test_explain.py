"""Explanations: the contribution of a word is measured by removing it from the text."""

import numpy as np
import pytest
from reviews import make_reviews, small_fit

from nlptx.classifier.explain import explain


@pytest.mark.parametrize("pool", ["mean", "flatten"])
def test_removing_a_word_shifts_the_next_word_into_a_truncated_text(pool):
    model = small_fit(long_texts="head", attention_window=6, pool=pool)
    words = make_reviews(1, shortest=15)[0][0].split()
    explanation = explain(model, " ".join(words))
    assert explanation.words == words[:6]
    complete = model.predict_proba([" ".join(words)], jobs=1)[0, explanation.label]
    for index, worth in enumerate(explanation.worth):
        without = " ".join(words[:index] + words[index + 1 :])
        assert worth == pytest.approx(complete - model.predict_proba([without], jobs=1)[0, explanation.label], abs=1e-6)
    # If a text is not truncated, no further word moves into the window when a word is removed.
    short = explain(model, " ".join(words[:6]))
    assert np.abs(short.worth - explanation.worth).max() > 1e-6
