"""Tiny tables of labelled texts, and settings for training a model on them quickly."""

import random

from calling import last_of_each

PLAIN = [
    "the",
    "film",
    "was",
    "a",
    "and",
    "of",
    "it",
    "story",
    "scene",
    "actor",
    "with",
    "this",
    "in",
    "long",
    "end",
    "one",
]
LABEL_WORDS = {
    "neg": ["awful", "boring", "dull", "poor", "waste"],
    "pos": ["great", "lovely", "superb", "funny", "warm"],
    "drama": ["tears", "death", "loss", "grief", "rain"],
    "comedy": ["laugh", "joke", "clown", "pie", "slip"],
    "western": ["horse", "gun", "saloon", "dust", "sheriff"],
}
COUNT = ("--min-count", "1")
PCA = ("--components", "8")
TRAIN = ("--epochs", "3", "--lr", "0.01", "--warmup", "0", "--width", "8", "--heads", "2")


def one_step(work, *more):
    """Return the arguments of a training run with a single step; ``more`` overrides options."""
    words = ("train", work / "train.tsv", "-e", work / "embeddings.npz", *TRAIN, "--epochs", "1", "--batch", "80")
    return last_of_each(*words, *more)


def make_rows(labels, count, seed, words=9):
    """Return pairs (text, label); a third of the words depend on the label."""
    rng = random.Random(seed)
    rows = []
    for number in range(count):
        label = labels[number % len(labels)]
        text = rng.choices(PLAIN, k=words - words // 3) + rng.choices(LABEL_WORDS[label], k=words // 3)
        rng.shuffle(text)
        rows.append((" ".join(text), label))
    return rows


def write_tsv(path, rows):
    path.write_text("text\tlabel\n" + "".join(f"{text}\t{label}\n" for text, label in rows))
    return path
