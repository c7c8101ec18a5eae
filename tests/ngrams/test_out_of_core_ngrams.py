"""The n-gram features that are fitted by the method for many texts are close to those of the method for few texts."""

from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from nlptx.io.memory_budget import MemoryBudget
from nlptx.io.ragged_array import RaggedArray
from nlptx.ngrams import cross_fit, feature_settings, occurrence_blocks, occurrences, out_of_core, out_of_core_models
from nlptx.ngrams.cross_fit import fit_ngram_features
from nlptx.ngrams.feature_settings import FeatureSettings
from nlptx.ngrams.lexicon import LexiconPrior
from nlptx.ngrams.logistic_regression import fit_dense, fit_sparse
from nlptx.ngrams.occurrence_blocks import OccurrenceBlocks
from nlptx.ngrams.occurrences import document_frequencies, ngrams_in_enough_texts, ngrams_of_texts, presence_matrix
from nlptx.ngrams.out_of_core_components import OutOfCoreComponents, WeightedRows, find_components_out_of_core
from nlptx.ngrams.out_of_core_counts import class_counts, find_known
from nlptx.ngrams.out_of_core_models import TextLoss, fit_on_components, fit_ratios
from nlptx.runtime.workers import SERIAL, Workers
from tests.helpers.isolated_workers import IsolatedWorkers

RNG = np.random.default_rng(6)
WORDS = 12
TEXTS = [RNG.integers(0, WORDS, length).astype(np.int32) for length in RNG.integers(1, 14, 90)]
OTHERS = [RNG.integers(0, WORDS, length).astype(np.int32) for length in RNG.integers(0, 14, 40)]
WEIGHTS = RNG.integers(1, 5, len(TEXTS)) / 2
TARGETS = RNG.integers(0, 3, len(TEXTS))
SETS = RNG.random((len(TEXTS), 3)) < 0.4
LENGTHS = np.array(list(map(len, TEXTS)))
ROOT = (1 / np.sqrt(LENGTHS)).astype(np.float32)


@pytest.fixture(autouse=True)
def same_numbers(monkeypatch):
    """Give every test the same random numbers, whichever tests ran before it."""
    monkeypatch.setitem(globals(), "RNG", np.random.default_rng(7))


@pytest.fixture(autouse=True)
def small_parts(monkeypatch):
    monkeypatch.setattr(occurrence_blocks, "_ENTRIES", 200)
    monkeypatch.setattr(occurrences, "_WORDS_PER_GROUP", 30)
    monkeypatch.setattr(feature_settings, "_WORDS_PER_GROUP", 30)


@pytest.fixture(params=[1, 1 << 30], ids=["file", "memory"])
def budget(request):
    with MemoryBudget(request.param) as budget:
        yield budget


def blocks_of(texts, keys, budget, jobs=2):
    return OccurrenceBlocks(ngrams_of_texts(texts, 2, WORDS), keys, Workers(jobs), budget)


def dense_presence(texts, keys):
    return presence_matrix(ngrams_of_texts(texts, 2, WORDS), keys).toarray()


KEYS = document_frequencies(ngrams_of_texts(TEXTS, 2, WORDS), None)[0][::2]


def test_products_with_blocks(budget, monkeypatch):
    monkeypatch.setattr(occurrence_blocks, "_ENTRIES", 40)
    blocks, expected = blocks_of(TEXTS, KEYS, budget), dense_presence(TEXTS, KEYS)
    assert len(list(blocks.map(lambda rows, block: None))) > 5
    assert blocks.shape == expected.shape
    assert_array_equal(sp.vstack(list(blocks.map(lambda rows, block: block))).toarray(), expected)
    u, a = RNG.random((len(KEYS), 3)).astype(np.float32), RNG.random((len(TEXTS), 2))
    assert_allclose(blocks.forward(u), expected @ u, rtol=1e-5)
    assert_allclose(blocks.transposed(lambda rows: a[rows], 2), expected.T @ a, rtol=1e-5)


def product_of(a, rows, block):
    """Return the contribution of ``block`` to the product N' a. The block contains the given rows of the matrix N."""
    return block.T @ a[rows]


