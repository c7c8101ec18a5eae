"""Rows 7 to 15 of the table in tests/method/README.md: the transformer.

More detailed tests are in test_layers, test_formulas, test_network and test_torch.
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from plain_transformer import PlainTransformer, plain_probabilities, sinusoid
from reviews import ARTICLE, TEXTS, WINDOW, as_float64, known_rows, make_reviews, small_embeddings, small_fit

from nlptx.classifier.inference import network_inputs
from nlptx.nn import Layout
from nlptx.settings import TrainSettings


def check(model, matters=None):
    """Check that predictions equal those of the plain formulas, and that the settings in ``matters`` change them."""
    as_float64(model)
    actual = model.predict_proba(TEXTS, jobs=1)
    assert_allclose(actual, [plain_probabilities(model, text) for text in TEXTS], rtol=1e-8)
    if matters:
        other = np.array([plain_probabilities(model, text, **matters) for text in TEXTS])
        assert np.abs(other - actual).max() > 1e-3
    return model


def shapes(model):
    return {name: parameter.value.shape for name, parameter in model.network.parameters()}


# ---------------------------------------------------------------- from words to the encoder


def test_row_07_embedding_lookup_as_taught_is_frozen():
    embeddings = small_embeddings()
    model = small_fit(freeze=True, **ARTICLE)
    # Training divides the vectors by the column weights that `pca` applied, and then multiplies all of them by the same
    # number, so that the root mean square of their entries is 1.
    vectors = embeddings.unweighted()
    size = np.sqrt(np.mean(np.square(vectors, dtype=np.float64)))
    assert_allclose(model.table, vectors / size, rtol=1e-6)
    assert list(model.vocabulary.words) == list(embeddings.vocabulary.words)
    ids = model.vocabulary.encode(TEXTS[4])
    one_hot = np.eye(len(model.vocabulary))[ids]
    assert_allclose(model.table[ids], one_hot @ model.table)
    check(model)


def test_row_07_embedding_lookup_default_is_fine_tuned_with_a_separate_rate():
    assert not TrainSettings().freeze
    texts, labels = make_reviews(40, plain_words=20)
    frozen, slow, fast = (
        # Only one step of plain gradient descent is taken, so if the learning rate is doubled, the step is doubled.
        small_fit(
            texts, labels, optimizer="sgd", batch=40, valid_share=0.0, weight_averaging=0.0, clip=0.0, embedding_lr=rate
        )
        for rate in (0.0, 50.0, 100.0)
    )
    assert_array_equal(frozen.flat, fast.flat)
    moved = fast.table - frozen.table
    assert_allclose(moved, 2 * (slow.table - frozen.table), atol=1e-6)
    seen = np.isin(np.arange(len(moved)), known_rows(frozen, texts))
    assert not seen.all()
    assert (moved[seen] != 0).any(axis=1).mean() > 0.9  # a word that occurs once may not move, because of word dropout
    assert not moved[~seen].any()
    check(small_fit(attention_window=WINDOW))


def test_row_08_positions_as_taught():
    model = check(small_fit(positions="sinusoidal", **ARTICLE), {"positions": "none"})
    length = model.settings.attention_window
    table, _ = model.network.encoder.positions.forward(np.zeros((length, 8)), Layout(np.array([length]), length))
    assert_allclose(table, [[sinusoid(t, i, 8) for i in range(8)] for t in range(len(table))], rtol=1e-12)


def test_row_08_positions_learned():
    start, trained = (small_fit(positions="learned", attention_window=WINDOW, lr=lr, **ARTICLE) for lr in (0.0, 1e-3))
    before, after = (dict(model.network.parameters())["encoder.positions.s"].value for model in (start, trained))
    assert after.shape == (WINDOW, 8)
    assert (before != after).all()
    check(trained, {"positions": "none"})


def test_row_08_positions_default():
    assert TrainSettings().positions in ("sinusoidal", "learned")
    check(small_fit(attention_window=WINDOW), {"positions": "none"})


# ---------------------------------------------------------------- the encoder block


@pytest.mark.parametrize("attention", ["plain", "qkv", "scaled"])
def test_row_09_self_attention_as_taught(attention):
    other = "qkv" if attention == "scaled" else "scaled"
    model = small_fit(attention=attention, **ARTICLE)
    check(model, None if attention == "plain" else {"attention": other})
    learned = any(name.endswith("qkv.W") for name in shapes(model))
    assert learned == (attention != "plain")
    x, layout, _, _ = network_inputs(model, [model.encode(TEXTS[4])])
    _, cache = model.network.forward(x, layout, None)
    (weights,) = model.network.encoder.attention_weights(cache[0])[0]
    assert_allclose(weights.sum(axis=-1), 1)  # the weights sum to 1 over the keys
    plain = PlainTransformer(model)
    plain.probabilities(model.encode(TEXTS[4]))
    assert_allclose(weights[0], plain.attention[0][0], atol=1e-9)


def test_row_09_self_attention_default():
    assert TrainSettings().attention == "scaled"
    check(small_fit(attention_window=WINDOW), {"attention": "qkv"})


@pytest.mark.parametrize(("head_width", "inner"), [("wide", 24), ("narrow", 9)])
def test_row_10_multi_head_as_taught(head_width, inner):
    model = small_fit(heads=3, width=9 if head_width == "narrow" else 0, head_width=head_width, **ARTICLE)
    width = model.network.encoder.width
    assert shapes(model)["encoder.block0.attention.f.qkv.W"] == (width, 3 * inner)
    assert shapes(model)["encoder.block0.attention.f.out.W"] == (inner, width)
    check(model)


def test_row_10_multi_head_default_is_narrow_and_fused():
    assert TrainSettings().head_width == "narrow"
    model = check(small_fit(attention_window=WINDOW))
    assert shapes(model)["encoder.block0.attention.f.qkv.W"] == (8, 24)  # a single product computes Q, K and V


@pytest.mark.parametrize("gain", [False, True])
def test_row_11_add_and_norm_as_taught(gain):
    model = small_fit(norm_gain=gain, **ARTICLE)
    assert ("encoder.block0.attention.norm.g" in shapes(model)) == gain
    check(model, {"norm": "pre"} if not gain else {"norm_gain": False})
    if gain:  # the value of epsilon matters only if the variance is small
        model.table *= 1e-3
        model.flat *= 1e-2
        actual = model.predict_proba(TEXTS, jobs=1)
        assert_allclose(actual, [plain_probabilities(model, text) for text in TEXTS], rtol=1e-8)


def test_row_11_add_and_norm_default():
    assert TrainSettings().norm_gain
    model = check(small_fit(attention_window=WINDOW), {"norm_gain": False})
    model.table[:] = 0  # zero variance
    assert np.isfinite(model.predict_proba(TEXTS, jobs=1)).all()


@pytest.mark.parametrize("activation", ["relu", "tanh", "sigmoid", "gelu"])
@pytest.mark.parametrize("hidden", [0, 13])
def test_row_12_positionwise_ffn_as_taught(activation, hidden):
    model = small_fit(activation=activation, hidden=hidden, **ARTICLE)
    assert shapes(model)["encoder.block0.ffn.f.inner.W"] == (8, hidden or 4 * 8)
    check(model, {"activation": "tanh" if activation != "tanh" else "relu"})


def test_row_12_positionwise_ffn_default():
    assert TrainSettings().activation in ("relu", "gelu")
    check(small_fit(attention_window=WINDOW), {"activation": "tanh"})


@pytest.mark.parametrize("blocks", [0, 1, 2, 5])
@pytest.mark.parametrize("settings", [ARTICLE, {}], ids=["article", "default"])
def test_row_13_encoder_blocks(blocks, settings):
    model = small_fit(blocks=blocks, attention_window=WINDOW, **settings)
    assert len({name.split(".")[1] for name in shapes(model) if ".block" in name}) == blocks
    check(model)


# ---------------------------------------------------------------- the head


@pytest.mark.parametrize("pool", ["flatten", "mean", "max", "first", "attention"])
@pytest.mark.parametrize("loss", ["squared-error", "cross-entropy"])
def test_row_14_head_as_taught(pool, loss):
    model = small_fit(pool=pool, loss=loss, attention_window=WINDOW, long_texts="head", **ARTICLE)
    width = WINDOW * 8 if pool == "flatten" else 8
    assert shapes(model)["head.W"] == (width, 1 if loss == "squared-error" else 2)
    check(model, {"pool": "mean" if pool not in ("mean", "flatten") else "first"} if pool != "flatten" else None)


@pytest.mark.parametrize("classes", [2, 3, 7])
def test_row_14_head_default(classes):
    texts, _ = make_reviews(40)
    model = small_fit(texts, [f"class {n % classes}" for n in range(40)], attention_window=WINDOW)
    assert (model.settings.pool, model.settings.loss) == ("mean", "cross-entropy")
    assert model.predict_proba(TEXTS, jobs=1).shape == (5, classes)
    check(model, {"pool": "first"})


@pytest.mark.parametrize("settings", [ARTICLE, {}], ids=["article", "optional"])
def test_row_15_causal_mask(settings):
    assert not TrainSettings().causal
    model = check(small_fit(causal=True, blocks=2, **settings), {"causal": False})
    ids = model.encode(TEXTS[4])
    x, changed = model.table[ids], model.table[ids]
    changed[9:] += 1
    layout = Layout(np.array([len(ids)]), model.settings.attention_window, causal=True)
    before, after = (model.network.encoder.forward(v, layout, None)[0] for v in (x, changed))
    assert_array_equal(before[:9], after[:9])
    assert (before[9:] != after[9:]).any(axis=1).all()
