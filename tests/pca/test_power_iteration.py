"""Power iteration with deflation is compared with a dense solver, and applied to matrices with known spectra."""

import numpy as np
import pytest
import scipy.linalg

from nlptx.errors import NlptxError
from nlptx.pca.power_iteration import power_iteration
from nlptx.runtime.workers import Workers

# Variants of the method: the two textbook variants, some intermediate ones, and the default.
METHODS = {
    "textbook, projection": {"block": 1, "degree": 1, "deflation": "projection"},
    "textbook, subtraction": {"block": 1, "degree": 1, "deflation": "subtraction"},
    "one vector, polynomial": {"block": 1, "degree": 6},
    "block, plain": {"block": 4, "degree": 1},
    "block of two, polynomial": {"block": 2, "degree": 2},
    "default": {},
    "default, subtraction": {"deflation": "subtraction"},
}
methods = pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)


def matrix_with(spectrum, seed=0):
    """Return a symmetric matrix with these eigenvalues, and its eigenvectors in the same order."""
    vectors = np.linalg.qr(np.random.default_rng(seed).standard_normal((len(spectrum),) * 2))[0]
    return (vectors * np.asarray(spectrum)) @ vectors.T, vectors


def solve(matrix, count, tolerance=1e-8, seed=1, dtype=np.float64, **method):
    matrix = matrix.astype(dtype)
    return power_iteration(
        lambda block: matrix @ block,
        len(matrix),
        count,
        tolerance=tolerance,
        rng=np.random.default_rng(seed),
        dtype=dtype,
        **{"max_products": 1000, **method},
    )


def test_subtraction_is_applied_and_changes_only_rounding_errors():
    matrix, _ = matrix_with([5, 3, 2, 1, 0.5, 0.1])
    found = [solve(matrix, 3, **METHODS[name]) for name in ("textbook, projection", "textbook, subtraction")]
    np.testing.assert_allclose(found[0].vectors, found[1].vectors, atol=1e-7)
    assert (found[0].vectors != found[1].vectors).any()


def true_residuals(matrix, pairs):
    """Return |A v - l v| / l, computed in double precision, or 0 where it is no larger than rounding errors."""
    vectors, values = pairs.vectors.astype(float), pairs.values.astype(float)
    floor = np.finfo(pairs.values.dtype).eps * len(matrix) * np.abs(matrix).sum(axis=0).max()
    missed = np.linalg.norm(matrix @ vectors - vectors * values, axis=0)
    return np.where(missed <= floor, 0, missed / np.maximum(np.abs(values), floor))


def check(matrix, pairs, count, tolerance=1e-8):
    """Check the ``count`` leading eigenpairs: residuals, orthonormality, and eigenvalues of a dense solver."""
    assert pairs.vectors.shape == (len(matrix), count)
    assert pairs.values.shape == pairs.residuals.shape == (count,)
    assert (np.diff(pairs.values) <= 0).all()
    assert pairs.residuals.max() <= tolerance
    # The tolerance is doubled, because both the solver and this check make rounding errors.
    assert true_residuals(matrix, pairs).max() <= 2 * tolerance
    assert np.allclose(pairs.vectors.T @ pairs.vectors, np.eye(count), atol=max(20 * tolerance, 1e-10))
    expected = scipy.linalg.eigh(matrix, eigvals_only=True)[::-1][:count]
    assert np.allclose(pairs.values, expected, rtol=max(tolerance, 1e-9), atol=1e-9 * expected[0])


# ---------------------------------------------------------------- spectra

GEOMETRIC = 2.0 ** -np.arange(30)
HARMONIC = 1 / np.arange(1.0, 41)


@methods
def test_geometric_spectrum(method):
    matrix, vectors = matrix_with(GEOMETRIC)
    pairs = solve(matrix, 6, **method)
    check(matrix, pairs, 6)
    assert np.allclose(np.abs(np.sum(pairs.vectors * vectors[:, :6], axis=0)), 1)


