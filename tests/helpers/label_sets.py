"""Synthetic texts with any number of labels each, shared by the tests."""

import random
from functools import cache

import nlptx
from nlptx.settings import CountSettings, PcaSettings, TrainSettings

# Words that may occur in any text, whatever its labels.
PLAIN = ["the", "a", "of", "it", "was", "with", "this", "in", "one", "end"]
SETTINGS = TrainSettings(epochs=3, lr=0.01, warmup=0, batch=8, width=0, blocks=1, heads=2, lsa_components=8)


def words_of(label):
    return [f"{label}{number}" for number in range(4)]


def make_sets(count, labels=("red", "green", "blue"), seed=0, max_labels=2):
    """Return texts, and the set of 0 to ``max_labels`` labels of each text. Every label has words of its own."""
    rng = random.Random(seed)
    texts, sets = [], []
    for _ in range(count):
        chosen = rng.sample(labels, rng.randint(0, max_labels))
        words = rng.choices(PLAIN, k=5)
        for label in chosen:
            words += rng.choices(words_of(label), k=3)
        rng.shuffle(words)
        texts.append(" ".join(words))
        sets.append(set(chosen))
    return texts, sets


def write_sets(path, texts, sets, separator="; "):
    rows = [f"{text}\t{separator.join(sorted(labels))}\n" for text, labels in zip(texts, sets, strict=True)]
    path.write_text("text\tlabel\n" + "".join(rows))
    return path


@cache
def set_embeddings(labels=("red", "green", "blue")):
    texts, _ = make_sets(60, labels, seed=9)
    return nlptx.fit_pca(nlptx.count(texts, CountSettings(min_count=1), 1), PcaSettings(8), jobs=1)


def fit_sets(texts, sets, settings=SETTINGS, *, labels=("red", "green", "blue"), jobs=1, **more):
    """Return a model, and the notes that training prints."""
    notes = []
    given = {"jobs": jobs, "on_note": notes.append} | more
    return nlptx.fit(texts, sets, set_embeddings(labels), settings, **given), notes


@cache
def small_model():
    return fit_sets(*make_sets(150))[0]
