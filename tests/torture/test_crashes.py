"""Killed at any moment, a stage leaves the old file or the new one, and nothing that the next run does not clean up."""

import fcntl
import json
import os
import signal
import subprocess
import termios
import time

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
# The program's own answer, and that of the system before the program has begun.
CODES = {"SIGKILL": {-9}, "SIGTERM": {143, -15}, "SIGINT": {130, -2}}


@pytest.fixture
def tally(request):
    return Tally(request, "crashes")


class Struck(Target):
    """A target whose writer is killed."""

    def strike(self, name, *, delay=None, step=None, after=False, nlptx=None):
        """Kill the stage after ``delay`` seconds, or at a step of the final write; look; run it again; look again."""
        self.path.write_bytes(self.stage.old)
        fault = None if step is None else json.dumps({"step": step, "after": after, "do": name})
        process = start(*self.words, env=self.env, fault=fault, nlptx=nlptx)
        if delay is not None:
            time.sleep(delay)
            process.send_signal(getattr(signal, name))
        self.tally.injected()
        done = end(process)
        self.check(done, name, exact=step is not None)
        # What a killed process leaves, the next one takes away.
        finish(*self.words, env=self.env, nlptx=nlptx)
        self.tally.same(self.path.read_bytes(), self.new, "the next run")
        assert set(contents(self.folder)) == {self.stage.output}, "litter beside the target"
        assert contents(self.temporary) == {}, "litter in the temporary folder"
        self.tally.survived()

    def check(self, done, name, exact):
        content = self.path.read_bytes()
        if done.code == 0:
            assert not exact or name != "SIGKILL", "it was not struck"
            self.tally.same(content, self.new, "success was told")
        else:
            # A Ctrl-C that meets the interpreter before it is ready is answered by the interpreter.
            unready = name == "SIGINT" and done.code == 1 and "Fatal Python error: init" in done.stderr
            assert unready or done.code in CODES[name], done.stderr
            assert not exact or TRACEBACK not in done.stderr, done.stderr
            expected = self.stage.old if content == self.stage.old else self.new
            if self.stage.name == "train" and done.code in (130, 143) and content != expected:
                # Asked to end early, a training keeps its best model so far: a whole one, that says so.
                assert header_of(self.path)["details"]["history"]["interrupted"]
                expected = content
            self.tally.same(content, expected, f"after {name}")
        assert done.orphans == [], "a process outlived the one that was killed"
        if name != "SIGKILL":
            assert contents(self.temporary) == {}


@pytest.mark.parametrize("stage", STAGES)
@amounts(quick=2, full=30)
def test_a_signal_at_a_random_moment(stage, amount, stages, tmp_path, tally):
    target, rng = Struck(stages[stage], tmp_path, tally), seeded("moment", stage)
    for number in range(amount):
        # A quarter are new interpreters, which are struck while they start.
        nlptx = NLPTX if (number + STAGES.index(stage)) % 4 == 0 else None
        target.strike(SIGNALS[number % 3], delay=rng.uniform(0, 1.1 * target.seconds), nlptx=nlptx)


