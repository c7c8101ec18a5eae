"""Tests of useless models: training fails if the loss explodes, and warns if a model is worse than guessing."""

import re

import numpy as np
import pytest
from calling import call
from command import refused
from reviews import make_reviews, small_embeddings
from sample_data import write_tsv

import nlptx
from nlptx.artifacts import container
from nlptx.classifier.model import Model
from nlptx.errors import CorruptError, DivergenceError
from nlptx.settings import TrainSettings

TEXTS, LABELS = make_reviews(60)
SETTINGS = {"epochs": 2, "batch": 8, "width": 0, "ngrams": 0}


def fit(texts=TEXTS, labels=LABELS, valid=None, **settings):
    notes = []
    chosen = TrainSettings(**SETTINGS | settings)
    model = nlptx.fit(texts, labels, small_embeddings(), chosen, valid=valid, jobs=1, on_note=notes.append)
    return model, notes


def swapped(labels):
    return [{"neg": "pos", "pos": "neg"}.get(label, label) for label in labels]


def test_a_loss_that_explodes_is_an_error():
    with pytest.raises(DivergenceError, match=r"diverged at step \d+: the mean loss of epoch 1 is") as caught:
        fit(lr=100.0, warmup=0)
    assert "Lower" in caught.value.hint


def test_a_model_that_learns_causes_no_warning():
    model, notes = fit(epochs=4, lr=0.01, warmup=0)
    assert notes == []
    assert "warnings" not in model.history


@pytest.mark.parametrize(
    "more",
    [{}, {"loss": "squared-error"}, {"class_weight": "balanced"}, {"calibrate": False}, {"lr": 0.3, "epochs": 4}],
    ids=str,
)
def test_a_model_that_is_worse_than_guessing_causes_a_warning(more):
    held_out, truth = make_reviews(40, seed=3)
    model, notes = fit(valid=(held_out, swapped(truth)), **{"epochs": 4, "lr": 0.01, "warmup": 0} | more)
    assert len(notes) == 1
    assert notes[0].startswith(
        "warning: on the 40 held-out texts the model is worse than predictions that ignore the text"
    )
    assert model.history["warnings"] == [notes[0].removeprefix("warning: ").partition(". Use")[0]]
    assert "log-loss" in notes[0]
    assert ("always" in notes[0]) == (more.get("class_weight") != "balanced")


def test_without_a_network_the_warning_advises_to_train_one():
    held_out, truth = make_reviews(40, seed=3)
    _, notes = fit(valid=(held_out, swapped(truth)), epochs=0, ngrams=1, lsa_components=0)
    assert notes[-1].endswith(". Use more texts, check the labels, or train a network (`epochs=3`).")


def test_if_no_network_is_trained_after_start_the_warning_does_not_advise_more_epochs():
    start, _ = fit(epochs=4, lr=0.01, warmup=0, ngrams=1, lsa_components=0)
    texts, labels = make_reviews(24, seed=5)  # the model is right about these texts, so no correction helps
    held_out, truth = make_reviews(40, seed=3)
    notes = []
    model = nlptx.fit(texts, labels, start=start, valid=(held_out, swapped(truth)), jobs=1, on_note=notes.append)
    assert model.history["steps"] == 0
    assert notes[-1].startswith("warning: on the 40 held-out texts the model is worse than predictions")
    assert notes[-1].endswith(". Use more texts, check the labels, or train a new model, without `start`.")


def test_the_warning_compares_with_the_most_frequent_label_and_the_label_frequencies():
    texts, labels = make_reviews(80)
    rows = [row for row, label in enumerate(labels) if label == "neg" or row % 8 == 1]  # 40 neg, 10 pos
    held_out, truth = make_reviews(40, seed=3)
    _, notes = fit(
        [texts[row] for row in rows], [labels[row] for row in rows], (held_out, swapped(truth)), epochs=4, lr=0.05
    )
    frequencies = -(np.log(0.8) + np.log(0.2)) / 2
    assert f"versus {frequencies:.4g} for predicting the label frequencies" in notes[0]
    assert "versus 50.0% for always predicting 'neg'" in notes[0]


