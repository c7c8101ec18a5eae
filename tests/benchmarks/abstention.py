"""Measures whether the guarantee of ``predict --max-error`` holds for texts that were not used in training.

By default, DATA is cross-validated: one model per fold is trained on the other folds and tested on its fold. With
--train CORPUS, all models are trained on the same texts and tested on DATA. With --train, the training texts are spread
evenly over the training split of CORPUS, and --texts sets the number of training texts. Each model has a different seed
and therefore different held-out texts.

For each maximum error, the table shows how many models can guarantee it. For the models that can guarantee a maximum
error, the table also shows the mean threshold, the coverage on the held-out texts, the coverage and error on the test
texts (with a 95% Wilson interval in which each text counts once), and how many of these models exceed the maximum
error on their test texts. With --other, all models are also tested on another data set.
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
from folds import folds
from run_nlptx import nlptx

from nlptx import Model
from nlptx.classifier.abstention import ErrorCurve
from nlptx.classifier.scoring import score
from nlptx.corpus.corpus import Corpus
from nlptx.corpus.read_options import ReadOptions
from nlptx.metrics import wilson_interval
from nlptx.runtime.workers import Workers

ERRORS = (0.01, 0.02, 0.05, 0.1, 0.15, 0.2)
COLUMNS = ["models", "threshold", "held-out coverage", "coverage", "error", "models above the maximum"]
Texts = list[tuple[str, str]]


def read(path: str, split: str = "test") -> Texts:
    """Return the texts and labels of a table, or of one split of a corpus."""
    return [(document.text, document.label or "") for document in Corpus([path], ReadOptions(splits=(split,)))]


class Tested(NamedTuple):
    """The held-out errors of a model, and its results for the test texts.

    Args:
        curve: errors on the held-out texts, by confidence.
        confidence: confidence for each test text; 0 if no word is known.
        correct: whether the label of each test text is predicted correctly.
    """

    curve: ErrorCurve
    confidence: np.ndarray
    correct: np.ndarray

    @classmethod
    def of(cls, model: Model, texts: Texts) -> Self:
        """Score test texts with a model that stores its held-out errors."""
        assert model.error_curve is not None
        with Workers() as workers:
            rows = [row for batch in score(model, ((label, text) for text, label in texts), workers) for row in batch]
        confidence = np.array([scored.confidence if scored.known_words else 0.0 for _, scored in rows])
        correct = np.array([model.label_names[scored.chosen[0]] == label for label, scored in rows])
        return cls(model.error_curve, confidence, correct)


class Trainer(NamedTuple):
    """Trains models with ``nlptx train``, given word vectors, further options, and a folder for tables and models."""

    embeddings: str
    options: list[str]
    work: Path

    def train(self, texts: Texts, name: str, seed: int = 1) -> Model:
        """Train a model on labelled texts; the seed determines the held-out texts."""
        self.work.mkdir(parents=True, exist_ok=True)
        with open(self.work / "train.csv", "w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([("text", "label"), *texts])
        path = str(self.work / f"{name}.npz")
        nlptx(
            "train", str(self.work / "train.csv"), "-e", self.embeddings, *self.options, "-o", path, "--seed", str(seed)
        )
        print(f"trained {path}", file=sys.stderr)
        return Model.load(path)

    def cross_validate(self, texts: Texts, count: int) -> Iterator[tuple[Model, Texts]]:
        """Train one model per fold, and yield each model with the texts of its fold."""
        fold = folds(pd.Series([label for _, label in texts]), count, seed=1)
        for number in range(count):
            model = self.train([texts[row] for row in np.flatnonzero(fold != number)], f"fold{number}", number + 1)
            yield model, [texts[row] for row in np.flatnonzero(fold == number)]


def table(models: list[Tested], *, shared: bool) -> pd.DataFrame:
    """Return one row per maximum error; ``shared`` means that all models are tested on the same texts."""
    rows = {}
    for error in ERRORS:
        found = [(threshold, tested) for tested in models if (threshold := tested.curve.choose(error))]
        answered = [tested.confidence >= threshold.confidence for threshold, tested in found]
        wrong = [int((mask & ~tested.correct).sum()) for mask, (_, tested) in zip(answered, found, strict=True)]
        texts = [int(mask.sum()) for mask in answered]
        row = [f"{len(found)} of {len(models)}"]
        if sum(texts):
            repeats = len(found) if shared else 1  # a text counts once, however many models label it
            low, high = wilson_interval(round(sum(wrong) / repeats), round(sum(texts) / repeats))
            row += [
                f"{np.mean([threshold.confidence for threshold, _ in found]):.2f}",
                f"{np.mean([threshold.coverage for threshold, _ in found]):.0%}",
                f"{sum(texts) / sum(map(len, answered)):.0%}",
                f"{sum(wrong) / sum(texts):.1%} ({low:.1%} to {high:.1%})",
                f"{sum(bad > error * count for bad, count in zip(wrong, texts, strict=True))}",
            ]
        rows[f"{error:.0%}"] = row + [""] * (len(COLUMNS) - len(row))
    return pd.DataFrame.from_dict(rows, orient="index", columns=COLUMNS)


def show(name: str, models: list[Tested], *, shared: bool) -> None:
    """Print the error rates if every text gets a label, and a table with one row per maximum error."""
    held_out = np.mean([tested.curve.wrong[0] / tested.curve.answered[0] for tested in models])
    new = np.mean([1 - tested.correct[tested.confidence > 0].mean() for tested in models])
    print(f"{name}, {len(models)} models; error if all texts are answered: {held_out:.1%} held out, {new:.1%} here")
    print(f"{table(models, shared=shared).to_string()}\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, epilog="Arguments of nlptx train follow after --.")
    parser.add_argument("data")
    parser.add_argument("--train", help="train on the training split of this corpus instead of cross-validating")
    parser.add_argument("--texts", type=int, default=4000, help="with --train, number of texts to train on")
    parser.add_argument("--other", action="append", default=[], help="another data set to test on")
    parser.add_argument("--models", type=int, default=10, help="number of folds; with --train, number of models")
    parser.add_argument("--embeddings", required=True)
    parser.add_argument("--work", type=Path, default=Path("build/abstention"), help="folder for the models")
    words = sys.argv[1:]
    end = words.index("--") if "--" in words else len(words)
    given, training = parser.parse_args(words[:end]), words[end + 1 :]
    trainer = Trainer(given.embeddings, training, given.work)
    if given.train:
        texts = read(given.train, "train")
        chosen = texts[:: max(len(texts) // given.texts, 1)][: given.texts]
        tests = read(given.data)
        models = [(trainer.train(chosen, f"model{n}", n + 1), tests) for n in range(given.models)]
    else:
        models = [*trainer.cross_validate(read(given.data), given.models)]
    show(given.data, [Tested.of(model, texts) for model, texts in models], shared=bool(given.train))
    for name in given.other:
        other = read(name)
        show(name, [Tested.of(model, other) for model, _ in models], shared=True)


if __name__ == "__main__":
    main()
