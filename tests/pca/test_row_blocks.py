"""Tall products in threads, against the plain formula, and bit by bit against one thread."""

import threading

import numpy as np
import pytest

from nlptx.pca.row_blocks import by_rows, inner, row_slices
from nlptx.runtime.parallel import in_order

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
    found = inner(a, b, 2)
    assert found.dtype == np.float64
    assert np.allclose(found, a.T.astype(float) @ b, atol=1e-3)


@pytest.mark.parametrize("rows", ROWS)
def test_by_rows_stacks_what_every_slice_gives(rows):
    a, turn = tall(rows, 3), tall(3, 2, seed=1)
    found = by_rows(lambda part: a[part] @ turn, a, 2, 2)
    assert found.shape == (rows, 2)
    assert found.dtype == np.float32
    assert np.allclose(found, a @ turn, atol=1e-5)


@pytest.mark.parametrize("jobs", [2, 4, 50])
def test_jobs_do_not_change_one_bit(jobs):
    a, b = tall(20_000, 5), tall(20_000, 4, seed=1)
    assert inner(a, b, 1).tobytes() == inner(a, b, jobs).tobytes()
    one, many = (by_rows(lambda rows: np.exp(a[rows]), a, 5, n) for n in (1, jobs))
    assert one.tobytes() == many.tobytes()


@pytest.mark.parametrize("jobs", [1, 3])
def test_results_come_in_the_order_of_the_parts(jobs):
    # The first part waits for the last, so with threads it ends later.
    last = threading.Event()

    def work(part):
        if jobs > 1 and part == 0:
            last.wait(10)
        if part == 2:
            last.set()
        return part

    assert list(in_order(work, [0, 1, 2], jobs)) == [0, 1, 2]


@pytest.mark.parametrize("jobs", [1, 2])
def test_no_thread_is_left_and_no_error_swallowed(jobs):
    def work(part):
        if part == 1:
            raise ZeroDivisionError
        return part

    before = threading.active_count()
    with pytest.raises(ZeroDivisionError):
        list(in_order(work, [0, 1, 2], jobs))
    assert threading.active_count() == before
