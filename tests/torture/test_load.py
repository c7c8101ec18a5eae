"""Tests with many lines, slow and fast readers, and many simultaneous processes."""

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
# Maximum number of lines that all pipes and buffers between the writer and a paused reader can hold.
MAX_BUFFERED = 100_000


@pytest.fixture
def tally(request):
    return Tally(request, "load")


class Stream:
    """``predict``, fed by a thread that writes many lines; the test reads the output."""

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
        # If the test fails, the process is killed, so writing raises BrokenPipeError.
        with contextlib.suppress(BrokenPipeError), self.process.stdin as pipe:
            for first in range(0, self.lines, 1000):
                block = range(first, min(first + 1000, self.lines))
                pipe.write("".join(f"{self.line(number)}\n" for number in block).encode())
                self.written = block.stop

    def read(self, pause, max_buffered=None):
        """Read and check all lines, waiting for ``pause`` seconds after every 10,000 lines; return their digest."""
        digest = hashlib.sha256()
        count = 0
        if pause:
            self.wait_for_full_buffers(max_buffered)
        with self.process.stdout as pipe:
            for count, line in enumerate(pipe, start=1):
                assert line.endswith(f"\t{self.line(count - 1)}\n".encode()), f"not line {count}: {line}"
                digest.update(line)
                if pause and count % 10_000 == 0:
                    time.sleep(pause)
        assert count == self.lines, f"{count} lines of {self.lines}"
        return digest.digest()

    def wait_for_full_buffers(self, max_buffered):
        """Wait until the writer is blocked; by then, at most ``max_buffered`` lines may be written."""
        written = -1
        while self.written > written or not written:
            written = self.written
            time.sleep(1)
        assert written <= max_buffered, f"{written} lines were accepted while nobody read"

    def __enter__(self):
        return self

    def __exit__(self, failed, *error):
        if failed:
            self.process.kill()
        self.process.stdout.close()
        self.writer.join(TIMEOUT)
        done = end(self.process)
        assert failed or done.code == 0, done.stderr


def stream(lines, model, pause, tally, nlptx=None, max_buffered=MAX_BUFFERED):
    """Pipe lines through ``predict``; return the digest of its output."""
    tally.ran()
    started = time.monotonic()
    with Stream(lines, model, nlptx) as running, Watch(running.process) as watch:
        digest = running.read(pause, max_buffered)
    reader = "slow" if pause else "fast"
    seconds = time.monotonic() - started
    tally.note(f"{lines:,} lines, {reader} reader: {seconds:.0f} s, {watch.megabytes:.0f} MB, {watch.files} files")
    assert watch.files < 64
    return digest


@needs_proc
@pytest.mark.parametrize("reader", ["slow", "fast"])
@amounts(quick=3_000, full=1_000_000)
def test_many_lines_through_a_pipe(reader, amount, stages, tally):
    """All lines are scored and arrive in order; a slow reader does not make ``predict`` accumulate output."""
    model = stages["train"].words[1].parent / "model.npz"
    digest = stream(amount, model, 0.05 if reader == "slow" else 0, tally)
    text = "".join(f"{Stream.line(number)}\n" for number in range(min(amount, 3000)))
    expected = finish("predict", "-m", model, "-q", "-", given=text.encode()).stdout
    if amount <= 3000:
        tally.same(digest, hashlib.sha256(expected).digest(), "through a pipe")


@amounts(quick=3, full=PROCESSES)
def test_many_processes_on_one_model(amount, stages, tmp_path, tally):
    run_simultaneously(stages["predict"], amount, tmp_path, tally)


def run_simultaneously(stage, amount, folder, tally, nlptx=None):
    """Run ``amount`` processes with separate outputs, then as many with one shared output; compare all bytes."""
    finish(*stage.words, "-q", "-o", folder / "expected", nlptx=nlptx)
    expected = (folder / "expected").read_bytes()
    for names in ([f"separate{number}" for number in range(amount)], ["shared"] * amount):
        running = [start(*stage.words, "-q", "-o", folder / name, nlptx=nlptx) for name in names]
        ends = [end(process) for process in running]
        for name, done in zip(names, ends, strict=True):
            tally.ran()
            assert done.code == 0, done.stderr
            tally.same((folder / name).read_bytes(), expected, name)
    assert len(contents(folder)) == amount + 2, "temporary files are left"


@amounts(quick=1, full=10)
def test_two_training_runs_with_one_output(amount, stages, tmp_path, tally):
    """The output is a complete model of one run; the other run may be rejected before it starts."""
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
        successful = [seed for seed, done in ends if done.code == 0]
        assert successful, [done.stderr for _, done in ends]
        assert {done.code for _, done in ends} <= {0, 1}
        content = (folder / "model.npz").read_bytes()
        tally.same(content, next((models[seed] for seed in successful if models[seed] == content), b""), "the model")
        assert set(contents(folder)) == {"model.npz"}


# ---------------------------------------------------------------- the tests detect defects


@pytest.mark.torture
@needs_proc
@pytest.mark.parametrize(
    ("defect", "lines", "message"),
    [("drops_texts", 3000, "not line"), ("reads_everything_first", 50_000, "while nobody read")],
)
def test_defect_is_detected(defect, lines, message, stages, tally):
    model = stages["train"].words[1].parent / "model.npz"
    with pytest.raises(AssertionError, match=message):
        stream(lines, model, 0.01, tally, nlptx=broken(defect), max_buffered=40_000)


@pytest.mark.torture
def test_different_outputs_are_detected(stages, tmp_path, tally):
    with pytest.raises(AssertionError, match="differ"):
        run_simultaneously(stages["predict"], 2, tmp_path, tally, nlptx=broken("prints_process_id"))
