"""Tests of failures at run time: full disks, closed pipes, diverging training, signals. No partial output is left."""

import os
import signal
import subprocess
import sys
import time

import pytest
from calling import last_of_each
from command import Running, contents, environment, header_of, refused, run, shell
from sample_data import PCA, TRAIN, one_step

needs_full_device = pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")
# ---------------------------------------------------------------- outputs


@pytest.mark.parametrize(
    ("command", "target"),
    [
        ("predict", "missing/out.tsv"),
        ("predict", "file/out.tsv"),
        ("predict", "folder"),
        ("pca", "file/out.npz"),
        ("train", "missing/out.npz"),
    ],
)
def test_a_target_that_cannot_be_written(command, target, work, tmp_path):
    (tmp_path / "file").write_text("a file\n")
    (tmp_path / "folder").mkdir()
    words = {
        "pca": ("pca", work / "cooccur.npz", *PCA),
        "train": one_step(work),
        "predict": ("predict", "-m", work / "model.npz", work / "test.tsv"),
    }[command]
    refused(*words, "-o", target, code=1, says=target, cwd=tmp_path, untouched=tmp_path)


@needs_full_device
def test_a_full_disk_while_writing_an_artifact(work):
    refused("pca", work / "cooccur.npz", *PCA, "-q", "-o", "/dev/full", code=1, says=("/dev/full", "full"))


@needs_full_device
@pytest.mark.parametrize(
    "words",
    [
        "cooccur corpus.txt -o -",
        "cooccur - --min-count 1 -o - <<< 'few words and few bytes'",
        "predict -m model.npz test.tsv",
        "info model.npz",
        "--help",
    ],
)
def test_a_full_disk_while_writing_to_standard_output(words, work):
    result = shell(f"nlptx {words} > /dev/full", cwd=work, code=1)
    assert result.stderr.startswith("nlptx: error: ")
    # The failure is reported only once.
    assert result.stderr.count("nlptx:") == 1


@pytest.mark.parametrize("words", ["cooccur corpus.txt --min-count 1", "predict -m model.npz corpus.txt"])
def test_reaching_the_file_size_limit_keeps_the_old_file(words, work, tmp_path):
    (tmp_path / "out").write_text("old\n")
    # Python must not write bytecode files, because the file-size limit would truncate them too.
    no_bytecode = "PYTHONDONTWRITEBYTECODE=1"
    result = shell(f"ulimit -f 1; {no_bytecode} nlptx {words} -q -o {tmp_path}/out", cwd=work, code=1)
    assert result.stderr.startswith("nlptx: error: ")
    assert contents(tmp_path) == {"out": b"old\n"}


@pytest.mark.parametrize("words", ["cooccur corpus.txt -o -", "predict -m model.npz test.tsv"])
def test_a_closed_pipe_ends_a_command_silently(words, work):
    result = shell(f"{{ sleep 0.2; nlptx {words} -q; }} | true; exit ${{PIPESTATUS[0]}}", cwd=work, code=141)
    assert result.stderr == ""


# ---------------------------------------------------------------- training that goes wrong


@pytest.fixture(scope="module")
def diverged(work, tmp_path_factory):
    """The result of a training run with a learning rate that is far too high, and the files that it leaves behind."""
    folder = tmp_path_factory.mktemp("diverged")
    words = ("train", work / "train.tsv", "-e", work / "embeddings.npz", *TRAIN, "--ngrams", "0", "--lr", "1e30")
    words = (*words, "-q", "-o", "out.npz")
    return run(*last_of_each(*words), code=1, cwd=folder), contents(folder)


def test_the_message_about_divergence_names_the_step_and_a_remedy(diverged):
    result, files = diverged
    assert "diverged at step 2" in result.stderr
    assert "Lower --lr (now 1e+30)" in result.stderr
    assert files == {}


def test_the_message_about_divergence_is_short(diverged):
    result, _ = diverged
    assert len(result.stderr.splitlines()) <= 3, result.stderr


