"""The kinds of faults that labelled data may have, each with advice. The command line needs them for its help."""

from __future__ import annotations

from typing import NamedTuple


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
