"""The table of rows to leave out or to correct, with one line per row and the most suspicious row first."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from nlptx.corpus.exclusion import excerpt
from nlptx.data_quality.check import Check
from nlptx.data_quality.kinds import KINDS

# Columns of the table.
COLUMNS = ("file", "line", "text", "label", "suggested", "reason", "other", "score")
_DIGITS = 4


def suspicious_rows(result: Check) -> Iterator[dict[str, Any]]:
    """Yield the table cells of each row with a fault that can be removed by leaving out the row.

    The columns are the file, the line, the beginning of the text, its label, the suggested label, the kinds of faults,
    the position of the row with which the faulty row was compared (if any), and a score from 0 to 1. The suggested
    label is empty if there is no suggestion, or if the row should probably have none of the labels. A row with several
    faults is yielded once, with its highest score.
    """
    faults: dict[int, list[tuple[float, str, int | None, str | None]]] = {}
    for finding in result.findings:
        if not KINDS[finding.kind].removable:
            continue
        for index, row in enumerate(finding.rows.tolist()):
            score = 1.0 if finding.scores is None else float(finding.scores[index])
            other = None if finding.others is None else int(finding.others[index])
            suggested = None if finding.suggested is None else finding.suggested[index]
            faults.setdefault(row, []).append((score, finding.kind, other, suggested))
    for row in sorted(faults, key=lambda row: (-max(score for score, *_ in faults[row]), row)):
        document = result.rows.documents[row]
        strongest_first = sorted(faults[row], key=lambda fault: -fault[0])
        others = (result.rows.documents[other].where for _, _, other, _ in strongest_first if other is not None)
        yield {
            "file": document.source,
            "line": document.line,
            "text": excerpt(document.text),
            "label": result.rows.joined(result.rows.labels[row]),
            "suggested": next((suggested for *_, suggested in strongest_first if suggested is not None), ""),
            "reason": ", ".join(kind for _, kind, _, _ in faults[row]),
            "other": next(others, ""),
            "score": round(max(score for score, *_ in faults[row]), _DIGITS),
        }