@pytest.mark.parametrize("held_out", ["0.1", "0"])
def test_divergence_at_the_last_step_is_detected(held_out, work, tmp_path):
    """Divergence is detected even in the last training step. No model is saved, and no interruption is reported."""
    words = one_step(
        work, "--ngrams", "0", "--lr", "1e30", "--warmup", "0", "--weight-averaging", "0", "--valid-share", held_out
    )
    result = run(*words, "-o", "out.npz", code=1, cwd=tmp_path)
    assert "diverged" in result.stderr
    assert contents(tmp_path) == {}


# ---------------------------------------------------------------- interruptions

ENDLESS = ("--epochs", "100000", "--patience", "0", "--heads", "2")


def interrupted(work, tmp_path, signal_name, *words, terminal=(), mark=b"epoch 2/"):
    """Start an endless training run; send a signal when ``mark`` appears; return the result and all text shown."""
    words = ("train", work / "train.tsv", "-e", work / "embeddings.npz", *ENDLESS, *words, "-o", tmp_path / "out.npz")
    with Running(*words, terminal=terminal) as running:
        seen = running.read_until(mark, None if terminal else running.process.stderr)
        running.process.send_signal(getattr(signal, signal_name))
        result = running.finish()
    return result, seen.decode() + result.stderr


CHECKPOINT = "out.npz.checkpoint"


@pytest.mark.parametrize(("signal_name", "code"), [("SIGINT", 130), ("SIGTERM", 143), ("SIGHUP", 129)])
def test_a_stopped_training_run_keeps_the_best_model_so_far_and_a_checkpoint(signal_name, code, work, tmp_path):
    result, message = interrupted(work, tmp_path, signal_name)
    assert result.code == code
    assert "out.npz holds the best model so far" in message
    assert f"--resume continues from {CHECKPOINT}" in message
    assert sorted(contents(tmp_path)) == ["out.npz", CHECKPOINT]
    history = header_of(tmp_path / "out.npz")["details"]["history"]
    assert history["interrupted"]
    assert f"(epoch {history['best_epoch']})" in message
    assert len(run("predict", "-m", tmp_path / "out.npz", stdin="great\n").lines) == 1


@pytest.mark.parametrize(("signal_name", "code"), [("SIGINT", 130), ("SIGTERM", 143), ("SIGHUP", 129)])
def test_stopping_before_the_first_model_keeps_the_old_file(signal_name, code, work, tmp_path):
    """During pre-training there is no classifier that could be saved."""
    (tmp_path / "out.npz").write_text("old\n")
    # The progress of pre-training is shown only on a terminal.
    result, message = interrupted(work, tmp_path, signal_name, "--pretrain", "100000", terminal=(2,), mark=b"epoch ")
    assert result.code == code
    assert "there is no model yet" in message
    assert "best model" not in message
    files = contents(tmp_path)
    assert files.pop("out.npz") == b"old\n"
    assert list(files) == [CHECKPOINT]


@pytest.mark.parametrize(
    "words",
    [("cooccur", "-"), ("train", "-", "--input-format", "tsv", "-e", "embeddings.npz")],
    ids=lambda words: words[0],
)
def test_ctrl_c_while_waiting_for_input(words, work, tmp_path):
    with Running(*words, "-v", "-o", tmp_path / "out.npz", cwd=work) as running:
        running.read_until(b"settings", running.process.stderr)
        time.sleep(0.5)  # let nlptx import the modules that read input, which happens after this line is shown
        running.process.send_signal(signal.SIGINT)
        assert running.process.wait(30) == 130
        assert b"interrupted" in running.process.stderr.read()
    assert contents(tmp_path) == {}


STARTING = """
import os, signal, sys

class SendSignal:
    def find_spec(self, name, path=None, target=None):
        if name == "click":
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, SendSignal())
from nlptx.__main__ import main
main()
"""


def test_ctrl_c_while_the_program_starts_shows_no_traceback():
    done = subprocess.run(
        [sys.executable, "-c", STARTING, "--version"], capture_output=True, env=environment(), check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (-signal.SIGINT, b"", b"")
