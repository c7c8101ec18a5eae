"""Compare models on the kinds of sentences that sentiment models often get wrong (data/kinds_test.tsv).

For each kind, the table shows the accuracy of each model, and of VADER if it is installed, with its 95% interval. For
neutral sentences, which have no correct label, the table shows the fraction with a score between -0.5 and 0.5.
"""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from nlptx.classifier.model import Model
from nlptx.corpus.corpus import Corpus
from nlptx.corpus.labelled import LabelledDocuments
from nlptx.corpus.read_options import ReadOptions
from nlptx.metrics import wilson_interval

DATA = Path(__file__).resolve().parents[2] / "data" / "kinds_test.tsv"
Scores = Callable[[Sequence[str]], np.ndarray]


def read(path: Path, column: str) -> tuple[list[str], list[str]]:
    """Return the texts of a table, and the values of one of its columns."""
    documents = list(LabelledDocuments(Corpus((str(path),), ReadOptions(label_column=column))))
    return [document.text for document in documents], [document.label or "" for document in documents]


def model_scores(path: str) -> Scores:
    """Return a function that scores texts with a model, from -1 (negative) to 1 (positive)."""
    model = Model.load(None if path == "bundled" else path)
    return lambda texts: model.predict_proba(texts) @ np.array([-1.0, 1.0])


def vader_scores() -> Scores | None:
    """Return a function that computes VADER's compound scores of texts, or None if VADER is not installed."""
    try:
        vader = importlib.import_module("vaderSentiment.vaderSentiment")
    except ImportError:
        return None
    analyzer = vader.SentimentIntensityAnalyzer()
    return lambda texts: np.array([analyzer.polarity_scores(text)["compound"] for text in texts])


def cell(scores: np.ndarray, labels: list[str]) -> str:
    """Return the accuracy (for neutral texts, the fraction of scores near 0) with its interval.

    For texts that are not neutral, a score of 0 is an error.
    """
    signs = {"pos": 1, "neg": -1}
    right = [
        abs(score) < 0.5 if label == "neutral" else score * signs[label] > 0
        for score, label in zip(scores, labels, strict=True)
    ]
    low, high = wilson_interval(sum(right), len(right))
    return f"{np.mean(right):.1%} ({low:.0%} to {high:.0%})"


def rows_by_kind(path: Path = DATA) -> tuple[list[str], list[str], dict[str, list[int]]]:
    """Return the texts, their labels, and the rows of each kind and of all kinds but the neutral one."""
    texts, labels = read(path, "label")
    _, kinds = read(path, "kind")
    rows = {kind: [row for row, other in enumerate(kinds) if other == kind] for kind in sorted(set(kinds))}
    return texts, labels, {**rows, "all but neutral": [row for row, label in enumerate(labels) if label != "neutral"]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("models", nargs="*", default=["bundled"], help="model files, or bundled")
    parser.add_argument("--data", type=Path, default=DATA)
    arguments = parser.parse_args()
    texts, labels, rows_of = rows_by_kind(arguments.data)
    methods: dict[str, Scores] = {path: model_scores(path) for path in arguments.models}
    if vader := vader_scores():
        methods["VADER"] = vader
    scores = {name: method(texts) for name, method in methods.items()}
    table = Table("kind", "texts", *scores)
    for kind, rows in rows_of.items():
        of_kind = [labels[row] for row in rows]
        table.add_row(kind, str(len(rows)), *(cell(values[rows], of_kind) for values in scores.values()))
    Console().print(table)


if __name__ == "__main__":
    main()
