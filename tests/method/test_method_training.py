"""Row 17 of the table in tests/method/README.md: training steps, and which weights are kept in the end."""

import math
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from reviews import PLAIN, as_float64, make_reviews, small_embeddings, small_fit

import nlptx
from nlptx.nn import Dropout, Gradients, Linear, flatten
from nlptx.sampling.splits import stratified_split
from nlptx.settings import TrainSettings
from nlptx.training.batching import Microbatch
from nlptx.training.gradients import BatchGradient, clip
from nlptx.training.loss import loss_and_gradients
from nlptx.training.optimizers import DenseOptimizer, RowOptimizer, learning_rate
from nlptx.training.weight_averaging import WeightAverage

# ---------------------------------------------------------------- training steps


def textbook_step(rule, w, g, memory, lr, beta1=0.9, decay=0.0):
    """Return w after an optimiser step with the gradient g. ``memory`` holds the moments and the number of steps."""
    if rule == "sgd":
        return w - lr * g
    memory["t"] = t = memory.get("t", 0) + 1
    memory["m"] = beta1 * memory.get("m", 0) + (1 - beta1) * g
    memory["v"] = 0.999 * memory.get("v", 0) + 0.001 * g**2
    m, v = memory["m"] / (1 - beta1**t), memory["v"] / (1 - 0.999**t)
    if rule == "adamw":
        w = w - lr * decay * w
    return w - lr * m / (np.sqrt(v) + 1e-8)


@pytest.mark.parametrize("rule", ["sgd", "adam", "adamw"])
def test_row_17_optimizer(rule):
    assert TrainSettings().optimizer == "adamw"
    layer = Linear(2, 3, np.random.default_rng(1))
    flat = flatten(layer, np.float64)
    flat += 0.5
    optimizer = DenseOptimizer(flat, layer, TrainSettings(optimizer=rule, weight_decay=0.1))
    W, b, memories = flat[:6].copy(), flat[6:].copy(), ({}, {})
    for step in range(5):
        g = np.random.default_rng(step).normal(size=9)
        lr = 0.1 / (step + 1)
        optimizer.step(g, lr)
        W = textbook_step(rule, W, g[:6], memories[0], lr, decay=0.1)
        b = textbook_step(rule, b, g[6:], memories[1], lr)  # biases do not decay
        assert_allclose(layer.weight.value.ravel(), W, rtol=1e-12)
        assert_allclose(layer.bias.value, b, rtol=1e-12)


@pytest.mark.parametrize("rule", ["sgd", "adam", "adamw"])
def test_row_17_optimizer_of_sparse_rows_equals_the_dense_one(rule):
    rng = np.random.default_rng(1)
    table = rng.normal(size=(6, 3))
    dense, memory = table.copy(), {}
    optimizer = RowOptimizer(table, TrainSettings(optimizer=rule))
    for step, rows in enumerate([[0, 2, 5], [2], [1, 2, 3], [0], [5, 1], [0, 1, 2, 3, 5], [4]]):
        gradient = rng.normal(size=(len(rows), 3))
        optimizer.step(np.array(rows), gradient, 0.1 * (step + 1))
        dense_gradient = np.zeros_like(dense)
        dense_gradient[rows] = gradient
        dense = textbook_step(rule, dense, dense_gradient, memory, 0.1 * (step + 1), beta1=0.0)
        assert_allclose(table, dense, rtol=1e-12)


@pytest.mark.parametrize(
    ("schedule", "expected"),
    [
        ("constant", [0.25, 0.5, 0.75, 1, 1, 1, 1, 1]),
        ("linear", [0.25, 0.5, 0.75, 1, 1, 0.75, 0.5, 0.25]),
        ("cosine", [0.25, 0.5, 0.75, 1, 1, (1 + 0.5**0.5) / 2, 0.5, (1 - 0.5**0.5) / 2]),
    ],
)
def test_row_17_warm_up_and_decay(schedule, expected):
    settings = TrainSettings(lr=3e-4, warmup=4, schedule=schedule)
    assert_allclose([learning_rate(settings, step, 8) / 3e-4 for step in range(8)], expected, rtol=1e-12)
    without = replace(settings, warmup=0)
    assert learning_rate(without, 0, 8) == 3e-4


