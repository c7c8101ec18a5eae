"""Products of tall matrices in threads agree with the formula, and are identical to those in a single thread."""

import numpy as np
import pytest

from nlptx.pca.row_blocks import by_rows, inner, row_slices
from nlptx.runtime.workers import Workers

# Numbers of rows: fewer than a slice has, exactly one slice, one row more, and several slices.
ROWS = [0, 1, 7, 4096, 4097, 10_000]


def tall(rows, columns, seed=0):
    return np.random.default_rng(seed).standard_normal((rows, columns)).astype(np.float32)


@pytest.mark.parametrize("rows", ROWS)
def test_slices_contain_every_row_exactly_once(rows):
    indices = np.arange(rows)
    assert np.array_equal(np.concatenate([indices[part] for part in row_slices(rows)] or [indices]), indices)


@pytest.mark.parametrize("rows", ROWS)
def test_inner_equals_the_product_with_the_transpose(rows):
    a, b = tall(rows, 3), tall(rows, 2, seed=1)
    actual = inner(a, b, Workers(2))
    assert actual.dtype == np.float64
    assert np.allclose(actual, a.T.astype(float) @ b, atol=1e-3)


@pytest.mark.parametrize("rows", ROWS)
def test_by_rows_stacks_the_results_of_the_slices(rows):
    a, turn = tall(rows, 3), tall(3, 2, seed=1)
    actual = by_rows(lambda part: a[part] @ turn, a, 2, Workers(2))
    assert actual.shape == (rows, 2)
    assert actual.dtype == np.float32
    assert np.allclose(actual, a @ turn, atol=1e-5)


@pytest.mark.parametrize("jobs", [2, 4, 50])
def test_jobs_do_not_change_one_bit(jobs):
    a, b = tall(20_000, 5), tall(20_000, 4, seed=1)
    assert inner(a, b, Workers(1)).tobytes() == inner(a, b, Workers(jobs)).tobytes()
    one, many = (by_rows(lambda rows: np.exp(a[rows]), a, 5, Workers(n)) for n in (1, jobs))
    assert one.tobytes() == many.tobytes()
