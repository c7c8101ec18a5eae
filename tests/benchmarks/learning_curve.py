"""Learning curves on a small labelled table: training that starts from the bundled model, and three alternatives.

    python tests/benchmarks/learning_curve.py cr.tsv --films aclImdb_dev.tar.gz --work build/transfer

For every size and draw, all methods learn from the same random rows and are tested on all other rows. The printed table
shows the mean accuracy and its standard deviation over the draws. The numbers and a picture are written to the work
folder.
"""

from __future__ import annotations

import argparse
import csv
import json
import sys
from collections.abc import Callable
from pathlib import Path
from statistics import mean, stdev

import numpy as np
import pandas as pd
from baseline_linear import tfidf
from baseline_task import Task
from folds import folds

import nlptx
from nlptx.corpus.read_options import ReadOptions
from nlptx.settings import CountSettings, PcaSettings, TrainSettings

SIZES = (50, 100, 200, 500, 1000, 2000)
# Settings for training from scratch on only a few short texts: a low minimum count, short vectors, and ten epochs.
TINY_COUNTS, TINY_VECTORS = CountSettings(min_count=2), PcaSettings(components=32)
TINY = TrainSettings(epochs=10, width=32, warmup=10)

Examples = tuple[list[str], list[str]]
Method = Callable[[Examples, Examples], float]


def accuracy(model: nlptx.Model, test: Examples) -> float:
    return float(np.mean(np.array(model.predict(test[0])) == np.array(test[1])))


def untouched(start: nlptx.Model) -> Method:
    """Evaluate the model as it is, without further training."""
    return lambda train, test: accuracy(start, test)


def started_from(start: nlptx.Model, settings: TrainSettings | None = None) -> Method:
    """Train as ``nlptx train --start MODEL`` does, with default settings."""
    return lambda train, test: accuracy(nlptx.fit(*train, settings=settings, start=start), test)


def from_nothing(train: Examples, test: Examples) -> float:
    """Run ``cooccur``, ``pca`` and ``train`` on the training texts alone."""
    embeddings = nlptx.fit_pca(nlptx.count(train[0], TINY_COUNTS), TINY_VECTORS)
    return accuracy(nlptx.fit(*train, embeddings, TINY), test)


def logistic_regression(train: Examples, test: Examples) -> float:
    """Apply TF-IDF and logistic regression, as ``baselines.py`` does."""
    labels = sorted(set(train[1]))
    classes = np.array([labels.index(label) for label in train[1]])
    found = tfidf(Task(train[0], classes, test[0], labels, ordered=False)).probabilities
    return float(np.mean(np.array(labels)[found.argmax(axis=1)] == np.array(test[1])))


def drawn(table: pd.DataFrame, rows: np.ndarray) -> Examples:
    part = table.iloc[rows]
    return list(part["text"]), list(part["label"])


def curve(table: pd.DataFrame, methods: dict[str, Method], sizes: list[int], draws: int) -> dict[str, dict]:
    """Return the accuracies by method and size, one per draw."""
    found: dict[str, dict] = {name: {size: [] for size in sizes} for name in methods}
    for size in sizes:
        for draw in range(draws):
            order = np.random.default_rng(draw).permutation(len(table))
            train, test = drawn(table, np.sort(order[:size])), drawn(table, np.sort(order[size:]))
            for name, method in methods.items():
                found[name][size].append(method(train, test))
        told = ", ".join(f"{name} {mean(found[name][size]):.4f}" for name in methods)
        print(f"{size} texts: {told}", file=sys.stderr)
    return found


def cross_validated(table: pd.DataFrame, method: Method, count: int = 10) -> list[float]:
    """Return the accuracy on each of ``count`` stratified folds."""
    fold = folds(table["label"], count, 1)
    parts = [(np.flatnonzero(fold != number), np.flatnonzero(fold == number)) for number in range(count)]
    return [method(drawn(table, train), drawn(table, test)) for train, test in parts]


def forgetting(start: nlptx.Model, table: pd.DataFrame, films: str) -> dict[str, float]:
    """Return the accuracy on film reviews before and after training on all rows."""
    data = nlptx.read_training_data(films, options=ReadOptions(splits=("test",)))
    test = (list(data.texts), list(map(str, data.labels)))
    return {"before": accuracy(start, test), "after": started_from(start)(drawn(table, np.arange(len(table))), test)}


def as_markdown(found: dict[str, dict], sizes: list[int]) -> str:
    lines = ["| method | " + " | ".join(f"{size:,}" for size in sizes) + " |", "|---" * (len(sizes) + 1) + "|"]
    for name, of_size in found.items():
        cells = [f"{100 * mean(of_size[size]):.1f} ± {100 * stdev(of_size[size]):.1f}" for size in sizes]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def plot(found: dict[str, dict], sizes: list[int], path: Path) -> None:
    """Draw the mean accuracies with their standard deviations (needs matplotlib)."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    mpl.rcParams["svg.hashsalt"] = "nlptx"  # so that the file has the same bytes in every run
    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.add_subplot()
    for name, of_size in found.items():
        means, spreads = ([100 * of(of_size[size]) for size in sizes] for of in (mean, stdev))
        axes.errorbar(sizes, means, spreads, marker="o", markersize=4, capsize=2, linewidth=1.2, label=name)
    axes.set_xscale("log")
    axes.set_xticks(sizes, [f"{size:,}" for size in sizes])
    axes.minorticks_off()
    axes.set_xlabel("labelled sentences")
    axes.set_ylabel("accuracy on all others, %")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False)
    figure.savefig(path, metadata={"Date": None})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, help="table (.tsv) with the columns text and label")
    parser.add_argument("--start", help="model to start from; the bundled one by default")
    parser.add_argument("--films", help="archive of film reviews, to measure what is forgotten")
    parser.add_argument("--draws", type=int, default=10)
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES))
    parser.add_argument("--work", type=Path, required=True, help="folder for the results")
    arguments = parser.parse_args()
    table = pd.read_csv(arguments.data, sep="\t", dtype=str, quoting=csv.QUOTE_NONE, keep_default_na=False)
    start = nlptx.Model.load(arguments.start)
    methods: dict[str, Method] = {
        "starting from the bundled model": started_from(start),
        "the bundled model, untouched": untouched(start),
        "from nothing": from_nothing,
        "TF-IDF and logistic regression": logistic_regression,
    }
    arguments.work.mkdir(parents=True, exist_ok=True)
    found = curve(table, methods, arguments.sizes, arguments.draws)
    print(as_markdown(found, arguments.sizes), flush=True)
    report: dict[str, object] = {"curve": found}
    everything = TrainSettings(valid_share=0.0)
    for name, settings in {"default settings": None, "--valid-share 0": everything}.items():
        ten = cross_validated(table, started_from(start, settings))
        report[f"ten folds, {name}"] = ten
        print(f"ten folds, {name}: {100 * mean(ten):.1f} ± {100 * stdev(ten):.1f}", flush=True)
    if arguments.films:
        films = forgetting(start, table, arguments.films)
        report["films"] = films
        print(f"film reviews: {films['before']:.4f} before, {films['after']:.4f} after", flush=True)
    (arguments.work / "learning_curve.json").write_text(json.dumps(report) + "\n")
    plot(found, arguments.sizes, arguments.work / "learning_curve.svg")


if __name__ == "__main__":
    main()
