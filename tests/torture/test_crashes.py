"""A stage that is killed at any moment leaves the old file or the new one; the next run deletes any temporary files."""

import fcntl
import json
import os
import signal
import subprocess
import termios
import time
from pathlib import Path

import pytest
from command import NLPTX, TRACEBACK, contents, header_of
from harness import (
    COUNT,
    Target,
    amounts,
    broken,
    end,
    finish,
    seeded,
    start,
    write_corpus,
)
from tally import Tally

STAGES = ("cooccur", "pca", "train", "predict")
SIGNALS = ("SIGKILL", "SIGTERM", "SIGINT")
# Possible exit codes after each signal: a positive one comes from the program's signal handler, a negative one from the
# system if no handler is installed yet.
CODES = {"SIGKILL": {-9}, "SIGTERM": {143, -15}, "SIGINT": {130, -2}}


@pytest.fixture
def tally(request):
    return Tally(request, "crashes")


class KilledTarget(Target):
    """A target whose writer is killed."""

    def kill(self, name, *, delay=None, step=None, after=False, nlptx=None):
        """Kill the stage after ``delay`` seconds or at a step of the final write, then run it to its end.

        Check the files after the kill and after the complete run.
        """
        self.path.write_bytes(self.stage.old)
        fault = None if step is None else json.dumps({"step": step, "after": after, "do": name})
        process = start(*self.words, env=self.env, fault=fault, nlptx=nlptx)
        if delay is not None:
            time.sleep(delay)
            process.send_signal(getattr(signal, name))
        self.tally.injected()
        done = end(process)
        self.check(done, name, exact=step is not None)
        # The next run deletes the files that the killed process left.
        finish(*self.words, env=self.env, nlptx=nlptx)
        self.tally.same(self.path.read_bytes(), self.new, "the next run")
        assert set(contents(self.folder)) == {self.stage.output}, "temporary files beside the target"
        assert contents(self.temporary) == {}, "files left in the temporary folder"
        self.tally.survived()

    def check(self, done, name, exact):
        content = self.path.read_bytes()
        if done.code == 0:
            assert not exact or name != "SIGKILL", "the process was not killed"
            self.tally.same(content, self.new, "success was reported")
        else:
            # If Ctrl-C arrives while the interpreter starts, Python itself prints the error message.
            starting = name == "SIGINT" and done.code == 1 and "Fatal Python error: init" in done.stderr
            assert starting or done.code in CODES[name], done.stderr
            assert not exact or TRACEBACK not in done.stderr, done.stderr
            expected = self.stage.old if content == self.stage.old else self.new
            if self.stage.name == "train" and done.code in (130, 143) and content != expected:
                # An interrupted training run saves its best model so far, and records the interruption.
                assert header_of(self.path)["details"]["history"]["interrupted"]
                expected = content
            self.tally.same(content, expected, f"after {name}")
        assert done.orphans == [], "a child outlived the killed process"
        if name != "SIGKILL":
            assert contents(self.temporary) == {}


@pytest.mark.parametrize("stage", STAGES)
@amounts(quick=1, full=30)
def test_signal_at_a_random_moment(stage, amount, stages, tmp_path, tally):
    target, rng = KilledTarget(stages[stage], tmp_path, tally), seeded("moment", stage)
    for number in range(amount):
        # A quarter of the runs use a new interpreter, which may be killed while it starts.
        nlptx = NLPTX if (number + STAGES.index(stage)) % 4 == 0 else None
        name = SIGNALS[(number + STAGES.index(stage)) % 3]
        target.kill(name, delay=rng.uniform(0, 1.1 * target.seconds), nlptx=nlptx)