@methods
def test_slowly_decaying_spectrum(method):
    matrix, _ = matrix_with(HARMONIC)
    check(matrix, solve(matrix, 5, **method), 5)


@methods
def test_a_coarse_tolerance_is_met_by_every_eigenpair(method):
    # The first pairs are accurate only to the tolerance; their errors must not prevent later pairs from converging.
    matrix, _ = matrix_with(GEOMETRIC)
    check(matrix, solve(matrix, 5, tolerance=1e-3, **method), 5, tolerance=1e-3)


@methods
def test_random_covariance_matches_the_dense_solver(method):
    X = np.random.default_rng(5).standard_normal((40, 20)) * np.linspace(3, 1, 20)
    matrix = X.T @ X / 40
    check(matrix, solve(matrix, 3, tolerance=1e-6, **method), 3, tolerance=1e-6)


def test_single_precision_reaches_its_tolerance_over_a_wide_range():
    matrix, _ = matrix_with(GEOMETRIC)
    pairs = solve(matrix, 10, tolerance=1e-3, dtype=np.float32)
    assert pairs.values.dtype == pairs.vectors.dtype == np.float32
    assert true_residuals(matrix, pairs).max() <= 2e-3
    assert np.allclose(pairs.values, GEOMETRIC[:10], rtol=1e-3)


# A single vector without a polynomial filter needs very many products when the eigenvalue gap is narrow.
@pytest.mark.parametrize("method", [{"block": 4, "degree": 1}, {"block": 1, "degree": 8}, {}])
def test_nearly_equal_eigenvalues_are_separated(method):
    spectrum = np.array([3, 1, 1 - 1e-4, 1 - 2e-4, *0.4 * 0.8 ** np.arange(20)])
    matrix, vectors = matrix_with(spectrum)
    pairs = solve(matrix, 4, **method)
    check(matrix, pairs, 4)
    assert np.allclose(np.abs(np.sum(pairs.vectors * vectors[:, :4], axis=0)), 1, atol=1e-6)


@methods
def test_nearly_equal_eigenvalues_span_the_right_space(method):
    spectrum = np.array([3, 1, 1 - 1e-9, 1 - 2e-9, *0.3 * 0.7 ** np.arange(20)])
    matrix, vectors = matrix_with(spectrum)
    pairs = solve(matrix, 4, tolerance=1e-6, **method)
    check(matrix, pairs, 4, tolerance=1e-6)
    span = vectors[:, :4] @ vectors[:, :4].T
    assert np.allclose(pairs.vectors @ pairs.vectors.T, span, atol=1e-4)


@methods
def test_equal_eigenvalues_get_orthogonal_vectors(method):
    matrix, _ = matrix_with([2.0, 2, 2, 1, 1, 0.1, 0.1, 0.01])
    check(matrix, solve(matrix, 5, **method), 5)
    check(np.eye(6), solve(np.eye(6), 6, **method), 6)


@pytest.mark.parametrize("method", [method for name, method in METHODS.items() if name != "one vector, polynomial"])
@pytest.mark.parametrize("spectrum", [[5, 4, *[3] * 40, *[2] * 30, 1, 0.5], [*[3] * 16, *[2.9] * 40, 1]])
def test_no_copy_of_an_eigenvalue_is_missing(method, spectrum):
    """A block of k vectors finds at most k copies; smaller eigenvalues must not take the places of the others."""
    matrix, _ = matrix_with([float(value) for value in spectrum])
    for count in (17, 43, 50):
        pairs = solve(matrix, count, tolerance=1e-6, **{**method, "max_products": 10_000})
        check(matrix, pairs, count, tolerance=1e-6)


# ---------------------------------------------------------------- all eigenpairs, and more than the rank


@methods
def test_every_eigenpair_of_a_small_matrix(method):
    matrix, _ = matrix_with(GEOMETRIC[:6])
    check(matrix, solve(matrix, 6, **method), 6)


