"""A model is pickled without caches, so that the bytes do not depend on how it was used."""

import pickle

import numpy as np
import pytest
from label_sets import small_model
from reviews import small_fit

import nlptx

TEXTS = ["I loved every minute of it, qwertz", "not a good film", "red0 blue1 the green2", "..."] * 5


@pytest.mark.parametrize("make", [nlptx.Model.load, small_model, small_fit])
def test_predictions_do_not_change_the_pickled_bytes(make):
    model = pickle.loads(pickle.dumps(make()))
    before = pickle.dumps(model)
    probabilities = model.predict_proba(TEXTS, jobs=1)
    assert pickle.dumps(model) == before
    np.testing.assert_array_equal(pickle.loads(before).predict_proba(TEXTS, jobs=1), probabilities)
