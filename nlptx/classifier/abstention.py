"""Abstention: texts with a low confidence get no label, so that the labels of the other texts are rarely wrong.

A text counts as answered if it gets a label. For a fixed grid of confidence thresholds, a model stores how many of its
held-out texts are answered, and how many of these answers are wrong. From these counts alone, :meth:`ErrorCurve.choose`
finds the threshold for a maximum error rate E:

    for each threshold, from high to low, with n answered texts and w wrong answers:
        skip the threshold if n is too small (see below)
        test whether P(X <= w) <= 5%, where X is binomial with parameters n and E; stop at the first failure

The last threshold that passes the test is chosen. A threshold passes if and only if the one-sided 95% Clopper-Pearson
upper bound on its error rate is at most E. Because the order of the tests is fixed in advance and testing stops at the
first failure, the probability of choosing a threshold with an error rate above E is at most 5%, however many tests are
made. (This method is called fixed-sequence testing; see Angelopoulos et al. 2021, "Learn then Test". Geifman & El-Yaniv
2017, "Selective Classification for Deep Neural Networks", describe the problem of choosing a threshold for a maximum
error rate.) A threshold that too few texts reach is skipped, because one or two wrong answers among so few texts would
end the tests early. Because thresholds are skipped, the bound of 5% needs one more assumption: the error rate does not
decrease when the threshold is lowered.

The bound of 5% holds only for texts that are exchangeable with the held-out texts, for example if both are random
samples from one source. There is no guarantee for texts from another domain. The held-out texts were also used to
choose the epoch, the temperature, the weights of the region filters and of the subword model and, for a multi-label
model, the label thresholds. The model therefore makes slightly fewer errors on them than on new texts.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from nlptx.arguments.values import check_real
from nlptx.classifier.binomial import binomial_cdf
from nlptx.errors import ArtifactError, CorruptError, QualityGateError, SettingsError

# Maximum probability of choosing a threshold whose error rate exceeds the requested maximum.
RISK = 0.05
# A threshold is skipped if the fraction of the held-out texts that reach it is below MIN_COVERAGE, or if so few texts
# reach it that the test would fail even if only MIN_ERRORS answers were wrong.
MIN_COVERAGE, MIN_ERRORS = 0.2, 1
# Confidence thresholds, ascending; the steps are finer close to 1.
GRID = (
    *(number / 100 for number in range(99)),
    *(number / 1_000 for number in range(990, 999)),
    *(number / 10_000 for number in range(9_990, 10_000)),
)
# A record with more held-out texts than this is not credible; it would make the search for a threshold slow.
_MAX_TEXTS = 10_000_000
# Difference between neighbouring values of ``max_error`` that :meth:`ErrorCurve.smallest_error` tries.
_STEP = 0.005


class Threshold(NamedTuple):
    """A confidence threshold, and the fraction of the held-out texts whose confidence reaches it.

    Args:
        confidence: the threshold, in [0, 1].
        coverage: fraction of the held-out texts that are answered.
    """

    confidence: float
    coverage: float


@dataclass(frozen=True)
class ErrorCurve:
    """Numbers of answered texts and of wrong answers among the held-out texts, for several confidence thresholds.

    Args:
        texts: number of held-out texts, including texts without a known word, which are never answered.
        thresholds: confidence thresholds, ascending.
        answered: for each threshold, the number of texts whose confidence reaches it.
        wrong: for each threshold, the number of texts whose confidence reaches it but whose predicted label is wrong.
    """

    texts: int
    thresholds: list[float]
    answered: list[int]
    wrong: list[int]

    @classmethod
    def of(cls, confidence: NDArray[np.float64], correct: NDArray[np.bool_], texts: int) -> Self:
        """Count the answered texts and the wrong answers at each confidence threshold of the grid.

        Args:
            confidence: (N,) probability of the predicted label, for each held-out text with a known word.
            correct: (N,) whether the predicted label is the true label.
            texts: number of held-out texts, including texts without a known word.
        """
        answered = (len(confidence) - np.searchsorted(np.sort(confidence), GRID)).tolist()
        wrong = ((~correct).sum() - np.searchsorted(np.sort(confidence[~correct]), GRID)).tolist()
        # If all texts reach several thresholds, only the highest of these is kept, because all of them select the same
        # texts. A threshold that no text reaches selects nothing, so it is left out.
        used = range(max(answered.count(len(confidence)) - 1, 0), len(GRID) - answered.count(0))
        return cls(texts, [GRID[i] for i in used], [answered[i] for i in used], [wrong[i] for i in used])

    def choose(self, max_error: float) -> Threshold | None:
        """Return the threshold that limits the error rate of the answers to ``max_error``; None if no threshold does.

        The error rate on new texts is at most ``max_error``, at a confidence level of 95%. The module docstring lists
        the assumptions.

        Args:
            max_error: maximum fraction of wrong answers, above 0 and below 1.
        """
        chosen = None
        for confidence, answered, wrong in reversed([*zip(self.thresholds, self.answered, self.wrong, strict=True)]):
            if answered < MIN_COVERAGE * self.texts or binomial_cdf(MIN_ERRORS, answered, max_error) > RISK:
                continue
            if binomial_cdf(wrong, answered, max_error) > RISK:
                break
            chosen = Threshold(confidence, answered / self.texts)
        return chosen

    def smallest_error(self, above: float = 0.0) -> float | None:
        """Return the smallest ``max_error`` for which :meth:`choose` finds a threshold, or None.

        Only values larger than ``above`` are tried, in steps of 0.5%.
        """
        errors = (round(number * _STEP, 3) for number in range(1, round(1 / _STEP)))
        return next((error for error in errors if error > above and self.choose(error) is not None), None)

    def to_dict(self) -> dict[str, Any]:
        """Return the curve as JSON values."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: Any) -> Self:
        """Restore a curve from JSON values. Raises CorruptError if the values are invalid."""
        if not isinstance(values, dict) or set(values) != {"texts", "thresholds", "answered", "wrong"}:
            raise CorruptError("its record of errors on held-out texts is damaged")
        texts, *columns = (values[name] for name in ("texts", "thresholds", "answered", "wrong"))
        kinds = (int, float, int, int)
        if (
            not all(isinstance(column, list) and len(column) == len(columns[0]) for column in columns)
            or any(
                type(value) is not kind for kind, part in zip(kinds, ([texts], *columns), strict=True) for value in part
            )
            or texts > _MAX_TEXTS
            or not all(0 <= low < high <= 1 for low, high in pairwise([*columns[0], 1.0]))
            or not all(0 <= wrong <= answered <= texts for _, answered, wrong in zip(*columns, strict=True))
            or not all(after <= before for counts in columns[1:] for before, after in pairwise(counts))
        ):
            raise CorruptError("its record of errors on held-out texts is inconsistent")
        return cls(texts, *columns)


