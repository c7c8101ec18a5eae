"""Does ``predict --max-error`` keep its promise on texts that took no part in training?

Either a given model is tested on DATA (--model), or DATA is cross-validated: one model per fold, tested on its fold.
For each promised error the table shows, over all models that promise it: the mean threshold, coverage on the held-out
texts, coverage and error on the test texts (with the 95 % Wilson interval of all of them together), and the number of
models whose error on their test texts is above the promise. --other adds the same for another data set.
"""

from __future__ import annotations

import argparse
import csv
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, Self

import numpy as np
import pandas as pd
from crossvalidate import folds, nlptx

from nlptx import Model
from nlptx.classifier.abstention import ErrorCurve
from nlptx.classifier.scoring import score
from nlptx.corpus.corpus import Corpus
from nlptx.corpus.document import ReadOptions
from nlptx.metrics import wilson_interval
from nlptx.runtime.workers import Workers

ERRORS = (0.01, 0.02, 0.05, 0.1, 0.15, 0.2)
COLUMNS = ["models", "threshold", "held-out coverage", "coverage", "error", "models above the promise"]
Texts = list[tuple[str, str]]


def read(path: str) -> Texts:
    """Return the texts and labels of a table, or of the test part of a corpus."""
    return [(document.text, document.label or "") for document in Corpus([path], ReadOptions(splits=("test",)))]


class Tested(NamedTuple):
    """A model's held-out errors, and the confidence (0 without a known word) and correctness of its answers."""

    curve: ErrorCurve
    confidence: np.ndarray
    correct: np.ndarray

    @classmethod
    def of(cls, model: Model, texts: Texts) -> Self:
        """Test a model that stores its held-out errors."""
        assert model.held_out is not None
        with Workers() as workers:
            rows = [row for batch in score(model, ((label, text) for text, label in texts), workers) for row in batch]
        confidence = np.array([scored.confidence if scored.known_words else 0.0 for _, scored in rows])
        correct = np.array([model.label_names[scored.best] == label for label, scored in rows])
        return cls(model.held_out, confidence, correct)


def cross_validated(
    data: str, embeddings: str, count: int, work: Path, training: list[str]
) -> Iterator[tuple[Model, Texts]]:
    """Train one model per fold, and yield each with the texts of its fold."""
    texts = read(data)
    fold = folds(pd.Series([label for _, label in texts]), count, seed=1)
    work.mkdir(parents=True, exist_ok=True)
    for number in range(count):
        with open(work / "train.csv", "w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([("text", "label"), *(texts[row] for row in np.flatnonzero(fold != number))])
        path = str(work / f"model{number}.npz")
        nlptx("train", str(work / "train.csv"), "-e", embeddings, *training, "-o", path)
        print(f"fold {number + 1} of {count}", file=sys.stderr)
        yield Model.load(path), [texts[row] for row in np.flatnonzero(fold == number)]


def table(models: list[Tested]) -> pd.DataFrame:
    """Return one row per promised error."""
    rows = {}
    for error in ERRORS:
        promises = [(threshold, tested) for tested in models if (threshold := tested.curve.choose(error))]
        answered = [tested.confidence >= threshold.confidence for threshold, tested in promises]
        wrong = [int((mask & ~tested.correct).sum()) for mask, (_, tested) in zip(answered, promises, strict=True)]
        texts = [int(mask.sum()) for mask in answered]
        row = [f"{len(promises)} of {len(models)}"]
        if sum(texts):
            low, high = wilson_interval(sum(wrong), sum(texts))
            row += [
                f"{np.mean([threshold.confidence for threshold, _ in promises]):.2f}",
                f"{np.mean([threshold.coverage for threshold, _ in promises]):.0%}",
                f"{sum(texts) / sum(map(len, answered)):.0%}",
                f"{sum(wrong) / sum(texts):.1%} ({low:.1%} to {high:.1%})",
                f"{sum(bad > error * count for bad, count in zip(wrong, texts, strict=True))}",
            ]
        rows[f"{error:.0%}"] = row + [""] * (len(COLUMNS) - len(row))
    return pd.DataFrame.from_dict(rows, orient="index", columns=COLUMNS)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, epilog="Arguments of nlptx train follow after --.")
    parser.add_argument("data")
    parser.add_argument("--model", help="test this model instead of cross-validating")
    parser.add_argument("--other", help="another data set to test on")
    parser.add_argument("--folds", type=int, default=10)
    parser.add_argument("--embeddings", default="")
    parser.add_argument("--work", type=Path, default=Path("build/abstention"), help="folder for the models")
    words = sys.argv[1:]
    end = words.index("--") if "--" in words else len(words)
    given, training = parser.parse_args(words[:end]), words[end + 1 :]
    if given.model:
        models = [(Model.load(given.model), read(given.data))]
    else:
        models = [*cross_validated(given.data, given.embeddings, given.folds, given.work, training)]
    print(f"{given.data}: {len(models)} models\n{table([Tested.of(model, texts) for model, texts in models])}")
    if given.other:
        other = read(given.other)
        print(f"{given.other}\n{table([Tested.of(model, other) for model, _ in models])}")


if __name__ == "__main__":
    main()
