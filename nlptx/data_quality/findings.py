"""The kinds of faults that labelled data may have, with advice on each, and the rows that have a fault."""

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
        certain: whether every row of this kind is a fault. If not, some of the rows may be correct.
        removable: whether leaving the rows out removes the fault. If so, the table of suspicious rows contains them.
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
        "copies of an earlier text",
        "Keep one copy; otherwise the text has too much weight, and copies in a test set make results too good.",
        removable=True,
    ),
    "near-duplicates": Kind(
        "texts that are nearly the same as an earlier one",
        "Keep one of them unless the difference matters.",
        False,
        True,
    ),
    "conflicting-labels": Kind(
        "copies of a text with different labels", "Decide on one label for each text.", removable=True
    ),
    "near-conflicts": Kind(
        "texts that are nearly the same as one with another label",
        "Compare the labels, and correct those that are wrong.",
        False,
    ),
    "overlap": Kind(
        "texts that also occur in the other data",
        "Remove them from one of the two data sets; otherwise test results are too good.",
        removable=True,
    ),
    "near-overlap": Kind(
        "texts that are nearly the same as one in the other data",
        "Leave them out of the training data if they come from the same source.",
        False,
        True,
    ),
    "mojibake": Kind(
        "texts with characters that were decoded wrongly", "Read the source again as UTF-8: 'Ã©' was probably 'é'."
    ),
    "lost-characters": Kind(
        "texts with the replacement character U+FFFD", "Convert the source again from its original encoding."
    ),
    "control-characters": Kind("texts with control characters", "Remove these characters."),
    "markup": Kind(
        "texts with HTML tags or entities", "Convert HTML to text; nlptx itself handles <br> and entities.", False
    ),
    "long-words": Kind(
        "texts with a word of more than 100 characters", "Look for lost spaces, encoded data or program output.", False
    ),
    "unusual-texts": Kind(
        "texts most of whose words occur in no other text",
        "Look for other languages, and for content that is not natural language.",
        False,
    ),
    "wrong-labels": Kind(
        "labels that are probably wrong", "Read them from the top, and correct the labels that are wrong.", False, True
    ),
}


@dataclass(frozen=True)
class Finding:
    """Rows with a fault of one kind, the most important first.

    Args:
        kind: key of KINDS.
        rows: (K,) indices of the rows.
        others: (K,) index of the row with which each row is compared, such as the first copy; None if there is no such
            row.
        scores: (K,) certainty of the fault, from 0 to 1; None if the kind of fault has no scores.
        suggested: label to use instead, or "" if none can be suggested; None if the fault is not about labels.
    """

    kind: str
    rows: NDArray[np.int64]
    others: NDArray[np.int64] | None = None
    scores: NDArray[np.float64] | None = None
    suggested: Sequence[str] | None = None

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def about(self) -> Kind:
        """Description of the kind of fault."""
        return KINDS[self.kind]
