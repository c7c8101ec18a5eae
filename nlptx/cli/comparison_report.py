"""The report of ``nlptx compare``, as tables, and the table of texts with different predictions."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import click

from nlptx.cli.reporter import Reporter

if TYPE_CHECKING:
    from nlptx.evaluation.comparison import Candidate, Comparison, Difference, Pair
    from nlptx.evaluation.labelled_predictions import LabelledPredictions

_NONE = "-"
# Maximum number of characters of a text that is shown.
_SHOWN = 200


def draw_comparison(comparison: Comparison, verdicts: Sequence[str], reporter: Reporter) -> None:
    """Print a comparison as tables, followed by the verdicts."""
    texts = f"{comparison.texts:,} texts"
    if comparison.groups is not None:
        texts += f" in {comparison.groups:,} groups"
    header = ("", "accuracy", "macro-F1", "log-loss", "confidence", "ECE", "by chance")
    reporter.table(f"comparison on {texts}", header, [_candidate(each) for each in comparison.candidates])
    several = len(comparison.pairs) > 1
    for pair, sentence in zip(comparison.pairs, verdicts, strict=True):
        rows = [
            ("accuracy", _points(pair.accuracy)),
            ("macro-F1", _plain(pair.macro_f1)),
            *([("log-loss", _plain(pair.log_loss))] if pair.log_loss else []),
            ("both right, both wrong", f"{pair.both:,}, {pair.neither:,}"),
            (f"only {pair.first} right", pair.only_first),
            (f"only {pair.second} right", pair.only_second),
            (_test(comparison), _p_values(pair, several)),
        ]
        reporter.facts(f"{pair.second} minus {pair.first}, with 95 % intervals", rows)
        reporter.drawing("verdict", [sentence])
    if several:
        names = [each.source for each in comparison.candidates]
        matrix = [
            (name, *(f"{100 * value:+.2f}" for value in row))
            for name, row in zip(names, comparison.differences.tolist(), strict=True)
        ]
        reporter.table("difference in accuracy, in points (row minus column)", ("", *names), matrix)


def _candidate(each: Candidate) -> tuple[str, ...]:
    return (
        each.source,
        f"{each.accuracy:.2%}",
        f"{each.macro_f1:.4f}",
        _NONE if each.log_loss is None else f"{each.log_loss:.4f}",
        _NONE if each.confidence is None else f"{each.confidence:.2%}",
        _NONE if each.ece is None else f"{each.ece:.2%}",
        _NONE if each.ece_floor is None else f"{each.ece_floor.mean:.2%}",
    )


def _points(difference: Difference) -> str:
    value, low, high = (100 * each for each in (difference.value, difference.low, difference.high))
    return f"{value:+.2f} points  ({low:+.2f} to {high:+.2f})"


def _plain(difference: Difference) -> str:
    return f"{difference.value:+.4f}  ({difference.low:+.4f} to {difference.high:+.4f})"


def _test(comparison: Comparison) -> str:
    return "McNemar's exact test" if comparison.groups is None else "exchange of groups"


def _p_values(pair: Pair, several: bool) -> str:
    corrected = f", corrected for the number of comparisons {pair.corrected_p_value:.3g}" if several else ""
    return f"p = {pair.p_value:.3g}{corrected}"


def draw_examples(predictions: Sequence[LabelledPredictions], count: int, reporter: Reporter) -> None:
    """Print texts for which only the first program or only another one is correct, at most ``count`` for each."""
    from nlptx.evaluation.alignment import label_text
    from nlptx.evaluation.verdict import examples

    if not count:
        return
    for other in predictions[1:]:
        for right, wrong in ((predictions[0], other), (other, predictions[0])):
            rows = [
                (
                    label_text(right, right.targets[row]),
                    label_text(wrong, wrong.predicted[row]),
                    _NONE if right.confidence is None else f"{right.confidence[row]:.3f}",
                    right.texts[row][:_SHOWN],
                )
                for row in examples(right, wrong, count)
            ]
            title = f"only {right.source} right, not {wrong.source}"
            reporter.table(title, ("label", "wrong prediction", "confidence", "text"), rows)


def write_rows(path: str, rows: Iterable[dict[str, Any]]) -> None:
    """Write rows to a .csv, .tsv or .jsonl file.

    Raises:
        click.UsageError: the name has another ending.
        OutputError: the file cannot be written.
    """
    import csv
    import io
    import json

    from nlptx.io.atomic_write import atomic_output

    ending = os.path.splitext(path)[1].lower()
    if ending not in (".csv", ".tsv", ".jsonl"):
        raise click.UsageError(f"--disagreements {path}: name it *.csv, *.tsv or *.jsonl.")
    rows = list(rows)
    text = io.StringIO()
    if ending == ".jsonl":
        text.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    elif rows:
        if ending == ".tsv":
            rows = [{name: " ".join(str(value).split()) for name, value in row.items()} for row in rows]
            writer = csv.DictWriter(
                text, list(rows[0]), delimiter="\t", quoting=csv.QUOTE_NONE, quotechar=None, lineterminator="\n"
            )
        else:
            writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    with atomic_output(path) as file:
        file.write(text.getvalue().encode("utf-8", "surrogatepass"))