@pytest.mark.parametrize("groups", [1, 2, 3, 100])
def test_sums_of_groups_of_blocks(groups, budget, monkeypatch):
    monkeypatch.setattr(occurrence_blocks, "_ENTRIES", 40)
    monkeypatch.setattr(occurrence_blocks, "_GROUPS", groups)
    blocks, a = blocks_of(TEXTS, KEYS, budget), RNG.random((len(TEXTS), 2)).astype(np.float32)
    number, isolated = len(list(blocks.map(lambda rows, block: None))), IsolatedWorkers(2)
    found = blocks.sum(product_of, a, (len(KEYS), 2))
    assert_allclose(found, dense_presence(TEXTS, KEYS).T @ a, rtol=1e-5)
    assert_array_equal(blocks.stored(isolated.store, isolated).sum(product_of, a, (len(KEYS), 2)), found)
    assert isolated.tasks == -(-number // -(-number // groups))


def test_the_sum_of_no_texts_is_zero(budget):
    assert_array_equal(blocks_of([], KEYS, budget).sum(product_of, None, (len(KEYS), 2)), np.zeros((len(KEYS), 2)))


@pytest.mark.parametrize("memory", [1, 3_000, 1 << 30])
@pytest.mark.parametrize(("min_labelled", "min_total"), [(2, 3), (3, 2), (5, 60)])
@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["", "weights"])
def test_frequent_ngrams_do_not_depend_on_the_memory(memory, min_labelled, min_total, weights):
    sets, more = (ngrams_of_texts(texts, 2, WORDS) for texts in (TEXTS, OTHERS))
    expected = ngrams_in_enough_texts(
        document_frequencies(sets, weights), document_frequencies(more, None), min_labelled, min_total
    )
    known = find_known(sets, more, weights, min_labelled, min_total, None, Workers(2), memory)
    assert_array_equal(known.keys, expected[0])
    assert_array_equal(known.text_counts, expected[1])
    assert known.min_texts == min_labelled


@pytest.mark.parametrize("max_ngrams", [10, 40, 1000])
def test_if_there_are_too_many_ngrams_rare_ones_are_left_out(max_ngrams):
    sets, more = (ngrams_of_texts(texts, 2, WORDS) for texts in (TEXTS, OTHERS))
    every = find_known(sets, more, None, 1, 30, None, SERIAL, 1 << 20)
    known = find_known(sets, more, None, 1, 30, max_ngrams, SERIAL, 1 << 20)
    frequent = every.keys[every.text_counts >= 30]
    assert set(frequent) <= set(known.keys)
    assert len(known.keys) <= max(max_ngrams, len(frequent))
    assert known.min_texts == 1 or max_ngrams < len(every.keys)
    labelled, counts = document_frequencies(sets, None)
    assert set(known.keys) == set(frequent) | set(labelled[counts >= known.min_texts])
    if known.min_texts > 1:  # a lower minimum would give more n-grams than allowed
        assert len(set(frequent) | set(labelled[counts >= known.min_texts - 1])) > max_ngrams


@pytest.mark.parametrize("targets", [TARGETS, SETS], ids=["classes", "sets"])
def test_class_counts(targets, budget):
    fold = RNG.integers(0, 3, len(TEXTS))
    found = class_counts(blocks_of(TEXTS, KEYS, budget), targets, 3, WEIGHTS, fold, 3)
    flags = targets if targets.ndim == 2 else targets[:, None] == np.arange(3)
    flags = np.hstack([flags, np.ones((len(TEXTS), 1))]) if targets.ndim == 2 else flags
    for number in range(3):
        rows = fold == number
        expected = dense_presence(TEXTS, KEYS)[rows].T @ (flags * WEIGHTS[:, None])[rows]
        assert_allclose(found[number], expected)


@pytest.mark.parametrize(
    ("targets", "width"), [(TARGETS % 2, 1), (TARGETS, 3), (SETS, 3)], ids=["two", "three", "sets"]
)
@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["", "weights"])
def test_the_models_equal_those_for_few_texts(targets, width, weights, budget, monkeypatch):
    monkeypatch.setattr(out_of_core_models, "_RATIO_ITERATIONS", 200)  # so that both methods converge
    blocks = blocks_of(TEXTS, KEYS, budget)
    ratios = RNG.normal(size=(len(KEYS), width)).astype(np.float32)
    ratios[::3] = 0
    inside = np.arange(len(TEXTS)) % 5 > 0
    used = np.ones(len(TEXTS)) if weights is None else weights
    found = fit_ratios(blocks, ROOT, TextLoss(targets, np.where(inside, used, 0), width), ratios, None)
    rows = sp.csr_matrix(dense_presence(TEXTS, KEYS) * ROOT[:, None])[inside]
    coefficients, bias = fit_sparse(rows, ratios, targets[inside], None if weights is None else weights[inside])
    assert_allclose(rows @ found.ratio_weights + found.bias, rows @ coefficients + bias, atol=0.02)
    assert not found.ratio_weights[::3].any()
    assert not found.lexicon_slope.any()


