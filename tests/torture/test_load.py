"""Many lines, slow and fast readers, many processes at a time."""

import contextlib
import hashlib
import subprocess
import threading
import time

import pytest
from command import contents
from harness import TIMEOUT, amounts, broken, end, finish, start
from tally import Tally
from watch import Watch, needs_proc

PROCESSES = 10
# Lines that fit into all pipes and buffers between a writer and a reader that has fallen asleep.
MOST_UNDER_WAY = 100_000


@pytest.fixture
def tally(request):
    return Tally(request, "load")


class Stream:
    """``predict`` between a writer of many lines and a reader, both in threads or here."""

    def __init__(self, lines, model, nlptx=None):
        self.lines, self.written = lines, 0
        self.process = start(
            "predict", "-m", model, "-q", "-", stdin=subprocess.PIPE, stdout=subprocess.PIPE, nlptx=nlptx
        )
        self.writer = threading.Thread(target=self.write)
        self.writer.start()

    @staticmethod
    def line(number):
        return f"w{number % 97} w{number % 13} {number}"

    def write(self):
        # Where the test has failed, nobody reads any more.
        with contextlib.suppress(BrokenPipeError), self.process.stdin as pipe:
            for first in range(0, self.lines, 1000):
                block = range(first, min(first + 1000, self.lines))
                pipe.write("".join(f"{self.line(number)}\n" for number in block).encode())
                self.written = block.stop

    def read(self, pause, most_asleep=None):
        """Read all lines, check each, and return the digest of all; first sleep, and so after every 10,000th line."""
        digest = hashlib.sha256()
        count = 0
        if pause:
            self.sleep(most_asleep)
        with self.process.stdout as pipe:
            for count, line in enumerate(pipe, start=1):  # the last one tells
                assert line.endswith(f"\t{self.line(count - 1)}\n".encode()), f"not line {count}: {line}"
                digest.update(line)
                if pause and count % 10_000 == 0:
                    time.sleep(pause)
        assert count == self.lines, f"{count} lines came of {self.lines}"
        return digest.digest()

    def sleep(self, most):
        """Do not read until the writer no longer gets on: what is under way is bounded."""
        before = -1
        while self.written > before or not before:
            before = self.written
            time.sleep(1)
        assert before <= most, f"{before} lines were taken in while nobody read"

    def __enter__(self):
        return self

    def __exit__(self, failed, *error):
        if failed:
            self.process.kill()
        self.process.stdout.close()
        self.writer.join(TIMEOUT)
        done = end(self.process)
        assert failed or done.code == 0, done.stderr


def stream(lines, model, pause, tally, nlptx=None, most=MOST_UNDER_WAY):
    """Send lines through ``predict``, and return the digest of what came of them."""
    tally.ran()
    started = time.monotonic()
    with Stream(lines, model, nlptx) as running, Watch(running.process) as watch:
        digest = running.read(pause, most)
    reader = "slow" if pause else "fast"
    seconds = time.monotonic() - started
    tally.note(f"{lines:,} lines, {reader} reader: {seconds:.0f} s, {watch.megabytes:.0f} MB, {watch.files} files")
    assert watch.files < 64
    return digest


@needs_proc
@pytest.mark.parametrize("reader", ["slow", "fast"])
@amounts(quick=3_000, full=1_000_000)
def test_many_lines_through_a_pipe(reader, amount, stages, tally):
    """All arrive, in order and scored; what a slow reader has not taken yet is not piled up."""
    model = stages["train"].words[1].parent / "model.npz"
    digest = stream(amount, model, 0.05 if reader == "slow" else 0, tally)
    text = "".join(f"{Stream.line(number)}\n" for number in range(min(amount, 3000)))
    expected = finish("predict", "-m", model, "-q", "-", given=text.encode()).stdout
    if amount <= 3000:
        tally.same(digest, hashlib.sha256(expected).digest(), "through a pipe")


@amounts(quick=3, full=PROCESSES)
def test_many_processes_on_one_model(amount, stages, tmp_path, tally):
    together(stages["predict"], amount, tmp_path, tally)


def together(stage, amount, folder, tally, nlptx=None):
    """Start them all, then wait for all: each writes the same bytes into a file of its own, and all into one."""
    finish(*stage.words, "-q", "-o", folder / "expected", nlptx=nlptx)
    expected = (folder / "expected").read_bytes()
    for names in ([f"own{number}" for number in range(amount)], ["shared"] * amount):
        running = [start(*stage.words, "-q", "-o", folder / name, nlptx=nlptx) for name in names]
        ends = [end(process) for process in running]
        for name, done in zip(names, ends, strict=True):
            tally.ran()
            assert done.code == 0, done.stderr
            tally.same((folder / name).read_bytes(), expected, name)
    assert len(contents(folder)) == amount + 2, "litter"


@amounts(quick=1, full=10)
def test_two_trainings_with_one_output(amount, stages, tmp_path, tally):
    """One wins whole, or the other is refused before it has done anything."""
    stage = stages["train"]
    models = {}
    for seed in ("1", "2"):
        finish(*stage.words, "--seed", seed, "-q", "-o", tmp_path / f"{seed}.npz")
        models[seed] = (tmp_path / f"{seed}.npz").read_bytes()
    assert models["1"] != models["2"]
    folder = tmp_path / "out"
    folder.mkdir()
    for number in range(amount):
        pair = []
        for seed in models:
            pair.append((seed, start(*stage.words, "--seed", seed, "-q", "-o", folder / "model.npz")))
            time.sleep(0.1 * number)
        tally.ran()
        ends = [(seed, end(process)) for seed, process in pair]
        won = [seed for seed, done in ends if done.code == 0]
        assert won, [done.stderr for _, done in ends]
        assert {done.code for _, done in ends} <= {0, 1}
        content = (folder / "model.npz").read_bytes()
        tally.same(content, next((models[seed] for seed in won if models[seed] == content), b""), "the model")
        assert set(contents(folder)) == {"model.npz"}


# ---------------------------------------------------------------- the tests notice


@needs_proc
@pytest.mark.parametrize(("defect", "says"), [("forgetful", "not line"), ("hoarding", "while nobody read")])
def test_a_defect_is_noticed(defect, says, stages, tally):
    model = stages["train"].words[1].parent / "model.npz"
    with pytest.raises(AssertionError, match=says):
        stream(50_000, model, 0.01, tally, nlptx=broken(defect), most=40_000)


def test_processes_that_disagree_are_noticed(stages, tmp_path, tally):
    with pytest.raises(AssertionError, match="differ"):
        together(stages["predict"], 2, tmp_path, tally, nlptx=broken("moody"))