@methods
def test_more_eigenpairs_than_the_rank(method):
    X = np.random.default_rng(0).standard_normal((4, 12)) * np.array([8.0, 4, 2, 1])[:, None]
    matrix = X.T @ X
    pairs = solve(matrix, 7, **method)
    check(matrix, pairs, 7)
    assert np.allclose(pairs.values[4:], 0, atol=1e-9 * pairs.values[0])


@methods
def test_more_eigenpairs_than_the_rank_when_the_rest_is_exactly_zero(method):
    # After deflation the matrix is exactly zero, without rounding errors: no vector may be returned twice.
    matrix = np.diag([3.0, 2, 0, 0, 0])
    pairs = solve(matrix, 4, **method)
    check(matrix, pairs, 4)
    assert np.allclose(pairs.values, [3, 2, 0, 0])


@methods
def test_the_zero_matrix_has_eigenvalues_0(method):
    pairs = solve(np.zeros((4, 4)), 2, **method)
    assert np.array_equal(pairs.values, [0, 0])
    assert np.allclose(pairs.vectors.T @ pairs.vectors, np.eye(2))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_every_eigenpair_of_a_centred_covariance(dtype):
    # If every row has mean 0, the vector of ones is in the null space, so the smallest eigenvalue is 0.
    X = np.random.default_rng(0).standard_normal((9, 9))
    X -= X.mean(axis=1, keepdims=True)
    matrix = X.T @ X / 9
    pairs = solve(matrix, 9, tolerance=1e-3, dtype=dtype)
    expected = np.linalg.eigvalsh(matrix)[::-1]
    assert np.allclose(pairs.values, expected, atol=1e-5 * expected[0])
    assert np.allclose(pairs.vectors.T @ pairs.vectors, np.eye(9), atol=1e-5)


def test_a_matrix_of_one_entry():
    pairs = solve(np.array([[2.5]]), 1)
    assert pairs.values.tolist() == [2.5]
    assert pairs.vectors.tolist() == [[1]]


# ---------------------------------------------------------------- results and reproducibility


@methods
def test_reported_residuals_are_the_true_ones(method):
    matrix, _ = matrix_with(GEOMETRIC)
    pairs = solve(matrix, 5, tolerance=1e-4, **method)
    assert np.allclose(pairs.residuals, true_residuals(matrix, pairs), rtol=0.01, atol=1e-9)


@methods
def test_the_largest_entry_of_a_vector_is_positive(method):
    for seed in range(4):
        pairs = solve(matrix_with(GEOMETRIC, seed)[0], 3, seed=seed, **method)
        largest = np.abs(pairs.vectors).argmax(axis=0)
        assert (pairs.vectors[largest, np.arange(3)] > 0).all()


def test_results_are_reproducible_and_all_seeds_give_the_same_pairs():
    matrix, _ = matrix_with(GEOMETRIC)
    first, again, other = (solve(matrix, 4, seed=seed) for seed in (1, 1, 2))
    assert first.vectors.tobytes() == again.vectors.tobytes()
    assert first.vectors.tobytes() != other.vectors.tobytes()
    assert np.allclose(first.vectors, other.vectors, atol=1e-6)


@pytest.mark.parametrize("method", [{}, {"block": 1, "degree": 1}, {"block": 3, "degree": 2}])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_jobs_do_not_change_one_bit(method, dtype):
    # There are more rows than one slice holds. The product scales each row separately, so slicing has no effect.
    spectrum = 0.5 ** np.minimum(np.arange(9000), 40).astype(dtype)
    one, two, four = (
        power_iteration(
            lambda block: spectrum[:, None] * block,
            len(spectrum),
            3,
            tolerance=1e-3,
            rng=np.random.default_rng(1),
            dtype=dtype,
            workers=Workers(jobs),
            **method,
        )
        for jobs in (1, 2, 4)
    )
    assert np.allclose(one.values, [1, 0.5, 0.25], rtol=1e-3)
    assert one.vectors.tobytes() == two.vectors.tobytes() == four.vectors.tobytes()
    assert one.values.tobytes() == two.values.tobytes() == four.values.tobytes()
    assert one.residuals.tobytes() == two.residuals.tobytes() == four.residuals.tobytes()


