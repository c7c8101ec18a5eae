"""Measures how often each of three 95% intervals for the accuracy in cross-validation contains the true accuracy.

The data are points of two classes with normal distributions, and the classifier chooses the nearest centroid. The true
accuracy is the mean accuracy, on new points, of many classifiers that are trained on as many points as a classifier in
the cross-validation. With --group G, the points come in groups of G that share their class and part of their position,
and each group is in one fold.
"""

from __future__ import annotations

import argparse
import math

import numpy as np

from nlptx.experiments.intervals import corrected_interval
from nlptx.metrics import wilson_interval

WIDTH, DISTANCE = 10, 0.5


def sample(rng: np.random.Generator, count: int, group: int) -> tuple[np.ndarray, np.ndarray]:
    """Return points (count, WIDTH) and their classes; points of the same group are related."""
    classes = np.arange(count) // group % 2
    shared = np.repeat(rng.normal(size=(-(-count // group), WIDTH)), group, axis=0)[:count]
    own = rng.normal(size=(count, WIDTH))
    noise = own if group == 1 else (shared + own) / math.sqrt(2)
    return noise + DISTANCE / 2 * (2 * classes - 1)[:, None], classes


def hits(train: tuple[np.ndarray, np.ndarray], test: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    """Return, for each point of ``test``, whether its class is that of the nearest centroid of ``train``."""
    zero, one = (train[0][train[1] == label].mean(axis=0) for label in (0, 1))
    return (test[0] @ (one - zero) + (zero @ zero - one @ one) / 2 > 0) == test[1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--points", type=int, default=100)
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--group", type=int, default=1)
    parser.add_argument("--repetitions", type=int, default=2000)
    given = parser.parse_args()
    rng = np.random.default_rng(1)
    size = given.points * (given.folds - 1) // given.folds
    test = sample(rng, 20_000, given.group)
    truth = float(np.mean([hits(sample(rng, size, given.group), test).mean() for _ in range(1000)]))
    covered, widths = np.zeros((given.repetitions, 3)), np.zeros((given.repetitions, 3))
    for repetition in range(given.repetitions):
        points, classes = sample(rng, given.points, given.group)
        values, right = [], 0
        for _ in range(given.seeds):
            # Two consecutive groups, one of each class, are in the same fold.
            pairs = -(-given.points // (2 * given.group))
            fold = np.repeat(rng.permutation(pairs) % given.folds, 2 * given.group)[: given.points]
            for number in range(given.folds):
                out = fold == number
                found = hits((points[~out], classes[~out]), (points[out], classes[out]))
                values.append(float(found.mean()))
                right += int(found.sum())
        corrected = corrected_interval(values, given.folds, 1.0)
        plain_half = (corrected.high - corrected.mean) / math.sqrt(1 + len(values) / (given.folds - 1))
        intervals = [
            (corrected.low, corrected.high),
            (corrected.mean - plain_half, corrected.mean + plain_half),
            wilson_interval(round(right / given.seeds), given.points),
        ]
        covered[repetition] = [low <= truth <= high for low, high in intervals]
        widths[repetition] = [high - low for low, high in intervals]
    print(f"true accuracy {truth:.4f}")
    for name, coverage, width in zip(
        ("corrected t", "ordinary t", "Wilson, all texts"), covered.mean(axis=0), widths.mean(axis=0), strict=True
    ):
        print(f"{name:<18} coverage {coverage:.1%}  mean width {width:.3f}")


if __name__ == "__main__":
    main()