def test_row_17_gradient_clipping():
    assert TrainSettings().clip == 1
    flat, rows = np.array([3.0, 0.0]), np.array([[0.0, 4.0], [12.0, 0.0]])
    result = BatchGradient(0.0, 0, flat.copy(), np.arange(2), rows.copy())
    assert clip(result, 1.0) == 13
    assert_allclose(result.flat, flat / 13)
    assert_allclose(result.row_gradient, rows / 13)
    assert clip(result, 1.0) == pytest.approx(1)
    assert_allclose(result.flat, flat / 13)
    for max_norm in (20.0, 0.0):  # the gradient has the norm 13; a maximum of 0 means no limit
        result = BatchGradient(0.0, 0, flat.copy(), np.arange(2), rows.copy())
        clip(result, max_norm)
        assert_array_equal(result.flat, flat)
        assert_array_equal(result.row_gradient, rows)


@pytest.mark.parametrize("p", [0.1, 0.5])
def test_row_17_dropout(p):
    x = np.random.default_rng(1).normal(1, 0.1, (300, 100))
    layer = Dropout(p)
    y, cache = layer.forward(x, None, np.random.default_rng(2))
    kept = y != 0
    assert abs(1 - kept.mean() - p) < 0.012
    assert abs(y.mean() - x.mean()) < 0.03  # the kept entries are scaled up to preserve the mean
    assert_allclose(y[kept] / x[kept], (y / x).max())
    assert_array_equal(layer.backward(np.ones_like(x), cache) != 0, kept)
    assert_array_equal(layer.forward(x, None, None)[0], x)
    # Dropout is off during scoring; training twice with the same seed drops the same entries.
    assert TrainSettings().dropout == 0.1
    model, again = (small_fit(dropout=p) for _ in range(2))
    assert_array_equal(model.flat, again.flat)
    assert_array_equal(model.predict_proba(["good1 w3"], jobs=1), model.predict_proba(["good1 w3"], jobs=1))


@pytest.mark.parametrize("rule", ["sgd", "adam", "adamw"])
def test_row_17_training_equals_the_textbook_loop(rule):
    texts, labels = make_reviews(24)
    # Each batch contains all texts, so the order of the texts has no effect.
    settings = TrainSettings(
        epochs=4, batch=24, optimizer=rule, lr=0.01, warmup=2, clip=0.05, valid_share=0.0, weight_decay=0.1, **PLAIN
    )
    trained = nlptx.fit(texts, labels, small_embeddings(), settings, jobs=1)
    assert trained.history["steps"] == 4

    model = as_float64(nlptx.fit(texts, labels, small_embeddings(), replace(settings, lr=0.0), jobs=1), noise=0)
    ids = [model.encode(text) for text in texts]
    targets = np.array([model.labels.index(label) for label in labels])
    microbatch = Microbatch(np.concatenate(ids), np.array([len(part) for part in ids]), targets)
    decays = np.zeros(model.flat.size, bool)
    for _, parameter in model.network.parameters():
        decays[parameter.span] = parameter.value.ndim == 2
    memories = ({}, {}, {})
    for lr in (0.005, 0.01, 0.01, 0.005):  # two steps of warm-up, then a decay towards 0
        grads = Gradients(np.zeros(model.flat.size))
        *_, dx = loss_and_gradients(model, microbatch, grads, None, len(ids))
        table = np.zeros_like(model.table)
        np.add.at(table, microbatch.ids, dx)
        norm = math.sqrt((grads.flat**2).sum() + (table**2).sum())
        factor = min(1.0, 0.05 / norm)
        g, table = grads.flat * factor, table * factor
        for part, memory, decay in ((decays, memories[0], 0.1), (~decays, memories[1], 0.0)):
            model.flat[part] = textbook_step(rule, model.flat[part], g[part], memory, lr, decay=decay)
        model.table = textbook_step(rule, model.table, table, memories[2], settings.embedding_lr * lr, beta1=0.0)
    tolerance = 1e-6 if rule == "sgd" else 2e-4  # Adam amplifies the rounding errors of very small gradients
    assert_allclose(trained.flat, model.flat, atol=tolerance)
    assert_allclose(trained.table, model.table, atol=tolerance)