def test_the_textbook_method_multiplies_one_vector_at_a_time_and_keeps_no_basis():
    # The matrix is diagonal: n steps shrink the second component by the n-th power of the eigenvalue ratio.
    widths = []

    def product(block):
        widths.append(block.shape[1])
        return np.array([[1.0], [0.5]]) * block

    pairs = power_iteration(product, 2, 1, tolerance=1e-6, rng=np.random.default_rng(1), block=1, degree=1)
    start = np.random.default_rng(1).standard_normal(2)
    steps = len(widths) - 1
    assert set(widths) == {1}
    expected = start * np.array([1, 0.5**steps])
    expected /= np.linalg.norm(expected) * np.sign(expected[0])
    assert np.allclose(pairs.vectors[:, 0], expected, atol=1e-12)
    assert steps > 15


def test_the_default_needs_few_products_if_the_spectrum_decays_slowly():
    # To find 40 of 1500 eigenvalues with small gaps, a single round with a large basis needs fewer products than
    # several rounds with a small basis.
    size, count = 1500, 40
    spectrum = 1 / np.sqrt(np.arange(1.0, size + 1))
    product = lambda block: spectrum[:, None] * block  # noqa: E731
    pairs, restarted = (
        power_iteration(product, size, count, tolerance=1e-3, rng=np.random.default_rng(1), degree=degree)
        for degree in (0, 5)
    )
    assert np.allclose(pairs.values, spectrum[:count], rtol=1e-4)
    assert pairs.vectors_multiplied < 6 * count
    assert restarted.vectors_multiplied > 1.3 * pairs.vectors_multiplied


@pytest.mark.parametrize("method", [{}, {"block": 2, "degree": 50}])
def test_the_number_of_products_is_limited(method):
    calls = []

    def product(block):
        calls.append(block)
        return spectrum[:, None] * block

    spectrum = 1 / np.arange(1.0, 400)
    with pytest.raises(NlptxError, match="components in 7 matrix products"):
        power_iteration(product, 399, 20, tolerance=1e-9, rng=np.random.default_rng(1), max_products=7, **method)
    assert len(calls) == 7


def test_products_count_the_multiplied_vectors():
    columns = []

    def product(block):
        columns.append(block.shape[1])
        return matrix @ block

    matrix, _ = matrix_with(GEOMETRIC)
    pairs = power_iteration(product, 30, 3, tolerance=1e-6, rng=np.random.default_rng(1), block=2, degree=3)
    assert pairs.vectors_multiplied == sum(columns)


def test_progress_never_decreases_and_ends_at_the_total():
    rounds = []
    matrix, _ = matrix_with(HARMONIC)
    solve(matrix, 5, block=2, degree=2, on_round=lambda found, worst: rounds.append((found, worst)))
    found = [number for number, _ in rounds]
    assert found == sorted(found)
    assert rounds[-1] == (5, 0.0)
    assert all(worst > 0 for number, worst in rounds if number < 5)


# ---------------------------------------------------------------- no convergence


def test_no_convergence_reports_progress_and_advice():
    matrix, _ = matrix_with(HARMONIC)
    with pytest.raises(NlptxError, match=r"0 of 3 components.*residual.*1\.0e-12") as caught:
        solve(matrix, 3, tolerance=1e-12, block=1, degree=1, max_products=5)
    assert "`tolerance`" in str(caught.value)
    assert "`max_products`" in str(caught.value)
    assert "leave `block` at 0" in str(caught.value)
    with pytest.raises(NlptxError) as caught:
        solve(matrix, 3, tolerance=1e-12, max_products=1)
    assert caught.value.hint == "Raise `tolerance` or `max_products`, or ask for fewer `components`."


def test_no_convergence_although_all_pairs_so_far_have_converged():
    # The first vector converges in the first round, which uses up all products, so none remain for the other vectors.
    matrix, _ = matrix_with(HARMONIC)
    with pytest.raises(NlptxError, match="of 3 components"):
        solve(matrix, 3, tolerance=1.0, block=1, degree=1, max_products=1)
