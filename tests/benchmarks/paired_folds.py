"""Compares training settings by paired differences of the out-of-fold log-loss on all training texts.

    python tests/benchmarks/paired_folds.py aclImdb_v1.tar.gz --work build/paired \\
        "default:" "whole texts: --crop 0 --epochs 2" "linear models: --epochs 0"

Each argument is a name, a colon and options of ``nlptx train``. All other settings are compared with the first one.
Every setting is cross-validated with the same seeds, and therefore with the same folds. Each text is predicted by a
model that was not trained on it. Both log-losses of a text depend on its difficulty, so their difference is much less
noisy than either.

Neighbouring texts are related: IMDB lists the reviews of a film one after the other. Therefore ``nlptx crossvalidate``
keeps neighbouring texts in one fold, and the standard errors here treat each group of neighbouring texts as one
observation. A setting is not run again if its predictions are already in the folder given by ``--work``.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

# IMDB has at most 30 reviews per film and label.
_NEIGHBOURS = 30
_MIN_PROBABILITY = 1e-12


def predictions(data: list[str], options: list[str], path: Path, folds: int, seeds: int) -> pd.DataFrame:
    """Cross-validate one setting unless its file of predictions exists; return the predictions."""
    if not path.exists():
        command = ["crossvalidate", *data, "--folds", str(folds), "--seeds", str(seeds), "--predictions", str(path)]
        subprocess.run([sys.executable, "-m", "nlptx", *command, "--resume", *options], check=True, stdout=sys.stderr)
    return read_predictions(path)


def read_predictions(path: Path) -> pd.DataFrame:
    """Return the table of predictions in a CSV file."""
    return pd.read_csv(path, dtype={"label": str, "predicted": str}, keep_default_na=False)


def per_text(table: pd.DataFrame) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the log-loss of each text and whether it is predicted correctly, (seeds, texts) each."""
    seeds = table["seed"].nunique()
    true = table["label"].to_numpy()
    probability = np.zeros(len(table))
    for label in set(true):
        rows = true == label
        probability[rows] = table.loc[rows, f"prob_{label}"]
    losses = -np.log(np.maximum(probability, _MIN_PROBABILITY))
    right = (table["predicted"] == table["label"]).to_numpy().astype(np.float64)
    return losses.reshape(seeds, -1), right.reshape(seeds, -1)


def groups_of_neighbours(labels: NDArray) -> NDArray[np.int64]:
    """Return the group of each text, (texts,): stretches of neighbouring texts of the same label."""
    group, first = np.empty(len(labels), np.int64), 0
    for label in np.unique(labels):
        rows = np.flatnonzero(labels == label)
        group[rows] = first + np.arange(len(rows)) // _NEIGHBOURS
        first = group[rows[-1]] + 1
    return group


def mean_and_error(differences: NDArray[np.float64], group: NDArray[np.int64]) -> tuple[float, float]:
    """Return the mean over the texts and its cluster-robust standard error; the groups are the clusters.

    The formula is that of Cameron & Miller (2015), "A practitioner's guide to cluster-robust inference", for the
    special case of a mean.
    """
    mean = differences.mean()
    sums = np.bincount(group, differences - mean)
    count = len(sums)
    return float(mean), float(np.sqrt(count / (count - 1) * (sums**2).sum()) / len(differences))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", help="labelled texts, in their original order; an archive of IMDB, or a table")
    parser.add_argument("settings", nargs="+", metavar="NAME:OPTIONS")
    parser.add_argument("--work", type=Path, required=True, help="folder for the predictions")
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--seeds", type=int, default=1)
    given = parser.parse_args()
    given.work.mkdir(parents=True, exist_ok=True)
    found: dict[str, tuple[NDArray, NDArray]] = {}
    print("| setting | accuracy | log-loss | difference of log-loss | of accuracy, points | log-loss of each seed |")
    print("|---" * 6 + "|")
    for number, setting in enumerate(given.settings):
        name, _, options = setting.partition(":")
        path = given.work / f"{name.strip().replace(' ', '-')}.csv"
        table = predictions([given.data], options.split(), path, given.folds, given.seeds)
        losses, right = found[name] = per_text(table)
        cells = [name, f"{right.mean():.2%}", f"{losses.mean():.4f}", "", ""]
        if number:
            first_losses, first_right = next(iter(found.values()))
            group = groups_of_neighbours(table["label"].to_numpy()[: losses.shape[1]])
            mean, error = mean_and_error((losses - first_losses).mean(axis=0), group)
            cells[3] = f"{mean:+.4f} ± {error:.4f}"
            mean, error = mean_and_error(100 * (right - first_right).mean(axis=0), group)
            cells[4] = f"{mean:+.2f} ± {error:.2f}"
        cells.append(", ".join(f"{each:.4f}" for each in losses.mean(axis=1)))
        print("| " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