def test_balanced_weights_that_cost_accuracy_cause_no_warning():
    texts, labels = make_reviews(600, seed=2)
    rare = [row for row, label in enumerate(labels) if label == "pos"][::12]
    rows = sorted([row for row, label in enumerate(labels) if label == "neg"] + rare)
    given = [texts[row] for row in rows], [labels[row] for row in rows]
    _, notes = fit(*given, class_weight="balanced", epochs=3, lr=0.01, ngrams=3, lsa_components=4)
    assert notes == []


def test_a_held_out_label_that_was_not_learned_is_not_an_error():
    held_out, _ = make_reviews(3, seed=3)
    for weight in ("none", "balanced"):
        texts, labels = [*TEXTS, "no such words"], [*LABELS, "odd"]
        model, _ = fit(texts, labels, (held_out, ["odd"] * 3), class_weight=weight, epochs=1)
        assert model.history["best_epoch"] == 1


# ---------------------------------------------------------------- command line


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("useless")
    container.write(str(folder / "e.npz"), small_embeddings().to_artifact())
    write_tsv(folder / "train.tsv", zip(TEXTS, LABELS, strict=True))
    held_out, truth = make_reviews(40, seed=3)
    write_tsv(folder / "good.tsv", zip(held_out, truth, strict=True))
    write_tsv(folder / "bad.tsv", zip(held_out, swapped(truth), strict=True))
    return folder


def train(files, valid, *more):
    words = ("train", files / "train.tsv", "-e", files / "e.npz", "--valid", files / valid, "-o", files / "m.npz")
    return call(*words, "--lr", "0.01", "--warmup", "0", "--ngrams", "0", "--epochs", "4", "-j", "1", *more)


def test_the_command_fails_if_the_loss_explodes(files, tmp_path):
    words = ("train", files / "train.tsv", "-e", files / "e.npz", "--lr", "100", "--warmup", "0", "--ngrams", "0", "-q")
    refused(*words, "-o", tmp_path / "m.npz", code=1, says=["diverged", "mean loss", "Lower --lr"], untouched=tmp_path)


def test_the_warning_is_on_stderr_in_the_summary_and_in_the_model(files):
    result = train(files, "bad.tsv", "--json")
    warning = result.json["warnings"][0]
    assert f"warning: {warning}" in result.stderr
    assert Model.load(str(files / "m.npz")).history["warnings"] == [warning]
    shown = " ".join(call("info", files / "m.npz").text.split())
    assert warning in shown
    assert train(files, "bad.tsv", "--quiet").stderr == ""


def test_summary_and_info_show_how_the_best_epoch_was_chosen(files):
    result = train(files, "good.tsv", "--json")
    facts = result.json
    assert facts["best_by"] == "lowest validation loss"
    names = list(facts)
    assert names.index("valid_loss") < names.index("valid_accuracy") < names.index("loss") < names.index("accuracy")
    assert "warnings" not in facts
    assert "(best)  accuracy" in result.stderr
    shown = call("info", files / "m.npz").text
    assert re.search("epoch +validation loss +validation accuracy +training loss +training accuracy", shown)
    assert shown.count("kept: lowest validation loss") == 1


@pytest.mark.parametrize("warnings", ["text", [1], {"a": "b"}])
def test_damaged_warnings_are_rejected(warnings, tmp_path):
    artifact = fit(epochs=1)[0].to_artifact()
    artifact.details["history"]["warnings"] = warnings
    path = str(tmp_path / "m.npz")
    container.write(path, artifact)
    with pytest.raises(CorruptError, match="warnings"):
        Model.load(path)


def test_a_few_held_out_texts_cause_no_warning():
    held_out, truth = make_reviews(4, seed=3)
    _, notes = fit(valid=(held_out, swapped(truth)), epochs=4, lr=0.01, warmup=0)
    assert not any("worse than predictions" in note for note in notes)
