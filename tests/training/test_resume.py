"""A stopped or killed training run can be resumed, and then yields the same bytes as an uninterrupted run."""

import json
import os
import time
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from calling import last_of_each
from click.testing import CliRunner
from command import contents, header_of, refused, run
from killing import ENTRY, REMOVE, REPLACE, SAVE, STEP, VALIDATE, killed_at, survives
from reviews import make_reviews, small_embeddings
from sample_data import TRAIN, make_rows, write_tsv

import nlptx
from nlptx.artifacts import container
from nlptx.artifacts.artifact import Artifact
from nlptx.cli.main import nlptx as command_line
from nlptx.errors import ArtifactError, CorruptError, DivergenceError, OutputError
from nlptx.settings import CHECKPOINT_MINUTES, TrainSettings
from nlptx.training import checkpoint as checkpointing
from nlptx.training.checkpoint import Checkpoint
from nlptx.training.progress import EpochProgress

TEXTS, LABELS = make_reviews(40)
# 9 steps per epoch; two epochs of pre-training and two of training.
SETTINGS = TrainSettings(
    epochs=2, batch=4, pretrain=2, warmup=3, lr=0.01, width=0, blocks=1, ngrams=1, lsa_components=4
)
STEPS = 4 * 9


class StopAt:
    """A stop callback that requests a stop before the given step, counted from 0."""

    def __init__(self, step):
        self.remaining = step

    def __call__(self):
        self.remaining -= 1
        return self.remaining < 0


def fit(folder=None, stop=lambda: False, resume=True, settings=SETTINGS, seed=1, minutes=0, notes=None, **more):
    """Train, with a checkpoint for ``folder``/m.npz unless ``folder`` is None. Return the model and the checkpoint."""
    path = None if folder is None else str(folder / "m.npz")
    on_note = (lambda note: None) if notes is None else notes.append
    data = {"texts": TEXTS, "labels": LABELS, "embeddings": small_embeddings()} | more
    with Checkpoint(path, minutes, resume, on_note) as checkpoint:
        model = nlptx.fit(**data, settings=settings, seed=seed, jobs=1, stop=stop, checkpoint=checkpoint)
    return model, checkpoint


@cache
def uninterrupted(settings=SETTINGS):
    return fit(settings=settings)[0]


def file_of(model, folder):
    model.save(str(folder / "saved.npz"))
    return (folder / "saved.npz").read_bytes()


def same(model, settings, folder):
    """Return whether a model has the same bytes as after an uninterrupted run."""
    return file_of(model, folder) == file_of(uninterrupted(settings), folder)


# ---------------------------------------------------------------- resuming


def test_stopping_at_any_step_and_resuming_yields_the_same_bytes(tmp_path):
    for step in (0, 4, 8, 9, 18, 23, STEPS - 1):  # including the first and the last step of an epoch
        stopped, checkpoint = fit(tmp_path, StopAt(step), resume=False)
        assert stopped.history["interrupted"]
        assert checkpoint.can_resume
        model, _ = fit(tmp_path)
        assert same(model, SETTINGS, tmp_path), step


@pytest.mark.parametrize(
    "more",
    [
        {"optimizer": "sgd", "weight_averaging": 0.0},
        {"optimizer": "adam", "freeze": True, "pretrain": 1},
        {"valid_share": 0.0, "word_dropout": 0.0, "dropout": 0.0, "ngrams": 0},
        {"epochs": 9, "patience": 1, "lr": 0.3, "pretrain": 0},
        {"class_weight": "balanced", "compact": True},
    ],
    ids=lambda more: next(iter(more)),
)
def test_stopping_every_few_steps_yields_the_same_bytes(more, tmp_path):
    settings = TrainSettings(**SETTINGS.to_dict() | more)
    model, _ = fit(tmp_path, StopAt(7), settings=settings)
    stops = 1
    while model.history["interrupted"]:
        model, _ = fit(tmp_path, StopAt(7), settings=settings)
        stops += 1
    assert stops >= 3
    assert same(model, settings, tmp_path)