@pytest.mark.parametrize("stage", STAGES)
@amounts(quick=2, full=30)
def test_signal_during_the_final_write(stage, amount, stages, tmp_path, tally):
    target, rng = KilledTarget(stages[stage], tmp_path, tally), seeded("step", stage)
    names = target.steps()
    assert names[0] == "open"
    assert {"write", "fsync", "replace"} <= set(names)
    # There are many more writes than other steps, so alternate between writes and other steps.
    others = [step for step, name in enumerate(names) if name != "write"]
    writes = [step for step, name in enumerate(names) if name == "write"]
    for number in range(amount):
        step = rng.choice(others if number % 2 else writes)
        target.kill(SIGNALS[number // 2 % 3], step=step, after=rng.random() < 0.5)


@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT"])
def test_sigterm_and_sigint_delete_temporary_files_immediately(name, stages, tmp_path, tally):
    target = KilledTarget(stages["pca"], tmp_path, tally)
    step = target.steps().index("fsync")
    target.path.write_bytes(target.stage.old)
    tally.injected()
    done = end(start(*target.words, fault=json.dumps({"step": step, "after": False, "do": name})))
    assert done.code in CODES[name]
    assert contents(target.folder) == {target.stage.output: target.stage.old}
    tally.survived()


ARTIFACTS_READ = ("pca -", "predict corpus.txt -m -")


def sleeps(pid):
    """Return whether a process waits, for example for input.

    A signal that is sent just before the process begins to wait would not wake it up.
    """
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "S"
    except FileNotFoundError:  # the process has ended, or this is not Linux
        return True


@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT"])
@pytest.mark.parametrize(
    "words",
    ["cooccur -", "train - --input-format tsv -e embeddings.npz", "predict -m model.npz -", *ARTIFACTS_READ],
)
def test_signal_while_waiting_for_input_is_not_reported_as_bad_input(words, name, stages, tmp_path, tally):
    reading, writing = os.pipe()
    folder = stages["cooccur"].words[1].parent
    with open(reading, "rb") as pipe, open(writing, "wb", buffering=0) as feed:
        process = start(*words.split(), "-q", "-o", tmp_path / "out", stdin=pipe, cwd=folder)
        feed.write(b"PK\3\4, the first bytes of an artifact" if words in ARTIFACTS_READ else b"text\tlabel\n")
        while fcntl.ioctl(feed, termios.FIONREAD, bytes(4)) != bytes(4) or not sleeps(process.pid):
            assert process.poll() is None
            time.sleep(0.01)
        tally.injected()
        process.send_signal(getattr(signal, name))
        done = end(process)
    assert (done.code, TRACEBACK in done.stderr) == ({"SIGTERM": 143, "SIGINT": 130}[name], False), done.stderr
    reason = "interrupted" if name == "SIGINT" else "stopped by SIGTERM"
    details = ": nothing had been trained yet, so nothing was saved" if words.startswith("train") else ""
    assert done.stderr == f"nlptx: {reason}{details}\n"
    assert contents(tmp_path) == {}
    tally.survived()


def test_killing_cooccur_leaves_no_processes(tmp_path, tally):
    """Workers must end when their parent is killed, instead of waiting forever for the next task."""
    corpus = write_corpus(tmp_path / "corpus.txt", 12_000_000, seed=7, longest=8, padding=" " + "x" * 1000)
    process = start("cooccur", "-", *COUNT, "-j", "2", "-o", tmp_path / "out.npz", stdin=subprocess.PIPE)
    with process.stdin as pipe:
        pipe.write(corpus.read_bytes())  # write() returns when cooccur has read all but the last few bytes
        tally.injected()
        process.kill()
        assert end(process).orphans == [], "a child outlived the killed process"
    tally.survived()


def two_writers(target, nlptx=None):
    """Pause one writer just before it renames its file, run another writer to its end, then let the first continue."""
    target.path.write_bytes(target.stage.old)
    waiting = target.folder / "waiting"
    fault = json.dumps({"step": target.steps().index("replace"), "after": False, "do": f"wait:{waiting}"})
    first = start(*target.words, fault=fault)
    try:
        while not waiting.exists():
            assert first.poll() is None
            time.sleep(0.01)
        finish(*target.words, nlptx=nlptx)
        target.tally.same(target.path.read_bytes(), target.new, "the second writer")
        assert len(contents(target.folder)) == 3, "the file of a running writer was deleted"
    finally:
        waiting.unlink(missing_ok=True)
        done = end(first)
    assert done.code == 0, done.stderr
    target.tally.same(target.path.read_bytes(), target.new, "the first writer")
    assert len(contents(target.folder)) == 1


def test_temporary_file_of_a_running_writer_is_not_deleted(stages, tmp_path, tally):
    two_writers(KilledTarget(stages["pca"], tmp_path, tally))


# ---------------------------------------------------------------- the tests detect defects


@pytest.mark.torture
@pytest.mark.parametrize(
    ("defect", "step", "message"),
    [
        ("renames_too_early", "write", "after SIGKILL"),
        ("keeps_temporary_files", "fsync", "temporary files"),
        ("leaves_child_process", "fsync", "outlived"),
    ],
)
def test_defect_is_detected(defect, step, message, stages, tmp_path, tally):
    target = KilledTarget(stages["pca"], tmp_path, tally)
    with pytest.raises(AssertionError, match=message):
        target.kill("SIGKILL", step=target.steps().index(step) + 1, nlptx=broken(defect))


@pytest.mark.torture
def test_writer_that_deletes_files_in_use_is_detected(stages, tmp_path, tally):
    with pytest.raises(AssertionError, match="running writer"):
        two_writers(KilledTarget(stages["pca"], tmp_path, tally), nlptx=broken("deletes_files_in_use"))
