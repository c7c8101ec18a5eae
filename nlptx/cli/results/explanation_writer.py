"""Writes explanations as tables, as lines of JSON, or as an HTML page."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO

import click

from nlptx.cli.options.prediction_format import ending
from nlptx.cli.results.explanation_page import PAGE_END, PAGE_START, text_as_html
from nlptx.cli.results.explanation_rows import ExplainedText, Word
from nlptx.cli.results.output_file import open_output
from nlptx.cli.terminal.charts import bar
from nlptx.cli.terminal.reporter import Reporter
from nlptx.io.output_path import STDOUT

FORMATS = ("auto", "table", "jsonl", "html")
_BY_ENDING = {".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "jsonl", ".html": "html", ".htm": "html"}
# Maximum width of a bar, in characters.
_BAR = 12
# Effects are shown in decimal notation if the largest effect in the table is at least this number, otherwise with an
# exponent.
_DECIMAL = 0.001


def format_of_name(output: str) -> str | None:
    """Return the format that the suffix of the output file selects for explanations; None for any other suffix."""
    return _BY_ENDING.get(ending(output))


def choose_format(requested: str, is_json: bool, output: str) -> str:
    """Return the format of the explanations: table, jsonl or html.

    Args:
        requested: value of ``--format``.
        is_json: whether ``--json`` was given.
        output: path of the output.

    Raises:
        click.UsageError: a table would be written to a file, although tables can only be printed.
    """
    by_name = format_of_name(output) if requested == "auto" else requested
    chosen = "jsonl" if is_json else by_name or "table"
    if chosen == "table" and output != STDOUT:
        raise click.UsageError(f"{output}: explanations in a file are JSON lines or a page; name it *.jsonl or *.html.")
    return chosen


class ExplanationWriter:
    """Writes explanations one after another.

    Args:
        out: binary output stream; not used for tables.
        format: table, jsonl or html.
        reporter: prints the tables.
    """

    def __init__(self, out: BinaryIO, format: str, reporter: Reporter) -> None:
        self.out = out
        self.format = format
        self.reporter = reporter

    def write(self, explained: ExplainedText) -> None:
        """Write the explanation of one text."""
        if self.format == "table":
            draw(explained, self.reporter)
        elif self.format == "html":
            self.write_text(text_as_html(explained))
        else:
            self.write_text(json.dumps(explained.as_json(), allow_nan=False) + "\n")

    def write_text(self, text: str) -> None:
        """Write text in UTF-8 and flush it, so that a program that reads the output gets it at once."""
        self.out.write(text.encode("utf-8", "backslashreplace"))
        self.out.flush()


@contextmanager
def open_writer(output: str, format: str, reporter: Reporter) -> Iterator[ExplanationWriter]:
    """Open the output. A file is written atomically, and is compressed if its name ends in .gz, .bz2 or .xz."""
    with open_output(output) as file:
        writer = ExplanationWriter(file, format, reporter)
        is_page = format == "html"
        if is_page:
            writer.write_text(PAGE_START)
        yield writer
        if is_page:
            writer.write_text(PAGE_END)


def draw(explained: ExplainedText, reporter: Reporter) -> None:
    """Print the explanation of a text as a table of its words and a table of the strongest pairs."""
    where = f"{explained.where}  " if explained.where else ""
    words = explained.shown()
    if explained.label is None:
        reporter.table(f"{where}no known word", ("word",), [[word.word] for word in words])
        return
    first = next((word.attention or [] for word in words if word.effect is not None), [])
    heads = [f"b{b}h{h}" for b, block in enumerate(first, start=1) for h in range(1, len(block) + 1)]
    largest = max(1e-300, *(abs(word.effect or 0) for word in words), 0)
    rows = [_row(word, largest, len(heads)) for word in words]
    reporter.table(f"{where}{explained.label}: {explained.probability:.2%}", ("word", "effect", "", *heads), rows)
    if explained.pairs:
        reporter.table(
            "pairs: effect of the second word in log-odds, with and without the first",
            ("first", "second", "with", "without", "interaction"),
            [
                (*pair.words, f"{pair.effect_with:+.2f}", f"{pair.effect_without:+.2f}", f"{pair.interaction:+.2f}")
                for pair in explained.pairs
            ],
            keys=2,
        )


def _row(word: Word, largest: float, heads: int) -> list[str]:
    name = word.word if word.read_as is None else f"{word.word} (read as {word.read_as})"
    if word.effect is None:
        reason = "not read" if word.known or word.read_as else "unknown when negated" if word.negated else "unknown"
        return [name, reason, *[""] * (1 + heads)]
    effect = f"{word.effect:+.4f}" if largest >= _DECIMAL else f"{word.effect:+.1e}"
    received = [f"{value:.3f}" for block in word.attention or [] for value in block]
    return [name, effect, bar(word.effect / largest, _BAR), *received]