def test_the_model_with_a_lexicon_equals_that_for_few_texts(budget, monkeypatch):
    monkeypatch.setattr(out_of_core_models, "_RATIO_ITERATIONS", 200)
    rng = np.random.default_rng(3)
    ratios = rng.normal(size=(len(KEYS), 1)).astype(np.float32)
    lexicon_feature = ROOT[:, None] * rng.normal(size=(len(TEXTS), 1))
    loss = TextLoss(TARGETS % 2, np.ones(len(TEXTS)), 1)
    found = fit_ratios(blocks_of(TEXTS, KEYS, budget), ROOT, loss, ratios, lexicon_feature.astype(np.float32))
    rows = sp.csr_matrix(np.hstack([dense_presence(TEXTS, KEYS) * ROOT[:, None], lexicon_feature]))
    products, bias = fit_sparse(rows, np.vstack([ratios, [[1]]]).astype(np.float32), TARGETS % 2)
    assert_allclose(rows[:, :-1] @ found.ratio_weights, rows[:, :-1] @ products[:-1], atol=0.02)
    assert_allclose(found.lexicon_slope, products[-1], atol=0.02)
    assert_allclose(found.bias, bias, atol=0.02)


def unit_rows(texts, importance):
    rows = dense_presence(texts, KEYS) * importance
    return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["", "weights"])
def test_the_components_are_principal_components(weights, budget):
    importance = RNG.uniform(0.5, 3, len(KEYS)).astype(np.float32)
    kept = np.arange(len(TEXTS)) != 7
    parts = [
        WeightedRows.of(blocks_of(TEXTS, KEYS, budget), importance, kept, weights),
        WeightedRows.of(blocks_of(OTHERS, KEYS, budget), importance, np.ones(len(OTHERS), bool), None),
    ]
    x = np.vstack([unit_rows(TEXTS, importance) * kept[:, None], unit_rows(OTHERS, importance)])
    w = np.concatenate([np.ones(len(TEXTS)) if weights is None else weights, np.ones(len(OTHERS))])
    w[~x.any(axis=1)] = 0
    b = RNG.random((len(KEYS), 2)).astype(np.float32)
    assert_allclose(sum(part.moments(b) for part in parts), x.T @ (w[:, None] * (x @ b)), rtol=1e-4)
    assert_allclose(sum(part.weighted_sum() for part in parts), x.T @ w, rtol=1e-4)
    every = min(x.shape) // 4
    found = find_components_out_of_core(parts, every, np.random.default_rng(1), SERIAL, lambda fraction, detail: None)
    scores = x @ found.directions - found.mean
    assert_allclose(np.average(scores, axis=0, weights=w), 0, atol=1e-4)
    assert_allclose(np.average((scores**2).sum(axis=1), weights=w), scores.shape[1], rtol=1e-3)
    # The directions span almost the same space as the leading eigenvectors, up to the tolerance of the power iteration.
    values = np.linalg.eigvalsh(x.T @ (w[:, None] * x))[::-1]
    directions = found.directions / np.linalg.norm(found.directions, axis=0)
    captured = np.trace(directions.T @ x.T @ (w[:, None] * x) @ directions)
    assert captured > 0.98 * values[:every].sum()
    coefficients = RNG.normal(size=(every, 1))
    of_rows, offset = found.to_ngrams(coefficients)
    assert_allclose(x @ of_rows + offset, scores @ coefficients, rtol=1e-3, atol=1e-3)


def test_the_model_on_components_equals_that_for_few_texts(budget):
    importance = RNG.uniform(0.5, 3, len(KEYS)).astype(np.float32)
    rows = WeightedRows.of(blocks_of(TEXTS, KEYS, budget), importance, LENGTHS > 3, None)
    components = find_components_out_of_core([rows], 6, np.random.default_rng(1), SERIAL, lambda fraction, detail: None)
    inside = np.arange(len(TEXTS)) % 4 > 0
    loss = TextLoss(TARGETS, np.where(inside & (rows.inverse_norms > 0), WEIGHTS, 0), 3)
    coefficients, bias = fit_on_components(components, rows, loss)
    scores = (unit_rows(TEXTS, importance) @ components.directions - components.mean).astype(np.float32)
    used = inside & (rows.inverse_norms > 0)
    expected, expected_bias = fit_dense(scores[used], TARGETS[used], 3, WEIGHTS[used])
    assert_allclose(scores @ coefficients + bias, scores @ expected + expected_bias, atol=0.01)


def test_what_a_text_contributes_to_its_own_output(budget):
    # Let V be all eigenvectors of X'X, L their eigenvalues, and b the coefficients of a linear model on the components.
    # Then the weights of the n-grams are w = X' (X V L^-1 b). Text t adds (x_t V L^-1 b) x_t' to w, and x_t V L^-1 b to
    # its own output, because x_t has unit norm.
    importance = np.ones(len(KEYS), np.float32)
    rows = WeightedRows.of(blocks_of(TEXTS, KEYS, budget), importance, np.ones(len(TEXTS), bool), None)
    x = unit_rows(TEXTS, importance)
    values, vectors = np.linalg.eigh(x.T @ x)
    kept = values > 1e-3
    components = OutOfCoreComponents(
        vectors[:, kept].astype(np.float32), np.zeros(kept.sum(), np.float32), (1 / values[kept]).astype(np.float32)
    )
    coefficients = RNG.normal(size=(kept.sum(), 2))
    own = components.self_outputs(rows, coefficients)
    without = x.T @ own - 0  # the sum of the contributions of all texts to the weights
    assert_allclose(without, components.to_ngrams(coefficients)[0], atol=1e-3)


