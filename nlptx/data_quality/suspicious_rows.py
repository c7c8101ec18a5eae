"""A table of the rows that may have to be left out or corrected, one line per row, the most suspicious first."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from nlptx.corpus.exclusion import quoted
from nlptx.data_quality.check import Check
from nlptx.data_quality.copies import joined

# Columns of the table.
COLUMNS = ("file", "line", "text", "label", "suggested", "reason", "other", "score")
_DIGITS = 4


def suspicious_rows(result: Check) -> Iterator[dict[str, Any]]:
    """Yield the columns of each row with a fault that leaving out rows can remedy.

    The columns are the file and the line, the beginning of the text, its label, the label to use instead if there is
    one, the reasons, the position of the text that it was compared with, and a score from 0 to 1. A row that has
    several faults is contained once, with the highest score.
    """
    faults: dict[int, list[tuple[float, str, int | None, str]]] = {}
    for finding in result.findings:
        if not finding.about.removable:
            continue
        for place, row in enumerate(finding.rows.tolist()):
            score = 1.0 if finding.scores is None else float(finding.scores[place])
            other = None if finding.others is None else int(finding.others[place])
            suggested = "" if finding.suggested is None else finding.suggested[place]
            faults.setdefault(row, []).append((score, finding.kind, other, suggested))
    for row in sorted(faults, key=lambda row: (-max(score for score, *_ in faults[row]), row)):
        document = result.rows.documents[row]
        others = (result.rows.documents[other].where for _, _, other, _ in faults[row] if other is not None)
        yield {
            "file": document.source,
            "line": document.line,
            "text": quoted(document.text),
            "label": joined(result.rows.labels[row]),
            "suggested": next((suggested for *_, suggested in faults[row] if suggested), ""),
            "reason": ", ".join(kind for _, kind, _, _ in faults[row]),
            "other": next(others, ""),
            "score": round(max(score for score, *_ in faults[row]), _DIGITS),
        }