def test_the_record_of_pretraining_survives_a_stop_during_distillation(tmp_path):
    """Pre-training takes two steps, and distillation takes one."""
    settings = TrainSettings(**SETTINGS.to_dict() | {"batch": 64})
    unlabelled = [f"{text} more" for text in TEXTS]
    for step in (2, 3):
        stopped, _ = fit(tmp_path, StopAt(step), resume=False, settings=settings, unlabelled=unlabelled)
        assert stopped.history["interrupted"]
        model, _ = fit(tmp_path, settings=settings, unlabelled=unlabelled)
        assert len(model.history["pretrain"]) == 2
        assert file_of(model, tmp_path) == file_of(fit(settings=settings, unlabelled=unlabelled)[0], tmp_path)


def test_early_stopping_works_after_resuming(tmp_path):
    """The number of epochs without improvement and the best weights are restored."""
    settings = TrainSettings(**SETTINGS.to_dict() | {"epochs": 30, "patience": 3, "lr": 0.1, "pretrain": 0})
    history = uninterrupted(settings).history
    assert history["best_epoch"] + 3 == len(history["epochs"]) < 30
    fit(tmp_path, StopAt(9 * (history["best_epoch"] + 1) + 4), settings=settings)
    model, _ = fit(tmp_path, settings=settings)
    assert model.history == history
    assert same(model, settings, tmp_path)


def test_resuming_after_the_last_step_takes_no_step(monkeypatch, tmp_path):
    monkeypatch.setattr(checkpointing, "_MIN_INTERVAL", 0)
    settings = replace(SETTINGS, subwords="off")  # stop is also called before a subword model is fitted
    fit(tmp_path, settings=settings)
    model, _ = fit(tmp_path, settings=settings, stop=lambda: pytest.fail("there is no step to take"))
    assert same(model, settings, tmp_path)


def test_writing_checkpoints_does_not_change_the_model(monkeypatch, tmp_path):
    monkeypatch.setattr(checkpointing, "_MIN_INTERVAL", 0)
    assert same(fit(tmp_path, minutes=1e-9)[0], SETTINGS, tmp_path)


# ---------------------------------------------------------------- when checkpoints are written


def saves(monkeypatch, minutes, cost=0.0, step=1.0):
    """Simulate the clock: a step takes ``step`` seconds and a checkpoint ``cost``.

    Returns three values: a list that receives the steps at which checkpoints are written, a stop callback, and
    the argument ``minutes``.
    """
    clock, written = [0.0], []
    monkeypatch.setattr(checkpointing.time, "monotonic", lambda: clock[0])

    def write(path, artifact):
        clock[0] += cost
        written.append((artifact.details["phase"], artifact.details["step"]))

    monkeypatch.setattr(checkpointing, "write", write)

    def stop():
        clock[0] += step
        return False

    return written, stop, minutes


def test_a_checkpoint_is_written_at_the_end_of_every_epoch(monkeypatch, tmp_path):
    assert CHECKPOINT_MINUTES == 5
    written, stop, minutes = saves(monkeypatch, 0)
    fit(tmp_path, stop, minutes=minutes)
    assert written == [("pretrain", 9), ("pretrain", 18), ("train", 9), ("train", 18)]


def test_a_checkpoint_is_written_within_an_epoch_after_the_given_minutes(monkeypatch, tmp_path):
    written, stop, minutes = saves(monkeypatch, 4 / 60)
    fit(tmp_path, stop, minutes=minutes)
    assert written == [(phase, step) for phase in ("pretrain", "train") for step in (4, 8, 9, 13, 17, 18)]


def test_checkpoints_take_at_most_a_twentieth_of_the_time(monkeypatch, tmp_path):
    """Each epoch takes 9 s and each checkpoint 1 s, as with many word vectors and a small corpus."""
    written, stop, minutes = saves(monkeypatch, 4 / 60, cost=1.0)
    fit(tmp_path, stop, minutes=minutes)
    assert written == [("pretrain", 4), ("train", 6)]


def test_only_a_model_written_to_a_file_has_a_checkpoint(tmp_path):
    for output in (None, "-", "/dev/null"):
        assert Checkpoint(output).path is None
    link = tmp_path / "link.npz"
    link.symlink_to(tmp_path / "real" / "m.npz")
    assert Checkpoint(str(link)).path == tmp_path / "real" / "m.npz.checkpoint"
    long = "n" * 250
    with Checkpoint(str(tmp_path / long)) as checkpoint:
        checkpoint.path.write_bytes(b"")


