"""Predictions as lines of text, CSV, TSV or JSON."""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, BinaryIO

import click

from nlptx.cli.console import neutralised
from nlptx.corpus import Document
from nlptx.output import STDOUT, atomic_output
from nlptx.scoring import Scored

if TYPE_CHECKING:
    from nlptx.corpus.sources import Source
    from nlptx.model import Model


# Output for inputs whose own format is not one to write.
_LAYOUTS = {"document": "text", "parquet": "csv"}

_TSV_BREAKS = str.maketrans("\t\r\n", "   ")


class Rows:
    """Writes one row per text. The format, if ``auto``, is that of the first text's input.

    Args:
        out: where the bytes go.
        layout: auto, text, csv, tsv or jsonl.
        model: names the labels.
        details: add ``known_words`` and ``truncated``.
        terminal: whether a person sees the text as it is.
    """

    def __init__(self, out: BinaryIO, layout: str, model: Model, details: bool, terminal: bool) -> None:
        self.out = out
        self.layout = layout
        self.model = model
        self.details = details
        self.terminal = terminal
        self.renamed: dict[str, str] = {}
        self._header: list[str] | None = None

    def write(self, document: Document, scored: Scored) -> None:
        """Write the row of one text."""
        if self.layout == "auto":
            self.layout = _LAYOUTS.get(document.format, document.format)
        if self.layout == "text":
            self._line(self._short(document, scored))
            return
        row = self._full(document, scored)
        if self.layout == "jsonl":
            self._line(json.dumps(row, ensure_ascii=False, default=str))
            return
        if self._header is None:
            self._header = list(row)
            self._cells(self._header)
        if list(row) != self._header:
            raise click.UsageError(
                f"{document.where}: its columns differ from those before; use --format jsonl, or one file at a time."
            )
        self._cells([_cell(value) for value in row.values()])

    def write_header(self, source: Source) -> None:
        """Write the header of a table that had no rows."""
        layout = source.format if self.layout == "auto" else self.layout
        if source.columns and layout in ("csv", "tsv"):
            self.layout = layout
            priors = Scored(self.model.priors, 0, False)
            self._cells(list(self._full(Document("", fields=dict.fromkeys(source.columns)), priors)))

    def flush(self) -> None:
        """Hand over what has been written."""
        self.out.flush()

    def _short(self, document: Document, scored: Scored) -> str:
        best = int(scored.probabilities.argmax())
        score = self.model.scores(scored.probabilities)
        number = float(scored.probabilities[best]) if score is None else float(score)
        text = document.text if document.line else " ".join(document.text.split())
        return f"{self.model.labels[best]}\t{number:.4f}\t{text}"

    def _full(self, document: Document, scored: Scored) -> dict[str, Any]:
        best = int(scored.probabilities.argmax())
        score = self.model.scores(scored.probabilities)
        result: dict[str, Any] = {
            "label": self.model.labels[best],
            "confidence": round(float(scored.probabilities[best]), 6),
            **({} if score is None else {"score": round(float(score), 6)}),
        }
        for label, probability in zip(self.model.labels, scored.probabilities.tolist(), strict=True):
            result[f"prob_{label}"] = round(probability, 6)
        if self.details:
            result["known_words"] = scored.known_words
            result["truncated"] = scored.truncated
        row = dict(document.fields) if document.fields is not None else _place(document)
        for name, value in result.items():
            free = name
            while free in row:
                free = f"predicted_{free}"
            if free != name:
                self.renamed[name] = free
            row[free] = value
        return row

    def _cells(self, cells: list[str]) -> None:
        if self.layout == "tsv":
            # TSV has no quoting, so what would break a row becomes a space.
            self._line("\t".join(cell.translate(_TSV_BREAKS) for cell in cells))
            return
        line = io.StringIO()
        csv.writer(line, lineterminator="").writerow(cells)
        self._line(line.getvalue())

    def _line(self, text: str) -> None:
        if self.terminal:
            text = neutralised(text)
        # A lone surrogate cannot be UTF-8; written as \udXXX it is still what JSON calls it.
        self.out.write(text.encode("utf-8", "backslashreplace") + b"\n")


def _place(document: Document) -> dict[str, Any]:
    """Return the columns of a text that has none: where it stands, if it is a file, and the text."""
    return {"text": document.text} if document.line else {"file": document.source, "text": document.text}


def _cell(value: Any) -> str:
    if isinstance(value, str):
        return value
    return "" if value is None else json.dumps(value, ensure_ascii=False, default=str)


@contextmanager
def open_rows(output: str, layout: str, model: Model, details: bool) -> Iterator[Rows]:
    """Open the output: standard output at once, a file atomically at the end."""
    if output == STDOUT:
        yield Rows(sys.stdout.buffer, layout, model, details, sys.stdout.isatty())
        return
    with atomic_output(output) as file:
        yield Rows(file, layout, model, details, terminal=False)
