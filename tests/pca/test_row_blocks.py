"""Tall products in threads, against the plain formula, and bit by bit against one thread."""

import numpy as np
import pytest

from nlptx.pca.row_blocks import by_rows, inner, row_slices
from nlptx.runtime.workers import Workers

# Less than a slice, exactly one, a row more, and several.
ROWS = [0, 1, 7, 4096, 4097, 10_000]


def tall(rows, columns, seed=0):
    return np.random.default_rng(seed).standard_normal((rows, columns)).astype(np.float32)


@pytest.mark.parametrize("rows", ROWS)
def test_slices_hold_every_row_once(rows):
    places = np.arange(rows)
    assert np.array_equal(np.concatenate([places[part] for part in row_slices(rows)] or [places]), places)


@pytest.mark.parametrize("rows", ROWS)
def test_inner_is_the_product_of_the_transpose(rows):
    a, b = tall(rows, 3), tall(rows, 2, seed=1)
    found = inner(a, b, Workers(2))
    assert found.dtype == np.float64
    assert np.allclose(found, a.T.astype(float) @ b, atol=1e-3)


@pytest.mark.parametrize("rows", ROWS)
def test_by_rows_stacks_what_every_slice_gives(rows):
    a, turn = tall(rows, 3), tall(3, 2, seed=1)
    found = by_rows(lambda part: a[part] @ turn, a, 2, Workers(2))
    assert found.shape == (rows, 2)
    assert found.dtype == np.float32
    assert np.allclose(found, a @ turn, atol=1e-5)


@pytest.mark.parametrize("jobs", [2, 4, 50])
def test_jobs_do_not_change_one_bit(jobs):
    a, b = tall(20_000, 5), tall(20_000, 4, seed=1)
    assert inner(a, b, Workers(1)).tobytes() == inner(a, b, Workers(jobs)).tobytes()
    one, many = (by_rows(lambda rows: np.exp(a[rows]), a, 5, Workers(n)) for n in (1, jobs))
    assert one.tobytes() == many.tobytes()
