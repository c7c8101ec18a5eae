"""The kinds of faults that labelled data may have, each with advice, and the rows that have a fault."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Kind(NamedTuple):
    """A kind of fault.

    Args:
        title: what is wrong, as a heading.
        advice: one sentence that says what to do.
        certain: whether every listed row is faulty. If false, some of the rows may be correct.
        removable: whether leaving out the rows removes the fault. If true, the table of suspicious rows contains these
            rows.
    """

    title: str
    advice: str
    certain: bool = True
    removable: bool = False


KINDS = {
    "unreadable-rows": Kind("rows that cannot be read", "Correct them, or leave them out with `skip_bad`."),
    "empty-texts": Kind("texts that are empty", "Leave them out with `skip_bad`.", removable=True),
    "missing-labels": Kind("rows without a label", "Add the labels, or leave the rows out with `skip_bad`."),
    "duplicates": Kind(
        "copies of another text",
        "Keep one copy; otherwise, the text has too much weight, and copies in test data make results too optimistic.",
        removable=True,
    ),
    "near-duplicates": Kind(
        "texts that are nearly the same as another text",
        "Keep only one of these texts, unless the difference matters.",
        certain=False,
        removable=True,
    ),
    "conflicting-labels": Kind(
        "copies of a text with different labels", "Decide on one label for each text.", removable=True
    ),
    "near-conflicts": Kind(
        "texts that are nearly the same as a text with another label",
        "Compare the labels, and correct those that are wrong.",
        certain=False,
    ),
    "overlap": Kind(
        "texts that also occur in the test data",
        "Remove them from the training data or the test data; otherwise, test results are too optimistic.",
        removable=True,
    ),
    "near-overlap": Kind(
        "texts that are nearly the same as a text in the test data",
        "Leave them out of the training data if both texts come from the same source.",
        certain=False,
        removable=True,
    ),
    "mojibake": Kind(
        "texts with characters that were decoded wrongly", "Read the source again as UTF-8: 'Ã©' was probably 'é'."
    ),
    "lost-characters": Kind(
        "texts with the replacement character U+FFFD", "Convert the source again from its original encoding."
    ),
    "control-characters": Kind("texts with control characters", "Remove these characters."),
    "markup": Kind(
        "texts with HTML tags or entities",
        "Convert HTML to text; nlptx itself handles <br> and entities.",
        certain=False,
    ),
    "long-words": Kind(
        "texts with a word of more than 100 ASCII characters",
        "Look for lost spaces, encoded data or program output.",
        certain=False,
    ),
    "unusual-texts": Kind(
        "texts whose words mostly occur in no other text",
        "Look for other languages, and for content that is not natural language.",
        certain=False,
    ),
    "wrong-labels": Kind(
        "labels that are probably wrong",
        "Read the list from the top, and correct the wrong labels.",
        certain=False,
        removable=True,
    ),
}


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

    @property
    def about(self) -> Kind:
        """Description of the kind of fault."""
        return KINDS[self.kind]
