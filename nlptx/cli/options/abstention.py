"""The options ``--abstain`` and ``--max-error``, which leave low-confidence texts unlabelled."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from nlptx.cli.options.command import option
from nlptx.cli.options.number_types import NumberRange
from nlptx.cli.terminal.charts import curve as draw_curve
from nlptx.cli.terminal.reporter import Reporter

if TYPE_CHECKING:
    from nlptx.classifier.abstention import ErrorCurve
    from nlptx.classifier.model import Model
    from nlptx.evaluation.coverage import CoverageCurve

# Error rates for which `nlptx info` shows the fraction of the texts that would get a label.
_ERRORS = (0.01, 0.02, 0.05, 0.1, 0.2)
# Coverage at which the curve starts, in percent. At smaller coverages, the accuracy depends on only a few texts.
_MIN_DRAWN = 10


@dataclass(frozen=True)
class Abstention:
    """Values of the options ``--abstain`` and ``--max-error``, of which at most one is set."""

    abstain: float | None
    max_error: float | None

    @property
    def is_given(self) -> bool:
        """Whether ``--abstain`` or ``--max-error`` is given."""
        return self.abstain is not None or self.max_error is not None

    def threshold(self, model: Model, on_note: Callable[[str], None]) -> float:
        """Return the minimum confidence that a text needs to get a label; 0 if neither option is given.

        ``on_note`` is called with a note if confidence is of little use, because the model is balanced.

        Raises:
            ArtifactError, QualityGateError: the model has no threshold for ``--max-error``.
        """
        if self.is_given and model.is_balanced:
            on_note(
                "the model was trained with --class-weight balanced, so its predictions of rare labels have a low"
                " confidence, and most of them are left out"
            )
        return (self.abstain or 0.0) if self.max_error is None else model.threshold(self.max_error)


def abstention_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--abstain`` and ``--max-error``; the command receives their values as ``abstention``."""

    @option(
        "--abstain",
        type=NumberRange(0, 1),
        metavar="P",
        help="Do not label texts with a confidence below P.",
    )
    @option(
        "--max-error",
        type=NumberRange(0, 1, min_open=True, max_open=True),
        metavar="E",
        excludes={"abstain": "{} and {} both set the minimum confidence; use only one of them."},
        help="Like --abstain, with P chosen on held-out texts so that at most a fraction E of the labels is wrong.",
    )
    @functools.wraps(function)
    def wrapped(*args: Any, abstain: float | None, max_error: float | None, **kwargs: Any) -> Any:
        return function(*args, abstention=Abstention(abstain, max_error), **kwargs)

    return wrapped


def coverage_note(answered: int, texts: int, threshold: float) -> str:
    """Return a note that gives the number of labelled texts."""
    share = f" ({answered / texts:.1%})" if texts else ""
    return f"labelled {answered:,} of {texts:,} texts{share}, those with a confidence of at least {threshold:g}"


def draw_coverage(curve: CoverageCurve, reporter: Reporter) -> None:
    """Print accuracy against coverage, as a table and as a curve."""
    rows = [
        (f"{point.coverage:.0%}", curve.threshold(point), f"{point.accuracy:.2%}", point.texts)
        for point in curve.table()
    ]
    reporter.table("accuracy against coverage", ("coverage", "minimum confidence", "accuracy", "texts"), rows)
    points = [(float(percent), curve.at(percent / 100).accuracy) for percent in range(_MIN_DRAWN, 101)]
    title = f"accuracy from {_MIN_DRAWN}% coverage (left) to 100% (right); AURC {curve.aurc:.4f}"
    reporter.lines(title, draw_curve(points, reporter.width))


def attainable_errors(curve: ErrorCurve) -> Iterator[tuple[str, str]]:
    """Yield pairs: a maximum error rate, and a phrase with the threshold that guarantees this rate and its coverage.

    The first pair is for the smallest error rate that can be guaranteed. Pairs for larger error rates follow, up to the
    first error rate at which all texts are labelled. If no error rate can be guaranteed, a single pair gives the
    reason.
    """
    smallest = curve.smallest_error()
    if smallest is None:
        yield "not attainable", "too few held-out texts, or too many errors on them"
        return
    for error in sorted({smallest, *(error for error in _ERRORS if error > smallest)}):
        if threshold := curve.choose(error):
            answers = f"labels {threshold.coverage:.0%} of texts (--abstain {threshold.confidence:g})"
            yield f"at most {100 * error:g}%", answers
            if threshold.coverage == 1:
                return