def find_threshold(curve: ErrorCurve | None, max_error: float) -> Threshold:
    """Return the confidence threshold that limits the error rate of a model's answers to ``max_error``.

    Args:
        curve: the model's errors on its held-out texts; None if the model does not store them.
        max_error: as in :meth:`ErrorCurve.choose`.

    Raises:
        ArtifactError: ``curve`` is None.
        InputTypeError: ``max_error`` is not a number.
        QualityGateError: no threshold can be shown to limit the error rate to ``max_error``.
        SettingsError: ``max_error`` is not between 0 and 1.
    """
    check_real(max_error, "max_error")
    if not 0 < max_error < 1:
        raise SettingsError(f"`max_error` is {max_error}; expected a number between 0 and 1")
    if curve is None:
        raise ArtifactError(
            "the model has no record of its errors on held-out texts, so no threshold for `max_error` can be found",
            hint="Train it again with texts held out (`valid_share` above 0), or choose `abstain` yourself.",
        )
    threshold = curve.choose(max_error)
    if threshold is None:
        smallest = curve.smallest_error(max_error)
        advice = "" if smallest is None else f"Allow at least {smallest:g}, or train"
        raise QualityGateError(
            f"with the {curve.texts:,} texts that were held out of training, no confidence threshold can be shown to"
            f" limit the error rate to {max_error:g}",
            hint=f"{advice or 'Train'} with more texts held out (`valid_share`, `valid_max`).",
        )
    return threshold


def check_abstain(abstain: float) -> None:
    """Raise InputTypeError or SettingsError unless ``abstain`` is a confidence threshold: a number from 0 to 1."""
    check_real(abstain, "abstain")
    if not 0 <= abstain <= 1:
        raise SettingsError(f"`abstain` is {abstain}; expected a number from 0 to 1")
