"""Prints the report of ``nlptx compare``, and writes the table of texts for which the models disagree."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from nlptx.cli.options.prediction_format import format_of_table
from nlptx.cli.results.table_writer import open_table
from nlptx.cli.terminal.reporter import Reporter

if TYPE_CHECKING:
    from nlptx.evaluation.comparison import Comparison, ModelQuality
    from nlptx.evaluation.labelled_predictions import LabelledPredictions
    from nlptx.evaluation.pair import Difference, Pair

_NONE = "-"
# Maximum number of characters shown per text.
_SHOWN = 200


def draw_comparison(comparison: Comparison, verdicts: Sequence[str], reporter: Reporter) -> None:
    """Print a comparison as tables, followed by the verdicts."""
    texts = f"{comparison.texts:,} texts"
    if comparison.groups is not None:
        texts += f" in {comparison.groups:,} groups"
    header = ("", "accuracy", "macro-F1", "log-loss", "mean confidence", "ECE", "by chance")
    reporter.table(f"comparison on {texts}", header, [_candidate(each) for each in comparison.candidates])
    if len(comparison.pairs) == 1:
        _draw_pair(comparison.pairs[0], comparison, reporter)
    else:
        _draw_pairs(comparison, reporter)
    reporter.lines("verdict", list(verdicts))


def _draw_pair(pair: Pair, comparison: Comparison, reporter: Reporter) -> None:
    rows = [
        ("accuracy", f"{100 * pair.accuracy.value:+z.2f} points  ({_range(pair.accuracy, 100, 2)})"),
        ("macro-F1", f"{pair.macro_f1.value:+z.4f}  ({_range(pair.macro_f1)})"),
        *([("log-loss", f"{pair.log_loss.value:+z.4f}  ({_range(pair.log_loss)})")] if pair.log_loss else []),
        ("both correct", pair.both),
        ("both wrong", pair.neither),
        (f"only {pair.first} correct", pair.only_first),
        (f"only {pair.second} correct", pair.only_second),
        (_test(comparison), f"p = {pair.p_value:.3g}"),
    ]
    reporter.facts(f"{pair.second} minus {pair.first}, with 95% intervals", rows)


def _draw_pairs(comparison: Comparison, reporter: Reporter) -> None:
    first = comparison.candidates[0].source
    rows = [
        (
            pair.second,
            f"{100 * pair.accuracy.value:+z.2f} ({_range(pair.accuracy, 100, 2)})",
            f"{pair.log_loss.value:+z.4f} ({_range(pair.log_loss)})" if pair.log_loss else _NONE,
            f"{pair.only_second:,} / {pair.only_first:,}",
            f"{pair.p_value:.3g}",
            f"{pair.corrected_p_value:.3g}",
        )
        for pair in comparison.pairs
    ]
    header = ("", "accuracy in points", "log-loss", "only this correct / only the first correct", "p", "p corrected")
    reporter.table(f"differences from {first}, with 95% intervals; {_test(comparison)}", header, rows)
    names = [each.source for each in comparison.candidates]
    matrix = [
        (f"{number} {name}", *(f"{100 * value:+z.2f}" for value in row))
        for number, (name, row) in enumerate(zip(names, comparison.differences.tolist(), strict=True), start=1)
    ]
    numbers = ("", *map(str, range(1, len(names) + 1)))
    reporter.table("difference in accuracy, in points (row minus column)", numbers, matrix)


def _candidate(candidate: ModelQuality) -> tuple[str, ...]:
    return (
        candidate.source,
        f"{candidate.accuracy:.2%}",
        f"{candidate.macro_f1:.4f}",
        _NONE if candidate.log_loss is None else f"{candidate.log_loss:.4f}",
        _NONE if candidate.confidence is None else f"{candidate.confidence:.2%}",
        _NONE if candidate.ece is None else f"{candidate.ece:.2%}",
        _NONE if candidate.ece_floor is None else f"{candidate.ece_floor.mean:.2%}",
    )


def _range(difference: Difference, scale: float = 1, digits: int = 4) -> str:
    return f"{scale * difference.low:+z.{digits}f} to {scale * difference.high:+z.{digits}f}"


def _test(comparison: Comparison) -> str:
    return "McNemar's exact test" if comparison.groups is None else "sign-flip test on groups"


def draw_examples(predictions: Sequence[LabelledPredictions], count: int, reporter: Reporter) -> None:
    """Print texts that only one of two models labels correctly, up to ``count`` for each of the two models."""
    from nlptx.evaluation.differences import examples

    for right, wrong, texts in examples(predictions, count):
        rows = [
            (
                text["label"],
                text["wrong_prediction"],
                _NONE if text["confidence"] is None else f"{text['confidence']:.3f}",
                text["text"][:_SHOWN],
            )
            for text in texts
        ]
        reporter.table(f"{right} right, {wrong} wrong", ("label", "wrong prediction", "confidence", "text"), rows)


def write_disagreements(path: str, predictions: Sequence[LabelledPredictions], separator: str | None) -> None:
    """Write a .csv, .tsv or .jsonl table of the texts for which the predictions of the models differ.

    Raises:
        click.UsageError: the file name has none of the extensions .csv, .tsv and .jsonl.
        OutputError: the file cannot be written.
    """
    from nlptx.evaluation.differences import disagreement_columns, disagreements

    with open_table(path, format_of_table(path), disagreement_columns(predictions)) as table:
        for row in disagreements(predictions, separator or "; "):
            table.write(row)
