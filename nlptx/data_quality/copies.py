"""Findings about repeated texts: copies, near-duplicates, conflicting labels, overlap with test data."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from nlptx.data_quality.findings import Finding
from nlptx.data_quality.near_duplicates import SimilarPairs
from nlptx.data_quality.rows import DataRows, Labels


def find_copies(rows: DataRows, first: NDArray[np.int64], count: int) -> Iterator[Finding]:
    """Yield the findings about equal texts.

    Args:
        rows: the data rows, followed by the test rows.
        first: for each text, index of the first text that is equal to it; see :func:`.same_texts.first_same`.
        count: number of data rows.
    """
    conflicts = _conflicts(rows, first[:count])
    kept = _first_without(conflicts, first[:count])
    copies = np.flatnonzero(kept != np.arange(count))
    yield Finding("duplicates", copies, kept[copies])
    yield conflicts
    if len(first) > count:
        _, position = np.unique(first[count:], return_index=True)  # position of the first test row with each text
        in_test = {int(first[row]): row for row in (count + position).tolist()}
        pairs = [(row, in_test[text]) for row, text in enumerate(first[:count].tolist()) if text in in_test]
        shared, others = np.array(pairs, np.int64).reshape(-1, 2).T
        yield Finding("overlap", shared, others)


def _first_without(conflicts: Finding, first: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return, for each row, the index of its original; a row that is not a copy is its own original.

    Of the rows with the same text, the original is the first one without a conflicting label, or the first one if all
    have conflicting labels; the other rows are its copies. If the copies and the rows with conflicting labels are left
    out, one row of each text remains. The exception is a text whose two most frequent labels are equally frequent: no
    labelled row of this text remains, because the right label is unknown.
    """
    kept = np.arange(len(first))
    # The indices are in descending order, so the first of several rows with the same text is assigned last and remains.
    sound = np.setdiff1d(kept, conflicts.rows)[::-1]
    kept[first[sound]] = sound
    return kept[first]


def _conflicts(rows: DataRows, first: NDArray[np.int64]) -> Finding:
    """Return the rows whose text also occurs with another label.

    Rows with the most frequent label of their text are not returned, unless another label of the text is as frequent;
    then all rows of the text that have a label are returned.
    """
    repeated = np.bincount(first, minlength=len(first))[first] > 1
    groups: defaultdict[int, list[int]] = defaultdict(list)
    for row in np.flatnonzero(repeated).tolist():
        if rows.labels[row] is not None:
            groups[int(first[row])].append(row)
    conflicts: list[tuple[int, int, str | None]] = []
    for group in groups.values():
        counts = Counter(rows.labels[row] for row in group).most_common(2)
        if len(counts) < 2:
            continue
        (best, times), (_, next_times) = counts
        for row in group:
            if times == next_times:
                other = next(one for one in group if rows.labels[one] != rows.labels[row])
                conflicts.append((row, other, None))
            elif rows.labels[row] != best:
                conflicts.append((row, next(one for one in group if rows.labels[one] == best), rows.joined(best)))
    conflicts.sort(key=lambda each: each[0])
    indices = np.array([row for row, _, _ in conflicts], np.int64)
    others = np.array([other for _, other, _ in conflicts], np.int64)
    return Finding("conflicting-labels", indices, others, suggested=[label for _, _, label in conflicts])


def find_near_copies(rows: DataRows, pairs: SimilarPairs, count: int) -> Iterator[Finding]:
    """Yield the findings about texts that are nearly the same.

    Args:
        rows: the data rows, followed by the test rows.
        pairs: pairs of similar texts.
        count: number of data rows.
    """
    inside = pairs.second < count
    yield _strongest("near-duplicates", pairs.second[inside], pairs.first[inside], pairs.similarity[inside])
    differ = inside & np.array(
        [_differ(rows.labels[a], rows.labels[b]) for a, b in zip(pairs.first, pairs.second, strict=True)], bool
    )
    yield _strongest("near-conflicts", pairs.second[differ], pairs.first[differ], pairs.similarity[differ])
    if len(rows) > count:
        across = (pairs.first < count) & ~inside
        yield _strongest("near-overlap", pairs.first[across], pairs.second[across], pairs.similarity[across])


def _differ(labels: Labels | None, others: Labels | None) -> bool:
    return labels is not None and others is not None and labels != others


def _strongest(
    kind: str, rows: NDArray[np.int64], others: NDArray[np.int64], similarity: NDArray[np.float64]
) -> Finding:
    """Return a finding that contains each row once, together with the other row that is most similar to it."""
    order = np.lexsort((others, -similarity, rows))
    rows, others, similarity = rows[order], others[order], similarity[order]
    chosen = np.flatnonzero(np.diff(rows, prepend=-1))
    return Finding(kind, rows[chosen], others[chosen], similarity[chosen])
