"""Linear n-gram models with scikit-learn. The parameter C is chosen on a held-out tenth of the training texts."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from baseline_task import SEED, Answer, Task, certain, need, need_training

from nlptx.text.tokenizer import Tokenizer

# Candidates for scikit-learn's C, from strong to weak regularisation.
LOGISTIC_C = (0.1, 0.3, 1, 3, 10, 30)
SVM_C = (0.01, 0.03, 0.1, 0.3, 1, 3, 10)


def tfidf(task: Task) -> Answer:
    """Apply logistic regression to the TF-IDF values of words and word pairs that occur in at least two texts."""
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
    """Apply NB-LR: logistic regression on log-count ratios of n-grams (Wang & Manning 2012, Mesnil et al. 2014)."""
    linear = need("sklearn.linear_model")

    def weigh(train: Any, test: Any, positive: np.ndarray, C: float) -> tuple[np.ndarray, int]:
        ratios = log_count_ratios(train, positive)
        model = linear.LogisticRegression(C=C, solver="liblinear", dual=True, max_iter=1000, random_state=SEED)
        model.fit(train.multiply(ratios).tocsr(), positive)
        return model.predict_proba(test.multiply(ratios).tocsr())[:, 1], model.coef_.size + 1

    return one_against_rest(task, weigh, LOGISTIC_C, sure=True)


def nbsvm(task: Task) -> Answer:
    """Apply NB-SVM (Wang & Manning 2012): mix 1/4 of linear SVM weights with 3/4 of rescaled naive Bayes weights."""
    svm = need("sklearn.svm")

    def weigh(train: Any, test: Any, positive: np.ndarray, C: float) -> tuple[np.ndarray, int]:
        ratios = log_count_ratios(train, positive)
        model = svm.LinearSVC(C=C, max_iter=200, random_state=SEED)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Liblinear failed")  # the SVM may not converge if C is large
            model.fit(train.multiply(ratios).tocsr(), positive)
        # The intercepts are mixed in the same proportions as the weights, and rescaled by the same factor.
        scale = np.abs(model.coef_).mean()
        weights = 0.25 * model.coef_[0] + 0.75 * scale
        prior = np.log(positive.sum() / (~positive).sum())
        return test @ (ratios * weights) + 0.25 * model.intercept_[0] + 0.75 * scale * prior, model.coef_.size + 1

    return one_against_rest(task, weigh, SVM_C, sure=False)


def log_count_ratios(train: Any, positive: np.ndarray) -> np.ndarray:
    """Return log((p / P) / (q / Q)) for each n-gram.

    p is 1 + the number of positive texts that contain the n-gram, q is 1 + the number of other texts that contain it,
    and P and Q are the sums of p and q over all n-grams.
    """
    inside, outside = (np.asarray(train[kind].sum(axis=0)).ravel() + 1.0 for kind in (positive, ~positive))
    return np.log(inside / inside.sum()) - np.log(outside / outside.sum())


def one_against_rest(task: Task, weigh: Callable[..., tuple[np.ndarray, int]], strengths: tuple, sure: bool) -> Answer:
    """Train one model per label against all other labels; with two labels, train only the second label's model."""
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
        models = [weigh(train, test, classes == label, C) for label in (range(count) if count > 2 else [1])]
        scores = np.stack([score for score, _ in models], axis=1)
        if count == 2:
            scores = np.hstack([(1 if sure else 0) - scores, scores])
        table = scores / scores.sum(axis=1, keepdims=True) if sure else certain(scores.argmax(axis=1), count)
        return Answer(table, sum(size for _, size in models), sure)

    return linear_answer(task, features, fit, strengths)


def linear_answer(
    task: Task, features: Callable[[Task], tuple[Any, Any]], fit: Callable[..., Answer], strengths: tuple
) -> Answer:
    """Choose C on the held-out part, then train on all texts. N-grams are not counted again for each C."""
    inner, true = task.held_out()
    parts = features(inner)
    hits = {C: (fit(*parts, inner.classes, C).probabilities.argmax(axis=1) == true).mean() for C in strengths}
    chosen = max(strengths, key=lambda C: hits[C])
    return replace(fit(*features(task), task.classes, chosen), chosen={"C": chosen})


def probabilities(model: Any, test: Any, count: int) -> np.ndarray:
    """Return probabilities (texts, count); classes that do not occur in the training texts get 0."""
    table = np.zeros((test.shape[0], count))
    table[:, model.classes_] = model.predict_proba(test)
    return table