def test_a_checkpoint_that_cannot_be_written_causes_a_note_and_training_continues(monkeypatch, tmp_path):
    def full(path, artifact):
        raise OutputError("the disk is full", where=path)

    monkeypatch.setattr(checkpointing, "write", full)
    notes = []
    model, checkpoint = fit(tmp_path, notes=notes, resume=False)
    assert same(model, SETTINGS, tmp_path)
    assert not checkpoint.can_resume
    assert [note for note in notes if "the disk is full" in note] == [
        "a checkpoint could not be written; training continues: m.npz.checkpoint: the disk is full"
    ]


def test_if_only_later_checkpoints_cannot_be_written_the_first_one_is_kept(monkeypatch, tmp_path):
    write = checkpointing.write

    def full_later(path, artifact):
        if os.path.exists(path):
            raise OutputError("the disk is full", where=path)
        write(path, artifact)

    monkeypatch.setattr(checkpointing, "write", full_later)
    monkeypatch.setattr(checkpointing, "_MIN_INTERVAL", 0)
    notes = []
    _, checkpoint = fit(tmp_path, notes=notes, resume=False)
    assert checkpoint.can_resume
    assert [note for note in notes if "the disk is full" in note] == [
        "a checkpoint could not be written; training continues, and the previous checkpoint is kept: m.npz.checkpoint:"
        " the disk is full"
    ]


def test_a_checkpoint_that_cannot_be_removed_causes_a_note(monkeypatch, tmp_path):
    notes = []
    _, checkpoint = fit(tmp_path, notes=notes, resume=False)

    def refuse(path, missing_ok):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(type(checkpoint.path), "unlink", refuse)
    checkpoint.remove()
    assert notes == ["m.npz.checkpoint is no longer needed, but cannot be removed: Permission denied"]


def test_training_can_be_resumed_if_the_model_could_not_be_written(work, monkeypatch, tmp_path):
    def full(model, path):
        raise OutputError("the disk is full; nothing was changed", where=path)

    command = [*map(str, words(work)), "-o", str(tmp_path / "m.npz")]
    with monkeypatch.context() as patch:
        patch.setattr(nlptx.Model, "save", full)
        result = CliRunner().invoke(command_line, command)
    assert str(result.exception).endswith("--resume continues from m.npz.checkpoint")
    assert list(contents(tmp_path)) == ["m.npz.checkpoint"]
    run(*command, "--resume")
    assert list(contents(tmp_path)) == ["m.npz"]


def test_a_diverged_training_run_leaves_no_checkpoint(monkeypatch, tmp_path):
    """With the same settings, a resumed run would diverge again; with others, ``--resume`` would be rejected."""
    settings = TrainSettings(**SETTINGS.to_dict() | {"lr": 1e12, "optimizer": "sgd", "clip": 0.0, "pretrain": 0})
    monkeypatch.setattr(checkpointing, "_MIN_INTERVAL", 0)
    with pytest.raises(DivergenceError, match=r"step [2-9]"):
        fit(tmp_path, settings=settings, minutes=1e-9)
    assert contents(tmp_path) == {}


# ---------------------------------------------------------------- rejected checkpoints


@pytest.fixture(scope="module")
def stopped(tmp_path_factory):
    """A folder with a checkpoint."""
    folder = tmp_path_factory.mktemp("stopped")
    fit(folder, StopAt(20))
    return folder


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"settings": TrainSettings(**SETTINGS.to_dict() | {"lr": 0.02})}, ["`lr` was 0.01 and is now 0.02"]),
        (
            {"settings": TrainSettings(**SETTINGS.to_dict() | {"epochs": 3, "norm_gain": False})},
            ["`epochs` was 2 and is now 3", "`norm_gain` was True and is now False"],
        ),
        ({"seed": 2}, ["`seed` was 1 and is now 2"]),
        ({"texts": [*TEXTS[:-1], "another text"]}, ["the training data differs"]),
        ({"labels": [*LABELS[:-1], LABELS[0]]}, ["the training data differs"]),
        ({"valid": (TEXTS[:4], LABELS[:4])}, ["the validation data differs"]),
        ({"embeddings": small_embeddings(6)}, ["the embeddings differ"]),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_a_checkpoint_of_another_training_run_is_rejected(changed, says, stopped):
    before = contents(stopped)
    with pytest.raises(ArtifactError) as caught:
        fit(stopped, **changed)
    for part in ("m.npz.checkpoint", "different training run", *says, "leave out `resume`"):
        assert part in str(caught.value)
    assert caught.value.exit_code == 4
    assert contents(stopped) == before


