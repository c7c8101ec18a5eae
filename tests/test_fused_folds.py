"""Tests of the benchmark that measures how much better two models together are than the first one alone."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

TEXTS, FOLDS = 600, 5


@pytest.fixture
def fused_folds(monkeypatch):
    monkeypatch.syspath_prepend(str(Path(__file__).parent / "benchmarks"))
    import fused_folds as module

    return module


def predictions(seed, labels=("a", "b", "c"), scale=1.0):
    """Return predictions with logits ``scale * (2 * y + noise)``, where y is 1 for the true label and 0 for others."""
    truth = np.random.default_rng(0).integers(len(labels), size=TEXTS)
    noise = np.random.default_rng(seed).standard_normal((TEXTS, len(labels)))
    logits = scale * (2 * np.eye(len(labels))[truth] + noise)
    probabilities = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    table = pd.DataFrame({f"prob_{label}": probabilities[:, each] for each, label in enumerate(labels)})
    table["label"] = [labels[each] for each in truth]
    table["predicted"] = [labels[each] for each in probabilities.argmax(axis=1)]
    table["fold"], table["seed"] = np.arange(TEXTS) % FOLDS + 1, 1
    return table


def difference(cells):
    return float(cells[6].split(" ")[0])


def test_a_model_adds_nothing_to_itself_or_to_its_overconfident_copy(fused_folds):
    for scale in (1.0, 4.0):
        cells = fused_folds.compare(predictions(1), predictions(1, scale=scale))
        assert cells[2] == "1.000"
        assert abs(difference(cells)) <= 1e-4


def test_a_model_with_other_errors_adds_more_than_a_model_with_similar_errors(fused_folds):
    first, other = predictions(1), predictions(2)
    similar = predictions(1)
    columns = ["prob_a", "prob_b", "prob_c"]
    mixed = first[columns].to_numpy() ** 0.8 * other[columns].to_numpy() ** 0.2
    similar[columns] = mixed / mixed.sum(axis=1, keepdims=True)
    assert difference(fused_folds.compare(first, other)) < -0.05
    assert difference(fused_folds.compare(first, other)) <= difference(fused_folds.compare(first, similar))


def test_the_weights_of_a_fold_do_not_depend_on_its_labels(fused_folds):
    table = predictions(1)
    members = [fused_folds.log_probabilities(table), fused_folds.log_probabilities(predictions(2))]
    classes = np.searchsorted(["a", "b", "c"], table["label"].to_numpy().astype(str))
    folds, seeds = table["fold"].to_numpy(), table["seed"].to_numpy()
    before, _ = fused_folds.combine(members, classes, folds, seeds)
    changed = np.where(folds == 1, (classes + 1) % 3, classes)
    after, _ = fused_folds.combine(members, changed, folds, seeds)
    np.testing.assert_array_equal(before[folds == 1], after[folds == 1])
    assert not np.allclose(before[folds == 2], after[folds == 2], atol=1e-6)


def test_each_seed_is_combined_separately(fused_folds):
    one, two = predictions(1), predictions(2)
    twice = pd.concat([one, one.assign(seed=2)], ignore_index=True)
    second = pd.concat([two, two.assign(seed=2)], ignore_index=True)
    assert fused_folds.compare(twice, second) == fused_folds.compare(one, two)


def test_other_folds_are_an_error(fused_folds):
    with pytest.raises(ValueError, match="column fold"):
        fused_folds.compare(predictions(1), predictions(2).assign(fold=1))
