"""The methods people would take first, each in a few lines: from texts and classes to probabilities.

All read the words of nlptx's own tokenizer, in lower case, except VADER, which has its own. What is to be chosen is
chosen on a tenth of the training texts, then all of them are trained on.
"""

from __future__ import annotations

import importlib
import shutil
import subprocess
import tempfile
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from crossvalidate import folds

from nlptx.text import Tokenizer

SEED = 1
# C of scikit-learn: weaker regularisation to the right.
LOGISTIC_C = (0.1, 0.3, 1, 3, 10, 30)
SVM_C = (0.01, 0.03, 0.1, 0.3, 1, 3, 10)


class Absent(Exception):  # noqa: N818
    """A method cannot be run here, or not on this data."""


@dataclass(frozen=True)
class Task:
    """What a method may see: training texts and their classes, the test texts, the labels.

    Args:
        train: may be empty, for methods that need no training.
        classes: (len(train),) places in ``labels``.
        test: the texts to judge.
        labels: in order.
        ordered: whether they are a scale.
    """

    train: list[str]
    classes: np.ndarray
    test: list[str]
    labels: list[str]
    ordered: bool

    def held_out(self) -> tuple[Task, np.ndarray]:
        """Return the task of judging a tenth of the training texts by the others, and the true classes."""
        import pandas as pd

        out = folds(pd.Series(self.classes), 10, SEED) == 0
        texts = np.array(self.train, object)
        inner = replace(self, train=list(texts[~out]), classes=self.classes[~out], test=list(texts[out]))
        return inner, self.classes[out]


@dataclass(frozen=True)
class Answer:
    """What a method says of the test texts.

    Args:
        probabilities: (texts, classes).
        parameters: numbers it learned, or was given.
        sure: False where it names a class without a probability.
        chosen: settings found on the held-out part.
    """

    probabilities: np.ndarray
    parameters: int
    sure: bool = True
    chosen: dict[str, Any] = field(default_factory=dict)


Method = Callable[[Task], Answer]


def need(package: str) -> Any:
    try:
        return importlib.import_module(package)
    except ImportError as error:
        raise Absent(f"{package} is not installed (pip install '.[bench]')") from error


def need_training(task: Task) -> None:
    if not task.train:
        raise Absent("there is nothing to train on")


def best(task: Task, settings: Iterable[dict[str, Any]], method: Callable[..., Answer]) -> dict[str, Any]:
    """Return the settings with the highest accuracy on the held-out part, the first of equals."""
    inner, true = task.held_out()
    return max(settings, key=lambda one: (method(inner, **one).probabilities.argmax(axis=1) == true).mean())


def certain(classes: np.ndarray, count: int) -> np.ndarray:
    return np.eye(count)[classes]


# ---------------------------------------------------------------- without training


def majority(task: Task) -> Answer:
    """Always the most frequent label of the training texts, with their frequencies as probabilities."""
    need_training(task)
    shares = np.bincount(task.classes, minlength=len(task.labels)) / len(task.classes)
    return Answer(np.tile(shares, (len(task.test), 1)), len(task.labels))


def vader(task: Task) -> Answer:
    """VADER (Hutto & Gilbert 2014): its compound score, from -1 to 1, cut into equal parts, one a label."""
    if not task.ordered:
        raise Absent("it knows good from bad only, and these labels are no scale")
    judge = need("vaderSentiment.vaderSentiment").SentimentIntensityAnalyzer()
    compound = np.array([judge.polarity_scores(text)["compound"] for text in task.test])
    count = len(task.labels)
    parts = np.minimum(((compound + 1) / 2 * count).astype(int), count - 1)
    return Answer(certain(parts, count), len(judge.lexicon), sure=False)


# ---------------------------------------------------------------- linear


def tfidf(task: Task) -> Answer:
    """Logistic regression on TF-IDF of words and pairs seen in two texts."""
    need_training(task)
    text, linear = need("sklearn.feature_extraction.text"), need("sklearn.linear_model")

    def features(inner: Task) -> tuple[Any, Any]:
        counter = text.TfidfVectorizer(
            tokenizer=Tokenizer(), token_pattern=None, lowercase=False, ngram_range=(1, 2), sublinear_tf=True, min_df=2
        )
        return counter.fit_transform(inner.train), counter.transform(inner.test)

    def fit(train: Any, test: Any, classes: np.ndarray, C: float) -> Answer:
        model = linear.LogisticRegression(C=C, max_iter=1000).fit(train, classes)
        return Answer(probabilities(model, test, len(task.labels)), model.coef_.size + model.intercept_.size)

    return linear_answer(task, features, fit, LOGISTIC_C)


def nblr(task: Task) -> Answer:
    """NB-LR: logistic regression on uni- to trigrams weighted by log-count ratios (Wang & Manning 2012)."""
    linear = need("sklearn.linear_model")

    def weigh(train: Any, test: Any, positive: np.ndarray, C: float) -> tuple[np.ndarray, int]:
        ratios = log_count_ratios(train, positive)
        model = linear.LogisticRegression(C=C, solver="liblinear", dual=True, max_iter=1000, random_state=SEED)
        model.fit(train.multiply(ratios).tocsr(), positive)
        return model.predict_proba(test.multiply(ratios).tocsr())[:, 1], model.coef_.size + 1

    return one_against_rest(task, weigh, LOGISTIC_C, sure=True)