@pytest.mark.parametrize("stage", STAGES)
@amounts(quick=2, full=30)
def test_a_signal_inside_the_final_write(stage, amount, stages, tmp_path, tally):
    target, rng = Struck(stages[stage], tmp_path, tally), seeded("step", stage)
    names = target.steps()
    assert names[0] == "open"
    assert {"write", "fsync", "replace"} <= set(names)
    # The few steps that are not writes are as many again as the writes, one of them each time.
    others = [step for step, name in enumerate(names) if name != "write"]
    writes = [step for step, name in enumerate(names) if name == "write"]
    for number in range(amount):
        step = rng.choice(others if number % 2 else writes)
        target.strike(SIGNALS[number // 2 % 3], step=step, after=rng.random() < 0.5)


@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT"])
def test_a_process_that_can_still_act_leaves_no_litter_at_once(name, stages, tmp_path, tally):
    target = Struck(stages["pca"], tmp_path, tally)
    step = target.steps().index("fsync")
    target.path.write_bytes(target.stage.old)
    tally.injected()
    done = end(start(*target.words, fault=json.dumps({"step": step, "after": False, "do": name})))
    assert done.code in CODES[name]
    assert contents(target.folder) == {target.stage.output: target.stage.old}
    tally.survived()


ARTIFACTS_READ = ("pca -", "predict corpus.txt -m -")


@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT"])
@pytest.mark.parametrize(
    "words",
    ["cooccur -", "train - --input-format tsv -e embeddings.npz", "predict -m model.npz -", *ARTIFACTS_READ],
)
def test_a_signal_while_input_is_awaited_is_not_taken_for_a_fault_of_the_input(words, name, stages, tmp_path, tally):
    reading, writing = os.pipe()
    folder = stages["cooccur"].words[1].parent
    with open(reading, "rb") as pipe, open(writing, "wb", buffering=0) as feed:
        process = start(*words.split(), "-q", "-o", tmp_path / "out", stdin=pipe, cwd=folder)
        feed.write(b"PK\3\4, as an artifact begins" if words in ARTIFACTS_READ else b"text\tlabel\n")
        while fcntl.ioctl(feed, termios.FIONREAD, bytes(4)) != bytes(4):
            assert process.poll() is None
            time.sleep(0.01)
        tally.injected()
        process.send_signal(getattr(signal, name))
        done = end(process)
    assert (done.code, TRACEBACK in done.stderr) == ({"SIGTERM": 143, "SIGINT": 130}[name], False), done.stderr
    said = "interrupted" if name == "SIGINT" else "stopped by SIGTERM"
    more = ": nothing was trained yet, and nothing is kept" if words.startswith("train") else ""
    assert done.stderr == f"nlptx: {said}{more}\n"
    assert contents(tmp_path) == {}
    tally.survived()


def test_nothing_outlives_a_counting_that_was_killed(tmp_path, tally):
    """However the work is shared out: processes that wait for a dead parent's next word would wait for ever."""
    corpus = write_corpus(tmp_path / "corpus.txt", 12_000_000, seed=7, longest=8, padding=" " + "x" * 1000)
    process = start("cooccur", "-", *COUNT, "-j", "2", "-o", tmp_path / "out.npz", stdin=subprocess.PIPE)
    with process.stdin as pipe:
        pipe.write(corpus.read_bytes())  # returns once all but the last of it has been read
        tally.injected()
        process.kill()
        assert end(process).orphans == [], "a process outlived the one that was killed"
    tally.survived()


def two_writers(target, nlptx=None):
    """Hold one writer just before it renames its file, let another come and go, and let the first go on."""
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
        assert len(contents(target.folder)) == 3, "the file of a living writer was taken away"
    finally:
        waiting.unlink(missing_ok=True)
        done = end(first)
    assert done.code == 0, done.stderr
    target.tally.same(target.path.read_bytes(), target.new, "the first writer")
    assert len(contents(target.folder)) == 1


def test_the_temporary_file_of_a_living_writer_is_not_taken_for_litter(stages, tmp_path, tally):
    two_writers(Struck(stages["pca"], tmp_path, tally))


# ---------------------------------------------------------------- the tests notice


@pytest.mark.parametrize(
    ("defect", "step", "says"),
    [("early", "write", "after SIGKILL"), ("litter", "fsync", "litter"), ("orphans", "fsync", "outlived")],
)
def test_a_defect_is_noticed(defect, step, says, stages, tmp_path, tally):
    target = Struck(stages["pca"], tmp_path, tally)
    with pytest.raises(AssertionError, match=says):
        target.strike("SIGKILL", step=target.steps().index(step) + 1, nlptx=broken(defect))


def test_a_writer_that_takes_the_files_of_the_living_is_noticed(stages, tmp_path, tally):
    with pytest.raises(AssertionError, match="living writer"):
        two_writers(Struck(stages["pca"], tmp_path, tally), nlptx=broken("greedy"))
