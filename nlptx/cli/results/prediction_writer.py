"""Writes predictions as lines of plain text, CSV, TSV or JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, BinaryIO

from nlptx.classifier.prediction_columns import NO_LABEL, free_names, prediction_columns
from nlptx.classifier.scoring import Scored
from nlptx.cli.results.formulas import escape_formula
from nlptx.cli.results.table_writer import TSV_BREAKS, as_cells, cell, header_line, table_line
from nlptx.cli.terminal.reporter import neutralised
from nlptx.corpus.document import Document
from nlptx.corpus.lines import BOM
from nlptx.errors import DataError

if TYPE_CHECKING:
    from nlptx.classifier.model import Model
    from nlptx.corpus.source import Source


# Text that is printed if a multi-label model predicts no label; in tables, the cell is left empty.
EMPTY_LABEL_SET = "-"
# Input format -> output format, for the input formats that cannot be written.
OUTPUT_FORMATS = {"document": "text", "parquet": "csv"}

# Decimal places of probabilities and scores in tables.
DIGITS = 6
_DIGITS_OF_SURPRISE = 2


@dataclass(frozen=True)
class WriterOptions:
    """Options for the content of the rows.

    Args:
        details: whether to add ``n_tokens``, ``known_words``, ``truncated``, ``surprise`` and ``unusual``.
        csv_safe: whether to prevent spreadsheets from evaluating text as formulas; see :func:`escape_formula`.
        abstain: minimum confidence; a text with a lower confidence gets no label.
        prior: whether a text without a known word gets a label, predicted from the label frequencies of the
            training data.
    """

    details: bool
    csv_safe: bool
    abstain: float
    prior: bool


class PredictionWriter:
    """Writes one row per text. If the format is ``auto``, the input format of the first text is used.

    If the first text comes from a CSV table, CSV output has the delimiter of this table, otherwise a comma. CSV and TSV
    output begins with a byte order mark if the file that contains the first text begins with one; without the mark,
    Excel would not recognise the encoding.

    Args:
        out: binary output stream.
        output_format: one of auto, text, csv, tsv and jsonl.
        model: model that made the predictions; it provides the labels.
        options: options for the content of the rows.
        live: whether another program may be waiting for the rows; :meth:`flush` then flushes the output.
        terminal: whether the output is a terminal; control characters are then replaced.

    Attributes:
        renamed: usual name -> new name, for each prediction column that was renamed because an input column has the
            same name.
        header: the header cells and the delimiter; None before a header is written.
        header_size: size of the header and the byte order mark, in bytes.
    """

    def __init__(
        self, out: BinaryIO, output_format: str, model: Model, options: WriterOptions, *, live: bool, terminal: bool
    ) -> None:
        self.out = out
        self.output_format = output_format
        self.model = model
        self.labels = model.label_names
        self.separator = None if model.multi_label is None else model.multi_label.separator
        self.options = options
        self.live = live
        self.terminal = terminal
        self.renamed: dict[str, str] = {}
        self.header: tuple[list[str], str] | None = None
        self.header_size = 0

    def write(self, document: Document, scored: Scored) -> None:
        """Write the row of one text."""
        if self.output_format == "auto":
            self.output_format = OUTPUT_FORMATS.get(document.format, document.format)
        if self.output_format == "text":
            self._write_line(self._text_line(document, scored))
            return
        row = self._table_row(document, scored)
        if self.output_format == "jsonl":
            self._write_line(json.dumps(row, ensure_ascii=False, default=str))
            return
        if self.header is None:
            self._write_header(list(row), document.delimiter, document.has_bom)
        elif list(row) != self.header[0]:
            raise different_columns_error(document.where)
        self._write_cells(row.values())

    def write_missing_header(self, source: Source) -> None:
        """If no text was written, write the header of a CSV or TSV output; ``source`` is the last input."""
        if self.header is not None:
            return
        output_format = (
            OUTPUT_FORMATS.get(source.format, source.format) if self.output_format == "auto" else self.output_format
        )
        columns = ["text"] if source.format == "text" else source.columns
        if columns and output_format in ("csv", "tsv"):
            self.output_format = output_format
            no_prediction = Scored(self.model.priors.tolist(), (0,), 0.0, 0.0, 0, False, 0)
            self._write_header(
                list(self._table_row(Document("", fields=dict.fromkeys(columns)), no_prediction)),
                source.delimiter,
                source.has_bom,
            )

    def _write_header(self, names: list[str], delimiter: str, has_bom: bool) -> None:
        mark = BOM if has_bom else b""
        self.out.write(mark)
        self.header = names, delimiter
        names = [escape_formula(name) for name in names] if self.options.csv_safe else names
        self.header_size = len(mark) + self._write_line(header_line(names, self.output_format, delimiter))

    def flush(self) -> None:
        """Flush the output if another program may be waiting for it."""
        if self.live:
            self.out.flush()

    def _text_line(self, document: Document, scored: Scored) -> str:
        """Return an output line: label, score, details, and the text (or the file name, if each file is one text)."""
        number = scored.confidence if self.model.values is None else scored.score
        # The text of a table cell may have several lines, which must become one line of output.
        text = document.text.replace("\r\n", " ").replace("\n", " ")
        text = text if document.line else document.source.translate(TSV_BREAKS)
        details = [cell(value) for value in self._details(scored).values()]
        safe = escape_formula if self.options.csv_safe else str
        label = safe(self._label(scored).translate(TSV_BREAKS)) or EMPTY_LABEL_SET
        return "\t".join([label, f"{number:z.4f}", *details, safe(text)])

    def _details(self, scored: Scored) -> dict[str, Any]:
        if not self.options.details:
            return {}
        return {
            "n_tokens": scored.tokens,
            "known_words": scored.known_words,
            "truncated": scored.truncated,
            "surprise": None if scored.surprise is None else round(scored.surprise, _DIGITS_OF_SURPRISE),
            "unusual": scored.unusual,
        }

    def _label(self, scored: Scored) -> str:
        """Return the label, or all labels joined by the separator; ``?`` if the text is not labelled."""
        if not scored.is_answered(self.options.abstain, prior=self.options.prior):
            return NO_LABEL
        labels = [self.labels[number] for number in scored.chosen]
        return labels[0] if self.separator is None else self.separator.join(labels)

    def _table_label(self, scored: Scored) -> Any:
        """Return the label for a table row.

        In JSON, the label has the same type as in training. For a multi-label model, it is a list of labels, or None.
        """
        answered = scored.is_answered(self.options.abstain, prior=self.options.prior)
        if self.output_format != "jsonl" or (self.separator is None and not answered):
            return self._label(scored)
        if self.separator is None:
            label: Any = self.model.labels[scored.chosen[0]]
            return label if isinstance(label, str | int | float) else label.item()
        return [self.labels[number] for number in scored.chosen] if answered else None

    def _table_row(self, document: Document, scored: Scored) -> dict[str, Any]:
        probabilities = (
            round_distribution(scored.probabilities) if self.separator is None else round_each(scored.probabilities)
        )
        confidence = probabilities[scored.chosen[0]] if self.separator is None else round(scored.confidence, DIGITS)
        score = None if self.model.values is None or scored.score is None else round(scored.score, DIGITS)
        result = prediction_columns(self.labels, self._table_label(scored), confidence, score, probabilities)
        result |= self._details(scored)
        row = dict(document.fields) if document.fields is not None else _document_columns(document)
        if self.output_format != "jsonl":
            row = as_cells(row, self.separator)
        new_names = free_names(tuple(self.renamed.get(name, name) for name in result), tuple(row))
        self.renamed |= {name: new for name, new in zip(result, new_names, strict=True) if name != new}
        return row | dict(zip(new_names, result.values(), strict=True))

    def _write_cells(self, values: Iterable[Any]) -> None:
        if self.options.csv_safe:
            values = [escape_formula(value) if isinstance(value, str) else value for value in values]
        delimiter = "," if self.header is None else self.header[1]
        self._write_line(table_line([cell(value) for value in values], self.output_format, delimiter))

    def _write_line(self, text: str) -> int:
        """Write a line, and return its size in bytes."""
        if self.terminal:
            text = neutralised(text)
        # A lone surrogate cannot be encoded in UTF-8, so it is written as \udXXX, which is a valid escape in JSON.
        line = text.encode("utf-8", "backslashreplace") + b"\n"
        self.out.write(line)
        return len(line)


def different_columns_error(where: str) -> DataError:
    """Return the error for a table whose columns differ from those of the output so far."""
    return DataError(
        "its columns differ from those of the previous rows",
        where=where,
        hint="Use --format jsonl; or, if the columns are the same within each file, score one file at a time.",
    )


def round_distribution(probabilities: Sequence[float]) -> list[float]:
    """Round probabilities to six digits so that they still sum to 1.

    The largest remainder method is used: all probabilities are rounded down, and a millionth is then added to each of
    the probabilities with the largest remainders, until the sum is 1. Finally, probabilities that have become 0 are
    replaced by the original ones with three significant digits, so that log-losses can be computed from the result.
    """
    unit = 10**DIGITS
    floors = [int(p * unit) for p in probabilities]
    lost = sorted(range(len(floors)), key=lambda index: floors[index] - probabilities[index] * unit)
    for index in lost[: unit - sum(floors)]:
        floors[index] += 1
    return [floor / unit or _three_digits(p) for floor, p in zip(floors, probabilities, strict=True)]


def round_each(probabilities: Sequence[float]) -> list[float]:
    """Round each probability p to six digits, or to more if p or 1 - p would become 0."""
    return [
        1 - _three_digits(1 - p) if (rounded := round(p, DIGITS)) == 1 else rounded or _three_digits(p)
        for p in probabilities
    ]


def _three_digits(p: float) -> float:
    return float(f"{p:.3g}")


def _document_columns(document: Document) -> dict[str, Any]:
    """Return the columns for a text that is not from a table. If each file is one text, include the file name."""
    return {"text": document.text} if document.line else {"file": document.source, "text": document.text}
