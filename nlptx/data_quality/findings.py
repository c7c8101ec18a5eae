"""The rows of labelled data that have a fault."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Finding:
    """Rows with a fault of one kind.

    Args:
        kind: key of KINDS.
        rows: (K,) indices of the rows, the most suspicious first if the kind is wrong-labels or unusual-texts.
        others: (K,) index of the row that each row was compared with, such as the first copy; None if the kind of fault
            involves no other row.
        scores: (K,) score of each row, from 0 to 1, such as the similarity to the other row; None if the kind of fault
            has no scores.
        suggested: for each row, the label that it should probably have; "" if it should probably have none of the
            labels (in multi-label data); None if no label can be suggested. If the kind of fault does not concern
            labels, ``suggested`` itself is None.
    """

    kind: str
    rows: NDArray[np.int64]
    others: NDArray[np.int64] | None = None
    scores: NDArray[np.float64] | None = None
    suggested: Sequence[str | None] | None = None

    def __len__(self) -> int:
        return len(self.rows)
