"""Rows 2 to 6 of the table in tests/method/README.md: from counts to word vectors.

More detailed tests are in tests/pca/.
"""

import math
import tracemalloc
from functools import cache

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
from reviews import make_reviews

import nlptx
from nlptx.errors import NlptxError
from nlptx.pca.operators import RowOperator
from nlptx.pca.transform import transform
from nlptx.settings import CountSettings, PcaSettings
from nlptx.text.vocabulary import Vocabulary

# Settings of the textbook power iteration: one vector at a time, with deflation by subtraction from the matrix.
TEXTBOOK_SCALE = {"eigenvalue_weight": 1.0, "equalize": 0.0, "negative_weight": 1.0, "spelling_weight": 0.0}
SLOW = {**TEXTBOOK_SCALE, "block": 1, "degree": 1, "deflation": "subtraction"}
FAST = {"block": 0, "degree": 0, "deflation": "projection"}
# Settings of the textbook power iteration with standardised rows and without PPMI.
ARTICLE = {"transform": "none", "standardize": True, **SLOW}
# Three settings: the rows of the matrix X are standardised counts, standardised PPMI, and PPMI, in this order.
VARIANTS = {"taught": ARTICLE | FAST, "both": {"smoothing": 0.75, "standardize": True}, "default": {}}
SPECTRUM = np.array([1, 0.97, 0.6, 0.58, 0.3, 0.2, 0.1, 0.05])


@cache
def counts():
    texts, _ = make_reviews(80, plain_words=24)
    return nlptx.count(texts, CountSettings(min_count=2), 1)


def counts_with_spectrum(eigenvalues):
    """Return diagonal counts whose covariance, without PPMI and standardising, has these eigenvalues."""
    size = len(eigenvalues)
    matrix = sp.csr_matrix(np.diag(np.sqrt(size * eigenvalues)))
    words = Vocabulary([f"w{i}" for i in range(size)], np.ones(size, np.int64))
    return nlptx.Cooccurrence(matrix, words, CountSettings(), {})


def fit(counts, components, **settings):
    return nlptx.fit_pca(
        counts, PcaSettings(components, **{"tolerance": 1e-9, "spelling_weight": 0} | settings), jobs=1
    )


def standardised(matrix):
    """Return the rows minus their means, divided by their standard deviations."""
    rows = []
    for row in matrix:
        mean = math.fsum(row) / len(row)
        deviation = math.sqrt(math.fsum((value - mean) ** 2 for value in row) / len(row))
        rows.append([(value - mean) / deviation for value in row])
    return np.array(rows)


def ppmi(matrix, smoothing):
    """Return the PPMI matrix with context smoothing, computed one entry at a time."""
    words, contexts = matrix.sum(axis=1), matrix.sum(axis=0) ** smoothing
    result = np.zeros_like(matrix)
    for w, c in np.argwhere(matrix > 0):
        joint = matrix[w, c] / matrix.sum()
        independent = words[w] / matrix.sum() * contexts[c] / contexts.sum()
        result[w, c] = max(0.0, math.log(joint / independent))
    return result


@cache
def dense_x(variant):
    matrix = counts().matrix.toarray()
    variants = {
        "taught": lambda: standardised(matrix),
        "both": lambda: standardised(ppmi(matrix, 0.75)),
        "default": lambda: ppmi(matrix, 1),
    }
    return variants[variant]()


def eigen(matrix):
    values, vectors = scipy.linalg.eigh(matrix)
    return values[::-1], vectors[:, ::-1]


def same_up_to_sign(actual, expected, tolerance=1e-4):
    signs = np.sign((actual * expected).sum(axis=0))
    return np.abs(actual * signs - expected).max() < tolerance * np.abs(expected).max()


def x_rows(settings):
    """Return X as a linear operator."""
    pca_settings = PcaSettings(**settings)
    matrix = transform(counts().matrix, pca_settings.transform, pca_settings.smoothing)
    return RowOperator.of(matrix, pca_settings.standardize, np.float64)


