"""Trains the region classifier by gradient descent.

The word weights are updated by Adagrad (Duchi et al. 2011). The learning rate r of each weight is divided by the square
root of s, the sum of its squared gradients g:

    s += g^2,  w -= r g / sqrt(s),    where s starts at 1.

Here g is the derivative of the sum of a batch's losses. A word that is never in the region with the largest response of
a filter keeps its weight in this filter. All other parameters are updated by Adam (Kingma & Ba 2015). The rates fall
linearly to 0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nlptx.nn.losses import Loss
from nlptx.regions.classifier import RegionClassifier
from nlptx.regions.max_pooling import WordGradient
from nlptx.regions.region_ngrams import BAG, RegionNgrams
from nlptx.regions.stored_regions import StoredRegions
from nlptx.runtime.workers import Workers

# Training schedules: (number of epochs, number of texts per step). _SCHEDULE_FOR_FEW is used if there are at most
# _FEW_TEXTS training texts, because fewer texts need more steps per text.
_FEW_TEXTS, _SCHEDULE_FOR_FEW, _SCHEDULE = 10_000, (10, 20), (8, 32)
# Number of training steps between two progress reports.
_STEPS_PER_REPORT = 50
# Value of ``until`` that makes ``take_steps`` return the parameters, which only the ranks that trained them have.
_RESULT = -1
# Fraction of the filters that each step leaves out at random for each text, and fraction of the words in the bags.
_DROPOUT, _WORD_DROPOUT = 0.5, 0.2
# Approximate maximum number of regions of a text that are used in a training step, to save time: _REGIONS_PER_FILTER
# for each filter of a group, but at least _REGIONS. They are chosen at random, so each epoch uses different regions.
_REGIONS, _REGIONS_PER_FILTER = 128, 2
# Learning rates of Adagrad, which updates the word weights, and of Adam.
_WORD_RATE = 0.1
_RATES = {"vector_weights": 0.002, "bias": 0.002, "output_weights": 0.01, "output_bias": 0.001}
_BETA1, _BETA2, _EPSILON = 0.9, 0.999, 1e-8
# Standard deviations of the initial weights. _WORD_SCALE is used only if all vectors are 0; otherwise, the word weights
# start at 0. If the vectors and the word weights were all 0, all responses would be 0.
_VECTOR_SCALE, _WORD_SCALE, _OUTPUT_SCALE = 0.01, 0.01, 0.5


def fit_region_classifier(
    data: RegionTrainingTexts,
    loss: Loss,
    ngrams: RegionNgrams,
    table: NDArray[np.float32],
    word_vectors: NDArray[np.float32],
    filters: int,
    rngs: Sequence[np.random.Generator],
    workers: Workers,
    should_continue: Callable[[float], bool] = lambda fraction: True,
) -> RegionClassifier | None:
    """Train a region classifier on labelled texts.

    Args:
        data: the training texts.
        loss: loss to minimise; it determines the number of outputs.
        ngrams: known n-grams.
        table: (G, K) vectors of the n-grams.
        word_vectors: (W, D) vectors of the words.
        filters: number of filters in each group.
        rngs: random generators, one per group of filters. The groups differ only in their random numbers.
        workers: pool of threads or processes. All workers compute regions, but at most one worker per group trains
            filters. The size of the pool does not change the result.
        should_continue: callback that receives the completed fraction, before the first step and between steps;
            training stops if the callback returns False.

    Returns:
        The classifier, or None if training was stopped.
    """
    if not should_continue(0):  # checked now, because storing the regions takes a few seconds
        return None
    classifiers = [_initial(ngrams, table, word_vectors, filters, loss.outputs, rng) for rng in rngs]
    regions = StoredRegions(ngrams, table, data.texts, workers)
    trainers = _GroupTrainers(
        [_GroupTrainer(data, regions, loss, *pair) for pair in zip(classifiers, rngs, strict=True)]
    )
    steps = trainers.of_groups[0].total_steps
    with workers.at_most(len(rngs)) as pool:
        trainers.jobs = pool.jobs
        for start in range(0, steps, _STEPS_PER_REPORT):
            if not should_continue(start / steps):
                return None
            pool.run_all(trainers.take_steps, min(start + _STEPS_PER_REPORT, steps))
        results = [group for groups in pool.run_all(trainers.take_steps, _RESULT) for group in groups]
    in_order = sorted(results, key=lambda group: group[0])
    return _joined([RegionClassifier(ngrams, table, word_vectors, **arrays, groups=1) for _, arrays in in_order])


@dataclass(frozen=True)
class RegionTrainingTexts:
    """Labelled texts, on which a region classifier is trained.

    Args:
        texts: word ids of each text; every text has at least one word.
        targets: (texts,) class of each text, or (texts, C) bool for multi-label texts.
        weights: (texts,) weight of each text in the loss, or None.
    """

    texts: Sequence[NDArray[np.integer]]
    targets: NDArray
    weights: NDArray[np.float32] | None = None


class _GroupTrainers:
    """The trainers of all groups, divided among the ranks of :class:`nlptx.runtime.workers.Workers`."""

    def __init__(self, of_groups: list[_GroupTrainer]) -> None:
        self.of_groups = of_groups
        self.jobs = 1

    def take_steps(self, until: int, rank: int) -> list[tuple[int, dict[str, NDArray]]]:
        """Train the groups of a rank up to step ``until``; if ``until`` is _RESULT, only return their parameters.

        Returns:
            An empty list or, if ``until`` is _RESULT, the number and the parameters (by name) of each group of the
            rank.
        """
        groups = range(rank, len(self.of_groups), self.jobs)
        if until == _RESULT:
            return [(group, self.of_groups[group].parameters()) for group in groups]
        for group in groups:
            self.of_groups[group].take_steps(until)
        return []


def _joined(classifiers: Sequence[RegionClassifier]) -> RegionClassifier:
    """Return a classifier whose outputs are the means of the outputs of several classifiers.

    Each classifier becomes a group of filters.
    """
    first, count = classifiers[0], len(classifiers)
    return RegionClassifier(
        first.ngrams,
        first.table,
        first.word_vectors,
        np.concatenate([each.word_weights for each in classifiers], axis=1),
        np.concatenate([each.vector_weights for each in classifiers], axis=1),
        np.concatenate([each.bias for each in classifiers]),
        np.concatenate([each.output_weights for each in classifiers]) / np.float32(count),
        np.sum([each.output_bias for each in classifiers], axis=0) / np.float32(count),
        count,
    )


def _initial(
    ngrams: RegionNgrams,
    table: NDArray[np.float32],
    word_vectors: NDArray[np.float32],
    filters: int,
    outputs: int,
    rng: np.random.Generator,
) -> RegionClassifier:
    components = table.shape[1] + BAG * word_vectors.shape[1]
    vector_weights = _VECTOR_SCALE * rng.standard_normal((components, filters), np.float32)
    output_weights = _OUTPUT_SCALE * rng.standard_normal((filters, outputs), np.float32)
    bias, word_weights = np.zeros(filters, np.float32), np.zeros((ngrams.single, filters), np.float32)
    if not table.any() and not word_vectors.any():
        word_weights += _WORD_SCALE * rng.standard_normal(word_weights.shape, np.float32)
    output_bias = np.zeros(outputs, np.float32)
    return RegionClassifier(
        ngrams, table, word_vectors, word_weights, vector_weights, bias, output_weights, output_bias
    )


def _sample_regions(counts: NDArray[np.int64], filters: int, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Choose regions at random for a training step; return a mask (N,), given the number of regions of each text (B,).

    All regions of a text are chosen if there are few. The probability that no region of a text is chosen is negligible.
    """
    limit = max(_REGIONS, _REGIONS_PER_FILTER * filters)
    return rng.random(counts.sum()) < np.repeat(limit / counts, counts)


