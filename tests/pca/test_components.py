"""Which eigenpairs become components of the word vectors, and how they are scaled, against the dense formulas."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_pca import artifact_bytes, counts_of

from nlptx.cooccurrence.matrix import count
from nlptx.pca.components import chosen, pairs_to_find, scales
from nlptx.pca.fit import fit_pca
from nlptx.settings import CountSettings, PcaSettings


@pytest.fixture(scope="module")
def counts():
    """Counts over synthetic texts with a vocabulary of 60 words."""
    rng = np.random.default_rng(3)
    texts = [" ".join(f"w{n}" for n in rng.zipf(1.2, 80) % 60) for _ in range(60)]
    return count(texts, CountSettings(min_count=1, window=3), 1)


def symmetric_components(matrix, components, spare, equalize, weight):
    """Return the squares of the eigenvalues of a symmetric X, and the word vectors, from the eigenpairs of X itself."""
    values, vectors = np.linalg.eigh(matrix)
    order = np.argsort(-np.abs(values))[: components + spare]
    values, vectors = values[order], vectors[:, order]
    negative = np.flatnonzero(values < 0)
    left_out = negative[max(0, len(negative) - spare) :]
    kept = [n for n in range(len(values)) if n not in left_out][:components]
    squares = values[kept] ** 2 / len(matrix)
    size = np.minimum(squares, squares[int(equalize * components)]) ** (weight / 2) * np.sqrt(len(matrix))
    return squares, np.sign(values[kept]) * vectors[:, kept] * size


@pytest.mark.parametrize("weight", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("equalize", [0.0, 0.15, 0.5])
def test_word_vectors_equal_those_from_the_eigenpairs_of_the_symmetric_matrix(equalize, weight):
    rng = np.random.default_rng(0)
    basis = np.linalg.qr(rng.normal(size=(40, 40)))[0]
    spectrum = 0.9 ** np.arange(40.0) * np.where(np.isin(np.arange(40), [1, 4, 9]), -1, 1)
    matrix = (basis * spectrum) @ basis.T
    settings = PcaSettings(
        components=16, transform="none", equalize=equalize, eigenvalue_weight=weight, tolerance=1e-9, max_products=500
    )
    result = fit_pca(counts_of(matrix), settings, jobs=1)
    squares, expected = symmetric_components(matrix, 16, 2, equalize, weight)
    assert np.allclose(result.eigenvalues, squares)
    assert np.allclose(np.abs(result.vectors), np.abs(expected), atol=1e-5)
    assert np.allclose(result.explained, squares / (spectrum**2 / 40).sum())
    assert len(result.residuals) == 16


def test_components_with_negative_eigenvalues_are_replaced_by_the_next_positive_ones(counts):
    both, positive = (
        fit_pca(counts, PcaSettings(components=16, eigenvalue_signs=signs, equalize=0.0, tolerance=1e-9), jobs=1)
        for signs in ("both", "positive")
    )
    kept = np.isclose(positive.eigenvalues[:, None], both.eigenvalues, rtol=1e-7).any(axis=1)
    assert 0 < (~kept).sum() <= 2  # the spare components
    assert kept[:10].all()
    assert (np.diff(positive.eigenvalues) <= 0).all()
    assert positive.explained.sum() < both.explained.sum()


def test_without_spare_eigenpairs_all_components_are_kept(counts):
    results = [fit_pca(counts, PcaSettings(components=7, eigenvalue_signs=s), jobs=1) for s in ("positive", "both")]
    assert np.array_equal(*(result.vectors for result in results))


@given(st.integers(1, 300), st.integers(0, 300))
def test_number_of_eigenpairs_to_find(components, others):
    words = components + others
    assert components <= pairs_to_find(words, components, "positive") <= words
    assert pairs_to_find(words, components, "both") == components
    assert pairs_to_find(10**6, components, "positive") == components + components // 8


@given(st.lists(st.sampled_from([-1.0, 1.0]), min_size=1, max_size=30), st.data())
def test_the_first_positive_pairs_are_chosen_and_then_the_first_negative_ones(signs, data):
    components = data.draw(st.integers(1, len(signs)))
    directions = np.eye(len(signs))
    kept = chosen(directions, directions * signs, components)
    positive = [n for n, sign in enumerate(signs) if sign > 0]
    negative = [n for n, sign in enumerate(signs) if sign < 0]
    assert kept.tolist() == sorted((positive + negative)[:components])


@pytest.mark.parametrize("weight", [0.0, 0.5, 1.0])
def test_scales(weight):
    values = np.array([16.0, 8.0, 4.0, 2.0, 0.0])
    sizes = scales(values, weight, 0.4) * np.sqrt(values)  # root mean squares of the columns
    assert np.allclose(sizes, [*[4.0 ** (weight / 2)] * 3, 2.0 ** (weight / 2), 0])
    assert np.allclose(scales(values, weight, 0.0)[:4], values[:4] ** ((weight - 1) / 2))
    assert np.allclose(scales(values[:4], weight, 1.0) * np.sqrt(values[:4]), 2.0 ** (weight / 2))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_scales_keep_the_dtype(dtype):
    assert scales(np.array([2, 1], dtype), 0.5, 0.5).dtype == dtype


def test_the_same_bytes_for_any_number_of_jobs(tmp_path, counts):
    settings = PcaSettings(components=24)
    files = [artifact_bytes(tmp_path / "a.npz", fit_pca(counts, settings, jobs=jobs)) for jobs in (1, 2, 5)]
    assert len(set(files)) == 1


def test_progress_counts_only_the_components(counts):
    calls = []
    fit_pca(counts, PcaSettings(components=16), jobs=1, on_round=lambda found, _: calls.append(found))
    assert calls
    assert max(calls) == 16