# ---------------------------------------------------------------- which weights are kept


def test_row_17_early_stopping_keeps_the_best_epoch():
    assert TrainSettings().patience == 2
    texts, labels = make_reviews(60)
    held_out, truth = make_reviews(40, seed=1)
    swapped = [
        "neg" if label == "pos" else "pos" for label in truth
    ]  # the labels are swapped, so learning increases the validation loss

    def run(epochs):
        settings = TrainSettings(epochs=epochs, batch=8, lr=3e-3, schedule="constant", warmup=0, **PLAIN)
        return nlptx.fit(texts, labels, small_embeddings(), settings, valid=(held_out, swapped), jobs=1)

    model = run(9)
    losses = [epoch["valid_loss"] for epoch in model.history["epochs"]]
    best = model.history["best_epoch"]
    assert len(losses) == best + 2 < 9
    assert losses[best - 1] == min(losses)
    assert losses[best + 1] > losses[best] > losses[best - 1]
    assert_array_equal(model.flat, run(best).flat)
    assert_array_equal(model.table, run(best).table)


def test_row_17_early_stopping_continues_while_the_loss_improves():
    texts, labels = make_reviews(120)
    model = small_fit(texts, labels, epochs=4, lr=3e-3)
    losses = [epoch["valid_loss"] for epoch in model.history["epochs"]]
    assert model.history["best_epoch"] == 1 + losses.index(min(losses)) > 1


def test_row_17_weight_averaging():
    assert TrainSettings().weight_averaging == 0.99
    weights = [np.zeros(2), np.zeros((2, 1))]
    average, expected, last_update = WeightAverage(weights, 0.99), np.zeros(2), 0
    for step in range(1, 305):
        for weight in weights:
            weight += 1 / step
        average.step()
        if step % 10 == 0 or step == 304:  # the average is updated at every tenth step, and when it is used
            keep, last_update = min(0.99, step / (step + 9)) ** (step - last_update), step
            expected = keep * expected + (1 - keep) * weights[0]
    current = weights[0].copy()
    with average.swapped_in():
        assert_allclose(weights[0], expected, rtol=1e-12)
        assert_allclose(weights[1][:, 0], expected, rtol=1e-12)
    assert_array_equal(weights[0], current)


@pytest.mark.parametrize("steps", [1, 5, 25])
def test_row_17_weight_averaging_forgets_the_initial_weights_in_a_short_training(steps):
    texts, labels = make_reviews(8 * steps)
    start, averaged, last = (
        small_fit(texts, labels, valid_share=0.0, **PLAIN | more)
        for more in ({"lr": 0.0}, {"weight_averaging": 0.99, "warmup": 0}, {"warmup": 0})
    )
    assert last.history["steps"] == steps
    distance, kept = (float(np.linalg.norm(model.flat - start.flat)) for model in (last, averaged))
    assert kept > 0.3 * distance > 0


def test_row_17_held_out_texts_are_a_stratified_split():
    targets = np.array([0] * 50 + [1] * 20 + [2] * 4 + [3])
    train, valid = stratified_split(targets, 0.1, np.random.default_rng(1))
    assert sorted([*train, *valid]) == list(range(75))
    assert np.bincount(targets[valid], minlength=4).tolist() == [5, 2, 0, 0]
    _, other = stratified_split(targets, 0.1, np.random.default_rng(2))
    assert set(valid) != set(other)
    _, held_out = stratified_split(targets, 0.9, np.random.default_rng(1))
    assert np.bincount(targets[held_out], minlength=4).tolist() == [
        45,
        18,
        3,
        0,
    ]  # the last text of a class is never held out
    texts, labels = make_reviews(40)
    for maximum, expected in ((1000, (36, 4)), (2, (38, 2))):
        history = small_fit(texts, labels, valid_max=maximum).history
        assert (history["train_texts"], history["valid_texts"]) == expected
    assert TrainSettings().valid_max == 1000
