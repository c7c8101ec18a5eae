"""Tests of plots, and errors of `info --plot`. Learning curves are tested in test_method_views.py."""

import numpy as np
import pytest
from calling import call
from clustered_words import clustered_embeddings, make_embeddings
from command import refused, run

from nlptx.embeddings.embeddings import load_embeddings
from nlptx.evaluation.coverage import CoverageCurve
from nlptx.plots import plot_evaluation, plot_history, plot_words
from nlptx.plots.style import COLOURS, MARKERS

needs_matplotlib = pytest.fixture(lambda: pytest.importorskip("matplotlib", reason="pictures need the plot extra"))


# ---------------------------------------------------------------- image files


@pytest.mark.usefixtures("needs_matplotlib")
@pytest.mark.parametrize(("suffix", "start"), [("svg", b"<?xml"), ("PDF", b"%PDF")])
def test_the_word_map_as_an_image(tmp_path, work, suffix, start):
    path = tmp_path / f"map.{suffix}"
    plot_words(load_embeddings(str(work / "embeddings.npz")), str(path))
    content = path.read_bytes()
    assert content.startswith(start)
    second = tmp_path / f"again.{suffix}"
    run("info", work / "embeddings.npz", "--plot", second)
    assert second.read_bytes() == content


@pytest.mark.usefixtures("needs_matplotlib")
@pytest.mark.parametrize(
    ("vectors", "words"),
    [
        ([[1.0]], ["one"]),
        ([[0, 0], [0, 0]], ["nought", "null"]),
        (np.ones((4, 3)), ["same", "alike", "equal", "twin"]),
        (np.eye(4) * 3e38, ["$x_1$", "\ud800", "日本語", "मूवी"]),
    ],
    ids=["one word", "zeros", "equal", "unusual words"],
)
def test_any_word_vectors_can_be_plotted(tmp_path, vectors, words):
    plot_words(make_embeddings(vectors, words), str(tmp_path / "map.png"))
    assert (tmp_path / "map.png").stat().st_size > 1000


@pytest.mark.usefixtures("needs_matplotlib")
def test_the_evaluation_as_an_image(tmp_path, work):
    paths = [tmp_path / name for name in ("first.png", "second.png")]
    for start_command, path in zip((run, call), paths, strict=True):
        start_command("evaluate", work / "test.tsv", "-m", work / "model.npz", "--plot", path)
    assert paths[0].read_bytes() == paths[1].read_bytes()
    assert paths[0].read_bytes().startswith(b"\x89PNG")


@pytest.mark.usefixtures("needs_matplotlib")
def test_the_evaluation_of_a_table_shows_reliability_too(tmp_path, work):
    run("predict", work / "test.tsv", "-m", work / "model.npz", "-o", tmp_path / "p.jsonl")
    run("evaluate", "-m", tmp_path / "p.jsonl", "--plot", tmp_path / "table.svg")
    image = (tmp_path / "table.svg").read_text()
    assert "<!-- Reliability (ECE" in image
    assert "<!-- Accuracy against coverage -->" in image


@pytest.mark.usefixtures("needs_matplotlib")
def test_the_evaluation_shows_reliability_and_coverage_with_labelled_axes(tmp_path, monkeypatch):
    from matplotlib.figure import Figure

    drawn = []
    monkeypatch.setattr(Figure, "savefig", lambda figure, file, **options: drawn.append(figure))
    confidence = np.array([0.52, 0.55, 0.9, 0.91, 0.99, 1.0])
    correct = np.array([True, False, True, False, True, True])
    plot_evaluation(CoverageCurve.of(confidence, correct), confidence, correct, str(tmp_path / "both.svg"))
    upper, lower, coverage = drawn[0].axes
    (points,) = [line for line in upper.lines if line.get_marker() == "o"]
    np.testing.assert_allclose(points.get_xdata(), [52, 55, 90.5, 99.5])  # mean confidence in each bin of width 1/15
    np.testing.assert_allclose(points.get_ydata(), [100, 0, 50, 100])
    assert upper.get_ylabel() == "accuracy (%)"
    assert lower.get_xlabel() == "confidence (%)"
    assert coverage.get_xlabel().endswith("(%)")
    assert all(axes.get_title(loc="left") for axes in (upper, coverage))


