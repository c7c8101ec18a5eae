"""Rows 18 and 19 of the table in tests/method/README.md: the learning curve and the attention weights."""

import json

import numpy as np
import pytest
from numpy.testing import assert_allclose
from plain_transformer import PlainTransformer
from reviews import make_reviews, run, small_fit

import nlptx
from nlptx.classifier.explain import explain
from nlptx.classifier.model import Model
from nlptx.cli.terminal.charts import curve
from nlptx.plots import plot_history
from nlptx.settings import PcaSettings, TrainSettings
from nlptx.training.progress import EpochProgress

# ---------------------------------------------------------------- the learning curve


def test_row_18_learning_curve_is_stored_in_the_artifact(tmp_path):
    texts, labels = make_reviews(80)
    losses = {}

    def note(progress):
        if isinstance(progress, EpochProgress):
            losses[progress.step] = progress.loss  # the mean loss since the start of the epoch

    settings = TrainSettings(epochs=3, batch=8, ngrams=0)
    embeddings = nlptx.fit_pca(nlptx.count(texts, jobs=1), PcaSettings(8), jobs=1)
    model = nlptx.fit(texts, labels, embeddings, settings, jobs=1, on_progress=note)
    path = str(tmp_path / "model.npz")
    model.save(path)
    history = Model.load(path).history
    assert history == model.history
    assert [epoch["epoch"] for epoch in history["epochs"]] == [1, 2, 3]
    assert history["steps"] == 3 * 9
    assert [step for step, _ in history["curve"]] == list(range(1, 28))
    assert [epoch["loss"] for epoch in history["epochs"]] == pytest.approx([losses[n] for n in (9, 18, 27)], abs=1e-5)
    # The 72 texts form 9 batches of equal size, so the mean of the step losses equals the loss of the epoch.
    points = np.array([loss for _, loss in history["curve"]]).reshape(3, 9)
    assert_allclose(points.mean(axis=1), [losses[n] for n in (9, 18, 27)], atol=1e-4)


def dots(lines):
    """Return the positions of the dots of a Braille chart as (column, row), counted from the top left."""
    bits = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))
    return {
        (2 * x + right, 4 * y + down)
        for y, line in enumerate(lines)
        for x, character in enumerate(line.partition("┤")[2])
        for down, row in enumerate(bits)
        for right, bit in enumerate(row)
        if (ord(character) - 0x2800) & bit
    }


def test_row_18_learning_curve_is_drawn_in_the_terminal(goldstraw):
    lines = curve([(step, 2 - step / 50) for step in range(101)], max_width=27, height=5)
    assert len(lines) == 5
    assert lines[0].split()[0] == "2.000"
    assert lines[-1].split()[0] == "0.000"
    drawn = dots(lines)
    assert {column for column, _ in drawn} == set(range(40))
    assert all(abs(row - column * 19 / 39) <= 1 for column, row in drawn)
    assert {len(line) for line in lines} == {27}
    shown = run("info", goldstraw["train"])
    assert "training loss over steps" in shown
    picture = [line for line in shown.splitlines() if "┤" in line]
    history = Model.load(str(goldstraw["train"])).history
    losses = [loss for _, loss in history["curve"]]
    assert picture[0].split()[0] == f"{max(losses):.3f}"
    assert picture[-1].split()[0] == f"{min(losses):.3f}"
    assert {column for column, _ in dots(picture)} == set(range(120))
    for epoch in history["epochs"]:
        assert f"{epoch['valid_loss']:.4g}" in shown


@pytest.mark.parametrize(("suffix", "start"), [("png", b"\x89PNG"), ("svg", b"<?xml")])
def test_row_18_learning_curve_as_a_picture(tmp_path, goldstraw, suffix, start):
    pytest.importorskip("matplotlib", reason="pictures need the plot extra")
    path = tmp_path / f"curve.{suffix}"
    plot_history(Model.load(str(goldstraw["train"])).history, str(path))
    content = path.read_bytes()
    assert content.startswith(start)
    second = tmp_path / f"again.{suffix}"
    run("info", goldstraw["train"], "--plot", second)
    assert second.read_bytes() == content


# ---------------------------------------------------------------- attention as a weighted average


def test_row_19_attention_of_each_head_as_taught(goldstraw):
    model = Model.load(str(goldstraw["train"]))
    text = "w1 good2 w3 w3 bad1 w5 unknown good4"
    explanation = explain(model, text)
    assert explanation.words == [word for word in text.split() if word != "unknown"]
    plain = PlainTransformer(model)
    plain.probabilities(model.encode(text))
    (blocks,) = plain.attention
    assert [block.shape for block in explanation.attention] == [(3, 7, 7)] * 2
    for actual, expected in zip(explanation.attention, blocks, strict=True):
        assert_allclose(actual.sum(axis=2), 1, rtol=1e-5)
        assert_allclose(actual, expected, atol=1e-4)
    shown = run("explain", text, "-m", goldstraw["train"])
    assert all(f"b{block}h{head}" in shown for block in (1, 2) for head in (1, 2, 3))
    report = json.loads(run("explain", text, "-m", goldstraw["train"], "--json", "--attention-weights"))
    assert report["attention_shape"] == [2, 3, 7, 7]
    assert_allclose(report["attention"], explanation.attention, atol=6e-5)


def test_row_19_attention_default_is_shown_with_the_effect_of_each_word():
    model = small_fit(epochs=4, attention_window=4, weight_averaging=0.0, lr=1e-2)
    words = ["good1", "w1", "w2", "bad3"]  # one window, and no word occurs twice, so that the effects are exact
    text = " ".join(words)
    explanation = explain(model, text)
    (complete,) = model.predict_proba([text], jobs=1)
    label = int(complete.argmax())
    assert explanation.label == label
    without = model.predict_proba([" ".join(words[:n] + words[n + 1 :]) for n in range(len(words))], jobs=1)
    assert_allclose(explanation.effects, complete[label] - without[:, label], atol=1e-5)
    assert np.abs(explanation.effects).max() > 1e-3
    other = explain(model, text, model.labels[1 - label])
    assert_allclose(other.effects, -explanation.effects, atol=1e-5)
    (weights,) = explain(model, "good1 w1 w2 bad3 w0 good2 good2").attention
    assert weights.shape == (4, 7, 7)
    assert_allclose(weights.sum(axis=2), 1, rtol=1e-5)
    assert not weights[:, :4, 4:].any()  # tokens of different windows do not attend to each other
    assert not weights[:, 4:, :4].any()
