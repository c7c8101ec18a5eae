"""The matrix that PCA decomposes, and its products, are compared with dense formulas."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from nlptx.pca.operators import RowOperator
from nlptx.pca.transform import is_symmetric, transform
from nlptx.runtime.workers import Workers
from tests.helpers.isolated_workers import IsolatedWorkers


def sparse(rows, columns, seed=0, density=0.4):
    """Return a matrix of small integers, mostly 0, in which every row has some variance."""
    rng = np.random.default_rng(seed)
    dense = rng.integers(1, 9, (rows, columns)) * (rng.random((rows, columns)) < density)
    if columns > 1:
        dense[:, 0], dense[:, 1] = 0, 1
    return sp.csr_matrix(dense, dtype=float)


def symmetric(size, seed=0):
    half = sparse(size, size, seed)
    return (half + half.T).tocsr()


def standardized(dense):
    mean, std = dense.mean(axis=1, keepdims=True), dense.std(axis=1, keepdims=True)
    return np.where(std > 0, (dense - mean) / np.where(std > 0, std, 1), 0)


def dense_of(rows):
    return rows.forward(np.eye(rows.shape[1], dtype=rows.dtype))


# ---------------------------------------------------------------- rows with mean 0 and standard deviation 1


@pytest.mark.parametrize("shape", [(8, 8), (5, 12), (12, 5)])
def test_standardized_rows_have_mean_0_and_standard_deviation_1(shape):
    dense = dense_of(RowOperator.of(sparse(*shape), True, np.float64))
    assert np.allclose(dense.mean(axis=1), 0)
    assert np.allclose(dense.std(axis=1), 1)
    assert np.allclose(dense, standardized(sparse(*shape).toarray()))


def test_without_standardizing_the_rows_are_unchanged():
    matrix = sparse(6, 9)
    assert np.array_equal(dense_of(RowOperator.of(matrix, False, np.float64)), matrix.toarray())


@pytest.mark.parametrize("value", [0.0, 3.0, 0.1, 1e6])
def test_a_row_without_variance_becomes_zero(value):
    dense = sparse(5, 7).toarray()
    dense[2] = value
    rows = RowOperator.of(sp.csr_matrix(dense), True, np.float64)
    actual = dense_of(rows)
    assert np.array_equal(actual[2], np.zeros(7))
    assert np.allclose(actual, standardized(dense) * (np.arange(5) != 2)[:, None])
    assert rows.trace == pytest.approx(4 * 7 / 5)


def test_a_small_spread_about_a_large_mean_is_not_lost_to_rounding():
    dense = np.array([[1000.0, 1001.0, 1000.0, 1001.0], [0.0, 1.0, 2.0, 3.0]])
    assert np.allclose(dense_of(RowOperator.of(sp.csr_matrix(dense), True, np.float64)), standardized(dense))


# ---------------------------------------------------------------- products


@pytest.mark.parametrize("standardize", [True, False])
def test_transposed_equals_the_dense_transpose(standardize):
    rows = RowOperator.of(sparse(6, 9), standardize, np.float64, Workers(2))
    assert np.allclose(rows.transposed(np.eye(6)), dense_of(rows).T)


@pytest.mark.parametrize("standardize", [True, False])
def test_second_moments_are_x_transposed_x_over_n_and_not_x_x_transposed(standardize):
    # An asymmetric matrix is used, because X'X and XX' are equal if X is symmetric and not standardised.
    dense = sparse(7, 7, seed=3).toarray()
    assert not np.allclose(dense, dense.T)
    X = standardized(dense) if standardize else dense
    actual = RowOperator.of(sp.csr_matrix(dense), standardize, np.float64).moments(np.eye(7))
    assert np.allclose(actual, X.T @ X / 7)
    assert not np.allclose(actual, X @ X.T / 7)


def test_second_moments_are_divided_by_the_number_of_rows():
    matrix = sparse(4, 9)
    X = standardized(matrix.toarray())
    assert np.allclose(RowOperator.of(matrix, True, np.float64).moments(np.eye(9)), X.T @ X / 4)


@pytest.mark.parametrize("standardize", [True, False])
def test_trace_equals_the_trace_of_the_second_moments(standardize):
    rows = RowOperator.of(sparse(6, 9), standardize, np.float64)
    assert rows.trace == pytest.approx(np.trace(rows.moments(np.eye(9))))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_products_have_the_requested_dtype(dtype):
    rows = RowOperator.of(sparse(6, 9), True, dtype, Workers(2))
    assert rows.moments(np.ones((9, 2), dtype)).dtype == dtype
    assert np.allclose(dense_of(rows), standardized(sparse(6, 9).toarray()), atol=1e-5)


@pytest.mark.parametrize("jobs", [2, 3, 8, 50])
def test_jobs_do_not_change_one_bit(jobs):
    # If there are more jobs than rows, some jobs have no work.
    block = np.random.default_rng(1).standard_normal((30, 4)).astype(np.float32)
    one, many = (RowOperator.of(sparse(30, 30), True, np.float32, Workers(n)) for n in (1, jobs))
    assert one.moments(block).tobytes() == many.moments(block).tobytes()


@pytest.mark.parametrize("jobs", [2, 4])
def test_jobs_do_not_change_one_bit_of_a_large_product(jobs):
    # The matrix is large enough that its slices are multiplied concurrently and finish in any order.
    matrix = sp.random(3000, 2500, 0.05, "csr", random_state=0, dtype=np.float64)
    block = np.random.default_rng(1).standard_normal((2500, 16)).astype(np.float32)
    one, many = (RowOperator.of(matrix, True, np.float32, Workers(n)) for n in (1, jobs))
    assert one.trace == many.trace
    assert one.moments(block).tobytes() == many.moments(block).tobytes()
    assert one.forward(block).tobytes() == many.forward(block).tobytes()
    X = standardized(matrix.toarray())
    assert np.allclose(many.moments(block), X.T @ (X @ block) / 3000, atol=1e-3)


@pytest.mark.parametrize("standardize", [True, False])
def test_workers_without_shared_memory_change_no_bit(standardize):
    block, isolated = np.random.default_rng(1).standard_normal((30, 4)), IsolatedWorkers(2)
    matrix = sparse(30, 30)
    here = RowOperator.of(matrix, standardize, np.float64)
    there = RowOperator.of(matrix, standardize, np.float64, isolated, isolated.store)
    for product in (RowOperator.forward, RowOperator.transposed, RowOperator.moments):
        assert product(there, block).tobytes() == product(here, block).tobytes()
    assert isolated.tasks == 3 * 8


@pytest.mark.parametrize("shape", [(1, 3), (3, 1), (2, 40)])
def test_fewer_rows_than_slices(shape):
    dense = np.arange(1.0, 1 + np.prod(shape)).reshape(shape) % 5
    rows = RowOperator.of(sp.csr_matrix(dense), True, np.float64, Workers(3))
    assert np.allclose(dense_of(rows), standardized(dense))
    assert np.allclose(rows.transposed(np.eye(shape[0])), standardized(dense).T)


def test_a_matrix_without_entries():
    rows = RowOperator.of(sp.csr_matrix((4, 6)), True, np.float64, Workers(2))
    assert rows.trace == 0
    assert np.array_equal(rows.moments(np.eye(6)), np.zeros((6, 6)))


def test_the_matrix_and_the_block_are_not_modified():
    matrix, block = sparse(6, 6), np.ones((6, 2))
    before = matrix.toarray()
    RowOperator.of(matrix, True, np.float64).moments(block)
    assert np.array_equal(matrix.toarray(), before)
    assert np.array_equal(block, np.ones((6, 2)))


# ---------------------------------------------------------------- transforms of the counts


def dense_ppmi(counts, smoothing):
    """Return max(0, log[P(w, c) / (P(w) P_a(c))]), computed entry by entry."""
    total, words = counts.sum(), counts.sum(axis=1)
    contexts = counts.sum(axis=0) ** smoothing
    contexts /= contexts.sum()
    actual = np.zeros_like(counts)
    for w, c in zip(*np.nonzero(counts), strict=True):
        actual[w, c] = max(0, np.log(counts[w, c] / total / (words[w] / total * contexts[c])))
    return actual


def test_words_without_pairs_do_not_change_the_ppmi_of_others():
    counts = sp.csr_matrix(np.array([[0, 3.0, 1, 0], [3, 0, 0, 0], [1, 0, 0, 0], [0, 0, 0, 0]]))
    for smoothing in (0, 0.5, 1):
        expected = transform(counts[:3, :3], "ppmi", smoothing)[:].toarray()
        assert np.allclose(transform(counts, "ppmi", smoothing)[:].toarray()[:3, :3], expected)


@settings(max_examples=60)
@given(size=st.integers(1, 8), seed=st.integers(0, 99), smoothing=st.sampled_from([0.5, 0.75, 1.0]))
def test_ppmi_equals_the_formula(size, seed, smoothing):
    counts = symmetric(size, seed)
    if counts.nnz:
        assert np.allclose(transform(counts, "ppmi", smoothing)[:].toarray(), dense_ppmi(counts.toarray(), smoothing))


@pytest.mark.parametrize("name", ["ppmi", "log", "none"])
def test_without_smoothing_the_transformed_counts_are_exactly_symmetric(name):
    actual = transform(symmetric(200) * 0.1, name, 1.0)[:]
    assert is_symmetric(name, 1.0)
    assert (actual != actual.T).nnz == 0


def test_with_smoothing_ppmi_is_not_symmetric():
    actual = transform(symmetric(20), "ppmi", 0.9)[:]
    assert not is_symmetric("ppmi", 0.9)
    assert (actual != actual.T).nnz


@pytest.mark.parametrize("standardize", [True, False])
def test_a_symmetric_matrix_may_be_declared_as_such(standardize):
    matrix = symmetric(30)
    rows = RowOperator.of(matrix, standardize, np.float64, Workers(2), symmetric=True)
    X = standardized(matrix.toarray()) if standardize else matrix.toarray()
    assert np.allclose(rows.moments(np.eye(30)), X.T @ X / 30)


def test_ppmi_of_independent_words_is_zero():
    # Each pair occurs as often as expected by chance, so each logarithm is 0 up to rounding.
    assert np.allclose(transform(sp.csr_matrix(np.outer([1.0, 2, 3], [1.0, 2, 3])), "ppmi", 1.0)[:].toarray(), 0)


@pytest.mark.parametrize("smoothing", [0.0, 0.75, 1.0])
def test_ppmi_stays_finite_when_a_word_has_no_neighbour(smoothing):
    dense = symmetric(6).toarray()
    dense[3] = dense[:, 3] = 0
    actual = transform(sp.csr_matrix(dense), "ppmi", smoothing)[:]
    assert np.isfinite(actual.data).all()
    assert actual[3].nnz == actual[:, 3].nnz == 0


@pytest.mark.parametrize("jobs", [2, 4])
def test_ppmi_does_not_depend_on_jobs(jobs):
    one, many = (transform(symmetric(300), "ppmi", 0.75, Workers(n))[:] for n in (1, jobs))
    assert one.data.tobytes() == many.data.tobytes()
    assert one.indices.tobytes() == many.indices.tobytes()
    assert one.indptr.tobytes() == many.indptr.tobytes()


def test_ppmi_stores_no_zero():
    actual = transform(symmetric(8), "ppmi", 0.75)[:]
    assert actual.nnz == np.count_nonzero(actual.toarray()) < symmetric(8).nnz


@pytest.mark.parametrize(
    ("name", "formula"),
    [("none", lambda x: x), ("log", np.log1p), ("ppmi", lambda x: dense_ppmi(x, 0.75))],
)
def test_transform_by_name_does_not_modify_the_counts(name, formula):
    counts = symmetric(7)
    before = counts.copy()
    actual = transform(counts, name, 0.75)[:]
    assert np.allclose(actual.toarray(), formula(before.toarray()))
    actual.data[:] = -1
    assert (counts != before).nnz == 0
