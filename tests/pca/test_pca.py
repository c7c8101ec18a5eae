"""From counts to word vectors: the results of the entire PCA stage are compared with the dense formula."""

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
from test_operators import dense_ppmi, standardized

from nlptx.artifacts.container import write
from nlptx.cooccurrence.matrix import Cooccurrence, count
from nlptx.errors import DataError, NlptxError
from nlptx.pca.fit import fit_pca
from nlptx.settings import CountSettings, PcaSettings
from nlptx.text.vocabulary import Vocabulary

TRANSFORMS = {"ppmi": lambda x: dense_ppmi(x, 0.75), "log": np.log1p, "none": lambda x: x}


def counts_of(matrix):
    size = len(matrix)
    words = Vocabulary([f"w{n}" for n in range(size)], np.ones(size, np.int64))
    return Cooccurrence(sp.csr_matrix(np.asarray(matrix, float)), words, CountSettings(), {})


@pytest.fixture(scope="module")
def counts():
    """Co-occurrence counts of synthetic texts with a vocabulary of 40 words, some far more frequent than others."""
    rng = np.random.default_rng(0)
    texts = [" ".join(f"w{n}" for n in rng.zipf(1.3, 80) % 40) for _ in range(60)]
    return count(texts, CountSettings(min_count=1, window=3), 1)


def dense_pca(matrix, settings):
    """Return all eigenvalues and the word vectors, computed with the textbook formulas."""
    M = TRANSFORMS[settings.transform](matrix)
    X = standardized(M) if settings.standardize else M
    values, vectors = scipy.linalg.eigh(X.T @ X / len(X))
    values, vectors = values[::-1], vectors[:, ::-1]
    vectors = vectors * np.sign(vectors[np.abs(vectors).argmax(axis=0), np.arange(len(X))])
    R, p = settings.components, settings.eigenvalue_weight
    signs = np.sign(np.einsum("vr,vr->r", vectors, X @ vectors))[:R]
    weights = np.minimum(1, values[int(settings.equalize * R)] / values[:R]) ** (p / 2)
    weights *= np.where(signs < 0, settings.negative_weight, 1)
    return values, X @ vectors[:, :R] * values[:R] ** ((p - 1) / 2) * weights


# ---------------------------------------------------------------- the formula


