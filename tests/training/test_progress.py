"""Every step of a training run reports its title and progress, from the first text to the last epoch."""

from itertools import groupby

import pytest
from calling import call
from reviews import make_reviews, small_embeddings
from sample_data import make_rows, write_tsv

import nlptx
from nlptx.artifacts import container
from nlptx.cli.terminal import reporter
from nlptx.cli.terminal.training_progress import show
from nlptx.runtime.progress import counted
from nlptx.settings import TrainSettings
from nlptx.training.progress import EpochProgress, Progress

TEXTS, LABELS = make_reviews(60)
FREE, _ = make_reviews(30, seed=5)
BEFORE_EPOCHS = [
    "encoding texts",
    "counting n-grams",
    "looking up n-grams",
    "components of texts (LSA)",
    "linear models",
    "n-gram features",
]


@pytest.fixture(scope="module")
def reports():
    received = []
    settings = TrainSettings(epochs=2, batch=16, width=0, lsa_components=4, pretrain=1)
    nlptx.fit(TEXTS, LABELS, small_embeddings(), settings, unlabelled=FREE, jobs=2, on_progress=received.append)
    return received


def test_every_step_is_named_before_the_first_epoch(reports):
    titles = [title for title, _ in groupby(report.title for report in reports)]
    assert titles == [*BEFORE_EPOCHS, "pre-training", "soft labels", "distillation", "training", "subword model"]


def test_progress_never_decreases_within_a_step(reports):
    for _, group in groupby(reports, key=lambda report: report.title):
        fractions = [report.fraction for report in group]
        assert 0 <= fractions[0] <= fractions[-1] <= 1
        assert fractions == sorted(fractions)


def test_epochs_end_with_their_validation(reports):
    ends = [report for report in reports if isinstance(report, EpochProgress) and report.epoch_done]
    assert [report.epoch for report in ends] == [1, 2]
    assert all(report.phase == "train" and report.valid_loss > 0 for report in ends)


def test_counted_yields_items_and_reports_their_number():
    counts = []
    assert list(counted("abcde", counts.append, already=10, every=2)) == list("abcde")
    assert counts == [10, 12, 14]
    assert list(counted([], counts.append)) == []
    assert counts == [10, 12, 14]


# ---------------------------------------------------------------- lines


class Lines:
    """A progress meter that records its calls."""

    def __init__(self):
        self.shown, self.kept = [], []

    def __call__(self, fraction, state, keep=False, title=""):
        self.shown.append((title, fraction, state))
        if keep:
            self.kept.append(f"{title}  {state}")


def epoch(**more):
    defaults = {
        "title": "training",
        "fraction": 0.5,
        "phase": "train",
        "epoch": 10,
        "epochs": 20,
        "step": 1,
        "steps": 2,
        "loss": 0.51284,
        "tokens_per_second": 38_400.0,
        "seconds_left": 71.0,
    }
    return EpochProgress(**defaults | more)


@pytest.mark.parametrize(("improved", "verdict"), [(True, "best"), (False, "not best")])
def test_the_line_of_an_epoch_shows_the_validation_loss_and_fits_a_terminal(improved, verdict):
    lines = Lines()
    show(epoch(valid_loss=0.48711, valid_accuracy=0.8133, epoch_done=True, improved=improved), lines)
    assert lines.kept == [f"training  epoch 10/20  loss 0.5128  valid loss 0.4871 ({verdict})  accuracy 81.3%"]
    assert len(lines.kept[0]) <= 80


def test_lines_within_an_epoch_show_speed_and_remaining_time():
    lines = Lines()
    show(epoch(), lines)
    show(Progress("linear models", 0.25, "6 models, 60 iterations"), lines)
    assert lines.kept == []
    assert lines.shown == [
        ("training", 0.5, "epoch 10/20  loss 0.5128  38k tokens/s  1:11 left"),
        ("linear models", 0.25, "6 models, 60 iterations"),
    ]


def test_an_epoch_without_held_out_texts_has_a_line():
    lines = Lines()
    show(epoch(epoch_done=True, improved=True), lines)
    assert lines.kept == ["training  epoch 10/20  loss 0.5128  38k tokens/s"]


def test_the_command_shows_every_step(monkeypatch, tmp_path):
    monkeypatch.setattr(reporter, "_LINE_EVERY", 0.0)
    container.write(str(tmp_path / "e.npz"), small_embeddings().to_artifact())
    write_tsv(tmp_path / "data.tsv", zip(TEXTS, LABELS, strict=True))
    words = ["train", tmp_path / "data.tsv", "-e", tmp_path / "e.npz", "--epochs", "2", "--lsa-components", "4"]
    result = call(*words, "-j", "1", "-o", tmp_path / "m.npz")
    titles = [line.partition("  ")[0].rstrip(" 0123456789%") for line in result.stderr.splitlines()]
    steps = [title for title, _ in groupby(titles) if title in {*BEFORE_EPOCHS, "reading", "training"}]
    assert steps == ["reading", *BEFORE_EPOCHS, "training"]
    assert "reading  word vectors" in result.stderr
    assert "reading  0 texts" in result.stderr


def test_rows_of_a_table_are_counted_while_they_are_read(tmp_path):
    data = write_tsv(tmp_path / "data.tsv", make_rows(("neg", "pos"), 1200, seed=1))
    held_out = write_tsv(tmp_path / "valid.tsv", make_rows(("neg", "pos"), 10, seed=2))
    counts = []
    training_data = nlptx.read_training_data(data, valid=[held_out], on_document=counts.append)
    assert counts == [0, 500, 1000, 1200]
    assert (len(training_data.texts), len(training_data.valid[0])) == (1200, 10)
