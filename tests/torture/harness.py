"""What the torture tests share: amounts, corpora, stages, and processes that are watched and struck."""

import contextlib
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
# Is run in the process under test: by its own code in a fork, by Python in a new interpreter.
FAULTS = HERE / "faults/sitecustomize.py"
SCALE = float(os.environ.get("TORTURE_SCALE", "1"))
TIMEOUT = 300
COUNT = ("--min-count", "1", "--max-words", "2000")
PCA = ("--components", "16")
TRAIN = ("--epochs", "1", "--lr", "0.01", "--warmup", "0", "--heads", "2")


def amounts(quick, full):
    """Run a test twice: with ``quick`` among all tests, and with ``full``, scaled, in ``make torture``."""
    scaled = max(1, round(full * SCALE))
    return pytest.mark.parametrize("amount", [pytest.param(quick, id="quick"), torture(scaled, id="full")])


def torture(*values, id):
    """A parameter for ``make torture`` alone."""
    return pytest.param(*values, id=id, marks=pytest.mark.torture)


def seeded(*parts):
    """Random numbers that are the same in every run."""
    return random.Random(zlib.crc32(" ".join(parts).encode()))


# ---------------------------------------------------------------- text


def write_corpus(path, size, *, seed, labels=(), words=3000, longest=60, padding=""):
    """Write ``size`` bytes of text or a little more, a document a line; as a table if it is to have labels.

    Words are as unevenly frequent as in a language, and some depend on the label. ``padding`` ends each text: with
    one long word, there is much to read and little to compute.
    """
    rng = random.Random(seed)
    shares = list(itertools.accumulate(1 / rank for rank in range(1, words + 1)))
    with open(path, "w", encoding="utf-8") as file:
        file.write("text\tlabel\n" if labels else "")
        number = 0
        while file.tell() < size:
            text = [f"w{rank}" for rank in rng.choices(range(words), cum_weights=shares, k=rng.randint(3, longest))]
            if labels:
                label = labels[number % len(labels)]
                text[rng.randrange(len(text))] = f"{label}{rng.randrange(20)}"
            file.write(" ".join(text) + padding + (f"\t{label}\n" if labels else "\n"))
            number += 1
    return path


# ---------------------------------------------------------------- stages


@dataclass(frozen=True)
class StageRun:
    """A command that writes a file: its words without -o, and what the file held before."""

    name: str
    words: tuple
    output: str
    old: bytes = b"the work of last week\n"


def make_stages(folder, size):
    """Make a corpus, and of it the artifacts of all stages, in ``folder``; return the stages by name."""
    write_corpus(folder / "corpus.txt", size, seed=1)
    write_corpus(folder / "train.tsv", size // 2, seed=2, labels=("neg", "pos"))
    stages = [
        StageRun("cooccur", ("cooccur", folder / "corpus.txt", *COUNT), "cooccur.npz"),
        StageRun("pca", ("pca", folder / "cooccur.npz", *PCA), "embeddings.npz"),
        StageRun("train", ("train", folder / "train.tsv", "-e", folder / "embeddings.npz", *TRAIN), "model.npz"),
        StageRun("predict", ("predict", folder / "corpus.txt", "-m", folder / "model.npz"), "scores.txt"),
    ]
    for stage in stages:
        finish(*stage.words, "-o", folder / stage.output)
    return {stage.name: stage for stage in stages}


# ---------------------------------------------------------------- processes


def broken(defect):
    """The program with a defect put in; see broken.py."""
    return [sys.executable, str(HERE / "broken.py"), defect]


def start(*words, nlptx=None, fault=None, trace=None, env=None, **options):
    """Start ``nlptx WORDS`` in a session of its own, struck from within by ``fault`` if there is one.

    ``nlptx`` are the words that start a new interpreter, such as NLPTX. By default the program is forked from one that
    has already imported all modules; see fork_server.py.
    """
    changes = dict(env or {})
    changes |= {"TORTURE_FAULT": fault} if fault else {}
    changes |= {"TORTURE_TRACE": str(trace)} if trace else {}
    # Files and not pipes: nobody has to read along, and who outlives the process does not keep them open.
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
    """How a process ended: its exit code, its output, its talk, and who of its session outlived it."""

    code: int
    stdout: bytes
    stderr: str
    orphans: list = field(default_factory=list)


def end(process, timeout=TIMEOUT):
    """Wait for a process, and for those it started; kill what stays."""
    try:
        process.wait(timeout)
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
        orphans = _outliving(process.pid)
        for orphan in orphans:
            with contextlib.suppress(ProcessLookupError):
                os.kill(orphan, signal.SIGKILL)
        seen = [_read_and_close(file) for file in process.files.values()]
    return End(process.returncode, seen[0], seen[1].decode(errors="replace"), orphans)


def _read_and_close(file):
    with file:
        file.seek(0)
        return file.read()


def finish(*words, code=0, given=b"", **options):
    """Run to the end, with ``given`` on standard input; it must end with ``code``."""
    with tempfile.TemporaryFile() as stdin:
        stdin.write(given)
        stdin.seek(0)
        done = end(start(*words, **({"stdin": stdin} | options)))
    assert done.code == code, f"exit {done.code}, expected {code}: {done.stderr}"
    assert TRACEBACK not in done.stderr, done.stderr
    return done


def _outliving(session, grace=3):
    """Return the processes of a session that are still there after ``grace`` seconds (where /proc tells)."""
    until = time.monotonic() + grace
    while (living := members(session)) and time.monotonic() < until:
        time.sleep(0.02)
    return living


def members(session):
    """Return the living processes of a session."""
    found = []
    for name in os.listdir("/proc") if os.path.isdir("/proc/self") else ():
        with contextlib.suppress(OSError):
            if name.isdecimal():
                state, _, _, its_session = Path("/proc", name, "stat").read_text().rpartition(") ")[2].split()[:4]
                if int(its_session) == session and state != "Z":
                    found.append(int(name))
    return found


# ---------------------------------------------------------------- targets


class Target:
    """A stage's output in a folder of its own, with old content; a temporary folder of its own too."""

    def __init__(self, stage, folder, tally):
        self.stage, self.tally = stage, tally
        self.folder, self.temporary = folder / "out", folder / "tmp"
        self.folder.mkdir()
        self.temporary.mkdir()
        self.path = self.folder / stage.output
        self.words = (*stage.words, "-q", "-o", self.path)
        self.env = {"TMPDIR": str(self.temporary)}
        self.path.write_bytes(stage.old)
        started = time.monotonic()
        finish(*self.words, env=self.env)
        self.seconds = time.monotonic() - started
        self.new = self.path.read_bytes()

    def steps(self):
        """The steps of the final write, by name."""
        trace = self.temporary / "trace"
        finish(*self.words, env=self.env, trace=trace)
        names = trace.read_text().split()
        trace.unlink()
        return names