@pytest.mark.parametrize("variant", VARIANTS)
def test_row_02_standardise(variant):
    assert (PcaSettings().transform, PcaSettings().smoothing, PcaSettings().standardize) == ("ppmi", 1.0, False)
    X = dense_x(variant)
    size = len(X)
    rows = x_rows(VARIANTS[variant])
    assert np.allclose(rows.forward(np.eye(size)), X, atol=1e-12)
    assert np.allclose(rows.transposed(np.eye(size)), X.T, atol=1e-12)


@pytest.mark.parametrize("settings", VARIANTS.values(), ids=VARIANTS)
def test_row_02_standardise_never_densifies(settings):
    rng = np.random.default_rng(0)
    words = 3000
    large = nlptx.count((" ".join(f"w{n}" for n in rng.integers(words, size=30)) for _ in range(400)), _ALL, 1)
    tracemalloc.start()
    try:
        nlptx.fit_pca(large, PcaSettings(2, tolerance=0.1, **settings), jobs=1)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < len(large.vocabulary) ** 2  # a dense matrix takes 4 or 8 bytes per entry


_ALL = CountSettings(min_count=1)


@pytest.mark.parametrize("variant", VARIANTS)
def test_row_03_covariance(variant):
    X = dense_x(variant)
    C = sum(np.outer(x, x) for x in X) / len(X)
    result = fit(counts(), 6, **VARIANTS[variant])
    assert np.allclose(result.eigenvalues, eigen(C)[0][:6], rtol=1e-7)
    rows = x_rows(VARIANTS[variant])
    assert np.allclose(rows.moments(np.eye(len(X))), C, atol=1e-12)


@pytest.mark.parametrize(
    "settings",
    [ARTICLE, ARTICLE | {"deflation": "projection"}, {}],
    ids=["article", "as_taught_with_projection", "default"],
)
def test_row_04_power_iteration(settings):
    variant = "taught" if settings else "default"
    X = dense_x(variant)
    C = X.T @ X / len(X)
    result = fit(counts(), 4, **settings)
    values, vectors = eigen(C)
    assert np.allclose(result.eigenvalues, values[:4], rtol=1e-7)
    weight = PcaSettings(4, **settings).eigenvalue_weight
    assert same_up_to_sign(result.vectors, X @ vectors[:, :4] * values[:4] ** ((weight - 1) / 2))
    assert (result.residuals <= 1e-9).all()


def test_row_04_power_iteration_as_taught_equals_the_textbook_loop():
    X = dense_x("taught")
    A = X.T @ X / len(X)
    v = np.random.default_rng(5).normal(size=len(A))
    while np.linalg.norm(A @ v - (v @ A @ v) * v) > 1e-10 * (v @ A @ v):
        v = A @ v / np.linalg.norm(A @ v)
    result = fit(counts(), 1, **ARTICLE)
    assert result.eigenvalues[0] == pytest.approx(v @ A @ v, rel=1e-8)
    assert same_up_to_sign(result.vectors, (X @ v)[:, None])


def test_row_04_power_iteration_starts_from_a_random_vector():
    first, again, other = (
        nlptx.fit_pca(counts(), PcaSettings(2, **ARTICLE), seed=seed, jobs=1).vectors for seed in (1, 1, 2)
    )
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)
    assert np.allclose(first, other, atol=0.05 * np.abs(first).max())


def test_row_04_power_iteration_default_needs_fewer_products():
    slow = counts_with_spectrum(np.linspace(1, 0.05, 20))
    taught, default = (fit(slow, 5, transform="none", **SLOW | more) for more in ({}, FAST))
    assert np.allclose(taught.eigenvalues, default.eigenvalues, rtol=1e-7)
    assert default.details["products"] < taught.details["products"] / 4


