"""Measures whether ``predict --details`` distinguishes other languages, program code and random letters from English.

The table has one row per kind of text: how many texts of 5 to 30 words are unlike the model's training texts, at the
model's own threshold and at the threshold that 1% of all English texts exceed. The first rows are for English texts;
only a few of these texts should count as unlike the training texts.

A language model wrote other_languages.tsv for this project in 2026, without sources: short reviews in six languages,
and lines of program code. The measure of unlikeness was developed with German, Spanish, Finnish, the first 60 lines of
code and random letters; the other rows were used only for testing. Python's standard library, from which a row draws
lines at random, is of the version that runs this program. No model is trained on any of these texts.

In SST-2, brackets and quotation marks are written as codes of the Penn Treebank ("-lrb-"). They are replaced by the
characters that they stand for.
"""

from __future__ import annotations

import argparse
import csv
import os
import random
import string
import sysconfig
import tokenize
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from nlptx import Model
from nlptx.classifier.scoring import score
from nlptx.classifier.surprise import SurpriseMeter
from nlptx.corpus.corpus import Corpus
from nlptx.corpus.read_options import ReadOptions
from nlptx.runtime.workers import Workers

TEXTS = Path(__file__).with_suffix(".tsv")
SHARED = Path(os.environ.get("NLPTX_SHARED_DATA", "../shared/data"))
MIN_WORDS, MAX_WORDS = 5, 30
RANDOM_TEXTS = 200
LINES_PER_FILE = 5
TREEBANK_CODES = {"-lrb-": "(", "-rrb-": ")", "``": '"', "''": '"', "\\/": "/"}


def has_usual_length(text: str) -> bool:
    """Return whether a text has 5 to 30 words; words are separated by white space."""
    return MIN_WORDS <= len(text.split()) <= MAX_WORDS


def read(path: Path) -> list[str]:
    """Return the texts of a file that have the usual length, without codes of the Penn Treebank."""
    texts = []
    for document in Corpus((str(path),), ReadOptions()):
        text = document.text
        for code, characters in TREEBANK_CODES.items():
            text = text.replace(code, characters)
        texts.append(text)
    return list(filter(has_usual_length, texts))


def code_lines(path: Path) -> list[str]:
    """Return the lines of a Python file that have the usual length, without comments and strings of several lines."""
    with tokenize.open(path) as file:
        lines = file.read().splitlines(keepends=True)
    code = dict(enumerate(lines, 1))
    for token in tokenize.generate_tokens(iter(lines).__next__):
        (start, column), (end, _) = token.start, token.end
        if token.type == tokenize.COMMENT:
            code[start] = code[start][:column]
        elif token.type == tokenize.STRING and start < end:
            code |= dict.fromkeys(range(start, end + 1), "")
    return list(filter(has_usual_length, map(str.strip, code.values())))


def standard_library_code() -> list[str]:
    """Return random lines of Python's standard library, at most five from each file."""
    rng = random.Random(1)
    files = sorted(Path(sysconfig.get_path("stdlib")).glob("*.py"))
    found = [code_lines(file) for file in files]
    return [line for lines in found for line in rng.sample(lines, min(len(lines), LINES_PER_FILE))]


def random_letters(count: int) -> list[str]:
    """Return texts of 5 to 30 words; each word consists of one to ten random letters."""
    rng = np.random.default_rng(1)
    letters = np.array(list(string.ascii_lowercase))

    def text() -> str:
        sizes = rng.integers(1, 11, rng.integers(MIN_WORDS, MAX_WORDS + 1))
        return " ".join("".join(rng.choice(letters, size)) for size in sizes)

    return [text() for _ in range(count)]


def surprises(model: Model, texts: Iterable[str]) -> NDArray[np.float64]:
    with Workers.of(None) as workers:
        batches = score(model, ((None, text) for text in texts), workers)
        return np.array([scored.surprise for batch in batches for _, scored in batch], np.float64)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", help="model to test; the bundled one by default")
    parser.add_argument("--english", type=Path, action="append", help="table with a column `text`")
    arguments = parser.parse_args()
    model = Model.load(arguments.model)
    english = arguments.english or [SHARED / "sst2/dev.tsv", SHARED / "cr/cr.tsv", Path("data/test.tsv")]
    groups = {str(path): surprises(model, read(path)) for path in english if path.exists()}
    own = SurpriseMeter(model.vocabulary, model.typical_surprise).threshold or np.inf
    at_one_percent = float(np.quantile(np.concatenate([*groups.values()]), 0.99))
    for language, rows in pd.read_csv(TEXTS, sep="\t", quoting=csv.QUOTE_NONE).groupby("language", sort=False):
        groups[str(language)] = surprises(model, rows["text"])
    groups["lines of Python's standard library"] = surprises(model, standard_library_code())
    groups["random letters"] = surprises(model, random_letters(RANDOM_TEXTS))
    table = pd.DataFrame({"texts": {name: len(values) for name, values in groups.items()}})
    for name, threshold in (("unlike", own), ("at 1% false alarms", at_one_percent)):
        unlike = [(int((values > threshold).sum()), len(values)) for values in groups.values()]
        table[f"{name} (above {threshold:.2f})"] = [f"{count} ({count / texts:.1%})" for count, texts in unlike]
    print(table.to_string())


if __name__ == "__main__":
    main()
