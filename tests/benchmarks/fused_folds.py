"""Measures how much a second model improves on a first one, from the out-of-fold predictions of both.

    python tests/benchmarks/fused_folds.py build/paired/default.csv second.csv third.csv

The files have the columns ``label``, ``predicted``, ``fold``, ``seed`` and ``prob_<label>``, as ``nlptx crossvalidate
--predictions`` and ``paired_folds.py`` write them; any other program can write them too. All files must have the same
texts, folds and seeds, in the same order, so that all models that predict a text were trained on the same other texts.

For each file after the first, the table shows the quality of its model alone, the similarity to the first model (the
correlation of the log-probabilities, centred in each text; for two labels, this is the correlation of the log-odds),
and the quality of both models together. The models are combined by a logistic regression on their log-probabilities,
with one weight per model and one bias per label. The regression is fitted on all folds but one and tested on the
remaining fold, for each fold in turn. The combination is compared with the first model alone, calibrated in the same
way, so that better calibration does not count as a gain. If calibration makes the first model worse, because its folds
need different calibrations, compare the combination with the uncalibrated log-loss of the first model, which is printed
above the table.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from paired_folds import groups_of_neighbours, mean_and_error, per_text, read_predictions
from scipy.optimize import minimize
from scipy.special import log_softmax

_MIN_PROBABILITY = 1e-12


def log_probabilities(table: pd.DataFrame) -> NDArray[np.float64]:
    """Return the log-probabilities of the labels in alphabetical order, centred to have the mean 0 in each text."""
    columns = [f"prob_{label}" for label in sorted(set(table["label"]))]
    logs = np.log(np.maximum(table[columns].to_numpy(np.float64), _MIN_PROBABILITY))
    return logs - logs.mean(axis=1, keepdims=True)


def combine(
    members: Sequence[NDArray[np.float64]],
    classes: NDArray[np.int64],
    folds: NDArray[np.int64],
    seeds: NDArray[np.int64],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the log-probabilities of the combination, (rows, labels), and the mean weight of each model.

    The weights for a text are fitted on the texts of all other folds, with the predictions of the same seed.
    """
    combined = np.zeros_like(members[0])
    weights = []
    for seed, fold in sorted(set(zip(seeds.tolist(), folds.tolist(), strict=True))):
        inside, outside = (seeds == seed) & (folds == fold), (seeds == seed) & (folds != fold)
        fitted = _fit([member[outside] for member in members], classes[outside])
        combined[inside] = log_softmax(_apply(fitted, [member[inside] for member in members]), axis=1)
        weights.append(fitted[: len(members)])
    return combined, np.mean(weights, axis=0)


def _apply(parameters: NDArray[np.float64], members: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    """Return the weighted sum of the models' log-probabilities, plus the biases of the labels."""
    weights, biases = parameters[: len(members)], parameters[len(members) :]
    return np.tensordot(weights, np.stack(members), axes=1) + biases


def _fit(members: Sequence[NDArray[np.float64]], classes: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the weights of the models and the biases of the labels that minimise the log-loss.

    With p = softmax(sum_m w_m z_m + b) and the indicator y of the true label, the gradient of the loss of a text is
    p - y with respect to the logits, <p - y, z_m> with respect to w_m, and p - y with respect to b.
    """
    true = np.eye(members[0].shape[1])[classes]

    def loss(parameters: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        logs = log_softmax(_apply(parameters, members), axis=1)
        error = (np.exp(logs) - true) / len(true)
        gradient = [(error * member).sum() for member in members]
        return float(-(logs * true).sum() / len(true)), np.concatenate([gradient, error.sum(axis=0)])

    start = np.concatenate([np.full(len(members), 1 / len(members)), np.zeros(true.shape[1])])
    return np.asarray(minimize(loss, start, jac=True, method="L-BFGS-B").x, np.float64)


def compare(first: pd.DataFrame, second: pd.DataFrame) -> list[str]:
    """Return the cells of a row: the quality of the second model alone and together with the first one.

    Raises:
        ValueError: the tables do not describe the same texts, folds and seeds.
    """
    for column in ("label", "fold", "seed"):
        if first[column].to_list() != second[column].to_list():
            raise ValueError(f"the column {column} differs from that of the first file")
    names = sorted(set(first["label"]))
    classes = np.searchsorted(names, first["label"].to_numpy().astype(str))
    splits = (classes, first["fold"].to_numpy(np.int64), first["seed"].to_numpy(np.int64))
    one, two = log_probabilities(first), log_probabilities(second)
    alone, _ = combine([one], *splits)
    both, weights = combine([one, two], *splits)
    seeds, rows = first["seed"].nunique(), np.arange(len(first))
    gains = (alone - both)[rows, classes].reshape(seeds, -1).mean(axis=0)
    right = (both.argmax(axis=1) == classes).astype(np.float64) - (alone.argmax(axis=1) == classes)
    group = groups_of_neighbours(first["label"].to_numpy()[: len(gains)])
    loss, loss_error = mean_and_error(gains, group)
    points, points_error = mean_and_error(100 * right.reshape(seeds, -1).mean(axis=0), group)
    second_losses, second_right = per_text(second)
    return [
        f"{second_right.mean():.2%}",
        f"{second_losses.mean():.4f}",
        f"{np.corrcoef(one.ravel(), two.ravel())[0, 1]:.3f}",
        f"{weights[0]:.2f}, {weights[1]:.2f}",
        f"{-alone[rows, classes].mean():.4f}",
        f"{-both[rows, classes].mean():.4f}",
        f"{loss:+.4f} ± {loss_error:.4f}",
        f"{points:+.2f} ± {points_error:.2f}",
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("first", type=Path, help="predictions of the first model")
    parser.add_argument("others", type=Path, nargs="+", help="predictions of other models")
    given = parser.parse_args()
    first = read_predictions(given.first)
    losses, right = per_text(first)
    print(f"{given.first.stem} alone: {right.mean():.2%}, log-loss {losses.mean():.4f}\n")
    names = "model | alone | log-loss | correlation | weights | calibrated | both | difference | accuracy, points"
    print(f"| {names} |")
    print("|---" * 9 + "|")
    for path in given.others:
        try:
            cells = compare(first, read_predictions(path))
        except ValueError as error:
            sys.exit(f"{path}: {error}")
        print("| " + " | ".join([path.stem, *cells]) + " |", flush=True)


if __name__ == "__main__":
    main()
