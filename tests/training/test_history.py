"""The loss curve: all its points are means over similar numbers of texts, in new histories and in stored ones."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from reviews import make_reviews, small_embeddings

import nlptx
from nlptx.classifier.model import Model
from nlptx.settings import TrainSettings
from nlptx.training.history import loss_curve, reason_for_best


def stored(curve, epochs=()):
    return {"curve": curve, "epochs": list(epochs)}


def test_a_short_last_interval_of_an_epoch_is_merged_with_the_previous_one():
    curve = [[130, 0.34], [260, 0.33], [262, 0.44], [392, 0.35], [522, 0.33], [524, 0.5]]
    assert loss_curve(stored(curve)) == [
        (130, 0.34),
        (262, pytest.approx((130 * 0.33 + 2 * 0.44) / 132)),
        (392, 0.35),
        (524, pytest.approx((130 * 0.33 + 2 * 0.5) / 132)),
    ]


def test_the_curve_of_the_bundled_model_ends_without_a_jump():
    history = Model.load().history
    losses = [loss for _, loss in loss_curve(history)]
    assert max(losses[3:]) < 0.39
    assert loss_curve(history)[-1][0] == history["steps"]


@pytest.mark.parametrize(
    "curve",
    [[], [[1, 0.5]], [[0, 0.5], [0, 0.4], [5, 0.3]], [[-5, 0.5], [3, 0.4]], [[1, 0.7], [5, 0.5]], [[5, 0.7], [5, 0.5]]],
)
def test_any_curve_that_a_file_may_contain_can_be_drawn(curve):
    assert len(loss_curve(stored(curve))) <= len(curve)


@pytest.mark.parametrize(("texts", "batch"), [(41, 1), (61, 1), (83, 2), (30, 8), (33, 8), (170, 4)])
def test_points_are_means_over_similar_numbers_of_texts(texts, batch):
    settings = TrainSettings(epochs=2, batch=batch, width=0, ngrams=0, valid_share=0.0, patience=0)
    history = nlptx.fit(*make_reviews(texts), small_embeddings(), settings, jobs=1).history
    steps_per_epoch = -(-texts // batch)

    def texts_until(step):
        epochs, steps = divmod(step, steps_per_epoch)
        return epochs * texts + min(steps * batch, texts)

    ends = [texts_until(step) for step, _ in history["curve"]]
    counts = np.diff([0, *ends])
    assert ends[-1] == 2 * texts
    assert counts.min() >= counts.max() / 3
    assert loss_curve(history) == [(step, loss) for step, loss in history["curve"]]
    # The mean of the points of an epoch, weighted by their numbers of texts, equals the loss of the epoch.
    losses = np.array([loss for _, loss in history["curve"]])
    for number, epoch in enumerate(history["epochs"]):
        in_epoch = (np.array(ends) > number * texts) & (np.array(ends) <= (number + 1) * texts)
        assert_allclose(losses[in_epoch] @ counts[in_epoch] / texts, epoch["loss"], atol=2e-5)


def test_the_plot_shows_the_merged_curve(monkeypatch, tmp_path):
    matplotlib = pytest.importorskip("matplotlib.figure", reason="pictures need the plot extra")
    from nlptx import plots

    drawn = []
    monkeypatch.setattr(matplotlib.Figure, "savefig", lambda figure, file, **options: drawn.append(figure))
    plots.plot_history(Model.load().history, str(tmp_path / "curve.svg"))
    for line in drawn[0].axes[0].lines[:2]:
        assert line.get_ydata()[3:].max() < 0.39


def test_the_reason_for_the_best_epoch():
    validated = {"epoch": 1, "valid_loss": 0.5, "valid_accuracy": 0.8}
    assert reason_for_best(stored([], [validated])) == "lowest validation loss"
    assert reason_for_best(stored([], [{"epoch": 1}])) == "last epoch, because no texts were held out"
