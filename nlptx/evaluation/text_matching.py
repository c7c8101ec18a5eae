"""Finds, for each text of the labelled data, the table row with the same text."""

from __future__ import annotations

import re
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from fractions import Fraction

from nlptx.corpus.document import Document
from nlptx.errors import DataError, quoted
from nlptx.evaluation.labelled_data import LabelledData

# The quote before a text that a spreadsheet would evaluate as a formula.
_CSV_SAFE = re.compile(r"^'(?=[=+\-@\t\r])")


def match_rows(
    candidates: Sequence[Document],
    expected: Sequence[Document],
    labels: tuple[Sequence[Hashable], ...] | None = None,
    names: tuple[str, str] | None = None,
) -> list[int]:
    """Return, for each expected document, the index in ``candidates`` of the document with the same text.

    Texts are the same if they differ only in white space. If a text occurs more than once, documents with the same
    label are matched to each other first, in order; the remaining documents are then matched in order. If ``expected``
    repeats all texts for several seeds, the rows of ``candidates`` are reused for each seed.

    Args:
        candidates: documents to choose from.
        expected: documents to find in ``candidates``; they determine the order of the result.
        labels: true labels of ``candidates`` and of ``expected``; None if the labels cannot be compared.
        names: names of the inputs from which ``candidates`` and ``expected`` come, for messages; by default, the
            sources of the documents.

    Raises:
        DataError: a text does not occur equally often in both sequences, apart from the repetition for several seeds.
    """
    of_candidates, of_expected = labels or ([None] * len(candidates), [None] * len(expected))
    same_label: dict[tuple[str, Hashable], deque[int]] = defaultdict(deque)
    repeats, rest = divmod(len(expected), max(len(candidates), 1))
    for _ in range(1 if rest else repeats):
        for row, (document, label) in enumerate(zip(candidates, of_candidates, strict=True)):
            same_label[_key(document), label].append(row)
    names = names or (candidates[0].source, expected[0].source)
    result = [-1] * len(expected)
    for number, (document, label) in enumerate(zip(expected, of_expected, strict=True)):
        if same := same_label[_key(document), label]:
            result[number] = same.popleft()
    left: dict[str, list[int]] = defaultdict(list)
    for (key, _), rows in same_label.items():
        left[key] += rows
    of_text = {key: deque(sorted(rows)) for key, rows in left.items()}
    for number, document in enumerate(expected):
        if result[number] < 0:
            if not (same := of_text[_key(document)]):
                message = f"no row for the text {quoted(document.text)} of {document.where}"
                raise _unmatched(message, names[0], candidates, expected, names)
            result[number] = same.popleft()
    if len(candidates) > len(expected):
        extra = candidates[min(row for rows in of_text.values() for row in rows)]
        message = f"the text {quoted(extra.text)} is not in {names[1]}, or occurs there less often"
        raise _unmatched(message, extra.where, candidates, expected, names)
    return result


def _unmatched(
    message: str, where: str, candidates: Sequence[Document], expected: Sequence[Document], names: tuple[str, str]
) -> DataError:
    texts, rows = Counter(map(_key, expected)), Counter(map(_key, candidates))
    if texts.keys() == rows.keys() and len({Fraction(rows[key], count) for key, count in texts.items()}) == 1:
        return DataError(
            f"{len(candidates):,} rows, but {names[1]} has {len(expected):,} for the same texts",
            where=names[0],
            hint="If both contain several seeds, the larger number of seeds must be a multiple of the smaller number.",
        )
    hint = "Both inputs must contain the same texts, each the same number of times."
    if len(candidates) < len(expected):
        hint += (
            " A table from a cross-validation has no rows for texts with a weight of 0; such a table"
            " can be compared without naming the labelled texts."
        )
    return DataError(f"{message} ({len(candidates):,} rows here, {len(expected):,} there)", where=where, hint=hint)


def without_quotes(documents: list[Document], data: LabelledData) -> list[Document]:
    """Return the rows of a table without the quotes that ``predict --csv-safe`` has inserted before texts of the data.

    A quote is removed only if the data contains the text without the quote, but not the text with the quote.
    """
    known = {_key(document) for document in data.documents} | {_normalized(text) for text in data.left_out}

    def plain(document: Document) -> Document:
        text = _CSV_SAFE.sub("", document.text)
        is_quoted = text != document.text and _key(document) not in known and _normalized(text) in known
        return document._replace(text=text) if is_quoted else document

    return [plain(document) for document in documents]


def without_left_out(documents: list[Document], data: LabelledData) -> list[Document]:
    """Return the rows of a table, except the rows for texts that were left out of the data.

    A row is dropped only if its text occurs less often in the data than in the table. The table may have several rows
    per text, one for each seed.
    """
    if not data.left_out:
        return documents
    texts, rows = Counter(map(_key, data.documents)), Counter(map(_key, documents))
    if len({rows[key] / count for key, count in texts.items()}) == 1 and rows.keys() == texts.keys():
        return documents  # the table contains exactly the texts of the data, once or for several seeds
    seeds, rest = divmod(len(documents), len(data.documents) + len(data.left_out))
    seeds = seeds if seeds and not rest else 1
    spare = Counter({key: count - seeds * texts[key] for key, count in rows.items()})
    left_out = Counter(_normalized(text) for text in data.left_out for _ in range(seeds))
    kept = []
    for document in reversed(documents):
        key = _key(document)
        if spare[key] > 0 and left_out[key] > 0:
            spare[key] -= 1
            left_out[key] -= 1
        else:
            kept.append(document)
    return kept[::-1]


def repeated_for_seeds(data: LabelledData, rows: int) -> LabelledData:
    """Return the data with one copy of each text per seed in the table.

    The number of seeds is the number of table rows, divided by the number of texts. If the division leaves a remainder,
    the data is not repeated.
    """
    times, rest = divmod(rows, max(len(data.documents), 1))
    if rest or times < 2:
        return data
    return replace(data, documents=data.documents * times, labels=data.labels * times)


def without_missing(data: LabelledData, documents: Sequence[Document], on_note: Callable[[str], None]) -> LabelledData:
    """Return the texts of the data that have a row in a table, or all texts if none of them has a row.

    If a text occurs more often in the data than in the table, only its first occurrences are kept.

    Args:
        data: the labelled texts.
        documents: the rows of the table, which may contain several rows per text, one for each seed.
        on_note: called with a note about the number of texts without a row.
    """
    keys = [_key(document) for document in data.documents]
    texts, rows = Counter(keys), Counter(map(_key, documents))
    # For each text, its number of rows in the table is divided by its number of occurrences in the data. The largest
    # result, rounded up, is assumed to be the number of seeds.
    seeds = max((-(-rows[key] // count) for key, count in texts.items()), default=1) or 1
    if any(count % seeds for count in rows.values()):
        seeds = 1
    kept = []
    for row, key in enumerate(keys):
        if rows[key] >= seeds:
            rows[key] -= seeds
            kept.append(row)
    if len(kept) in (0, len(keys)):
        return data
    on_note(f"{documents[0].source}: {len(keys) - len(kept):,} of {len(keys):,} texts have no row, and are left out")
    labels: list = [data.labels[row] for row in kept]
    return replace(data, documents=[data.documents[row] for row in kept], labels=labels)


def _key(document: Document) -> str:
    return _normalized(document.text)


def _normalized(text: str) -> str:
    return " ".join(text.split())
