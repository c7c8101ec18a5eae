"""Shared helpers of the torture tests: amounts of work, corpora, stages, and processes with injected faults."""

import contextlib
import functools
import itertools
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
import zlib
from dataclasses import dataclass, field
from pathlib import Path

import command
import pytest
from command import TRACEBACK
from fork_server import MAIN

HERE = Path(__file__).parent
# The file with the code that injects faults into the process under test: a fork executes its source, and a new
# interpreter imports it as sitecustomize.
FAULTS = HERE / "faults/sitecustomize.py"
SCALE = float(os.environ.get("TORTURE_SCALE", "1"))
TIMEOUT = 300
COUNT = ("--min-count", "1", "--max-words", "2000")
PCA = ("--components", "16")
TRAIN = ("--epochs", "1", "--lr", "0.01", "--warmup", "0", "--width", "16", "--heads", "2")


def amounts(quick, full):
    """Parametrize a test: ``amount`` is ``quick`` in ``make test``, ``full`` * TORTURE_SCALE in ``make torture``."""
    scaled = max(1, round(full * SCALE))
    return pytest.mark.parametrize("amount", [pytest.param(quick, id="quick"), torture(scaled, id="full")])


def torture(*values, id):
    """Return a parameter that is used only in ``make torture``."""
    return pytest.param(*values, id=id, marks=pytest.mark.torture)


def seeded(*parts):
    """Return a random generator whose seed depends only on ``parts``."""
    return random.Random(zlib.crc32(" ".join(parts).encode()))


# ---------------------------------------------------------------- text


def write_corpus(path, size, *, seed, labels=(), words=3000, longest=60, padding=""):
    """Write at least ``size`` bytes of text, one document per line; if ``labels`` are given, write a labelled table.

    Word frequencies follow Zipf's law, and some words depend on the label. ``padding`` is appended to each text: if it
    is one long word, the corpus is large but quick to process.
    """
    rng = random.Random(seed)
    weights = list(itertools.accumulate(1 / rank for rank in range(1, words + 1)))
    with open(path, "w", encoding="utf-8") as file:
        file.write("text\tlabel\n" if labels else "")
        number = 0
        while file.tell() < size:
            text = [f"w{rank}" for rank in rng.choices(range(words), cum_weights=weights, k=rng.randint(3, longest))]
            if labels:
                label = labels[number % len(labels)]
                text[rng.randrange(len(text))] = f"{label}{rng.randrange(20)}"
            file.write(" ".join(text) + padding + (f"\t{label}\n" if labels else "\n"))
            number += 1
    return path


# ---------------------------------------------------------------- stages


@dataclass(frozen=True)
class StageRun:
    """The arguments of a command, without -o; the file that it writes; and the content of the file before the run."""

    name: str
    words: tuple
    output: str
    old: bytes = b"the work of last week\n"


