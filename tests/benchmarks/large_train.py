"""Measures time and memory of ``train`` for more labelled texts than fit within its memory limit.

    python tests/benchmarks/large_train.py --work build/large_train --texts 10000000 --memory 2G -- --effort fast

Synthetic texts of twelve words are written, and a model is trained on them and evaluated on other texts. The words have
a Zipf distribution, some words are followed by a fixed word, so that n-grams recur, and some words indicate the label
or one of fifty topics. Arguments after ``--`` are passed to ``nlptx train``. The model must have the same bytes for
every memory limit.
"""

from __future__ import annotations

import argparse
import hashlib
import subprocess
import sys
from pathlib import Path

import numpy as np
from measure import watched

NLPTX = (sys.executable, "-m", "nlptx")
TEXT_WORDS, LABELS, TOPICS = 12, ("neg", "pos"), 50
WORDS, LABEL_WORDS, TOPIC_WORDS = 200_000, 1000, 400
# Probabilities that a word depends on the preceding word, the label or the topic, and that a label is wrong.
FOLLOWING, OF_LABEL, OF_TOPIC, WRONG = 0.4, 0.1, 0.2, 0.05
# Number of texts that are generated at a time, and number of test texts.
TEXTS_AT_A_TIME, TESTED = 100_000, 20_000


def write_texts(path: Path, texts: int, seed: int) -> None:
    """Write a table of texts and their labels."""
    rng = np.random.default_rng(seed)
    fixed = np.random.default_rng(0)  # frequent successors and indicative words are the same for every seed
    cumulative = np.cumsum(1 / np.arange(1, WORDS + 1))
    following = fixed.permutation(WORDS)
    of_label = fixed.choice(np.arange(100, 20_000), (len(LABELS), LABEL_WORDS), replace=False)
    of_topic = fixed.choice(np.arange(50, 40_000), (TOPICS, TOPIC_WORDS))
    names = np.array([f"w{word}" for word in range(WORDS)], object)
    with path.open("w") as file:
        file.write("text\tlabel\n")
        for start in range(0, texts, TEXTS_AT_A_TIME):
            shape = min(TEXTS_AT_A_TIME, texts - start), TEXT_WORDS
            label, topic = rng.integers(len(LABELS), size=shape[0]), rng.integers(TOPICS, size=shape[0])
            words = np.searchsorted(cumulative, rng.random(shape) * cumulative[-1])
            words = np.where(
                rng.random(shape) < OF_TOPIC, of_topic[topic[:, None], _skewed(rng, shape, TOPIC_WORDS)], words
            )
            words = np.where(
                rng.random(shape) < OF_LABEL, of_label[label[:, None], _skewed(rng, shape, LABEL_WORDS)], words
            )
            depends = rng.random(shape) < FOLLOWING
            for place in range(1, TEXT_WORDS):
                words[:, place] = np.where(depends[:, place], following[words[:, place - 1]], words[:, place])
            shown = np.where(rng.random(shape[0]) < WRONG, 1 - label, label)
            rows = zip(names[words].tolist(), shown.tolist(), strict=True)
            file.writelines(f"{' '.join(row)}\t{LABELS[number]}\n" for row, number in rows)


def _skewed(rng: np.random.Generator, shape: tuple[int, int], count: int) -> np.ndarray:
    """Return random numbers below ``count``; small numbers are more frequent."""
    return (count ** rng.random(shape)).astype(np.int64) - 1


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=Path, required=True, help="folder for the texts and the models")
    parser.add_argument("--texts", type=int, default=10_000_000)
    parser.add_argument("--memory", nargs="+", default=["2G"])
    parser.add_argument("options", nargs="*", help="options of nlptx train")
    given = parser.parse_args()
    given.work.mkdir(parents=True, exist_ok=True)
    data, test, model = (given.work / name for name in (f"train-{given.texts}.tsv", "test.tsv", "model.npz"))
    for path, texts, seed in (data, given.texts, 1), (test, TESTED, 2):
        if not path.exists():
            write_texts(path, texts, seed)
    print(f"{given.texts:,} texts, {data.stat().st_size / 1e6:,.0f} MB; options: {' '.join(given.options)}", flush=True)
    for memory in given.memory:
        options = ["--memory", memory, "--tmp-dir", str(given.work), *given.options]
        seconds, peak = watched([*NLPTX, "train", str(data), *options, "-q", "-o", str(model)])
        digest = hashlib.sha256(model.read_bytes()).hexdigest()
        print(f"train --memory {memory}: {seconds:,.0f} s, {peak:,} MB, SHA-256 {digest[:16]}", flush=True)
    subprocess.run([*NLPTX, "evaluate", "-m", str(model), str(test)], check=True)


if __name__ == "__main__":
    main()
