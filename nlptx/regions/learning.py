"""Training of the region classifier by gradient descent.

The word weights are updated by Adagrad (Duchi et al. 2011), in which the rate of each weight falls with the sum s of
its squared gradients. If a word is never in a winning region of a filter, its weight stays 0:

    s += g^2,  w -= r g / sqrt(s),    where s starts at 1.

All other parameters are updated by Adam (Kingma & Ba 2015). The learning rates fall linearly to 0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from nlptx.nn.losses import Loss
from nlptx.regions.classifier import RegionClassifier
from nlptx.regions.ngrams import RegionNgrams
from nlptx.regions.winners import WordGradient

_EPOCHS, _BATCH = 6, 20
_DROPOUT, _WORD_DROPOUT = 0.5, 0.2
_WORD_RATE = 0.1
# Learning rates of Adam.
_RATES = {"vector_weights": 0.002, "bias": 0.002, "output_weights": 0.01, "output_bias": 0.001}
_BETA1, _BETA2, _EPSILON = 0.9, 0.999, 1e-8
# Standard deviations of the initial weights. The word weights start at 0, unless all vectors of n-grams are 0: then no
# filter would respond to anything.
_VECTOR_SCALE, _WORD_SCALE, _OUTPUT_SCALE = 0.01, 0.01, 0.5


def fit_region_classifier(
    texts: Sequence[NDArray[np.integer]],
    targets: NDArray,
    weights: NDArray[np.float32] | None,
    loss: Loss,
    ngrams: RegionNgrams,
    table: NDArray[np.float32],
    filters: int,
    rng: np.random.Generator,
    go_on: Callable[[float], bool] = lambda fraction: True,
) -> RegionClassifier | None:
    """Train a region classifier on labelled texts.

    Args:
        texts: word ids of each text, at least one per text.
        targets: (texts,) class of each text, or (texts, C) bool for multi-label texts.
        weights: (texts,) weight of each text in the loss, or None.
        loss: the loss; it determines the number of outputs.
        ngrams: known n-grams.
        table: (G, R) vectors of the n-grams.
        filters: F.
        rng: source of randomness.
        go_on: called before every step with the completed fraction; if it returns False, training stops.

    Returns:
        The classifier, or None if training was stopped.
    """
    classifier = _initial(ngrams, table, filters, loss.outputs, rng)
    learner = _Learner(classifier)
    per_epoch = -(-len(texts) // _BATCH)
    steps = _EPOCHS * per_epoch
    for epoch in range(_EPOCHS):
        order = rng.permutation(len(texts))
        for number in range(per_epoch):
            done = (epoch * per_epoch + number) / steps
            if not go_on(done):
                return None
            chosen = order[number * _BATCH : (number + 1) * _BATCH]
            found = classifier.forward([_without_some(texts[row], rng) for row in chosen], _DROPOUT, rng)
            _, dz = loss.value_and_gradient(found.outputs, targets[chosen])
            if weights is not None:
                dz *= weights[chosen, None]
            learner.step(*classifier.backward(dz, found), len(chosen), 1 - done)
    return classifier


def _initial(
    ngrams: RegionNgrams, table: NDArray[np.float32], filters: int, outputs: int, rng: np.random.Generator
) -> RegionClassifier:
    vector_weights = _VECTOR_SCALE * rng.standard_normal((table.shape[1], filters), np.float32)
    output_weights = _OUTPUT_SCALE * rng.standard_normal((filters, outputs), np.float32)
    none, words = np.zeros(filters, np.float32), np.zeros((ngrams.single, filters), np.float32)
    if not table.any():
        words += _WORD_SCALE * rng.standard_normal(words.shape, np.float32)
    return RegionClassifier(ngrams, table, words, vector_weights, none, output_weights, np.zeros(outputs, np.float32))


def _without_some(ids: NDArray[np.integer], rng: np.random.Generator) -> NDArray[np.integer]:
    """Leave out each word with probability _WORD_DROPOUT, unless no word would remain."""
    kept = rng.random(len(ids), np.float32) >= _WORD_DROPOUT
    return ids[kept] if kept.any() else ids


class _Learner:
    """Updates the parameters of a classifier in place."""

    def __init__(self, classifier: RegionClassifier) -> None:
        self._dense = {name: getattr(classifier, name) for name in _RATES}
        self._moments = {name: (np.zeros_like(value), np.zeros_like(value)) for name, value in self._dense.items()}
        self._words = classifier.word_weights.reshape(-1)
        self._squares = np.ones_like(self._words)
        self._steps = 0

    def step(self, gradients: dict[str, NDArray], words: WordGradient, texts: int, rate: float) -> None:
        """Update the parameters.

        Args:
            gradients: gradients of the sum of the losses, by name of the parameter.
            words: gradient of the word weights.
            texts: number of texts. Adam uses the gradient of the mean loss.
            rate: factor of all learning rates.
        """
        self._steps += 1
        for name, gradient in gradients.items():
            m, v = self._moments[name]
            gradient = gradient / texts
            m += (1 - _BETA1) * (gradient - m)
            v += (1 - _BETA2) * (gradient * gradient - v)
            size = np.sqrt(v / (1 - _BETA2**self._steps)) + _EPSILON
            self._dense[name] -= (_RATES[name] * rate / (1 - _BETA1**self._steps)) * m / size
        self._squares[words.places] += words.values**2
        self._words[words.places] -= _WORD_RATE * rate * words.values / np.sqrt(self._squares[words.places])
