"""Row 16 of the table in tests/method/README.md: backpropagation, and faults found in other implementations.

More detailed tests are in test_layers and test_network.
"""

import tracemalloc

import numpy as np
import pytest
from gradcheck import check_gradients, layer_gradients, randomise
from numpy.testing import assert_allclose, assert_array_equal
from reviews import ARTICLE, TEXTS, WINDOW, as_float64, known_rows, small_fit

from nlptx.nn import EncoderBlock, FeedForward, Gradients, LayerNorm, Layout, MultiHeadAttention, PlainAttention
from nlptx.nn.attention_kernel import attend, attend_backward
from nlptx.settings import TrainSettings
from nlptx.training.batching import Microbatch
from nlptx.training.gradients import Accumulators
from nlptx.training.initialization import initial_model
from nlptx.training.loss import loss_and_gradients

WHOLE_MODELS = {
    "article": ARTICLE
    | {
        "blocks": 2,
        "heads": 3,
        "head_width": "wide",
        "hidden": 11,
        "norm_gain": False,
        "pool": "flatten",
        "loss": "squared-error",
        "long_texts": "head",
    },
    "article_without_parameters_in_attention": ARTICLE | {"attention": "plain", "positions": "learned"},
    "default": {},
    "default_of_another_width": {"width": 12, "blocks": 2, "norm": "post", "activation": "gelu", "pool": "attention"},
}


def check_all_gradients(settings, texts, targets):
    """Check all gradients of a model in float64, with dropout and two microbatches, as in training.

    Return the model, and a dict that maps the name of each parameter to its values and its gradient.
    """
    model = as_float64(small_fit(**settings))
    ids = [model.encode(text) for text in texts]
    microbatches = []
    for rows in (range(2), range(2, len(ids))):
        lengths = np.array([len(ids[row]) for row in rows])
        microbatches.append(Microbatch(np.concatenate([ids[row] for row in rows]), lengths, targets[list(rows)]))

    def result():
        seeds = [np.random.SeedSequence(number) for number in range(2)]
        accumulators = Accumulators(1, model.flat.size, len(model.table), model.table.shape[1], np.float64)

        def objective(microbatch, grads, rng):
            return loss_and_gradients(model, microbatch, grads, rng, len(ids))

        return accumulators.sum([accumulators.fill(0, microbatches, seeds, objective)])

    total = result()
    table = np.zeros_like(model.table)
    table[total.rows] = total.row_gradient
    assert np.abs(total.flat).min() < np.abs(total.flat).max() < np.inf
    arrays = {"word vectors": (model.table, table)}
    arrays |= {name: (p.value, Gradients(total.flat)[p]) for name, p in model.network.parameters()}
    check_gradients(lambda: result().loss / len(ids), arrays, small=16)
    return model, arrays


@pytest.mark.parametrize("name", WHOLE_MODELS)
def test_row_16_backpropagation(name):
    model, arrays = check_all_gradients(
        WHOLE_MODELS[name] | {"attention_window": WINDOW}, TEXTS, np.array([0, 1, 1, 0, 1])
    )
    assert all(gradient.any() for _, gradient in arrays.values())
    used = known_rows(model, TEXTS) if model.settings.long_texts == "split" else slice(0)
    assert arrays["word vectors"][1][used].any(axis=1).all()


def test_row_16_backpropagation_as_taught_with_jacobians():
    rng = np.random.default_rng(1)
    x, dy, width = rng.normal(size=(5, 7)), rng.normal(size=(5, 7)), 7
    layer = LayerNorm(width, gain=False)
    _, cache = layer.forward(x)
    for row, upstream, dx in zip(x, dy, layer.backward(dy, cache, None), strict=True):
        sigma = np.sqrt(row.var() + 1e-5)
        z = (row - row.mean()) / sigma
        jacobian = (np.eye(width) - np.ones((width, width)) / width - np.outer(z, z) / width) / sigma
        assert_allclose(dx, jacobian.T @ upstream, atol=1e-12)
    # If K and V are identity matrices, the scores are Q, and the outputs are the softmax of the scores.
    q, one = rng.normal(size=(7, 7)), np.eye(7)
    single = [array[None, None] for array in (q, one, one)]  # one window, one head
    p, e, z = attend(*single, False)
    dp = rng.normal(size=(7, 7))
    dq, _, _ = attend_backward(dp[None, None], p, *single, e, z)
    for row, upstream, ds in zip(p[0, 0], dp, dq[0, 0], strict=True):
        assert_allclose(ds, (np.diag(row) - np.outer(row, row)) @ upstream, atol=1e-12)


