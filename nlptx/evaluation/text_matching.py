"""Finds the table row that contains the same text as each text of the labelled data."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Sequence

from nlptx.corpus.document import Document
from nlptx.errors import DataError

# Maximum number of characters of a text that a message quotes.
_QUOTED = 60


def match_rows(found: Sequence[Document], expected: Sequence[Document]) -> list[int]:
    """Return, for each expected document, the index in ``found`` of the document with the same text.

    Texts are the same if they differ only in white space. If a text occurs more than once, its occurrences are matched
    in order. If ``expected`` repeats all texts for several seeds, the rows of ``found`` are reused for each seed.

    Raises:
        DataError: a text does not occur equally often in both sequences.
    """
    rows: dict[str, deque[int]] = defaultdict(deque)
    repeats, rest = divmod(len(expected), max(len(found), 1))
    for _ in range(1 if rest else repeats):
        for row, document in enumerate(found):
            rows[_key(document)].append(row)
    result = []
    for document in expected:
        if not (same := rows[_key(document)]):
            raise DataError(
                f"no row for the text {quoted(document.text)} of {document.where}"
                f" ({len(found):,} rows for {len(expected):,} texts)",
                where=found[0].source,
                hint="Both inputs must contain the same texts, each the same number of times.",
            )
        result.append(same.popleft())
    if len(found) > len(expected):
        extra = found[min(row for left in rows.values() for row in left)]
        raise DataError(
            f"the text {quoted(extra.text)} is not in {expected[0].source}, or occurs there less often"
            f" ({len(found):,} rows for {len(expected):,} texts)",
            where=extra.where,
            hint="Both inputs must contain the same texts, each the same number of times.",
        )
    return result


def quoted(text: str) -> str:
    """Return a text in quotation marks, shortened if it is long."""
    return repr(text if len(text) <= _QUOTED else text[:_QUOTED] + "...")


def _key(document: Document) -> str:
    return " ".join(document.text.split())
