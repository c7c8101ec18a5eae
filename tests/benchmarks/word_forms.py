"""Measures how reading unknown words as known forms changes predictions: accuracy, log-loss and their differences.

By default, models are trained on four random fifths of the labelled texts and tested on the last fifth. With --model,
one trained model is tested on all texts.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from unittest import mock

import numpy as np

import nlptx
from nlptx.corpus.corpus import Corpus
from nlptx.corpus.labelled import LabelledDocuments
from nlptx.corpus.read_options import ReadOptions
from nlptx.text.word_forms import WordForms


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", help="labelled texts")
    parser.add_argument("--model", help="trained model, or bundled")
    parser.add_argument("--train", type=int, help="number of training texts, instead of four fifths of all texts")
    parser.add_argument("--draws", type=int, default=3, help="number of random divisions into training and test texts")
    given = parser.parse_args()
    documents = list(LabelledDocuments(Corpus((given.data,), ReadOptions(splits=("train",)))))
    losses, right = [], []
    models = trained(documents, given) if given.model is None else [(loaded(given.model), documents)]
    for model, tested in models:
        with mock.patch.object(WordForms, "_known_form", return_value=-1):
            without = scores(nlptx.Model.from_artifact(model.to_artifact()), tested)
        with_forms = scores(model, tested)
        losses.append(np.stack([without[0], with_forms[0]]))
        right.append(np.stack([without[1], with_forms[1]]))
    for name, index in (("without", 0), ("with", 1)):
        accuracy = np.mean([each[index].mean() for each in right])
        print(f"{name:8} accuracy {accuracy:.2%}  log-loss {np.mean([each[index].mean() for each in losses]):.4f}")
    differences = [each[1] - each[0] for each in losses]
    error = np.sqrt(sum(each.var() / len(each) for each in differences)) / len(differences)
    print(f"difference in log-loss {np.mean([each.mean() for each in differences]):+.4f} ± {error:.4f}")


def loaded(name: str) -> nlptx.Model:
    return nlptx.Model.load(None if name == "bundled" else name)


def trained(documents: list, given: argparse.Namespace) -> Iterator[tuple[nlptx.Model, list]]:
    """Yield a model and its test texts for each draw."""
    size = given.train or len(documents) * 4 // 5
    for draw in range(given.draws):
        order = np.random.default_rng(draw + 1).permutation(len(documents))
        chosen = [documents[row] for row in order]
        texts, labels = [each.text for each in chosen[:size]], [each.label or "" for each in chosen[:size]]
        yield nlptx.fit(texts, labels, seed=1), chosen[size:]


def scores(model: nlptx.Model, documents: list) -> tuple[np.ndarray, np.ndarray]:
    """Return the log-loss of each text, and whether its prediction is right."""
    column = {name: number for number, name in enumerate(model.label_names)}
    targets = np.array([column[each.label] for each in documents])
    p = model.predict_proba([each.text for each in documents])
    return -np.log(p[np.arange(len(p)), targets]), p.argmax(axis=1) == targets


if __name__ == "__main__":
    main()
