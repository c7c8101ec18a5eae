"""Measures the time and memory of training multi-label models with 10, 100 and 1,000 labels.

The data is made up. There are 20,000 words, whose frequencies follow Zipf's law. Each label is indicated by ten of the
20,000 words, chosen at random. A text has 20 words and one to three labels; the frequencies of the labels follow Zipf's
law too. Each word of a text is, with a probability of one half, one of the words that indicate the labels of the text;
otherwise it is drawn from all words. The numbers of texts and words do not depend on the number of labels.

    python tests/benchmarks/bench_many_labels.py --texts 100000
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

import numpy as np
from measure import watched

import nlptx
from nlptx.corpus.read_options import ReadOptions
from nlptx.evaluation.label_set_report import LabelSetReport

TRAIN = [sys.executable, "-m", "nlptx", "train", "--label-separator", ";", "-q"]
VOCABULARY, WORDS, OWN_WORDS = 20_000, 20, 10


def write_table(path: Path, texts: int, labels: int, seed: int = 1) -> None:
    """Write a table of texts with the columns text and label."""
    rng = np.random.default_rng(seed)
    any_word, any_label = zipf(VOCABULARY), zipf(labels)
    # The words that indicate a label do not depend on ``seed``.
    own = np.random.default_rng(0).choice(VOCABULARY, (labels, OWN_WORDS))
    with path.open("w", encoding="utf-8") as file:
        print("text\tlabel", file=file)
        for _ in range(texts):
            chosen = np.unique(rng.choice(labels, rng.integers(1, 4), p=any_label))
            words = rng.choice(VOCABULARY, WORDS, p=any_word)
            indicative = rng.random(WORDS) < 0.5
            words[indicative] = own[rng.choice(chosen, WORDS), rng.integers(0, OWN_WORDS, WORDS)][indicative]
            text = " ".join(f"w{word}" for word in words)
            print(text, ";".join(f"label{label}" for label in chosen), sep="\t", file=file)


def zipf(count: int) -> np.ndarray:
    """Return probabilities that are inversely proportional to the rank."""
    weights = 1 / np.arange(1, count + 1)
    return weights / weights.sum()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--texts", type=int, default=100_000)
    parser.add_argument("--labels", type=int, nargs="*", default=[10, 100, 1000])
    arguments = parser.parse_args()
    print("labels  texts    train    MB  micro-F1 of 1,000 other texts")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for labels in arguments.labels:
            train, test, model = folder / "train.tsv", folder / "test.tsv", folder / "model.npz"
            write_table(train, arguments.texts, labels)
            write_table(test, 1000, labels, seed=2)
            seconds, megabytes = watched([*TRAIN, str(train), "-o", str(model)])
            print(
                f"{labels:6,}  {arguments.texts:,}  {seconds:6.1f} s  {megabytes:5,}  {micro_f1(model, test):.4f}",
                flush=True,
            )


def micro_f1(model: Path, test: Path) -> float:
    classifier = nlptx.Model.load(model)
    data = nlptx.read_training_data(test, options=ReadOptions(label_separator=";"))
    known = set(classifier.label_names)
    report = nlptx.evaluate(classifier, data.texts, [known & set(labels) for labels in data.labels])
    assert isinstance(report, LabelSetReport)
    return report.micro_f1


if __name__ == "__main__":
    main()
