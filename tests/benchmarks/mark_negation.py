"""Marks negated words: in "it is not very good", "very" and "good" become "notxvery" and "notxgood".

    python tests/benchmarks/mark_negation.py cr.tsv marked.tsv
    nlptx crossvalidate cr.tsv --shuffle --folds 5
    nlptx crossvalidate marked.tsv --shuffle --folds 5

A word is marked if one of the words before it is a negation, with fewer than five words and neither a punctuation mark
nor "but" between the two (as in Das and Chen 2001, "Yahoo! for Amazon"). Words and punctuation marks must be separated
by spaces, and "n't" by a space from the word before it, as in SST and CR.
"""

from __future__ import annotations

import argparse
import csv
import re

import pandas as pd

NEGATION = re.compile(
    r"not|no|never|none|nobody|nothing|neither|nor|without|hardly|barely|cannot|lack(s|ing)?|fail(s|ed)|.*n't"
)
MARK = "notx"  # one word for every tokenizer
PUNCTUATION = re.compile(r"[^\w']+")
WINDOW = 5


def mark_negation(text: str, window: int = WINDOW) -> str:
    """Return the text, with a mark before each of up to ``window`` words that follow a negation."""
    words, left = [], 0
    for word in text.split():
        lowered = word.lower()
        if NEGATION.fullmatch(lowered):
            left = window
        elif PUNCTUATION.fullmatch(word) or lowered == "but":
            left = 0
        elif left:
            left -= 1
            word = MARK + lowered
        words.append(word)
    return " ".join(words)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", help="table (.tsv) with a column text")
    parser.add_argument("output", help="table to write")
    parser.add_argument("--window", type=int, default=WINDOW, help="maximum number of words to mark")
    arguments = parser.parse_args()
    table = pd.read_csv(arguments.data, sep="\t", dtype=str, quoting=csv.QUOTE_NONE, keep_default_na=False)
    table["text"] = [mark_negation(text, arguments.window) for text in table["text"]]
    table.to_csv(arguments.output, sep="\t", index=False, quoting=csv.QUOTE_NONE)


if __name__ == "__main__":
    main()
