"""Compares nlptx with TF-IDF and logistic regression on texts with one of 30, 100 or 1,000 labels.

The texts are sentences of the unlabelled IMDB reviews (Maas et al. 2011). The label of a sentence is a word that was
removed from it. The 300 most frequent words are never labels; the words that follow them in frequency are the labels. A
sentence has 8 to 40 words. If a sentence contains several of the labels, its label is the least frequent of them.
All occurrences of the label are removed from the sentence. A tenth of the reviews is set aside for testing, so that
training and test sentences come from different reviews. The sentences are drawn at random, so frequent words are
frequent labels.

The baselines are one logistic regression per label and, for up to 100 labels, also a multinomial logistic regression,
both on TF-IDF of words and word pairs. The inverse penalty C is chosen on a tenth of the training texts, or fixed if
there are 300 labels or more. The table shows accuracy, macro-F1 over the labels that occur in the test texts, log-loss,
and the time and memory of training (for nlptx, of the command ``nlptx train``).

    python tests/benchmarks/one_of_many_labels.py aclImdb_dev.tar.gz --labels 30 100 --texts 10000
    python tests/benchmarks/one_of_many_labels.py aclImdb_dev.tar.gz --labels 1000 --texts 100000
"""

from __future__ import annotations

import argparse
import random
import re
import sys
import tarfile
import tempfile
import time
from collections import Counter
from pathlib import Path

import numpy as np
from measure import watched

import nlptx
from nlptx.text.tokenizer import Tokenizer

TRAIN = [sys.executable, "-m", "nlptx", "train", "-q"]
FREQUENT_WORDS = 300
MIN_WORDS, MAX_WORDS = 8, 40
TEST_SHARE, HELD_OUT, MAX_TEST = 0.1, 0.1, 5000
PENALTIES = (3.0, 10.0, 30.0)
# With at least MANY labels, training is slow, so the multinomial model is left out, and the inverse penalty is fixed.
MANY, PENALTY_FOR_MANY = 300, 10.0
MIN_PROBABILITY = 1e-15
TOKENIZER = Tokenizer()
Examples = list[tuple[str, str]]


def read_sentences(path: Path, seed: int) -> list[list[list[str]]]:
    """Return the sentences of each review, as lists of words; the reviews are shuffled."""
    reviews = []
    with tarfile.open(path) as archive:
        for member in archive:
            if "/train/unsup/" in member.name and member.isfile():
                file = archive.extractfile(member)
                assert file is not None
                text = file.read().decode("utf-8").replace("<br />", " ")
                sentences = (TOKENIZER(part) for part in re.split(r"(?<=[.!?])\s+", text))
                reviews.append([words for words in sentences if MIN_WORDS <= len(words) <= MAX_WORDS])
    random.Random(seed).shuffle(reviews)
    return reviews


def make_rows(reviews: list[list[list[str]]], labels: dict[str, int], texts: int, seed: int) -> Examples:
    """Return at most ``texts`` pairs (sentence without its label, label)."""
    rows = []
    for words in (words for review in reviews for words in review):
        found = [word for word in words if word in labels]
        if found:
            label = max(found, key=labels.__getitem__)
            rows.append((" ".join(word for word in words if word != label), label))
    random.Random(seed).shuffle(rows)
    return rows[:texts]


def write_rows(path: Path, rows: Examples) -> None:
    path.write_text("text\tlabel\n" + "".join(f"{text}\t{label}\n" for text, label in rows), encoding="utf-8")


def measures(p: np.ndarray, labels: list[str], test: Examples) -> tuple[float, float, float]:
    """Return the accuracy, macro-F1 and log-loss of probabilities (texts, labels)."""
    column = {label: number for number, label in enumerate(labels)}
    true = np.array([column[label] for _, label in test])
    predicted = p.argmax(axis=1)
    hits = np.bincount(true[true == predicted], minlength=len(labels))
    both = np.bincount(true, minlength=len(labels)) + np.bincount(predicted, minlength=len(labels))
    present = np.bincount(true, minlength=len(labels)) > 0
    log_loss = -float(np.log(np.maximum(p[np.arange(len(true)), true], MIN_PROBABILITY)).mean())
    return float((true == predicted).mean()), float((2 * hits[present] / both[present]).mean()), log_loss


