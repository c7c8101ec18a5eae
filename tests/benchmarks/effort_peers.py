"""The methods that ``efforts.py`` compares with ``nlptx train --effort``, each with one fixed, common setting.

Each method takes training texts with their labels, and test texts, and returns the labels in order and the probability
of each label for each test text, (texts, labels).
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
from baseline_linear import log_count_ratios
from numpy.typing import NDArray

Found = tuple[list[str], NDArray[np.float64]]
_WORDS = re.compile(r"\w+|[^\w\s]")


def tfidf(texts: list[str], labels: list[str], new_texts: list[str]) -> Found:
    """Apply logistic regression to TF-IDF values of words and bigrams."""
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression

    vectorizer = TfidfVectorizer(ngram_range=(1, 2), min_df=2, sublinear_tf=True)
    model = LogisticRegression(max_iter=1000).fit(vectorizer.fit_transform(texts), labels)
    return list(model.classes_), model.predict_proba(vectorizer.transform(new_texts))


def nblr(texts: list[str], labels: list[str], new_texts: list[str]) -> Found:
    """Apply NB-LR: logistic regression on log-count ratios of 1- to 3-grams, one model per label.

    Source: Mesnil et al. (2014), "Ensemble of generative and discriminative techniques for sentiment analysis".
    """
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.linear_model import LogisticRegression

    vectorizer = CountVectorizer(ngram_range=(1, 3), binary=True, token_pattern=_WORDS.pattern, dtype=np.float64)
    known, new = vectorizer.fit_transform(texts), vectorizer.transform(new_texts)
    names, classes = np.unique(labels, return_inverse=True)
    columns = []
    for label in range(len(names)) if len(names) > 2 else [1]:
        ratios = log_count_ratios(known, classes == label)
        model = LogisticRegression(solver="liblinear", dual=True, max_iter=1000, random_state=1)
        model.fit(known.multiply(ratios).tocsr(), classes == label)
        columns.append(model.predict_proba(new.multiply(ratios).tocsr())[:, 1])
    if len(names) == 2:
        columns.insert(0, 1 - columns[0])
    table = np.stack(columns, axis=1)
    return list(names), table / table.sum(axis=1, keepdims=True)


def fasttext(texts: list[str], labels: list[str], new_texts: list[str]) -> Found:
    """Run the fastText program (Joulin et al. 2017) on words and pairs of words, with two threads, for 5 epochs."""
    names, classes = np.unique(labels, return_inverse=True)
    with tempfile.TemporaryDirectory() as name:
        train, test, model = (Path(name) / part for part in ("train", "test", "model"))
        # The texts are shuffled, because fastText reads them in the given order, and archives are sorted by label.
        order = np.random.default_rng(1).permutation(len(texts))
        train.write_text("".join(f"__label__{classes[row]} {_words(texts[row])}\n" for row in order))
        test.write_text("".join(f"{_words(text)}\n" for text in new_texts))
        settings = ["-wordNgrams", "2", "-dim", "10", "-lr", "0.5", "-thread", "2", "-verbose", "0"]
        _call("supervised", "-input", train, "-output", model, *settings)
        lines = _call("predict-prob", f"{model}.bin", test, "-1").splitlines()
    table = np.zeros((len(lines), len(names)))
    for row, line in enumerate(lines):
        fields = line.split()
        for label, share in zip(fields[::2], fields[1::2], strict=True):
            table[row, int(label.removeprefix("__label__"))] = float(share)
    return list(names), table / table.sum(axis=1, keepdims=True)


def _words(text: str) -> str:
    return " ".join(_WORDS.findall(text.lower()))


def _call(*words: object) -> str:
    return subprocess.run(["fasttext", *map(str, words)], check=True, capture_output=True, text=True).stdout


PEERS: dict[str, Callable[[list[str], list[str], list[str]], Found]] = {"tfidf": tfidf, "nblr": nblr}
if shutil.which("fasttext") is not None:
    PEERS["fasttext"] = fasttext
