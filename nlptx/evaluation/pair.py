"""The comparison of two models on the same texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from nlptx.evaluation.bootstrap import group_matrix
from nlptx.evaluation.labelled_predictions import LabelledPredictions
from nlptx.evaluation.significance import LEVEL, mcnemar, sign_flip_test, texts_needed


@dataclass(frozen=True)
class Difference:
    """A difference between two models, with its 95% bootstrap interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Pair:
    """The comparison of the first model with another model.

    Args:
        first, second: sources of the two models.
        accuracy, macro_f1, log_loss: value for the second model minus value for the first model; ``log_loss`` is None
            unless both models have probabilities.
        both, only_first, only_second, neither: numbers of texts that are predicted correctly by both models, only by
            the first, only by the second, and by neither.
        p_value: two-sided p-value for the hypothesis that both accuracies are equal, from McNemar's exact test. If the
            texts are in groups, the p-value is from a sign-flip test, which swaps the two models' predictions in
            randomly chosen groups.
        corrected_p_value: ``p_value`` corrected for the number of pairs of models (Holm 1979).
        log_loss_p_value: p-value for the hypothesis that both log-losses are equal, corrected in the same way; None
            unless both models have probabilities. It comes from the bootstrap or, if the texts are in groups, from a
            sign-flip test.
        texts_needed: number of texts needed to show a difference of this size with a probability of 80%; None if the
            difference is 0, or if the texts are in groups.
    """

    first: str
    second: str
    accuracy: Difference
    macro_f1: Difference
    log_loss: Difference | None
    both: int
    only_first: int
    only_second: int
    neither: int
    p_value: float
    corrected_p_value: float
    log_loss_p_value: float | None
    texts_needed: int | None

    @property
    def differs(self) -> bool:
        """Whether the accuracies differ significantly (corrected p-value below 0.05)."""
        return self.corrected_p_value < LEVEL


def accuracy_p_value(
    first: LabelledPredictions, second: LabelledPredictions, groups: NDArray[np.int64] | None
) -> float:
    """Return the p-value for equal accuracies; ``groups`` (texts,) is the group of each text, or None."""
    difference = second.correct.astype(np.float64) - first.correct
    if groups is None:
        return mcnemar(int((difference < 0).sum()), int((difference > 0).sum()))
    return sign_flip_test(group_matrix(groups) @ difference)


def log_loss_p_value(
    first: csr_matrix, second: csr_matrix, drawn: NDArray[np.float64], groups: NDArray[np.int64] | None
) -> float:
    """Return the p-value for equal log-losses.

    Args:
        first: (texts, 1) loss of the first model for each text.
        second: (texts, 1) loss of the second model.
        drawn: (resamples,) differences of the log-losses in the bootstrap.
        groups: (texts,) group of each text, or None.
    """
    if groups is not None:
        return sign_flip_test(group_matrix(groups) @ (second - first).toarray().ravel())
    return min(1.0, 2 * (1 + min(int((drawn <= 0).sum()), int((drawn >= 0).sum()))) / (1 + len(drawn)))


def make_pair(
    first: LabelledPredictions,
    second: LabelledPredictions,
    differences: Sequence[Difference],
    p_values: tuple[float, float, float | None],
    level: float | None,
) -> Pair:
    """Return the comparison of two models.

    Args:
        first: predictions of the first model.
        second: predictions of the second model.
        differences: differences in accuracy, macro-F1 and log-loss.
        p_values: p-value for the accuracies, the same p-value corrected, and the corrected p-value for the log-losses;
            None unless both models have probabilities.
        level: significance level, or None if the texts are in groups.
    """
    accuracy, macro_f1, log_loss = differences
    p_value, corrected, of_losses = p_values
    discordant = float((first.correct != second.correct).mean())
    return Pair(
        first.source,
        second.source,
        accuracy,
        macro_f1,
        None if of_losses is None else log_loss,
        both=int((first.correct & second.correct).sum()),
        only_first=int((first.correct & ~second.correct).sum()),
        only_second=int((~first.correct & second.correct).sum()),
        neither=int((~first.correct & ~second.correct).sum()),
        p_value=p_value,
        corrected_p_value=corrected,
        log_loss_p_value=of_losses,
        texts_needed=None if level is None else texts_needed(discordant, accuracy.value, level),
    )
