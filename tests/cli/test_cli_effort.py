"""``--effort`` chooses settings according to the time that training may take."""

import json
from pathlib import Path

import numpy as np
import pytest
from calling import call, failure
from sample_data import make_rows, write_tsv

from nlptx import Model
from nlptx.presets import EFFORTS

SMALL = ("--lsa-components", "8", "-q")


@pytest.fixture
def table(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return write_tsv(tmp_path / "data.tsv", make_rows(("neg", "pos"), 60, seed=1))


def settings_of(*words):
    call("train", *words, *SMALL, "-o", "m.npz")
    return Model.load("m.npz").settings


def test_fast_trains_no_network_and_makes_no_word_vectors(table):
    call("train", table, "--effort", "fast", *SMALL, "-o", "m.npz")
    model = Model.load("m.npz")
    assert model.settings.epochs == model.settings.blocks == 0
    assert not model.table.any()
    assert call("predict", "-m", "m.npz", stdin="great lovely superb film\n").rows[0][0] == "pos"
    evaluated = json.loads(call("evaluate", table, "-m", "m.npz", "--json").stdout)
    assert evaluated["accuracy"] > 0.9
    assert b"great" in call("explain", "-m", "m.npz", "a great film").stdout
    assert b"distill" in call("info", "m.npz").stdout
    code, message = failure("neighbors", "-m", "m.npz", "great")
    assert (code, "all word vectors are 0" in message) == (4, True)


def test_info_prints_the_command_that_makes_a_fast_model(table):
    settings_of(table, "--effort", "fast")
    (command,) = json.loads(call("info", "m.npz", "--json").stdout)["commands"]
    again = command.replace("DATA", str(table)).replace("-o model.npz", "-o again.npz").split()
    call(*again[1:], "-q")
    assert Path("again.npz").read_bytes() == Path("m.npz").read_bytes()


def test_info_of_a_fast_model_with_weights(table):
    rows = Path(table).read_text().splitlines()
    weights = ["weight", *(str(1 + number % 3) for number in range(len(rows) - 1))]
    unordered = [row.replace("\tneg", "\tred").replace("\tpos", "\tblue") for row in rows]
    written = [f"{row}\t{weight}" for row, weight in zip(unordered, weights, strict=True)]
    Path("w.tsv").write_text("\n".join(written) + "\n")
    call(
        "train", "w.tsv", "--effort", "fast", "--weight-column", "weight", "--valid-share", "0.4", *SMALL, "-o", "m.npz"
    )
    shown = call("info", "m.npz").text
    assert "held-out texts (weighted)" in shown
    assert "the held-out texts, which also determined the temperature" in shown
    assert "None" not in shown.partition("settings")[0]
    call("train", table, "--effort", "fast", "--valid-share", "0.4", *SMALL, "-o", "m.npz")
    assert "(weighted)" not in call("info", "m.npz").text


def test_fast_says_which_settings_have_no_effect(table):
    fast = table, "--effort", "fast", "--lsa-components", "8"
    told = call("train", *fast, "--blocks", "2", "--heads", "8", "-o", "m.npz").stderr
    assert "these settings have no effect: --blocks, --heads" in told
    assert Model.load("m.npz").settings == settings_of(*fast[:3])


def test_fast_continues_a_model_without_training_its_network(table):
    call("train", table, "--effort", "fast", "--start", "bundled", "-q", "-o", "m.npz")
    model, bundled = Model.load("m.npz"), Model.load()
    assert np.array_equal(model.table[: len(bundled.table)], bundled.table)
    assert model.settings.blocks == bundled.settings.blocks
    assert model.predict(["an awful film"]) == ["neg"]


def test_efforts_can_be_cross_validated(table):
    results = [
        json.loads(call("crossvalidate", table, "--folds", "2", *options, *SMALL, "--json").stdout)
        for options in (("--effort", "fast"), ("--epochs", "0"))
    ]
    assert results[0]["log_loss"] == results[1]["log_loss"]


def test_fast_does_not_announce_counting_and_pca(table):
    assert "PCA" not in call("train", table, "--effort", "fast", "--lsa-components", "8", "-o", "m.npz").stderr


def test_default_is_the_default(table):
    assert settings_of(table, "--effort", "default") == settings_of(table)


def test_best_trains_region_filters_and_explicit_options_take_precedence(table):
    best = settings_of(table, "--effort", "best")
    changed = settings_of(table, "--effort", "best", "--region-filters", "4", "--epochs", "1")
    assert best.region_filters == EFFORTS["best"]["train"]["region_filters"]
    assert (changed.epochs, changed.region_filters) == (1, 4)
    told = call("info", "m.npz").stdout.decode()
    assert "region filters" in told
    assert "region_word_weights" in told
    assert call("predict", "-m", "m.npz", "--details", stdin="great lovely superb film\n").rows[0][0] == "pos"
    assert b"great" in call("explain", "-m", "m.npz", "a great film").stdout
    assert json.loads(call("evaluate", table, "-m", "m.npz", "--json").stdout)["accuracy"] > 0.9


def test_best_makes_a_note_when_starting_from_a_model(table):
    done = call("train", table, "--effort", "best", "--start", "bundled", "--epochs", "1", "-o", "m.npz")
    assert "no region filters" in done.stderr


@pytest.mark.parametrize(
    ("more", "named"),
    [
        (("--preset", "bloem"), "--preset and --effort"),
        (("--start", "bundled", "--lsa-components", "7"), "--lsa-components"),
        (("--ngrams", "0"), "--ngrams"),
    ],
)
def test_contradictions_are_usage_errors(table, more, named):
    code, message = failure("train", table, "--effort", "fast", *more)
    assert (code, named in message) == (2, True)


def test_info_shows_the_weights_of_the_network_and_of_the_region_filters():
    a, b = Model.load().regions.weights
    told = [" ".join(line.split()) for line in call("info").stdout.decode().splitlines()]
    assert {f"weight of the network {a:.4f}", f"weight of the filters {b:.4f}"} <= set(told)
    assert any(line.startswith("loss of the filters") for line in told)


def test_fast_does_not_mention_word_vectors_if_no_word_occurs_often_enough(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    tiny = write_tsv(tmp_path / "tiny.tsv", [("good", "pos"), ("bad film", "neg")])
    code, message = failure("train", tiny, "--effort", "fast", "--new-word-min-count", "2", "-o", "m.npz")
    assert (code, "embeddings" in message) == (3, False)
    assert "Use more texts, or set --new-word-min-count 1, with which every word of the texts is known." in message


@pytest.mark.parametrize(
    ("options", "note"),
    [
        (
            ("--ngrams", "0", "--lsa-components", "8", "--distill", "2"),
            "no n-gram features (--ngrams 0), so these settings have no effect: --lsa-components, --distill\n",
        ),
        (("--distill", "2", "--lsa-components", "0"), "--distill has no effect, because there are no texts without"),
        (("--ngrams", "0", "--lsa-components", "0", "--distill", "0"), ""),
        (("--blocks", "0", "--heads", "2"), "(--blocks 0), so these settings have no effect: --heads\n"),
        (("--attention", "plain", "--head-width", "wide"), "(--attention plain), so these settings have no effect: "),
        (("--freeze", "--embedding-lr", "1"), "(--freeze), so these settings have no effect: --embedding-lr\n"),
        (
            ("--freeze", "--new-word-min-count", "1", "--ngrams", "0"),
            "(--freeze), so these settings have no effect: --new-word-min-count\n",
        ),
        (("--optimizer", "sgd", "--weight-decay", "1"), "--optimizer is sgd, not adamw, so these settings have no"),
        (("--optimizer", "sgd", "--weight-decay", "0"), ""),
        (("--valid", "data.tsv", "--valid-max", "9"), "texts are given, so these settings have no effect: --valid-max"),
        (("--valid-share", "0", "--patience", "1"), "(--valid-share 0), so these settings have no effect: --patience"),
    ],
)
def test_settings_without_effect_are_named(table, options, note):
    told = call("train", table, "--epochs", "1", *options, "-o", "m.npz").stderr
    assert note in told
    assert ("no effect" in told) == bool(note)


def test_distillation_with_unlabelled_texts_needs_no_note(table):
    options = ("--epochs", "1", "--distill", "2", "--lsa-components", "0", "--unlabelled", table)
    assert "no effect" not in call("train", table, *options, "-o", "m.npz").stderr


def test_effort_on_the_command_line_takes_precedence_over_a_file_and_a_variable(table, monkeypatch):
    Path("c.toml").write_text("[train]\nepochs = 2\nblocks = 1\n")
    for words in (("--config", "c.toml", "--effort", "fast"), ("--effort", "fast", "--config", "c.toml")):
        assert settings_of(table, *words).epochs == 0
    assert settings_of(table, "--config", "c.toml", "--effort", "fast", "--epochs", "1").epochs == 1
    Path("e.toml").write_text("[train]\nepochs = 0\nregion-filters = 256\nlr = 0.01\n")
    for effort, epochs, filters in (("fast", 0, -1), ("default", -1, -1), ("best", -1, 256)):
        words = ("tune", table, "--config", "e.toml", "--effort", effort, "--folds", "2", "--minutes", "0.000001")
        values = call(*words, "--json", "-q").json["settings"]
        assert (values["train.epochs"], values["train.region_filters"]) == (epochs, filters)
        assert values["train.lr"] == 0.01
    Path("d.toml").write_text('[train]\nepochs = 1\neffort = "fast"\n')
    assert settings_of(table, "--config", "d.toml").epochs == 1
    monkeypatch.setenv("NLPTX_TRAIN_EPOCHS", "1")
    assert settings_of(table, "--effort", "fast").epochs == 0
