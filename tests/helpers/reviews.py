"""Synthetic reviews whose words reveal their label, and models trained on them; shared by the method tests."""

from functools import cache

import numpy as np
from click.testing import CliRunner

import nlptx
from nlptx.cli.main import nlptx as command_line
from nlptx.nn import flatten
from nlptx.settings import CountSettings, PcaSettings, TrainSettings

LABELS = ("neg", "pos")
KINDS = {"cooccur": "cooccurrence", "pca": "embeddings", "train": "model"}
# Settings of the transformer in the two articles of the presets: post-norm, no dropout and no weight averaging.
ARTICLE = {"norm": "post", "dropout": 0.0, "word_dropout": 0.0, "weight_averaging": 0.0}
# Settings for a plain transformer and a textbook training step: no n-gram features, dropout or weight averaging.
PLAIN = {"ngrams": 0, "dropout": 0.0, "word_dropout": 0.0, "weight_averaging": 0.0}


def make_reviews(count, plain_words=40, shortest=9, longest=15, seed=0):
    """Return texts and labels: three words in ten are positive or negative, and 90% of these match the label."""
    rng = np.random.default_rng(seed)
    texts, labels = [], []
    for number in range(count):
        label = number % 2
        words = []
        for _ in range(rng.integers(shortest, longest + 1)):
            if rng.random() < 0.3:
                side = label if rng.random() < 0.9 else 1 - label
                words.append(f"{('bad', 'good')[side]}{rng.integers(8)}")
            else:
                words.append(f"w{int(plain_words * rng.random() ** 1.5)}")
        texts.append(" ".join(words))
        labels.append(LABELS[label])
    return texts, labels


WINDOW = 6
# Text lengths in words: one word, fewer words than in a window, the same number, and more words.
LENGTHS = (1, 3, 6, 7, 15)
TEXTS = [" ".join(text.split()[:n]) for text, n in zip(make_reviews(5, shortest=15)[0], LENGTHS, strict=True)]


@cache
def small_embeddings(components=8):
    texts, _ = make_reviews(60)
    return nlptx.fit_pca(nlptx.count(texts, CountSettings(min_count=1), 1), PcaSettings(components), jobs=1)


def small_fit(texts=None, labels=None, **settings):
    """Train for one epoch on a few synthetic reviews, or on the given texts, without n-gram features.

    ``settings`` override the settings used here; all others have their default values.
    """
    if texts is None:
        texts, labels = make_reviews(40)
    settings = TrainSettings(**{"epochs": 1, "batch": 8, "ngrams": 0, "width": 0} | settings)
    return nlptx.fit(texts, labels, small_embeddings(), settings, jobs=1)


def as_float64(model, noise=0.3):
    """Convert the weights of a model to float64, and add noise so that none keeps its initial zero or one."""
    rng = np.random.default_rng(3)
    model.flat = flatten(model.network, np.float64)
    model.flat += rng.normal(0, noise, model.flat.shape)
    model.table = model.table + rng.normal(0, noise, model.table.shape)
    return model


def known_rows(model, texts):
    return np.unique(np.concatenate([model.vocabulary.encode(text) for text in texts]))


def run(*words):
    result = CliRunner().invoke(command_line, [str(word) for word in words], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def pipeline(folder, preset, texts, labels, *more):
    """Run the three stages with a preset; return the paths of their outputs by stage."""
    corpus, data = folder / "corpus.txt", folder / "data.tsv"
    corpus.write_text("".join(f"{text}\n" for text in texts))
    rows = (f"{text}\t{label}\n" for text, label in zip(texts, labels, strict=True))
    data.write_text("text\tlabel\n" + "".join(rows))
    files = {stage: folder / f"{stage}.npz" for stage in KINDS}
    shared = ("--preset", preset, "--quiet", "--jobs", 1)
    run("cooccur", corpus, "-o", files["cooccur"], *shared)
    run("pca", files["cooccur"], "-o", files["pca"], *shared)
    run("train", data, "-e", files["pca"], "-o", files["train"], *shared, *more)
    return files
