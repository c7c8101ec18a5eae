"""The factors of components and their weights for cosines are compared with dense formulas."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_pca import artifact_bytes, counts_of

from nlptx.cooccurrence.matrix import count
from nlptx.embeddings.embeddings import Embeddings
from nlptx.errors import CorruptError
from nlptx.pca.component_weights import cosine_weights, eigenvalue_factors
from nlptx.pca.fit import fit_pca
from nlptx.settings import CountSettings, PcaSettings

PLAIN = {"equalize": 0.0, "negative_weight": 1.0}


@pytest.fixture(scope="module")
def counts():
    """Co-occurrence counts of synthetic texts with a vocabulary of 60 words."""
    rng = np.random.default_rng(3)
    texts = [" ".join(f"w{n}" for n in rng.zipf(1.2, 80) % 60) for _ in range(60)]
    return count(texts, CountSettings(min_count=1, window=3), 1)


def test_the_number_of_equalized_components_is_rounded_down_exactly():
    squares = np.linspace(2, 1, 100)
    weights = cosine_weights(squares, np.ones((1, 100)), np.ones((1, 100)), 1.0, 0.29, 1.0)
    assert (weights * np.sqrt(squares))[[0, 29]] == pytest.approx(np.sqrt(squares[29]))  # 0.29 * 100 < 29


def test_components_without_an_eigenvalue_do_not_prevent_equal_scales():
    squares = np.array([8.0, 4.0, 2.0, 0.0, 0.0])
    weights = cosine_weights(squares, np.ones((1, 5)), np.ones((1, 5)), 1.0, 1.0, 1.0)
    assert (weights * np.sqrt(squares))[:3] == pytest.approx(np.sqrt(2))


@pytest.mark.parametrize("weight", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("equalize", [0.0, 0.15, 1.0])
def test_word_vectors_equal_those_from_the_eigenpairs_of_the_symmetric_matrix(equalize, weight):
    rng = np.random.default_rng(0)
    basis = np.linalg.qr(rng.normal(size=(40, 40)))[0]
    spectrum = 0.9 ** np.arange(40.0) * np.where(np.isin(np.arange(40), [1, 4, 9]), -1, 1)
    matrix = (basis * spectrum) @ basis.T
    settings = PcaSettings(
        components=16,
        transform="none",
        equalize=equalize,
        negative_weight=0.3,
        eigenvalue_weight=weight,
        tolerance=1e-9,
        spelling_weight=0,
    )
    result = fit_pca(counts_of(matrix), settings, jobs=1)
    squares = spectrum[:16] ** 2 / 40
    size = np.minimum(squares, squares[min(15, int(equalize * 16))]) ** (weight / 2) * np.sqrt(40)
    size[[1, 4, 9]] *= 0.3
    assert np.allclose(result.eigenvalues, squares)
    assert np.allclose(np.abs(result.vectors), np.abs(basis[:, :16] * size), atol=1e-5)


@pytest.mark.parametrize("options", [{}, {"equalize": 0.5, "negative_weight": 0.1}, {"eigenvalue_weight": 1.0}])
def test_training_starts_from_the_vectors_without_weights(counts, options):
    result = fit_pca(counts, PcaSettings(components=16, spelling_weight=0, **options), jobs=1)
    plain = fit_pca(counts, PcaSettings(components=16, spelling_weight=0, **options | PLAIN), jobs=1)
    assert (result.column_weights > 0).all()
    assert (result.column_weights < 1).sum() >= 2  # the first components, and those with negative eigenvalues
    assert (plain.column_weights == 1).all()
    assert not np.allclose(result.vectors, plain.vectors, rtol=0.01)
    assert result.unweighted().dtype == np.float32
    assert np.allclose(result.unweighted(), plain.vectors, rtol=1e-5, atol=1e-6)


@given(st.lists(st.sampled_from([-1.0, 1.0]), min_size=1, max_size=30), st.floats(0, 1), st.floats(0.01, 1))
def test_only_negative_components_get_the_negative_weight(signs, equalize, negative_weight):
    directions, values = np.eye(len(signs)), np.ones(len(signs))
    weights = cosine_weights(values, directions, directions * signs, 0.5, equalize, negative_weight)
    assert weights.tolist() == [1 if sign > 0 else negative_weight for sign in signs]


@pytest.mark.parametrize("weight", [0.0, 0.5, 1.0])
def test_the_first_components_have_the_same_mean_square(weight):
    values = np.array([16.0, 8.0, 4.0, 2.0, 0.0])
    weights = cosine_weights(values, np.eye(5), np.eye(5), weight, 0.4, 1)
    sizes = eigenvalue_factors(values, weight) * weights * np.sqrt(values)  # root mean squares of the columns
    assert np.allclose(sizes, [*[4.0 ** (weight / 2)] * 3, 2.0 ** (weight / 2), 0])
    assert (weights > 0).all()
    assert (cosine_weights(values, np.eye(5), np.eye(5), weight, 0.0, 1) == 1).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_scales_keep_the_dtype(dtype):
    assert eigenvalue_factors(np.array([2, 1], dtype), 0.5).dtype == dtype


def test_the_same_bytes_for_any_number_of_jobs(tmp_path, counts):
    settings = PcaSettings(components=24)
    files = [artifact_bytes(tmp_path / "a.npz", fit_pca(counts, settings, jobs=jobs)) for jobs in (1, 2, 5)]
    assert len(set(files)) == 1


def test_weights_are_stored_and_older_artifacts_have_none(counts):
    artifact = fit_pca(counts, PcaSettings(components=16), jobs=1).to_artifact()
    again = Embeddings.from_artifact(artifact)
    assert np.array_equal(again.column_weights, artifact.arrays["column_weights"])
    del artifact.arrays["column_weights"]
    older = Embeddings.from_artifact(artifact)
    assert np.array_equal(older.unweighted(), older.vectors)


@pytest.mark.parametrize("weights", [np.zeros(16), np.ones(3), np.full(16, np.nan)])
def test_impossible_weights_are_rejected(counts, weights):
    artifact = fit_pca(counts, PcaSettings(components=16), jobs=1).to_artifact()
    artifact.arrays["column_weights"] = weights
    with pytest.raises(CorruptError, match="column"):
        Embeddings.from_artifact(artifact)