def make_stages(folder, size):
    """Make a corpus and the artifacts of all stages in ``folder``."""
    write_corpus(folder / "corpus.txt", size, seed=1)
    write_corpus(folder / "train.tsv", size // 2, seed=2, labels=("neg", "pos"))
    for stage in stages_in(folder).values():
        finish(*stage.words, "-o", folder / stage.output)


def stages_in(folder):
    """Return the stages whose files :func:`make_stages` has made in ``folder``, by name."""
    stages = [
        StageRun("cooccur", ("cooccur", folder / "corpus.txt", *COUNT), "cooccur.npz"),
        StageRun("pca", ("pca", folder / "cooccur.npz", *PCA), "embeddings.npz"),
        StageRun("train", ("train", folder / "train.tsv", "-e", folder / "embeddings.npz", *TRAIN), "model.npz"),
        StageRun("predict", ("predict", folder / "corpus.txt", "-m", folder / "model.npz"), "scores.txt"),
    ]
    return {stage.name: stage for stage in stages}


# ---------------------------------------------------------------- processes


def broken(defect):
    """Return the command that runs nlptx with a deliberate defect; see broken.py."""
    return [sys.executable, str(HERE / "broken.py"), defect]


def start(*words, nlptx=None, fault=None, trace=None, env=None, **options):
    """Start ``nlptx WORDS`` in a new session, with a fault injected if ``fault`` is given.

    ``nlptx`` is a command that starts a new interpreter, such as NLPTX. By default the program is forked from a server
    that has already imported all modules; see fork_server.py.
    """
    changes = dict(env or {})
    changes |= {"TORTURE_FAULT": fault} if fault else {}
    changes |= {"TORTURE_TRACE": str(trace)} if trace else {}
    # Use files instead of pipes: no thread has to read them while the program runs, and a surviving child process does
    # not keep the test waiting.
    files = {name: tempfile.TemporaryFile() for name in ("stdout", "stderr")}  # noqa: SIM115  # end() closes them
    options = {"stdin": subprocess.DEVNULL, **files} | options
    if nlptx is None:
        program = f"{FAULTS.read_text()}\n{MAIN}" if fault or trace else None
        process = command.start(*words, program=program, env=changes, **options)
    else:
        changes["PYTHONDONTWRITEBYTECODE"] = "1"
        if fault or trace:
            changes["PYTHONPATH"] = os.pathsep.join(filter(None, [str(FAULTS.parent), os.environ.get("PYTHONPATH")]))
        process = command.start_program([*nlptx, *map(str, words)], env=changes, **options)
    process.files = files
    return process


@dataclass(frozen=True)
class End:
    """The result of a process: its exit code, its outputs, and the processes of its session that are still running."""

    code: int
    stdout: bytes
    stderr: str
    orphans: list = field(default_factory=list)


def end(process, timeout=TIMEOUT):
    """Wait until a process ends, or kill it after ``timeout`` seconds; kill the other processes of its session."""
    try:
        process.wait(timeout)
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
        orphans = _still_running(process.pid)
        for orphan in orphans:
            with contextlib.suppress(ProcessLookupError):
                os.kill(orphan, signal.SIGKILL)
        stdout, stderr = (_read_and_close(file) for file in process.files.values())
    return End(process.returncode, stdout, stderr.decode(errors="replace"), orphans)


def _read_and_close(file):
    with file:
        file.seek(0)
        return file.read()


def finish(*words, code=0, given=b"", **options):
    """Run ``nlptx WORDS`` with ``given`` on standard input; fail unless its exit code is ``code``."""
    with tempfile.TemporaryFile() as stdin:
        stdin.write(given)
        stdin.seek(0)
        done = end(start(*words, **({"stdin": stdin} | options)))
    assert done.code == code, f"exit {done.code}, expected {code}: {done.stderr}"
    assert TRACEBACK not in done.stderr, done.stderr
    return done


def _still_running(session, grace=3):
    """Return the processes of a session that are still running after ``grace`` seconds (needs /proc)."""
    until = time.monotonic() + grace
    while (running := members(session)) and time.monotonic() < until:
        time.sleep(0.02)
    return running


def members(session):
    """Return the ids of the running processes of a session."""
    pids = []
    for name in os.listdir("/proc") if os.path.isdir("/proc/self") else ():
        with contextlib.suppress(OSError):
            if name.isdecimal():
                state, _, _, its_session = Path("/proc", name, "stat").read_text().rpartition(") ")[2].split()[:4]
                if int(its_session) == session and state != "Z":
                    pids.append(int(name))
    return pids


# ---------------------------------------------------------------- targets


class Target:
    """A folder that contains only the output file of a stage, with old content; and a folder for temporary files."""

    def __init__(self, stage, folder, tally):
        self.stage, self.tally = stage, tally
        self.folder, self.temporary = folder / "out", folder / "tmp"
        self.folder.mkdir()
        self.temporary.mkdir()
        self.path = self.folder / stage.output
        self.words = (*stage.words, "-q", "-o", self.path)
        self.env = {"TMPDIR": str(self.temporary)}
        self.path.write_bytes(stage.old)
        self.new, self.seconds, self._steps = undisturbed(stage)

    def steps(self):
        """Return the names of the steps of the final write, in order."""
        return list(self._steps)


@functools.cache
def undisturbed(stage):
    """Run a stage without faults; return its output, its running time and the names of the steps of the final write."""
    with tempfile.TemporaryDirectory() as folder:
        path, trace = Path(folder, stage.output), Path(folder, "trace")
        words = (*stage.words, "-q", "-o", path)
        path.write_bytes(stage.old)
        started = time.monotonic()
        finish(*words)
        seconds = time.monotonic() - started
        finish(*words, trace=trace)
        return path.read_bytes(), seconds, tuple(trace.read_text().split())