def baseline(train: Examples, test: list[str], c: float, *, multinomial: bool) -> tuple[np.ndarray, list[str]]:
    """Return the probabilities (texts, labels) of a baseline for the test texts, and its labels."""
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.multiclass import OneVsRestClassifier

    vectorizer = TfidfVectorizer(tokenizer=str.split, token_pattern=None, lowercase=False, ngram_range=(1, 2))
    vectorizer.set_params(sublinear_tf=True, min_df=2)
    rows = vectorizer.fit_transform([text for text, _ in train])
    if multinomial:
        model = LogisticRegression(C=c, max_iter=100, tol=1e-3)
    else:
        model = OneVsRestClassifier(LogisticRegression(C=c, solver="liblinear"))
    model.fit(rows, [label for _, label in train])
    return model.predict_proba(vectorizer.transform(test)), list(model.classes_)


def choose_penalty(train: Examples, *, multinomial: bool) -> float:
    """Return the inverse penalty with the highest accuracy on a held-out tenth of the training texts."""
    cut = round(HELD_OUT * len(train))
    held_out = train[:cut]
    found = {}
    for c in PENALTIES:
        p, labels = baseline(train[cut:], [text for text, _ in held_out], c, multinomial=multinomial)
        found[c] = measures(p, labels, [row for row in held_out if row[1] in labels])[0]
    return max(found, key=found.__getitem__)


def report(name: str, values: tuple[float, float, float], seconds: float, megabytes: int | None) -> None:
    memory = "" if megabytes is None else f"{megabytes:,} MB"
    print(f"  {name:36} {values[0]:.4f}  {values[1]:.4f}  {values[2]:.4f}  {seconds:6.0f} s  {memory}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--labels", type=int, nargs="*", default=[30, 100, 1000])
    parser.add_argument("--texts", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", choices=("nlptx", "baseline"))
    parser.add_argument("--train", nargs="*", default=[], help="options of nlptx train, such as epochs=5")
    arguments = parser.parse_args()
    reviews = read_sentences(arguments.data, arguments.seed)
    cut = round(TEST_SHARE * len(reviews))
    ranked = [word for word, _ in Counter(word for review in reviews for one in review for word in one).most_common()]
    print("accuracy, macro-F1, log-loss, time and memory of training")
    for count in arguments.labels:
        labels = {word: rank for rank, word in enumerate(ranked[FREQUENT_WORDS : FREQUENT_WORDS + count])}
        train = make_rows(reviews[cut:], labels, arguments.texts, arguments.seed)
        known = {label for _, label in train}
        test = [row for row in make_rows(reviews[:cut], labels, MAX_TEST, arguments.seed) if row[1] in known]
        print(f"{len(known):,} labels, {len(train):,} training texts, {len(test):,} test texts")
        texts = [text for text, _ in test]
        if arguments.only != "baseline":
            with tempfile.TemporaryDirectory() as folder:
                write_rows(Path(folder, "train.tsv"), train)
                options = [f"--{part}" for part in arguments.train]
                command = [*TRAIN, f"{folder}/train.tsv", "-o", f"{folder}/m.npz", *options]
                seconds, megabytes = watched(command)
                model = nlptx.Model.load(Path(folder, "m.npz"))
            values = measures(model.predict_proba(texts), model.label_names, test)
            report(" ".join(["nlptx", *arguments.train]), values, seconds, megabytes)
        if arguments.only != "nlptx":
            for multinomial in (False, True)[: 1 if count >= MANY else 2]:
                c = PENALTY_FOR_MANY if count >= MANY else choose_penalty(train, multinomial=multinomial)
                began = time.perf_counter()
                p, names = baseline(train, texts, c, multinomial=multinomial)
                name = f"TF-IDF, {'multinomial' if multinomial else 'one-vs-rest'}, C {c:g}"
                report(name, measures(p, names, test), time.perf_counter() - began, None)


if __name__ == "__main__":
    main()
