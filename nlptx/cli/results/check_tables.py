"""The tables that ``nlptx check`` writes: rows to leave out of training, and texts to label."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nlptx.cli.options.prediction_format import format_of_table
from nlptx.cli.results.table_writer import open_table
from nlptx.corpus.read_options import ReadOptions

if TYPE_CHECKING:
    from nlptx.data_quality.check import Check
    from nlptx.data_quality.rows import DataRows
    from nlptx.data_quality.uncertainty_sampling import SuggestedTexts


def write_bad_rows(path: str, result: Check) -> str:
    """Write the table of ``--bad-rows``. Return a note that says what to do with it."""
    from nlptx.data_quality.suspicious_rows import COLUMNS, suspicious_rows

    listed = list(suspicious_rows(result))
    with open_table(path, format_of_table(path), COLUMNS) as table:
        for row in listed:
            table.write(row)
    options = "`exclude`" + (" and `skip_bad`" if result.number_of("missing-labels") else "")
    return f"rows listed in {path}: {len(listed):,}; delete those that you want to keep, then train with {options}"


def write_to_label(path: str, candidates: DataRows, suggested: SuggestedTexts, reading: ReadOptions) -> str:
    """Write the table of ``--to-label``, with an empty column for the labels. Return a note that says what to do."""
    columns = (reading.text_column, reading.label_column)
    with open_table(path, format_of_table(path), columns) as table:
        for row in suggested.rows.tolist():
            table.write(dict(zip(columns, (candidates.documents[row].text, ""), strict=True)))
    advice = "" if reading.label_separator is None else "; delete the lines that you do not label"
    return f"{path}: fill in the column {columns[1]!r}{advice}, then train with this file and the labelled data"
