"""Findings about repeated texts: copies, near-duplicates, conflicting labels, overlap with test data."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from nlptx.data_quality.findings import Finding
from nlptx.data_quality.near_duplicates import SimilarPairs
from nlptx.data_quality.rows import DataRows


def find_copies(rows: DataRows, first: NDArray[np.int64], count: int, pairs: SimilarPairs) -> Iterator[Finding]:
    """Yield the findings about texts that are equal or nearly the same.

    Args:
        rows: the data rows, followed by the test rows.
        first: for each text, index of the first text that is equal to it; see :func:`.same_texts.first_same`.
        count: number of data rows.
        pairs: pairs of similar texts, given by the indices of the first text of each group of equal texts.
    """
    conflicts = _conflicts(rows, first[:count])
    kept = _originals(rows, conflicts, first[:count])
    copies = np.flatnonzero(kept != np.arange(count))
    yield Finding("duplicates", copies, kept[copies])
    yield conflicts
    _, position = np.unique(first[count:], return_index=True)  # position of the first test row with each text
    in_test = {int(first[row]): row for row in (count + position).tolist()}
    if in_test:
        shared = np.array([row for row, text in enumerate(first[:count].tolist()) if text in in_test], np.int64)
        yield Finding("overlap", shared, np.array([in_test[text] for text in first[shared].tolist()], np.int64))
    yield from _near_copies(rows, pairs, kept, in_test, count)


def _originals(rows: DataRows, conflicts: Finding, first: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return, for each row, the index of its original; a row that is not a copy is its own original.

    Of the rows with the same text, the original is the first one that has a label without a conflict. If there is none,
    it is the first one without a label, or, if all have conflicting labels, the first one. The other rows are its
    copies. If the copies and the rows with conflicting labels are left out, one row of each text remains. The exception
    is a text whose two most frequent labels are equally frequent: no labelled row of this text remains, because the
    right label is unknown.
    """
    kept = np.arange(len(first))
    sound = np.setdiff1d(kept, conflicts.rows)
    labelled = np.array([rows.labels[row] is not None for row in sound.tolist()], bool)
    # Of several rows with the same text, the one that is assigned last remains.
    sound = sound[np.lexsort((-sound, labelled))]
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


def _near_copies(
    rows: DataRows, pairs: SimilarPairs, kept: NDArray[np.int64], in_test: Mapping[int, int], count: int
) -> Iterator[Finding]:
    """Yield the findings about texts that are nearly the same.

    Args:
        rows: the data rows, followed by the test rows.
        pairs: pairs of similar texts, given by the indices of the first text of each group of equal texts.
        kept: index of the original of each row.
        in_test: index of the first data row with a text -> index of a test row with the same text.
        count: number of data rows.
    """
    inside = pairs.second < count
    both = np.sort(kept[np.stack([pairs.first, pairs.second])[:, inside]], axis=0)
    similarity = pairs.similarity[inside]
    labels = [(rows.labels[a], rows.labels[b]) for a, b in both.T.tolist()]
    # The later one of two similar rows is listed, unless only the earlier one has no label.
    swapped = np.array([a is None and b is not None for a, b in labels], bool)
    left_out, others = np.where(swapped, both, both[::-1])
    yield _strongest("near-duplicates", left_out, others, similarity)
    differ = np.array([a is not None and b is not None and a != b for a, b in labels], bool)
    yield _strongest("near-conflicts", both[1, differ], both[0, differ], similarity[differ])
    across = (pairs.first < count) & ~inside
    overlaps = list(zip(kept[pairs.first[across]], pairs.second[across], pairs.similarity[across], strict=True))
    # A test text that also occurs in the data is paired with the data row.
    for a, b, value in zip(pairs.first[inside].tolist(), pairs.second[inside].tolist(), similarity, strict=True):
        overlaps += [(kept[x], in_test[y], value) for x, y in ((a, b), (b, a)) if y in in_test and x not in in_test]
    leaked, test_rows, values = np.array(overlaps, np.float64).reshape(-1, 3).T
    yield _strongest("near-overlap", leaked.astype(np.int64), test_rows.astype(np.int64), values)


def _strongest(
    kind: str, rows: NDArray[np.int64], others: NDArray[np.int64], similarity: NDArray[np.float64]
) -> Finding:
    """Return a finding that contains each row once, together with the other row that is most similar to it."""
    order = np.lexsort((others, -similarity, rows))
    rows, others, similarity = rows[order], others[order], similarity[order]
    chosen = np.flatnonzero(np.diff(rows, prepend=-1))
    return Finding(kind, rows[chosen], others[chosen], similarity[chosen])