def test_row_16_backpropagation_default_materialises_no_jacobian():
    width, tokens = 64, 512
    settings = TrainSettings(attention_window=16, ngrams=0, loss="cross-entropy")
    model = initial_model(None, np.zeros((3, width), np.float32), ["a", "b"], None, np.ones(2) / 2, settings, 1)
    microbatch = Microbatch(np.arange(tokens, dtype=np.int32) % 3, np.array([tokens]), np.array([1]))
    tracemalloc.start()
    try:
        loss_and_gradients(model, microbatch, Gradients(np.zeros(model.flat.size, np.float32)), None, 1)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < tokens * width * width * 4  # the size of one (width, width) float32 Jacobian per token


# ---------------------------------------------------------------- faults of the reference implementations


@pytest.mark.parametrize("attention", ["plain", "qkv", "scaled"])
def test_fault_softmax_over_padded_slots(attention):
    model = as_float64(small_fit(attention=attention, blocks=2, **ARTICLE))
    short, longer = TEXTS[1], TEXTS[4]
    alone = model.predict_proba([short], jobs=1)
    for batch in ([short, longer], [longer, short, short], [short, longer * 3]):
        together = model.predict_proba(batch, jobs=1)
        assert_allclose(together[batch.index(short)], alone[0], rtol=1e-12)
    # The gradient of a batch is the sum of the gradients of its texts.
    ids, targets = [model.encode(text) for text in TEXTS], np.array([0, 1, 1, 0, 1])

    def gradient(rows):
        grads = Gradients(np.zeros(model.flat.size))
        lengths = np.array([len(ids[row]) for row in rows])
        microbatch = Microbatch(np.concatenate([ids[row] for row in rows]), lengths, targets[rows])
        dx = loss_and_gradients(model, microbatch, grads, None, 1)[2]
        return grads.flat, dx

    flat, dx = gradient(list(range(5)))
    parts = [gradient([row]) for row in range(5)]
    assert_allclose(flat, sum(part for part, _ in parts), rtol=1e-9, atol=1e-12)
    assert_allclose(dx, np.concatenate([part for _, part in parts]), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("attention", ["qkv", "scaled"])
@pytest.mark.parametrize("head_width", ["narrow", "wide"])
def test_fault_zero_gradients_for_k_and_q(attention, head_width):
    settings = {"attention": attention, "head_width": head_width, "heads": 2, "attention_window": WINDOW} | ARTICLE
    _, arrays = check_all_gradients(settings, TEXTS, np.array([0, 1, 1, 0, 1]))
    gradients = np.split(arrays["encoder.block0.attention.f.qkv.W"][1], 3, axis=1)
    for gradient in gradients:
        assert (gradient != 0).mean() > 0.99
    # Training changes the weights of all three matrices Q, K and V.
    start, trained = (small_fit(**settings, lr=lr) for lr in (0.0, 1e-3))
    before, after = (dict(m.network.parameters())["encoder.block0.attention.f.qkv.W"].value for m in (start, trained))
    for part in np.split(before != after, 3, axis=1):
        assert part.mean() > 0.9


@pytest.mark.parametrize("order", ["post", "pre"])
def test_fault_one_add_and_norm_cache_shared_by_two_call_sites(order):
    rng = np.random.default_rng(1)
    block = EncoderBlock(PlainAttention(), FeedForward(6, 7, "tanh", rng), 6, order, False, 0.0)
    block.feed_forward.norm = block.attention.norm  # the block now calls the same layer norm twice
    randomise(block)
    layout = Layout(np.array([2, 3]))
    check_gradients(*layer_gradients(block, rng.normal(size=(5, 6)), layout))
    # If forward is called again before backward, for example by another thread, the gradients are still correct.
    layer = MultiHeadAttention(6, 2, 3, True, rng)
    grads = [Gradients(randomise(layer) * 0) for _ in range(2)]
    y, cache = layer.forward(x := rng.normal(size=(5, 6)), layout)
    alone = layer.backward(np.cos(y), cache, grads[0])
    y, cache = layer.forward(x, layout)
    layer.forward(x + 1, layout)
    assert_array_equal(layer.backward(np.cos(y), cache, grads[1]), alone)
    assert_array_equal(grads[0].flat, grads[1].flat)
