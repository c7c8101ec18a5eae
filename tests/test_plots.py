"""Pictures: the map of word vectors, and what `info --plot` refuses. The curve is in test_method_views.py."""

import numpy as np
import pytest
from command import refused, run

from nlptx.embeddings.embeddings import Embeddings, load_embeddings
from nlptx.embeddings.word_map import plane_positions, word_groups
from nlptx.plots import plot_history, plot_words
from nlptx.text.vocabulary import Vocabulary

needs_matplotlib = pytest.fixture(lambda: pytest.importorskip("matplotlib", reason="pictures need the plot extra"))


def make_embeddings(vectors, words=None):
    vectors = np.asarray(vectors, np.float32)
    words = words or ["word" + "abcdefghij"[n // 10] + "abcdefghij"[n % 10] for n in range(len(vectors))]
    return Embeddings(vectors, Vocabulary(words, np.arange(len(words), 0, -1)))


@pytest.fixture
def clusters():
    """Sixty words around five directions, in turn."""
    rng = np.random.default_rng(1)
    return make_embeddings(np.tile(10 * np.eye(5, 8), (12, 1)) + rng.normal(size=(60, 8)))


# ---------------------------------------------------------------- choosing and placing words


def test_groups_are_of_words_that_lie_close_together(clusters):
    groups = word_groups(clusters, groups=5, size=8)
    assert [len(group) for group in groups] == [8] * 5
    assert [len({place % 5 for place in group}) for group in groups] == [1] * 5
    assert len({group[0] % 5 for group in groups}) == 5


def test_no_word_is_in_two_groups_and_all_fit_into_enough(clusters):
    groups = word_groups(clusters, groups=100, size=7)
    shown = [place for group in groups for place in group]
    assert sorted(shown) == list(range(6, 60))  # the commonest tenth is left out


def test_words_without_letters_and_short_ones_are_left_out():
    words = ["the", "of", "10", "!", "film", "n't", "story", "a", "plot", "scene"]
    groups = word_groups(make_embeddings(np.random.default_rng(1).normal(size=(10, 4)), words))
    assert {words[place] for group in groups for place in group} == {"film", "story", "plot", "scene"}


def test_where_no_word_has_letters_any_will_do():
    groups = word_groups(make_embeddings(np.eye(3), ["1", "2", "3"]))
    assert sorted(place for group in groups for place in group) == [0, 1, 2]


def test_words_alike_lie_close_on_the_map(clusters):
    places = plane_positions(clusters, list(range(60)))
    apart = np.linalg.norm(places[:, None] - places, axis=2)
    same = np.arange(60)[:, None] % 5 == np.arange(60) % 5
    assert apart[same].max() < apart[~same].min()


def test_distances_that_fit_into_the_plane_are_found():
    # Around a point, three words at equal angles: 1 - cosine is 1.5 for each pair.
    places = plane_positions(make_embeddings([[1, 0, 5], [-0.5, 0.75**0.5, 5], [-0.5, -(0.75**0.5), 5]]), [0, 1, 2])
    apart = np.linalg.norm(places[:, None] - places, axis=2)
    np.testing.assert_allclose(apart, 1.5 * (1 - np.eye(3)), atol=1e-6)


# ---------------------------------------------------------------- the picture


@pytest.mark.usefixtures("needs_matplotlib")
@pytest.mark.parametrize(("suffix", "start"), [("png", b"\x89PNG"), ("svg", b"<?xml"), ("PDF", b"%PDF")])
def test_the_map_of_words_as_a_picture(tmp_path, work, suffix, start):
    path = tmp_path / f"map.{suffix}"
    plot_words(load_embeddings(str(work / "embeddings.npz")), str(path))
    content = path.read_bytes()
    assert content.startswith(start)
    again = tmp_path / f"again.{suffix}"
    run("info", work / "embeddings.npz", "--plot", again)
    assert again.read_bytes() == content


@pytest.mark.usefixtures("needs_matplotlib")
@pytest.mark.parametrize(
    ("vectors", "words"),
    [
        ([[1.0]], ["one"]),
        ([[0, 0], [0, 0]], ["nought", "null"]),
        (np.ones((4, 3)), ["same", "alike", "equal", "twin"]),
        (np.eye(4) * 3e38, ["$x_1$", "\ud800", "日本語", "मूवी"]),
    ],
    ids=["one word", "zeros", "equal", "odd words"],
)
def test_any_word_vectors_can_be_drawn(tmp_path, vectors, words):
    plot_words(make_embeddings(vectors, words), str(tmp_path / "map.png"))
    assert (tmp_path / "map.png").stat().st_size > 1000


@pytest.mark.usefixtures("needs_matplotlib")
def test_a_history_without_validation_or_curve_can_be_drawn(tmp_path):
    history = {"curve": [], "epochs": [{"epoch": 1, "step": 3}], "best_epoch": 1}
    plot_history(history, str(tmp_path / "curve.png"))
    assert (tmp_path / "curve.png").stat().st_size > 1000


# ---------------------------------------------------------------- refusals


def test_counts_are_not_drawn(tmp_path, work):
    refused("info", work / "cooccur.npz", "--plot", tmp_path / "map.png", code=2, says="word vectors")
    assert not (tmp_path / "map.png").exists()


@pytest.mark.parametrize("name", ["embeddings.npz", "model.npz"])
def test_a_picture_of_another_format_is_refused(tmp_path, work, name):
    refused("info", work / name, "--plot", tmp_path / "map.gif", code=2, says=".png, .svg, .pdf")
    assert not (tmp_path / "map.gif").exists()


@pytest.mark.parametrize("name", ["embeddings.npz", "model.npz"])
def test_without_matplotlib_the_extra_is_named(tmp_path, work, name):
    (tmp_path / "matplotlib").mkdir()
    (tmp_path / "matplotlib" / "__init__.py").write_text("raise ImportError('absent')\n")
    refused(
        "info",
        work / name,
        "--plot",
        tmp_path / "map.png",
        code=1,
        says="nlptx[plot]",
        env={"PYTHONPATH": str(tmp_path)},
    )
    assert not (tmp_path / "map.png").exists()