def no_components(rows):
    return find_components_out_of_core([rows], 5, np.random.default_rng(1), SERIAL, lambda fraction, detail: None)


def test_equal_texts_have_no_components(budget):
    blocks = blocks_of([TEXTS[1]] * 30, KEYS, budget)
    importance = np.ones(len(KEYS), np.float32)
    assert no_components(WeightedRows.of(blocks, importance, np.ones(30, bool), None)) is None
    assert no_components(WeightedRows.of(blocks, importance, np.zeros(30, bool), None)) is None


# ---------------------------------------------------------------- token and text features together


@pytest.fixture
def both(monkeypatch):
    """Return a function that fits features twice: by the method for few texts, and by the method for many texts."""
    monkeypatch.setattr(out_of_core_models, "_RATIO_ITERATIONS", 100)  # so that both methods converge

    def fit(texts, targets, shape, unlabelled=(), **more):
        results = []
        for limit in (10**6, 0):
            monkeypatch.setattr(cross_fit, "OUT_OF_CORE_TEXTS", limit)
            rng = np.random.default_rng(3)
            results.append(fit_ngram_features(texts, targets, shape, rng, unlabelled, **more))
        return results

    return fit


@pytest.mark.parametrize("case", ["plain", "weights", "lexicon", "sets", "no components", "no tokens"])
def test_the_features_are_close_to_those_for_few_texts(case, both):
    targets = SETS if case == "sets" else TARGETS
    shape = FeatureSettings(3, 2, WORDS, 2, 0 if case == "no components" else 4, 3, case != "no tokens")
    lexicon = LexiconPrior(np.array([2, 5]), np.array([1, -1], np.float32)) if case == "lexicon" else None
    weights = WEIGHTS if case == "weights" else None
    (few, of_few), (many, of_many) = both(TEXTS, targets, shape, OTHERS, text_weights=weights, lexicon=lexicon)
    assert_array_equal(many.keys, few.keys)
    assert_allclose(many.ratios, few.ratios, rtol=1e-5)
    assert (many.lsa_weights is None) == (few.lsa_weights is None)
    for mine, theirs in zip(of_many, of_few, strict=True):
        assert_allclose(mine.token_features, theirs.token_features, rtol=1e-4, atol=1e-6)
        assert mine.text_features.shape == theirs.text_features.shape
    first = slice(0, 3)
    mine, theirs = of_many.text_features()[:, first], of_few.text_features()[:, first]
    assert_allclose(mine, theirs, atol=0.05)


def test_rare_ngrams_are_dropped_only_by_default(monkeypatch):
    monkeypatch.setattr(cross_fit, "OUT_OF_CORE_TEXTS", 0)
    monkeypatch.setattr(out_of_core, "_MAX_WEIGHTS", 90)
    fit = partial(fit_ngram_features, TEXTS, TARGETS, rng=np.random.default_rng(1))
    kept = FeatureSettings(3, 2, WORDS, 2)
    assert len(fit(kept)[0].keys) > 30
    assert len(fit(FeatureSettings(3, 2, WORDS, 2, may_drop=True))[0].keys) <= 30


def test_neither_workers_nor_memory_change_a_bit(monkeypatch):
    monkeypatch.setattr(cross_fit, "OUT_OF_CORE_TEXTS", 0)
    shape = FeatureSettings(3, 3, WORDS, 2, 5)
    texts = RaggedArray.of(TEXTS[:40], np.int32)

    def arrays(workers, budget):
        given = shape, np.random.default_rng(3), OTHERS[:20], workers
        features, of_texts = fit_ngram_features(texts, TARGETS[:40], *given, budget=budget)
        found = [
            features.keys,
            features.ratios,
            features.ratio_weights,
            features.bias,
            features.lsa_weights,
            features.importance,
        ]
        return [array.tobytes() for array in [*found, of_texts.text_features()]]

    expected = arrays(SERIAL, None)
    isolated = IsolatedWorkers(2)
    assert arrays(isolated, None) == expected
    assert isolated.tasks > 10  # the linear models take several tasks, and the components take more
    for jobs, memory in ((1, 1), (3, 1), (3, 1 << 30)):
        with Workers(jobs) as workers, MemoryBudget(memory) as budget:
            assert arrays(workers, budget) == expected