def test_errors_and_notes_name_the_checkpoint_without_its_folder(stopped, tmp_path):
    with pytest.raises(ArtifactError, match=r"^m\.npz\.checkpoint: belongs to a different training run"):
        fit(stopped, seed=2)
    (tmp_path / "m.npz.checkpoint").write_bytes(b"damaged")
    with pytest.raises(ArtifactError, match=r"^m\.npz\.checkpoint: "):
        fit(tmp_path)


def test_a_checkpoint_of_another_version_is_rejected(stopped, monkeypatch):
    monkeypatch.setattr("nlptx.training.fingerprint.Fingerprint.__init__.__defaults__", ("9.9",))
    with pytest.raises(ArtifactError, match=r"nlptx was .* and is now 9\.9"):
        fit(stopped)


def changed(folder, tmp_path, change):
    """Write a changed copy of the checkpoint in ``folder`` to ``tmp_path``; return ``tmp_path``."""
    original = container.read(str(folder / "m.npz.checkpoint"))
    arrays = {name: array.copy() for name, array in original.arrays.items()}
    details = json.loads(json.dumps(original.details))
    change(arrays, details)
    path = str(tmp_path / "m.npz.checkpoint")
    container.write(path, Artifact("checkpoint", original.settings, arrays, None, details, original.seed))
    return tmp_path


def shorten(arrays, details):
    arrays["dense.m"] = arrays["dense.m"][:-1]


def widen(arrays, details):
    arrays["rows.v"] = arrays["rows.v"].astype(np.float64)


def leave_out(arrays, details):
    del arrays["sums.epoch"]


def add(arrays, details):
    arrays["more"] = np.zeros(3)


def run_ahead(arrays, details):
    arrays["sums.epoch"] = np.array(77)


def run_on(arrays, details):
    arrays["sums.batches"] = np.array(-1)


def lose_records(arrays, details):
    del details["records"]["curve"]


def spoil_records(arrays, details):
    details["records"]["curve"] = "up"


def spoil_phase(arrays, details):
    details["phase"] = "party"


def spoil_step(arrays, details):
    details["step"] = "\x1b[2J"


def spoil_digests(arrays, details):
    details["digests"] = 3


@pytest.mark.parametrize(
    "change",
    [shorten, widen, leave_out, add, run_ahead, run_on, lose_records, spoil_records, spoil_phase, spoil_step,
     spoil_digests],
    ids=lambda change: change.__name__,
)  # fmt: skip
def test_a_checkpoint_with_invalid_content_is_rejected(change, stopped, tmp_path):
    folder = changed(stopped, tmp_path, change)
    with pytest.raises(CorruptError) as caught:
        fit(folder)
    assert "m.npz.checkpoint" in str(caught.value)
    assert "Leave out `resume`" in str(caught.value)


def test_a_damaged_checkpoint_is_rejected(stopped, tmp_path):
    intact = (stopped / "m.npz.checkpoint").read_bytes()
    half = len(intact) // 2
    for damaged in (b"", intact[:-100], intact[:half] + bytes([intact[half] ^ 1]) + intact[half + 1 :]):
        (tmp_path / "m.npz.checkpoint").write_bytes(damaged)
        with pytest.raises(CorruptError):
            fit(tmp_path)


# ---------------------------------------------------------------- command line


def words(work, *more):
    words = ("train", work / "train.tsv", "-e", work / "embeddings.npz", *TRAIN, "--batch", "8")
    return last_of_each(*words, *more)


@pytest.fixture(scope="module")
def model_bytes(work, tmp_path_factory):
    """The bytes of two models trained without interruption: m.npz without and p.npz with pre-training."""
    folder = tmp_path_factory.mktemp("uninterrupted")
    run(*words(work), "-q", "-o", "m.npz", cwd=folder)
    run(*words(work, "--pretrain", "1"), "-q", "-o", "p.npz", cwd=folder)
    return {name: (folder / name).read_bytes() for name in ("m.npz", "p.npz")}


