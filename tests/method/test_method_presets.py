"""Rows 17, 20 and 21 of the table in tests/method/README.md: the default pipeline and two presets, end to end."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from reviews import KINDS, make_reviews, pipeline, run

import nlptx
from nlptx.artifacts.container import read
from nlptx.classifier.explain import explain
from nlptx.classifier.model import Model
from nlptx.presets import PRESETS
from nlptx.settings import CountSettings, PcaSettings, TrainSettings
from nlptx.training.optimizers import learning_rate

SETTINGS = {"cooccur": CountSettings, "pca": PcaSettings, "train": TrainSettings}


@pytest.fixture(scope="module")
def bloem(tmp_path_factory):
    texts, labels = make_reviews(120, plain_words=150)
    return pipeline(tmp_path_factory.mktemp("bloem"), "bloem", texts, labels, "--epochs", 3)


def stored_settings(files, stage):
    return read(str(files[stage]), KINDS[stage]).settings


def check_improvement(model):
    epochs = model.history["epochs"]
    assert epochs[-1]["loss"] < epochs[0]["loss"]
    # The accuracy may fall slightly, because words are dropped at random.
    assert epochs[-1]["accuracy"] >= epochs[0]["accuracy"] - 0.02
    assert model.history["best_epoch"] > 1


# ---------------------------------------------------------------- the default pipeline


def test_row_17_training_default_improves():
    texts, labels = make_reviews(400, plain_words=100)
    embeddings = nlptx.fit_pca(nlptx.count(texts, jobs=1), PcaSettings(32), jobs=1)
    model = nlptx.fit(texts, labels, embeddings, jobs=1)
    assert model.settings == TrainSettings(loss="cross-entropy")
    check_improvement(model)
    unseen, truth = make_reviews(100, plain_words=100, seed=1)
    assert np.mean(np.array(model.predict(unseen, jobs=1)) == truth) > 0.8


# ---------------------------------------------------------------- the presets of the two articles


def test_row_20_preset_goldstraw_has_the_settings_of_the_article(goldstraw):
    numbers = {
        "cooccur": {"window": 4, "weighting": "linear", "min_count": 50},
        "pca": {
            "components": 50,
            "transform": "none",
            "standardize": True,
            "eigenvalue_weight": 1.0,
            "equalize": 0.0,
            "negative_weight": 1.0,
            "spelling_weight": 0.0,
        },
        "train": {
            "attention_window": 12,
            "long_texts": "head",
            "width": 0,
            "blocks": 2,
            "heads": 3,
            "head_width": "wide",
            "hidden": 400,
            "norm": "post",
            "pool": "flatten",
            "loss": "squared-error",
            "freeze": True,
            "optimizer": "sgd",
            "lr": 0.001,
            "schedule": "constant",
            "warmup": 0,
            "clip": 0.0,
            "dropout": 0.0,
            "word_dropout": 0.0,
            "weight_averaging": 0.0,
            "ngrams": 0,
            "pretrain": 0,
        },
    }
    for stage, expected in numbers.items():
        settings = stored_settings(goldstraw, stage)
        assert {name: settings[name] for name in expected} == expected
        assert settings == SETTINGS[stage](**PRESETS["goldstraw"][stage]).to_dict() | (
            {"epochs": 4} if stage == "train" else {}
        )


def test_row_20_preset_goldstraw_builds_the_network_of_the_article(goldstraw):
    model = Model.load(str(goldstraw["train"]))
    expected = {"head.W": (12 * 50, 1), "head.b": (1,)}
    for block in ("encoder.block0", "encoder.block1"):
        expected |= {
            f"{block}.attention.f.qkv.W": (50, 3 * 3 * 50),
            f"{block}.attention.f.out.W": (3 * 50, 50),
            f"{block}.ffn.f.inner.W": (50, 400),
            f"{block}.ffn.f.inner.b": (400,),
            f"{block}.ffn.f.outer.W": (400, 50),
            f"{block}.ffn.f.outer.b": (50,),
        }
        expected |= {f"{block}.{part}.norm.{name}": (50,) for part in ("attention", "ffn") for name in "gb"}
    assert {name: p.value.shape for name, p in model.network.parameters()} == expected
    assert len(model.encode(" ".join(["w1"] * 30))) == 12
    assert min(model.vocabulary.counts) >= 50
    vectors = nlptx.load_embeddings(str(goldstraw["pca"])).vectors
    assert_allclose(model.table, vectors / np.sqrt(np.mean(np.square(vectors, dtype=np.float64))), rtol=1e-6)


def test_row_20_preset_goldstraw_improves(goldstraw):
    model = Model.load(str(goldstraw["train"]))
    check_improvement(model)
    texts, labels = make_reviews(100, seed=1)
    probabilities = model.predict_proba(texts, jobs=1)
    targets = np.array([model.labels.index(label) for label in labels])
    # The mean squared error would be 0.25 if all predictions were 0.5.
    assert np.mean((probabilities[:, 1] - targets) ** 2) < 0.24


def test_row_21_preset_bloem_has_the_settings_of_the_article(bloem):
    numbers = {
        "cooccur": {"max_words": 50_000},
        "pca": {"components": 128},
        "train": {
            "attention_window": 512,
            "long_texts": "head",
            "width": 0,
            "blocks": 6,
            "heads": 8,
            "head_width": "narrow",
            "hidden": 0,
            "norm": "post",
            "pool": "mean",
            "loss": "cross-entropy",
            "batch": 4,
            "lr": 1e-4,
            "warmup": 10_000,
            "clip": 1.0,
            "optimizer": "adam",
            "ngrams": 0,
        },
    }
    for stage, expected in numbers.items():
        settings = stored_settings(bloem, stage)
        assert {name: settings[name] for name in expected} == expected
        assert settings == SETTINGS[stage](**PRESETS["bloem"][stage]).to_dict() | (
            {"epochs": 3, "loss": "cross-entropy"} if stage == "train" else {}
        )
    settings = TrainSettings(**PRESETS["bloem"]["train"])
    rates = [learning_rate(settings, step, 100_000) for step in (0, 4_999, 9_999, 10_000, 99_999)]
    assert_allclose(rates, [1e-8, 5e-5, 1e-4, 1e-4, 1e-4], rtol=1e-9)


def test_row_21_preset_bloem_builds_the_network_of_the_article(bloem):
    model = Model.load(str(bloem["train"]))
    shapes = {name: p.value.shape for name, p in model.network.parameters()}
    assert {name.split(".")[1] for name in shapes if ".block" in name} == {f"block{n}" for n in range(6)}
    for block in range(6):
        assert shapes[f"encoder.block{block}.attention.f.qkv.W"] == (128, 3 * 128)
        assert shapes[f"encoder.block{block}.attention.f.out.W"] == (128, 128)
        assert shapes[f"encoder.block{block}.ffn.f.inner.W"] == (128, 4 * 128)
    assert shapes["head.W"] == (128, 2)
    assert explain(model, "w1 w2 w3").attention[5].shape == (8, 3, 3)
    assert len(model.encode(" ".join(["w1"] * 600))) == 512


def test_row_21_preset_bloem_improves(bloem):
    check_improvement(Model.load(str(bloem["train"])))


def test_options_override_a_preset(goldstraw, tmp_path):
    path = tmp_path / "cooccur.npz"
    corpus = goldstraw["train"].parent / "corpus.txt"
    run("cooccur", corpus, "--preset", "goldstraw", "--window", 2, "-o", path, "-q")
    settings = read(str(path), "cooccurrence").settings
    assert (settings["window"], settings["weighting"], settings["min_count"]) == (2, "linear", 50)