@pytest.mark.usefixtures("needs_matplotlib")
@pytest.mark.parametrize("confidence", [[1.0], [0.0, 0.0], [0.5] * 40])
def test_any_evaluation_can_be_plotted(tmp_path, confidence):
    correct = np.arange(len(confidence)) % 2 == 0
    curve = CoverageCurve.of(np.array(confidence), correct)
    plot_evaluation(curve, np.array(confidence), correct, str(tmp_path / "both.png"))
    assert (tmp_path / "both.png").stat().st_size > 1000


@pytest.mark.usefixtures("needs_matplotlib")
@pytest.mark.parametrize("confidence", [[0.7, 0.7], [0.7, 0.8]])
@pytest.mark.parametrize("correct", [True, False])
def test_a_constant_accuracy_is_visible(tmp_path, monkeypatch, confidence, correct):
    from matplotlib.figure import Figure

    drawn = []
    monkeypatch.setattr(Figure, "savefig", lambda figure, file, **options: drawn.append(figure))
    values, all_correct = np.array(confidence), np.array([correct] * 2)
    plot_evaluation(CoverageCurve.of(values, all_correct), values, all_correct, str(tmp_path / "both.svg"))
    axes = drawn[0].axes[-1]
    low, high = axes.get_ylim()
    assert -1 <= low < 100 * correct < high <= 101
    assert high - low > 10
    assert (axes.lines[-1].get_marker() == "o") == (confidence[0] == confidence[1])


def test_groups_differ_without_colour():
    assert len(set(COLOURS)) == len(set(MARKERS)) == len(COLOURS) == len(MARKERS)


@pytest.mark.usefixtures("needs_matplotlib")
def test_the_legend_of_a_word_map_names_the_central_words_of_each_group(tmp_path, monkeypatch):
    from matplotlib.figure import Figure

    clusters = clustered_embeddings()
    drawn = []
    monkeypatch.setattr(Figure, "savefig", lambda figure, file, **options: drawn.append(figure))
    plot_words(clusters, str(tmp_path / "map.svg"))
    named = [text.get_text().split(", ") for text in drawn[0].legends[0].get_texts()]
    words = clusters.vocabulary.words
    assert len(named) == len(COLOURS)
    assert all(len({words.index(word) % 5 for word in group}) == 1 for group in named[:5])


@pytest.mark.usefixtures("needs_matplotlib")
def test_a_history_without_validation_or_curve_can_be_plotted(tmp_path):
    history = {"curve": [], "epochs": [{"epoch": 1, "step": 3}], "best_epoch": 1}
    plot_history(history, str(tmp_path / "curve.png"))
    assert (tmp_path / "curve.png").stat().st_size > 1000


# ---------------------------------------------------------------- errors


def test_counts_cannot_be_plotted(tmp_path, work):
    refused("info", work / "cooccur.npz", "--plot", tmp_path / "map.png", code=2, says="word vectors")
    assert not (tmp_path / "map.png").exists()


def test_a_model_without_a_network_has_no_learning_curve(tmp_path, work):
    run("train", work / "train.tsv", "--effort", "fast", "-o", tmp_path / "model.npz", "-q")
    refused("info", tmp_path / "model.npz", "--plot", tmp_path / "curve.png", code=2, says="no network was trained")
    assert not (tmp_path / "curve.png").exists()


@pytest.mark.parametrize("name", ["embeddings.npz", "model.npz"])
def test_an_unsupported_image_format_is_rejected(tmp_path, work, name):
    refused("info", work / name, "--plot", tmp_path / "map.gif", code=2, says=".png, .svg, .pdf")
    assert not (tmp_path / "map.gif").exists()


@pytest.mark.parametrize("command", ["info embeddings.npz", "info model.npz", "evaluate -m model.npz test.tsv"])
def test_without_matplotlib_the_error_names_the_extra_before_any_output(tmp_path, work, command):
    (tmp_path / "matplotlib").mkdir()
    (tmp_path / "matplotlib" / "__init__.py").write_text("raise ImportError('absent')\n")
    name, *words = command.split()
    inputs = [work / word if "." in word else word for word in words]
    without = {"PYTHONPATH": str(tmp_path)}
    refused(name, *inputs, "--plot", tmp_path / "map.png", code=1, says="nlptx[plot]", env=without)
    assert not (tmp_path / "map.png").exists()