@pytest.mark.parametrize("weight", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("standardize", [True, False])
@pytest.mark.parametrize("transform", TRANSFORMS)
def test_word_vectors_equal_the_dense_formula(counts, transform, standardize, weight):
    settings = PcaSettings(
        spelling_weight=0,
        components=4,
        transform=transform,
        smoothing=0.75,
        standardize=standardize,
        eigenvalue_weight=weight,
        tolerance=1e-9,
    )
    result = fit_pca(counts, settings, jobs=2)
    values, Y = dense_pca(counts.matrix.toarray(), settings)
    assert np.allclose(result.eigenvalues, values[:4])
    assert np.allclose(result.vectors, Y, rtol=1e-5, atol=1e-5 * np.abs(Y).max())
    assert np.allclose(result.explained, values[:4] / values.sum())


def test_rows_of_an_asymmetric_matrix_are_the_observations(counts, monkeypatch):
    # Smoothing makes the matrix asymmetric. X'X and XX' have the same eigenvalues but different eigenvectors.
    matrix = counts.matrix.toarray()
    settings = PcaSettings(
        components=3, smoothing=0.5, eigenvalue_weight=1.0, negative_weight=1.0, tolerance=1e-9, spelling_weight=0
    )
    vectors = fit_pca(counts, settings, jobs=1).vectors
    X = dense_ppmi(matrix, 0.5)
    monkeypatch.setitem(TRANSFORMS, "ppmi", lambda _: X)
    expected = dense_pca(matrix, settings)[1]
    monkeypatch.setitem(TRANSFORMS, "ppmi", lambda _: X.T)
    transposed = dense_pca(matrix, settings)[1]
    scale = np.abs(expected).max()
    assert np.allclose(vectors, expected, atol=1e-5 * scale)
    assert not np.allclose(vectors, transposed, atol=1e-2 * scale)


@pytest.mark.parametrize("transform", TRANSFORMS)
def test_vectors_of_a_symmetric_matrix_equal_the_dense_formula(counts, transform, monkeypatch):
    # Without smoothing and standardising, X is symmetric, and X'Xb is computed as X(Xb).
    matrix = counts.matrix.toarray()
    settings = PcaSettings(components=4, transform=transform, smoothing=1.0, tolerance=1e-9, spelling_weight=0)
    monkeypatch.setitem(TRANSFORMS, "ppmi", lambda matrix: dense_ppmi(matrix, 1.0))
    result = fit_pca(counts, settings, jobs=2)
    values, Y = dense_pca(matrix, settings)
    assert np.allclose(result.eigenvalues, values[:4])
    assert np.allclose(result.vectors, Y, rtol=1e-5, atol=1e-5 * np.abs(Y).max())


def test_counts_that_are_not_symmetric_are_refused():
    matrix = np.random.default_rng(2).integers(1, 9, (12, 12)).astype(float)
    assert counts_of(matrix + matrix.T)
    with pytest.raises(DataError, match="not symmetric"):
        counts_of(matrix)
    matrix += matrix.T
    matrix[3, 4] += 1
    with pytest.raises(DataError, match="not symmetric"):
        counts_of(matrix)


def test_results_at_the_default_tolerance_are_close_to_the_dense_formula(counts):
    settings = PcaSettings(components=4, smoothing=0.75)
    result = fit_pca(counts, settings, jobs=1)
    values, _ = dense_pca(counts.matrix.toarray(), settings)
    assert np.allclose(result.eigenvalues, values[:4], rtol=1e-3)
    assert result.residuals.max() <= settings.tolerance


@pytest.mark.parametrize("deflation", ["projection", "subtraction"])
@pytest.mark.parametrize("tolerance", [1e-3, 1e-8])
def test_the_textbook_method_gives_the_same_components(counts, deflation, tolerance):
    settings = PcaSettings(
        spelling_weight=0,
        components=3,
        transform="log",
        block=1,
        degree=1,
        deflation=deflation,
        tolerance=tolerance,
        max_products=3000,
        eigenvalue_weight=1.0,
    )
    result = fit_pca(counts, settings, jobs=1)
    values, Y = dense_pca(counts.matrix.toarray(), settings)
    assert np.allclose(result.eigenvalues, values[:3], rtol=10 * tolerance)
    assert np.allclose(result.vectors, Y, atol=max(30 * tolerance, 1e-5) * np.abs(Y).max())


# ---------------------------------------------------------------- options and special cases


def test_weight_1_gives_the_projection_whose_variances_are_the_eigenvalues(counts):
    settings = PcaSettings(components=4, eigenvalue_weight=1.0, negative_weight=1.0, tolerance=1e-9, spelling_weight=0)
    result = fit_pca(counts, settings, jobs=1)
    second_moments = result.vectors.T.astype(float) @ result.vectors / len(result.vectors)
    assert np.allclose(second_moments, np.diag(result.eigenvalues), atol=1e-5 * result.eigenvalues[0])


def test_weight_0_whitens(counts):
    settings = PcaSettings(components=4, eigenvalue_weight=0.0, negative_weight=1.0, tolerance=1e-9, spelling_weight=0)
    result = fit_pca(counts, settings, jobs=1)
    assert np.allclose(result.vectors.T.astype(float) @ result.vectors / len(result.vectors), np.eye(4), atol=1e-5)


def test_normalized_vectors_have_length_1_and_the_same_direction(counts):
    plain, unit = (fit_pca(counts, PcaSettings(components=4, normalize=flag), jobs=1) for flag in (False, True))
    assert np.allclose(np.linalg.norm(unit.vectors, axis=1), 1, atol=1e-5)
    assert np.allclose(unit.vectors, plain.vectors / np.linalg.norm(plain.vectors, axis=1, keepdims=True), atol=1e-5)


@pytest.mark.parametrize("standardize", [True, False])
@pytest.mark.parametrize("transform", TRANSFORMS)
def test_explained_variance_of_all_components_sums_to_1(counts, transform, standardize):
    size = len(counts.vocabulary)
    settings = PcaSettings(components=size, transform=transform, standardize=standardize, max_products=300)
    result = fit_pca(counts, settings, jobs=1)
    assert result.explained.sum() == pytest.approx(1, abs=1e-4)
    assert (np.diff(result.explained) <= 0).all()
    assert result.explained.min() > -1e-6


@pytest.mark.parametrize("weight", [0.0, 0.5, 1.0])
def test_a_component_without_variance_is_zero(weight):
    # Standardised rows are orthogonal to the vector of ones, so the last component has no variance.
    counts = count(["the cat sat on the mat"], CountSettings(window=1, weighting="uniform", min_count=1), 1)
    result = fit_pca(
        counts, PcaSettings(components=5, transform="none", eigenvalue_weight=weight, max_products=500), jobs=1
    )
    assert np.isfinite(result.vectors).all()
    assert result.eigenvalues[-1] == pytest.approx(0, abs=1e-5)
    assert (result.vectors[:, -1] == 0).all()
    assert result.explained.sum() == pytest.approx(1, abs=1e-4)


def test_words_with_the_same_contexts_get_the_same_vector():
    matrix = np.random.default_rng(4).integers(1, 9, (10, 10)).astype(float)
    matrix = matrix + matrix.T
    matrix[7], matrix[:, 7] = matrix[3], matrix[3]
    matrix[7, 7] = matrix[3, 7] = matrix[7, 3] = matrix[3, 3]
    result = fit_pca(counts_of(matrix), PcaSettings(components=5, transform="none"), jobs=1)
    assert np.allclose(result.vectors[7], result.vectors[3], atol=1e-5)


def test_a_word_without_variance_gets_the_zero_vector():
    matrix = np.random.default_rng(3).integers(1, 9, (8, 8)).astype(float)
    matrix = matrix + matrix.T
    matrix[5] = matrix[:, 5] = 0
    for transform in TRANSFORMS:
        result = fit_pca(counts_of(matrix), PcaSettings(components=3, transform=transform, normalize=True), jobs=1)
        assert np.array_equal(result.vectors[5], np.zeros(3))
        assert np.isfinite(result.vectors).all()


# ---------------------------------------------------------------- reproducibility


def artifact_bytes(path, embeddings):
    write(str(path), embeddings.to_artifact())
    return path.read_bytes()


@pytest.mark.parametrize("method", [{}, {"block": 2, "degree": 2}, {"tolerance": 1e-8}])
def test_one_seed_gives_the_same_bytes_for_any_number_of_jobs(tmp_path, counts, method):
    settings = PcaSettings(components=4, **method, max_products=500)
    files = [artifact_bytes(tmp_path / "a.npz", fit_pca(counts, settings, seed=7, jobs=jobs)) for jobs in (1, 1, 2, 5)]
    assert len(set(files)) == 1


def test_another_seed_gives_the_same_components(counts):
    settings = PcaSettings(components=4, tolerance=1e-8, spelling_weight=0)
    one, two = (fit_pca(counts, settings, seed=seed, jobs=1) for seed in (1, 2))
    assert one.vectors.tobytes() != two.vectors.tobytes() or one.seed != two.seed
    assert np.allclose(one.vectors, two.vectors, atol=1e-4)


def test_result_records_its_provenance(counts):
    result = fit_pca(counts, PcaSettings(components=2), seed=5, jobs=1)
    assert result.vectors.dtype == np.float32
    assert result.eigenvalues.dtype == result.residuals.dtype == result.explained.dtype == np.float64
    assert result.vocabulary is counts.vocabulary
    assert result.made_from == counts.to_artifact().header
    assert result.settings == PcaSettings(components=2).to_dict()
    assert result.seed == 5


# ---------------------------------------------------------------- errors


def test_more_components_than_words(counts):
    size = len(counts.vocabulary)
    with pytest.raises(DataError, match=rf"{size + 1} components.*{size} words") as caught:
        fit_pca(counts, PcaSettings(components=size + 1), jobs=1)
    assert f"Set `components` to {size}" in str(caught.value)


@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("matrix", [np.zeros((3, 3)), np.ones((3, 3))], ids=["no pairs", "all equal"])
def test_counts_without_any_variance(matrix, transform):
    with pytest.raises(DataError):
        fit_pca(counts_of(matrix), PcaSettings(components=2, transform=transform, standardize=True), jobs=1)


def test_no_convergence_is_an_error_with_advice(counts):
    with pytest.raises(NlptxError, match="of 4 components") as caught:
        fit_pca(counts, PcaSettings(components=4, block=1, degree=1, tolerance=1e-10, max_products=3), jobs=1)
    assert "`tolerance`" in str(caught.value)


def test_the_default_number_of_components_is_lowered_to_the_number_of_words():
    counts = count(["a good film", "a bad film"], CountSettings(min_count=1))
    notes = []
    assert fit_pca(counts, on_note=notes.append).vectors.shape == (4, 4)
    assert notes == ["the vocabulary has only 4 words, so their vectors have 4 components"]
    with pytest.raises(DataError, match="99 components were requested"):
        fit_pca(counts, PcaSettings(components=99))
    notes.clear()
    one_word = counts_of([[2.0]])
    assert fit_pca(one_word, PcaSettings(transform="log"), on_note=notes.append).vectors.shape == (1, 1)
    assert notes == ["the vocabulary has only 1 word, so its vector has 1 component"]
    with pytest.raises(DataError, match="has only 1 word\n"):
        fit_pca(one_word, PcaSettings(components=2))


@pytest.mark.parametrize(("text", "hint"), [("good good good", "`transform=log`"), ("good", "several words")])
def test_without_anything_to_analyse_the_hint_depends_on_the_reason(text, hint):
    with pytest.raises(DataError, match="nothing to analyse") as caught:
        fit_pca(count([text], CountSettings(min_count=1)))
    assert hint in caught.value.hint


@pytest.mark.parametrize(
    ("settings", "hint"),
    [
        ({}, "Count more text, or use `transform=log`."),
        ({"standardize": True}, "Count more text, or omit `standardize`, or use `transform=log`."),
        ({"standardize": True, "transform": "log"}, "Count more text, or omit `standardize`."),
    ],
    ids=["ppmi", "standardized-ppmi", "standardized-log"],
)
def test_the_hint_about_zeros_depends_on_the_settings(settings, hint):
    with pytest.raises(DataError, match="all transformed counts are 0") as raised:
        fit_pca(counts_of(np.ones((3, 3))), PcaSettings(components=2, **settings))
    assert raised.value.hint == hint


def test_no_eigenvalue_is_negative():
    matrix = np.ones((6, 6))
    matrix[:3, :3] = 3
    embeddings = fit_pca(counts_of(matrix), PcaSettings(components=6, transform="none"))
    assert not np.signbit([*embeddings.eigenvalues, *embeddings.explained]).any()