@pytest.mark.parametrize("settings", [SLOW, SLOW | FAST], ids=["article", "default"])
def test_fault_ten_fixed_iterations(settings):
    slow = counts_with_spectrum(SPECTRUM)
    for tolerance in (1e-2, 1e-6):
        result = fit(slow, 4, transform="none", **settings | {"tolerance": tolerance})
        V = result.vectors / np.sqrt(8 * SPECTRUM)[:, None]
        V /= np.linalg.norm(V, axis=0)
        residuals = np.linalg.norm(SPECTRUM[:, None] * V - V * result.eigenvalues, axis=0) / result.eigenvalues
        assert (residuals <= tolerance + 1e-6).all()  # the vectors are stored in float32
    assert np.allclose(result.eigenvalues, SPECTRUM[:4], rtol=1e-6)


def test_fault_ten_fixed_iterations_are_never_reported_as_converged():
    # 0.97^10 is 0.74, so after ten steps most of the second eigenvector is still present in the iterate.
    with pytest.raises(NlptxError, match="found 0 of 1 components"):
        fit(counts_with_spectrum(SPECTRUM), 1, transform="none", **SLOW, max_products=10)
    assert fit(counts_with_spectrum(SPECTRUM), 1, transform="none", **SLOW).details["products"] > 100


@pytest.mark.parametrize("settings", [ARTICLE, {}], ids=["article", "default"])
def test_row_05_deflation(settings):
    assert PcaSettings().deflation == "projection"
    X = dense_x("taught" if settings else "default")
    A = X.T @ X / len(X)
    result = fit(counts(), 5, **settings | TEXTBOOK_SCALE)
    Y = []
    for _ in range(5):
        values, vectors = eigen(A)
        Y.append(X @ vectors[:, 0])
        A = A - values[0] * np.outer(vectors[:, 0], vectors[:, 0])
    assert same_up_to_sign(result.vectors, np.array(Y).T)
    inner = result.vectors.T.astype(float) @ result.vectors / len(X)
    assert np.allclose(inner, np.diag(result.eigenvalues), atol=1e-5 * inner.max())


@pytest.mark.parametrize("variant", VARIANTS)
def test_row_06_transform(variant):
    X = dense_x(variant)
    values, V = eigen(X.T @ X / len(X))
    result = fit(counts(), 6, **VARIANTS[variant])
    scale = (
        1 if variant == "taught" else values[:6] ** -0.25
    )  # the default weight 0.5 divides by the fourth root of the eigenvalue
    assert same_up_to_sign(result.unweighted(), X @ V[:, :6] * scale)
    assert (variant == "taught") == np.array_equal(result.unweighted(), result.vectors)
    assert (np.diff(result.eigenvalues) <= 0).all()
    assert np.allclose(result.explained, values[:6] / np.trace(X.T @ X / len(X)), rtol=1e-6)


def test_row_06_transform_options():
    assert (PcaSettings().eigenvalue_weight, PcaSettings().normalize) == (0.5, False)
    plain, unit, white = (fit(counts(), 6, **more) for more in ({}, {"normalize": True}, {"eigenvalue_weight": 0.0}))
    lengths = np.linalg.norm(plain.vectors, axis=1, keepdims=True)
    assert np.allclose(unit.vectors, plain.vectors / lengths, atol=1e-5)
    assert np.allclose(white.vectors, plain.vectors * plain.eigenvalues**-0.25, rtol=1e-4, atol=1e-4)


# The default settings are not tested: their X is symmetric, so X^T X and X X^T are the same.
@pytest.mark.parametrize("variant", ["taught", "both"])
def test_fault_eigenvectors_of_m_m_transposed(variant):
    X = dense_x(variant)
    right, wrong = eigen(X.T @ X)[1][:, :3], eigen(X @ X.T)[1][:, :3]
    result = fit(counts(), 3, **VARIANTS[variant] | TEXTBOOK_SCALE)
    assert same_up_to_sign(result.vectors, X @ right)
    assert not same_up_to_sign(result.vectors, X @ wrong, 0.1)
