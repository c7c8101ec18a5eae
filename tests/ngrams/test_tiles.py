"""Products with X X' that are computed in tiles equal dense products, for any shape of X and any number of workers."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from nlptx.ngrams import tiles
from nlptx.ngrams.tiles import Tiles
from nlptx.runtime.workers import Workers

RNG = np.random.default_rng(1)


def random_rows(texts, grams, share=0.3):
    dense = RNG.random((texts, grams), np.float32) * (RNG.random((texts, grams)) < share)
    dense[texts // 2] = 0  # a text without n-grams
    return sp.csr_matrix(dense)


@pytest.mark.parametrize("entries", [1, 40, 1 << 14])
@pytest.mark.parametrize("shape", [(50, 70), (200, 9), (3, 100), (1, 1), (9, 200)])
def test_products_equal_those_of_the_whole_matrix(shape, entries, monkeypatch):
    monkeypatch.setattr(tiles, "_TILE_ENTRIES", entries)
    rows, block = random_rows(*shape), RNG.standard_normal((shape[0], 4)).astype(np.float32)
    product = Tiles(rows, Workers(1)).gram(block)
    assert product.dtype == np.float32
    dense = rows.toarray()
    assert_allclose(product, dense @ (dense.T @ block), rtol=1e-4, atol=1e-4)


def test_the_number_of_workers_changes_no_bit(monkeypatch):
    monkeypatch.setattr(tiles, "_TILE_ENTRIES", 10)
    rows, block = random_rows(90, 60), RNG.standard_normal((90, 5)).astype(np.float32)
    one, three = (Tiles(rows, Workers(jobs)).gram(block) for jobs in (1, 3))
    assert_array_equal(one, three)


def test_slices_have_about_the_same_number_of_entries():
    entries = RNG.integers(0, 10, 1000)
    slices = tiles._slices_of_equal_weight(entries, 8)
    assert [part.start for part in slices] == [0, *(part.stop for part in slices[:-1])]
    assert slices[-1].stop == 1000
    sizes = [entries[part].sum() for part in slices]
    assert max(sizes) - min(sizes) < 25
