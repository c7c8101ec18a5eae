"""Why a text got its score: what is left out, what moves up."""

import numpy as np
import pytest
from reviews import make_reviews, small_fit

from nlptx.classifier.explain import explain


@pytest.mark.parametrize("pool", ["mean", "flatten"])
def test_where_only_the_head_is_read_the_next_word_moves_up(pool):
    model = small_fit(long_texts="head", attention_window=6, pool=pool)
    words = make_reviews(1, shortest=15)[0][0].split()
    found = explain(model, " ".join(words))
    assert found.words == words[:6]
    whole = model.predict_proba([" ".join(words)], jobs=1)[0, found.label]
    for place, worth in enumerate(found.worth):
        without = " ".join(words[:place] + words[place + 1 :])
        assert worth == pytest.approx(whole - model.predict_proba([without], jobs=1)[0, found.label], abs=1e-6)
    # A text that is all read has no next word.
    short = explain(model, " ".join(words[:6]))
    assert np.abs(short.worth - found.worth).max() > 1e-6
