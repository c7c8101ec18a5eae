"""Tests of signals that stop a command at chosen points; cli/terminal/stop_signal.py describes the policy."""

import pytest
from command import contents, header_of, run, run_program
from killing import ENCODE, ENTRY, FEATURES, SAVE, SAVE_MODEL, STEP, VALIDATE, signalled_at
from sample_data import PCA, TRAIN

from nlptx.cli.steps.training_result import _interruption

CODES = {"SIGINT": 130, "SIGTERM": 143, "SIGHUP": 129}
CHECKPOINT = "out.npz.checkpoint"
UNLINK = ("pathlib", "Path", "unlink")


def train(work, *more):
    return ("train", work / "train.tsv", "-e", work / "embeddings.npz", *TRAIN, *more, "-o", "out.npz")


@pytest.fixture(scope="module")
def uninterrupted(work, tmp_path_factory):
    """The bytes of the models of uninterrupted runs, without and with pre-training."""
    folder = tmp_path_factory.mktemp("uninterrupted")
    run(*train(work, "--pretrain", "1"), cwd=folder)
    return {(): (work / "model.npz").read_bytes(), ("--pretrain", "1"): (folder / "out.npz").read_bytes()}


# ---------------------------------------------------------------- before and after the first step


@pytest.mark.parametrize("name", CODES)
@pytest.mark.parametrize("point", [ENCODE, FEATURES], ids=lambda point: point[2])
def test_stopping_train_before_the_first_step_keeps_nothing(point, name, work, tmp_path):
    code, message = signalled_at([(point, 1, name)], *train(work), cwd=tmp_path)
    stopped = "interrupted" if name == "SIGINT" else f"stopped by {name}"
    assert code == CODES[name]
    assert message.splitlines()[-1] == f"nlptx: {stopped}: nothing had been trained yet, so nothing was saved"
    assert contents(tmp_path) == {}


def test_stopping_before_the_first_step_keeps_the_previous_checkpoint(work, tmp_path):
    signalled_at([(STEP, 1, "SIGTERM")], *train(work), cwd=tmp_path)
    before = contents(tmp_path)[CHECKPOINT]
    _, message = signalled_at([(ENCODE, 1, "SIGTERM")], *train(work, "--resume"), cwd=tmp_path)
    assert f"nothing was saved; --resume continues from {CHECKPOINT} as before\n" in message
    assert contents(tmp_path)[CHECKPOINT] == before


@pytest.mark.parametrize("phase", [(), ("--pretrain", "1")], ids=["train", "pretrain"])
@pytest.mark.parametrize("name", CODES)
def test_stopping_after_the_first_step_leaves_a_checkpoint(name, phase, work, uninterrupted, tmp_path):
    code, message = signalled_at([(STEP, 1, name)], *train(work, *phase), cwd=tmp_path)
    assert code == CODES[name]
    assert f"--resume continues from {CHECKPOINT}" in message.splitlines()[-1]
    assert CHECKPOINT in contents(tmp_path)
    run(*train(work, *phase), "--resume", cwd=tmp_path)
    assert contents(tmp_path) == {"out.npz": uninterrupted[phase]}


@pytest.mark.parametrize(
    ("history", "message"),
    [
        ({"best_epoch": 0, "epochs": [], "steps": 1}, "interrupted before the first epoch: there is no model yet"),
        ({"best_epoch": 1, "epochs": [{}], "steps": 0}, "interrupted: m.npz holds the linear models"),
        (
            {"best_epoch": 1, "epochs": [{}, {}], "steps": 9},
            "interrupted in epoch 2: m.npz holds the best model so far (epoch 1)",
        ),
    ],
    ids=["no model", "no network", "network"],
)
def test_the_message_says_what_the_file_contains(history, message):
    assert _interruption(history, "m.npz") == message


# ---------------------------------------------------------------- more than one signal


@pytest.mark.parametrize(
    "names",
    [
        ("SIGTERM", "SIGTERM", "SIGTERM", "SIGTERM"),
        ("SIGHUP", "SIGTERM", "SIGHUP", "SIGTERM"),
        ("SIGINT", "SIGINT", "SIGINT", "SIGTERM"),
    ],
    ids="-".join,
)
def test_signals_after_the_first_do_not_interrupt_saving(names, work, tmp_path):
    points = [(STEP, 2), (VALIDATE, 1), (SAVE, 1), (SAVE_MODEL, 1)]
    strikes = [(point, number, name) for (point, number), name in zip(points, names, strict=True)]
    code, message = signalled_at(strikes, *train(work), cwd=tmp_path)
    assert code == CODES[names[0]]
    assert "out.npz holds the best model so far (epoch 1)" in message
    assert sorted(contents(tmp_path)) == ["out.npz", CHECKPOINT]
    assert header_of(tmp_path / "out.npz")["details"]["history"]["interrupted"]


def test_a_later_ctrl_c_forces_train_to_end(work, tmp_path):
    strikes = [(STEP, 2, "SIGTERM"), (SAVE_MODEL, 1, "SIGINT")]
    code, message = signalled_at(strikes, *train(work), force_after=0, cwd=tmp_path)
    assert code == CODES["SIGINT"]
    assert message.splitlines()[-1] == f"nlptx: interrupted: --resume continues from {CHECKPOINT}"
    assert list(contents(tmp_path)) == [CHECKPOINT]


def test_a_signal_while_the_final_model_is_saved_has_no_effect(work, tmp_path):
    code, _ = signalled_at([(SAVE_MODEL, 1, "SIGTERM")], *train(work), cwd=tmp_path)
    assert code == 0
    assert contents(tmp_path) == {"out.npz": (work / "model.npz").read_bytes()}


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP", "SIGINT"])
def test_a_second_signal_does_not_interrupt_the_removal_of_temporary_files(name, work, tmp_path):
    words = ("pca", work / "cooccur.npz", *PCA, "-q", "-o", "out.npz")
    code, message = signalled_at([(ENTRY, 2, name), (UNLINK, 1, name)], *words, cwd=tmp_path)
    assert code == CODES[name]
    assert message == ("nlptx: interrupted\n" if name == "SIGINT" else f"nlptx: stopped by {name}\n")
    assert contents(tmp_path) == {}


CLASS_CREATION = """
import os
import signal
import sys
from nlptx.cli import main

class SendSignal:
    def __set_name__(self, owner, name):
        os.kill(os.getpid(), getattr(signal, signal_name))

signal_name = sys.argv.pop(1)
main.nlptx.invoke = lambda context: type("Owner", (), {"field": SendSignal()})
main.main()
"""


@pytest.mark.parametrize("name", CODES)
def test_a_signal_during_class_creation_is_not_reported_as_an_error(name, work):
    """Imports create classes. Up to Python 3.11, an exception during class creation is wrapped in a RuntimeError."""
    message = "nlptx: interrupted\n" if name == "SIGINT" else f"nlptx: stopped by {name}\n"
    assert run_program(CLASS_CREATION, name, "info", work / "model.npz", code=CODES[name]).stderr == message