def test_a_training_run_killed_many_times(work, model_bytes, tmp_path):
    """The run is killed during the first step, pre-training and validation, and while files are saved or deleted."""
    command = words(work, "--pretrain", "1", "--checkpoint-minutes", "1e-9", "--jobs", "1", "--resume", "-o", "p.npz")
    for point, number, when in (
        (STEP, 1, "before"),
        (STEP, 6, "after"),
        (SAVE, 2, "after"),
        (ENTRY, 7, "before"),
        (REPLACE, 1, "before"),
        (REPLACE, 1, "after"),
        (VALIDATE, 1, "before"),
        (VALIDATE, 2, "after"),
        (REMOVE, 1, "before"),
        (REMOVE, 1, "after"),
    ):
        killed_at(point, number, *command, when=when, cwd=tmp_path)
    result = run(*command, cwd=tmp_path)
    assert contents(tmp_path) == {"p.npz": model_bytes["p.npz"]}
    # The last run was killed after it had removed its checkpoint.
    assert "no p.npz.checkpoint to resume from" in result.stderr


def test_a_training_run_killed_after_some_time(work, tmp_path):
    """Three runs are killed, each after a different fraction of its running time."""
    command = words(work, "--checkpoint-minutes", "1e-9", "--jobs", "1", "--epochs", "6")
    survives([0.6, 0.8, 0.95], command, "m.npz", tmp_path)


def test_without_resume_training_starts_over_and_reports_the_checkpoint(work, model_bytes, tmp_path):
    killed_at(VALIDATE, 2, *words(work), "-o", "m.npz", cwd=tmp_path)
    assert sorted(contents(tmp_path)) == [".m.npz.checkpoint.lock", "m.npz.checkpoint"]
    result = run(*words(work), "-o", "m.npz", cwd=tmp_path)
    assert "the earlier checkpoint is now m.npz.checkpoint.old" in result.stderr
    assert contents(tmp_path) == {"m.npz": model_bytes["m.npz"]}


def test_resume_reports_where_it_continues(work, model_bytes, tmp_path):
    killed_at(VALIDATE, 2, *words(work), "-o", "m.npz", cwd=tmp_path)
    shown = run("info", "m.npz.checkpoint", cwd=tmp_path)
    assert "checkpoint" in shown.text
    result = run(*words(work), "--resume", "-o", "m.npz", cwd=tmp_path)
    assert "resuming from m.npz.checkpoint: epoch 2, step 9" in result.stderr
    assert contents(tmp_path) == {"m.npz": model_bytes["m.npz"]}


def test_resuming_another_training_run_fails_with_exit_code_4(work, tmp_path):
    killed_at(VALIDATE, 2, *words(work), "-o", "m.npz", cwd=tmp_path)
    (tmp_path / ".m.npz.checkpoint.lock").unlink()
    more = ("--resume", "-o", "m.npz")
    says = ("m.npz.checkpoint", "--lr was 0.01 and is now 0.02", "leave out --resume")
    refused(*words(work, "--lr", "0.02"), *more, code=4, says=says, cwd=tmp_path, untouched=tmp_path)
    write_tsv(tmp_path / "other.tsv", make_rows(("neg", "pos"), 80, seed=9))
    other = ("train", "other.tsv", *words(work)[2:])
    refused(*other, *more, code=4, says="the training data differs", cwd=tmp_path, untouched=tmp_path)


def test_a_checkpoint_cannot_be_used_as_a_model(work, tmp_path):
    killed_at(VALIDATE, 2, *words(work), "-o", "m.npz", cwd=tmp_path)
    refused("predict", "-m", "m.npz.checkpoint", stdin="x\n", code=4, says="holds a checkpoint", cwd=tmp_path)
    assert header_of(tmp_path / "m.npz.checkpoint")["kind"] == "checkpoint"


def test_training_to_standard_output_leaves_no_files(work, model_bytes, tmp_path):
    result = run(*words(work), "--resume", "-q", "-o", "-", cwd=tmp_path)
    assert result.stdout == model_bytes["m.npz"]
    assert contents(tmp_path) == {}


def test_remaining_time_is_estimated_from_the_steps_since_resuming(tmp_path):
    fit(tmp_path, StopAt(30))
    estimates = []

    def note(progress):
        if isinstance(progress, EpochProgress):
            estimates.append(progress.seconds_left)
            time.sleep(0.01)

    fit(tmp_path, on_progress=note)
    assert all(seconds >= 0 for seconds in estimates)
