"""Compares nlptx with TF-IDF and one logistic regression per label on texts with several labels.

The texts are made from the TREC questions (Li & Roth 2002), with 6, 20 and 60 labels. The questions are shuffled, and a
quarter of them are set aside for testing. Then one to three consecutive questions, all for training or all for testing,
are joined into one text. Each question is in only one text. There are six types of questions. The labels of a text
include the types of its questions. If there are more than six labels, the additional labels are pairs of a type and a
content word, such as LOC and "city": the most frequent pairs in the training questions. A text has a pair as a label if
one of its questions has the type and contains the word. Content words are all words except the 40 most frequent words.

The n-grams of the baseline (words, or words and pairs), its inverse penalty C and its threshold, which is the same for
all labels, are chosen on a held-out tenth of the training texts by micro-F1. Then the baseline is trained on all
training texts. For the row "threshold 0.5", the threshold is fixed, and only the n-grams and C are chosen. The
thresholds of nlptx are chosen on texts that it holds out itself. All figures are means over several splits.

    python tests/benchmarks/several_labels.py trec/train.tsv --splits 3
"""

from __future__ import annotations

import argparse
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import nlptx
from nlptx.classifier.label_sets import find_label_sets
from nlptx.text.tokenizer import Tokenizer

# Number of the most frequent words and punctuation marks, which do not count as content words.
FUNCTION_WORDS = 40
TEST_SHARE, HELD_OUT = 0.25, 0.1
GRID = [(order, c) for order in (1, 2) for c in (1.0, 10.0, 30.0, 100.0)]
THRESHOLDS = np.linspace(0.1, 0.9, 33)
TOKENIZER = Tokenizer()


@dataclass(frozen=True)
class Data:
    """Training texts and test texts, with the set of labels of each text."""

    train: list[str]
    train_sets: list[set[str]]
    test: list[str]
    test_sets: list[set[str]]


def read_questions(path: Path) -> list[tuple[str, str]]:
    """Return pairs (type, question)."""
    lines = path.read_text(encoding="utf-8").splitlines()[1:]
    return [(line.split("\t")[0], line.split("\t")[1]) for line in lines]


def make_data(questions: Sequence[tuple[str, str]], labels: int, seed: int) -> Data:
    """Return texts, each with at least one label, that have ``labels`` different labels in all."""
    rng = random.Random(seed)
    shuffled = rng.sample(questions, len(questions))
    cut = round(TEST_SHARE * len(shuffled))
    parts = shuffled[cut:], shuffled[:cut]
    types = {kind for kind, _ in questions}
    words = Counter(word for _, text in questions for word in TOKENIZER(text))
    functional = {word for word, _ in words.most_common(FUNCTION_WORDS)}
    pairs = Counter((kind, word) for kind, text in parts[0] for word in set(TOKENIZER(text)) - functional)
    kept = {pair for pair, _ in pairs.most_common(labels - len(types))}
    (train, train_sets), (test, test_sets) = (joined(part, kept, rng) for part in parts)
    return Data(train, train_sets, test, test_sets)


def joined(
    questions: Sequence[tuple[str, str]], kept: set[tuple[str, str]], rng: random.Random
) -> tuple[list[str], list[set[str]]]:
    """Join groups of one to three questions into texts; return the texts and their labels."""
    texts, sets, start = [], [], 0
    while start < len(questions):
        end = start + rng.randint(1, 3)
        some = questions[start:end]
        texts.append(" ".join(text for _, text in some))
        with_words = {f"{kind} {word}" for kind, text in some for word in TOKENIZER(text) if (kind, word) in kept}
        sets.append({kind for kind, _ in some} | with_words)
        start = end
    return texts, sets


def measures(true: np.ndarray, predicted: np.ndarray) -> list[float]:
    """Return micro-F1, macro-F1 over the labels that have texts, and subset accuracy."""
    hits, both = (true & predicted).sum(axis=0), true.sum(axis=0) + predicted.sum(axis=0)
    present = true.any(axis=0)
    macro = float(np.mean(2 * hits[present] / both[present]))
    return [2 * float(hits.sum() / both.sum()), macro, float((true == predicted).all(axis=1).mean())]


def baseline(data: Data, true: np.ndarray, test_true: np.ndarray, seed: int) -> dict[str, list[float]]:
    """Return the measures for the baseline, with the chosen threshold and with the threshold 0.5."""
    order = np.random.default_rng(seed).permutation(len(data.train))
    held_out = order[: round(HELD_OUT * len(order))]
    rest = np.setdiff1d(order, held_out)
    train, valid = ([data.train[row] for row in rows] for rows in (rest, held_out))
    tried = {}
    for n, c in GRID:
        p = one_vs_rest(train, true[rest], valid, n, c)
        for threshold in THRESHOLDS:
            tried[n, c, float(threshold)] = measures(true[held_out], p >= threshold)[0]
    n, c, threshold = max(tried, key=lambda key: tried[key])
    plain_n, plain_c, _ = max((key for key in tried if key[2] == 0.5), key=lambda key: tried[key])
    p, plain = (one_vs_rest(data.train, true, data.test, *each) for each in ((n, c), (plain_n, plain_c)))
    return {
        "TF-IDF + logistic regression": measures(test_true, p >= threshold),
        "the same, threshold 0.5": measures(test_true, plain >= 0.5),
    }


def one_vs_rest(train: list[str], true: np.ndarray, test: list[str], order: int, c: float) -> np.ndarray:
    """Return the probabilities (texts, labels) of one logistic regression per label."""
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.multiclass import OneVsRestClassifier

    vectorizer = TfidfVectorizer(tokenizer=TOKENIZER, token_pattern=None, lowercase=False, ngram_range=(1, order))
    vectorizer.set_params(sublinear_tf=True)
    rows = vectorizer.fit_transform(train)
    model = OneVsRestClassifier(LogisticRegression(C=c, solver="liblinear")).fit(rows, true.astype(int))
    probabilities: np.ndarray = model.predict_proba(vectorizer.transform(test))
    return probabilities


def ours(data: Data, labels: list[str], test_true: np.ndarray, seed: int, **settings: Any) -> list[float]:
    """Return the measures for nlptx."""
    train = nlptx.TrainSettings(**settings)
    model = nlptx.fit(data.train, data.train_sets, settings=train, seed=seed)
    assert model.labels == labels
    return measures(test_true, model.choose(model.predict_proba(data.test)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--labels", type=int, nargs="*", default=[6, 20, 60])
    parser.add_argument("--splits", type=int, default=3)
    arguments = parser.parse_args()
    questions = read_questions(arguments.data)
    print("labels  per text  method                         micro-F1  macro-F1  subset accuracy")
    for count in arguments.labels:
        found: dict[str, list[list[float]]] = {}
        for seed in range(1, arguments.splits + 1):
            data = make_data(questions, count, seed)
            labels = sorted(set().union(*data.train_sets))
            true, test_true = (
                find_label_sets([tuple(each) for each in sets], labels) for sets in (data.train_sets, data.test_sets)
            )
            rows = baseline(data, true, test_true, seed)
            rows["nlptx"] = ours(data, labels, test_true, seed)
            rows["nlptx --epochs 5"] = ours(data, labels, test_true, seed, epochs=5)
            for name, values in rows.items():
                found.setdefault(name, []).append(values)
        for name, all_values in found.items():
            figures = "  ".join(f"{value:8.4f}" for value in np.mean(all_values, axis=0))
            print(f"{len(labels):6}  {true.sum(axis=1).mean():8.2f}  {name:29}  {figures}", flush=True)


if __name__ == "__main__":
    main()