class _GroupTrainer:
    """Trains the filters of one group, and updates the parameters of their classifier in place."""

    def __init__(
        self,
        data: RegionTrainingTexts,
        regions: StoredRegions,
        loss: Loss,
        classifier: RegionClassifier,
        rng: np.random.Generator,
    ) -> None:
        self._data, self._regions, self._loss, self._classifier, self._rng = data, regions, loss, classifier, rng
        self._dense = {name: getattr(classifier, name) for name in _RATES}
        self._moments = {name: (np.zeros_like(value), np.zeros_like(value)) for name, value in self._dense.items()}
        self._words = classifier.word_weights.reshape(-1)
        self._squares, self._gradient = np.ones_like(self._words), np.zeros_like(self._words)
        self._order = np.zeros(0, np.int64)
        self._steps = 0
        epochs, self._batch = _SCHEDULE_FOR_FEW if len(data.texts) <= _FEW_TEXTS else _SCHEDULE
        self._per_epoch = -(-len(data.texts) // self._batch)
        self.total_steps = epochs * self._per_epoch

    def parameters(self) -> dict[str, NDArray]:
        """Return the parameters of the classifier, by name."""
        return {"word_weights": self._classifier.word_weights, **self._dense}

    def take_steps(self, until: int) -> None:
        """Take training steps until ``until`` steps have been taken in total."""
        data, rng, filters = self._data, self._rng, len(self._classifier.bias)
        while self._steps < until:
            number = self._steps % self._per_epoch
            if number == 0:
                self._order = rng.permutation(len(data.texts))
            chosen = np.sort(self._order[number * self._batch : (number + 1) * self._batch])
            regions = self._regions.take(chosen, _sample_regions(self._regions.lengths[chosen], filters, rng))
            regions.bags[rng.random(regions.bags.shape, np.float32) < _WORD_DROPOUT] = len(self._classifier.table)
            responses = self._classifier.forward(regions, _DROPOUT, rng)
            _, dz = self._loss.value_and_gradient(responses.outputs, data.targets[chosen])
            if data.weights is not None:
                dz *= data.weights[chosen, None]
            self._update(*self._classifier.backward(dz, responses), len(chosen), 1 - self._steps / self.total_steps)

    def _update(self, gradients: dict[str, NDArray], words: WordGradient, texts: int, rate: float) -> None:
        """Update the parameters.

        Args:
            gradients: gradient of the sum of the losses, by name of the parameter, except that of the word weights.
            words: gradient of the same sum with respect to the word weights.
            texts: number of texts in the batch. Adam divides ``gradients`` by this number.
            rate: factor by which all learning rates are multiplied.
        """
        self._steps += 1
        for name, gradient in gradients.items():
            m, v = self._moments[name]
            gradient = gradient / texts
            m += (1 - _BETA1) * (gradient - m)
            v += (1 - _BETA2) * (gradient * gradient - v)
            size = np.sqrt(v / (1 - _BETA2**self._steps)) + _EPSILON
            self._dense[name] -= (_RATES[name] * rate / (1 - _BETA1**self._steps)) * m / size
        self._update_words(words, rate)

    def _update_words(self, words: WordGradient, rate: float) -> None:
        """Update the word weights. The weight at an index that occurs several times gets the same value each time."""
        np.add.at(self._gradient, words.indices, words.values)
        gradient = self._gradient[words.indices]
        self._gradient[words.indices] = 0
        squares = self._squares[words.indices] + gradient**2
        self._squares[words.indices] = squares
        self._words[words.indices] = self._words[words.indices] - _WORD_RATE * rate * gradient / np.sqrt(squares)
