"""Splitting a batch into microbatches, for any number of workers, does not change its gradient."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray

from nlptx.ngrams import TextFeatures
from nlptx.nn import Gradients
from nlptx.training.batching import ACCUMULATORS, Microbatch, crop, cut_microbatches
from nlptx.training.gradients import Accumulators, BatchGradient, sum_rows
from nlptx.training.weight_averaging import WeightAverage

WORDS, WIDTH = 50, 3


def texts_of(count: int, longest: int = 600) -> list[NDArray[np.int32]]:
    rng = np.random.default_rng(3)
    return [rng.integers(0, WORDS, rng.integers(1, longest + 1), np.int32) for _ in range(count)]


def microbatches_of(texts: list[NDArray[np.int32]]) -> list[Microbatch]:
    return cut_microbatches(texts, np.arange(len(texts)))


def gradient_of(microbatches: list[Microbatch], world_size: int, frozen: bool = False) -> BatchGradient:
    """Return the gradient of a noisy toy objective, which depends on the words and the generator of each microbatch."""

    def objective(microbatch: Microbatch, grads: Gradients, rng: np.random.Generator) -> tuple[float, int, NDArray]:
        dx = np.sin(microbatch.ids[:, None] + np.arange(1, WIDTH + 1) * rng.random())
        grads.flat += dx.sum(axis=0)
        return float(dx.sum()), len(microbatch.targets), dx

    seeds = np.random.SeedSequence(1).spawn(len(microbatches))
    accumulators = Accumulators(world_size, WIDTH, 0 if frozen else WORDS, WIDTH, np.float64)
    accumulators.flat[...] = np.nan  # as if the previous batch had left wrong values
    return accumulators.sum([accumulators.fill(rank, microbatches, seeds, objective) for rank in range(world_size)])


@pytest.mark.parametrize("count", [1, 2, 7, 32, 64])
def test_microbatches_contain_every_text_once(count: int) -> None:
    texts = texts_of(count)
    microbatches = microbatches_of(texts)
    contents: dict[int, list[int]] = {}
    for microbatch in microbatches:
        parts = np.split(microbatch.ids, np.cumsum(microbatch.lengths)[:-1])
        contents |= {int(target): part.tolist() for target, part in zip(microbatch.targets, parts, strict=True)}
    assert contents == {number: text.tolist() for number, text in enumerate(texts)}
    assert len(microbatches) <= ACCUMULATORS or len(microbatches) % ACCUMULATORS == 0 or len(microbatches) == count


def test_microbatches_of_texts_of_different_lengths_have_about_equally_many_words() -> None:
    texts = [np.zeros(length, np.int32) for length in np.random.default_rng(1).permutation(np.arange(1, 33)) * 10]
    words = [len(microbatch.ids) for microbatch in cut_microbatches(texts, np.arange(len(texts)))]
    assert words == [1320] * 4


@pytest.mark.parametrize(
    ("tokens", "expected"), [(1, 1), (3, 1), (4, 2), (40, 2), (48, 2), (63, 2), (64, 4), (128, 4), (256, 8)]
)
def test_number_of_microbatches_grows_with_the_batch(tokens: int, expected: int) -> None:
    assert len(microbatches_of([np.zeros(tokens, np.int32)] * 32)) == expected


@pytest.mark.parametrize(("count", "microbatches"), [(1, 1), (7, 2), (40, 12)])
def test_a_batch_gradient_is_the_sum_over_its_microbatches_for_any_world_size(count: int, microbatches: int) -> None:
    cut = microbatches_of(texts_of(count, 100 if count == 7 else 600))
    assert len(cut) == microbatches
    one = gradient_of(cut, 1)
    for world_size in (2, 3, ACCUMULATORS):
        more = gradient_of(cut, world_size)
        for name in ("loss", "correct", "flat", "rows", "row_gradient"):
            assert_array_equal(getattr(one, name), getattr(more, name))
    assert one.correct == count
    assert_array_equal(one.rows, np.unique(np.concatenate([microbatch.ids for microbatch in cut])))
    assert_allclose(one.row_gradient.sum(axis=0), one.flat, rtol=1e-12)
    assert one.loss == pytest.approx(one.flat.sum(), rel=1e-12)


def test_frozen_word_vectors_have_no_gradient() -> None:
    microbatches = microbatches_of(texts_of(40))
    frozen, free = gradient_of(microbatches, 2, frozen=True), gradient_of(microbatches, 2)
    assert (frozen.rows.shape, frozen.row_gradient.shape) == ((0,), (0, WIDTH))
    assert_array_equal(frozen.flat, free.flat)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("count", [1, 1000])
def test_gradient_rows_of_the_same_word_are_summed(dtype: type, count: int) -> None:
    rng = np.random.default_rng(1)
    ids, gradient = rng.integers(0, WORDS, count, np.int32), rng.normal(size=(count, WIDTH)).astype(dtype)
    rows, sums = sum_rows(ids, gradient)
    expected = np.zeros((WORDS, WIDTH))
    np.add.at(expected, ids, gradient)
    assert_array_equal(rows, np.unique(ids))
    assert (rows.dtype, sums.dtype) == (ids.dtype, dtype)
    assert_allclose(sums, expected[rows], atol=1e-5 if dtype == np.float32 else 1e-13)


def test_weight_average_moves_towards_the_weights() -> None:
    start = np.random.default_rng(1).normal(size=(7, WIDTH))
    weights, expected = start.copy(), start.copy()
    average = WeightAverage([weights], 0.9)
    for step in range(1, 201):
        weights *= 1.01
        average.step()
        if step % 10 == 0:  # the average is updated at every tenth step
            expected += (1 - min(0.9, step / (step + 9)) ** 10) * (weights - expected)
    assert_allclose(average.averages[0], expected, rtol=1e-12)


def test_a_crop_is_a_run_of_consecutive_words_and_their_features():
    texts = [np.arange(length, dtype=np.int32) for length in (3, 5, 40)]
    features = [TextFeatures(ids[:, None].astype(np.float32), np.ones(1, np.float32)) for ids in texts]
    starts = set()
    for seed in range(200):
        cropped, of_texts = crop(texts, features, 5, np.random.default_rng(seed))
        assert [len(ids) for ids in cropped] == [3, 5, 5]
        assert_array_equal(np.diff(cropped[2]), 1)
        for ids, found in zip(cropped, of_texts, strict=True):
            assert_array_equal(found.token_features[:, 0], ids)
        starts.add(int(cropped[2][0]))
    assert starts == set(range(36))


def test_short_texts_use_no_random_numbers_for_the_crop():
    rng = np.random.default_rng(1)
    crop([np.arange(4)], None, 4, rng)
    assert rng.random() == np.random.default_rng(1).random()
