"""Row 15 of the table in tests/method/README.md: pre-training by causally masked next-word prediction."""

import math

import numpy as np
import pytest
from gradcheck import check_gradients
from plain_transformer import PlainTransformer, softmax
from reviews import PLAIN, make_reviews, small_fit

import nlptx
from nlptx.nn import Gradients, Layout, Linear, flatten
from nlptx.sampling.rng_streams import Stream, generator
from nlptx.settings import TrainSettings
from nlptx.training import pretraining
from nlptx.training.initialization import initial_model
from nlptx.training.pretraining import LanguageModel
from nlptx.training.progress import EpochProgress


def cycles(count, words=12, length=13):
    """Return texts that repeat a cycle of words. Each word determines the next one, and all are equally frequent."""
    return [" ".join(f"c{(start + index) % words}" for index in range(length)) for start in range(count)]


def test_row_15_pretraining_learns_the_next_word():
    texts = cycles(96)
    embeddings = nlptx.fit_pca(
        nlptx.count(texts, nlptx.CountSettings(min_count=1), 1), nlptx.PcaSettings(8, tolerance=1e-2), jobs=1
    )
    settings = TrainSettings(
        epochs=1, batch=8, pretrain=6, lr=1e-2, warmup=0, schedule="constant", valid_share=0.0, **PLAIN
    )
    losses = []

    def note(progress):
        if isinstance(progress, EpochProgress) and progress.phase == "pretrain":
            losses.append(progress.loss)

    labels = [("a", "b")[number % 2] for number in range(96)]
    model = nlptx.fit(texts, labels, embeddings, settings, jobs=1, on_progress=note)
    entropy = math.log(12)  # the loss if all 12 words are equally probable
    assert len(losses) == 6 * 12
    assert 0.9 * entropy < losses[0] < entropy + 1.5
    history = model.history["pretrain"]
    assert [record["epoch"] for record in history] == [1, 2, 3, 4, 5, 6]
    assert history[-1]["loss"] < 0.25 * entropy
    assert history[-1]["accuracy"] > 0.9


def test_row_15_pretraining_is_optional_and_starts_the_classifier():
    assert TrainSettings().pretrain == 0
    without, pretrained = (small_fit(lr=1e-3, pretrain=epochs, **PLAIN) for epochs in (0, 1))
    assert without.history["pretrain"] == []
    assert len(pretrained.history["pretrain"]) == 1
    assert without.flat.shape == pretrained.flat.shape
    assert np.abs(pretrained.flat - without.flat).max() > 1e-3
    # The network still uses the array that is saved with the model, not a copy of it.
    assert all(np.shares_memory(parameter.value, pretrained.flat) for _, parameter in pretrained.network.parameters())


def test_row_15_pretraining_loss_uses_only_the_preceding_words():
    texts, labels = make_reviews(6)
    # With a learning rate of 0, the loss of every text is computed with the initial weights.
    model = small_fit(texts, labels, pretrain=1, lr=0.0, attention_window=4, blocks=2, valid_share=0.0, **PLAIN)
    out = Linear(8, len(model.vocabulary), generator(model.seed, Stream.NEXT_WORD_WEIGHTS))
    losses = []
    for text in texts:
        ids = model.encode(text)
        for window in np.array_split(ids, math.ceil(len(ids) / 4)):
            for read in range(1, len(window)):
                # The plain transformer gets only the preceding words, so it cannot attend to later ones.
                h = PlainTransformer(model, causal=True).encode(model.table[window[:read]])[-1]
                losses.append(-math.log(softmax(h @ out.weight.value)[window[read]]))
    assert model.history["pretrain"][0]["loss"] == pytest.approx(math.fsum(losses) / len(losses), abs=2e-5)


def next_word():
    settings = TrainSettings(attention_window=4, width=0, blocks=2, norm="post", ngrams=0, loss="cross-entropy")
    table = np.random.default_rng(1).normal(size=(9, 8))
    model = initial_model(None, table, ["a", "b"], None, np.ones(2) / 2, settings, 1)
    task = LanguageModel(model.network.encoder, 8, 9, np.random.default_rng(2))
    flat = flatten(task, np.float64)
    flat += np.random.default_rng(3).normal(0, 0.3, flat.shape)
    ids = np.random.default_rng(4).integers(9, size=12).astype(np.int32)
    return model, task, flat, ids, Layout(np.array([3, 1, 6, 2]), 4, causal=True)


@pytest.mark.parametrize("positions", [512, 3])
def test_row_15_pretraining_gradient(monkeypatch, positions):
    monkeypatch.setattr(pretraining, "_POSITIONS", positions)
    model, task, flat, ids, layout = next_word()
    x = model.table[ids]

    def loss():
        return task.loss_and_gradient(x, ids, layout, Gradients(np.zeros_like(flat)), np.random.default_rng(5))[0]

    grads = Gradients(np.zeros_like(flat))
    *_, dx = task.loss_and_gradient(x, ids, layout, grads, np.random.default_rng(5))
    arrays = {name: (parameter.value, grads[parameter]) for name, parameter in task.parameters()}
    assert all(gradient.any() for _, gradient in arrays.values())
    check_gradients(loss, {"x": (x, dx)} | arrays, small=20)