def nbsvm(task: Task) -> Answer:
    """NB-SVM: the same with a linear SVM, its weights drawn three quarters to their mean (Wang & Manning 2012)."""
    svm = need("sklearn.svm")

    def weigh(train: Any, test: Any, positive: np.ndarray, C: float) -> tuple[np.ndarray, int]:
        ratios = log_count_ratios(train, positive)
        model = svm.LinearSVC(C=C, max_iter=2000, random_state=SEED)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Liblinear failed")  # a large C is judged by how far it got
            model.fit(train.multiply(ratios).tocsr(), positive)
        weights = 0.25 * model.coef_[0] + 0.75 * np.abs(model.coef_).mean()
        return test @ (ratios * weights) + model.intercept_[0], model.coef_.size + 1

    return one_against_rest(task, weigh, SVM_C, sure=False)


def log_count_ratios(train: Any, positive: np.ndarray) -> np.ndarray:
    """Return log (p/|p| / (q/|q|)) of each n-gram, p and q the texts of either kind that hold it, plus 1."""
    inside, outside = (np.asarray(train[kind].sum(axis=0)).ravel() + 1.0 for kind in (positive, ~positive))
    return np.log(inside / inside.sum()) - np.log(outside / outside.sum())


def one_against_rest(task: Task, weigh: Callable[..., tuple[np.ndarray, int]], strengths: tuple, sure: bool) -> Answer:
    """Train on each label against the others; of two labels, on the second alone."""
    need_training(task)
    text = need("sklearn.feature_extraction.text")
    count = len(task.labels)

    def features(inner: Task) -> tuple[Any, Any]:
        counter = text.CountVectorizer(
            tokenizer=Tokenizer(),
            token_pattern=None,
            lowercase=False,
            ngram_range=(1, 3),
            binary=True,
            dtype=np.float64,
        )
        return counter.fit_transform(inner.train), counter.transform(inner.test)

    def fit(train: Any, test: Any, classes: np.ndarray, C: float) -> Answer:
        found = [weigh(train, test, classes == label, C) for label in (range(count) if count > 2 else [1])]
        scores = np.stack([score for score, _ in found], axis=1)
        if count == 2:
            scores = np.hstack([(1 if sure else 0) - scores, scores])
        table = scores / scores.sum(axis=1, keepdims=True) if sure else certain(scores.argmax(axis=1), count)
        return Answer(table, sum(size for _, size in found), sure)

    return linear_answer(task, features, fit, strengths)


def linear_answer(
    task: Task, features: Callable[[Task], tuple[Any, Any]], fit: Callable[..., Answer], strengths: tuple
) -> Answer:
    """Choose C on the held-out part, whose n-grams are counted once, and train on everything."""
    inner, true = task.held_out()
    parts = features(inner)
    hits = {C: (fit(*parts, inner.classes, C).probabilities.argmax(axis=1) == true).mean() for C in strengths}
    chosen = max(strengths, key=lambda C: hits[C])
    return replace(fit(*features(task), task.classes, chosen), chosen={"C": chosen})


def probabilities(model: Any, test: Any, count: int) -> np.ndarray:
    """Return (texts, count); a class that the training texts do not have gets 0."""
    table = np.zeros((test.shape[0], count))
    table[:, model.classes_] = model.predict_proba(test)
    return table


# ---------------------------------------------------------------- fastText


def fasttext(task: Task) -> Answer:
    """fastText (Joulin et al. 2017), the program: words and pairs, 10 dimensions; rate and epochs are chosen."""
    need_training(task)
    if shutil.which("fasttext") is None:
        raise Absent("the program fasttext is not on the PATH")
    grid = [{"lr": lr, "epoch": epoch} for epoch in (5, 25) for lr in (0.1, 0.25, 0.5, 1.0)]
    chosen = best(task, grid, run_fasttext)
    return replace(run_fasttext(task, **chosen), chosen=chosen)


def run_fasttext(task: Task, **settings: float) -> Answer:
    cut = Tokenizer()
    with tempfile.TemporaryDirectory() as name:
        train, test, model = (Path(name) / part for part in ("train", "test", "model"))
        rows = zip(task.classes, task.train, strict=True)
        train.write_text("".join(f"__label__{place} {' '.join(cut(text))}\n" for place, text in rows))
        test.write_text("".join(" ".join(cut(text)) + "\n" for text in task.test))
        options = {"wordNgrams": 2, "dim": 10, "thread": 1, "seed": SEED, "verbose": 0, **settings}
        words = [word for key, value in options.items() for word in (f"-{key}", str(value))]
        call("supervised", "-input", train, "-output", model, *words)
        told = call("predict-prob", f"{model}.bin", test, "-1").splitlines()
        kept = int(call("dump", f"{model}.bin", "dict").split(None, 1)[0])
        buckets = dict(line.split(" ", 1) for line in call("dump", f"{model}.bin", "args").splitlines())["bucket"]
    table = np.zeros((len(task.test), len(task.labels)))
    for row, line in enumerate(told):
        fields = line.split()
        for label, share in zip(fields[::2], fields[1::2], strict=True):
            table[row, int(label.removeprefix("__label__"))] = float(share)
    table /= table.sum(axis=1, keepdims=True)
    return Answer(table, 10 * (kept + int(buckets)))


def call(*words: object) -> str:
    return subprocess.run(["fasttext", *map(str, words)], check=True, capture_output=True, text=True).stdout


METHODS: dict[str, Method] = {
    "majority": majority,
    "vader": vader,
    "tfidf": tfidf,
    "nblr": nblr,
    "nbsvm": nbsvm,
    "fasttext": fasttext,
}
