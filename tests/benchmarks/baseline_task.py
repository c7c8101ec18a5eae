"""The input and the output of all baselines."""

from __future__ import annotations

import importlib
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from folds import folds

SEED = 1


class Absent(Exception):  # noqa: N818
    """A method cannot be run on this machine or on this data."""


@dataclass(frozen=True)
class Task:
    """The input of a method: training texts with their classes, test texts, and labels.

    Args:
        train: training texts; may be empty for methods that need no training.
        classes: (len(train),) index in ``labels`` of the label of each training text.
        test: texts to classify.
        labels: labels, in order.
        ordered: whether the labels form a scale.
    """

    train: list[str]
    classes: np.ndarray
    test: list[str]
    labels: list[str]
    ordered: bool

    def held_out(self) -> tuple[Task, np.ndarray]:
        """Return a task whose test texts are a tenth of the training texts, and the true classes of this tenth."""
        import pandas as pd

        out = folds(pd.Series(self.classes), 10, SEED) == 0
        texts = np.array(self.train, object)
        inner = replace(self, train=list(texts[~out]), classes=self.classes[~out], test=list(texts[out]))
        return inner, self.classes[out]


@dataclass(frozen=True)
class Answer:
    """The output of a method for the test texts.

    Args:
        probabilities: (texts, classes) probability of each class.
        parameters: number of parameters of the method.
        sure: whether the method predicts probabilities; False if it predicts only classes.
        chosen: hyperparameters chosen on the held-out part.
    """

    probabilities: np.ndarray
    parameters: int
    sure: bool = True
    chosen: dict[str, Any] = field(default_factory=dict)


def need(package: str) -> Any:
    try:
        return importlib.import_module(package)
    except ImportError as error:
        raise Absent(f"{package} is not installed (pip install '.[bench]')") from error


def need_training(task: Task) -> None:
    if not task.train:
        raise Absent("there is nothing to train on")


def certain(classes: np.ndarray, count: int) -> np.ndarray:
    return np.eye(count)[classes]
