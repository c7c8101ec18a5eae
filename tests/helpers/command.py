"""Runs nlptx in a separate process, as users do; shared by the command-line tests."""

import json
import os
import pty
import select
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from subprocess import PIPE

import numpy as np
from fork_server import ForkServer

NLPTX = [sys.executable, "-m", "nlptx"]
TIMEOUT = 60
TRACEBACK = "Traceback (most recent call last)"
# First lines of a program in which forking causes a warning, as it does in Python 3.12 and later if there are threads.
_FORK_WARNS = """
import os
import warnings

def fork_and_warn(fork=os.fork):
    pid = fork()
    if pid:
        message = "This process (pid=1) is multi-threaded, use of fork() may lead to deadlocks in the child."
        warnings.warn(message, DeprecationWarning)
    return pid

os.fork = fork_and_warn
"""
# The shell that runs all pipelines in the tests; with `pipefail`, a pipeline fails if any of its stages fails.
_SHELL = ["bash", "-o", "pipefail", "-c"]
_NLPTX_IN_SHELL = 'nlptx() { "$TESTED_PYTHON" -m nlptx "$@"; }\n'


@dataclass(frozen=True)
class Result:
    """The result of a finished process: exit code, standard output as bytes, standard error as text."""

    code: int
    stdout: bytes
    stderr: str

    @property
    def text(self):
        return self.stdout.decode()

    @property
    def lines(self):
        return self.text.splitlines()

    @property
    def json(self):
        return json.loads(self.text)

    @property
    def rows(self):
        """The lines of a TSV table without a header, split into at most three fields."""
        return [line.split("\t", 2) for line in self.lines]


def environment(**changes):
    """Return the environment for a child process, without nlptx settings of the user.

    ``changes`` sets further variables; a variable whose value is None is removed.
    """
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("NLPTX_", "_NLPTX"))}
    kept |= {"OPENBLAS_NUM_THREADS": "1", "TESTED_PYTHON": sys.executable, "TERM": "xterm"}
    for name in ("NO_COLOR", "FORCE_COLOR", "PYTHONHASHSEED", "PYTHONIOENCODING", "PYTHONUNBUFFERED"):
        kept.pop(name, None)
    return {name: value for name, value in (kept | changes).items() if value is not None}


_FORKS = ForkServer(environment())
# Environment variables that allow only one worker, because starting several takes longer than the work of most tests.
ONE_WORKER = {f"NLPTX_{name}_JOBS": "1" for name in ("TRAIN", "PREDICT", "EVALUATE", "EXPLAIN", "COMPARE")}


def start(*arguments, program=None, cwd=None, env=None, stdin=PIPE, stdout=PIPE, stderr=PIPE):
    """Start ``nlptx ARGUMENTS`` in a new session; return an object like :class:`subprocess.Popen`.

    The process is a fork of a server, or a new interpreter if a changed variable would have no effect on a fork.

    Args:
        arguments: arguments of nlptx.
        program: Python source to run instead, with the same arguments.
        cwd: working directory.
        env: changes to the environment.
        stdin, stdout, stderr: standard streams, as for Popen.
    """
    words, changes = [*map(str, arguments)], env or {}
    if _FORKS.can_run(changes):
        return _FORKS.start(words, (stdin, stdout, stderr), cwd, environment(**changes), program)
    first = [sys.executable, "-c", program] if program else NLPTX
    return start_program([*first, *words], cwd=cwd, env=changes, stdin=stdin, stdout=stdout, stderr=stderr)


def start_program(words, *, env, **options):
    """Start a program in a new session; return its :class:`subprocess.Popen`."""
    return subprocess.Popen(
        words,
        env=environment(**env),
        start_new_session=True,
        # If the tests run as a background job, they ignore Ctrl-C, and the program would inherit this setting.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        **options,
    )


def _finish(process, data):
    """Send ``data`` to a process and wait until it ends; return its exit code, standard output and error."""
    try:
        out, errors = process.communicate(data, timeout=TIMEOUT)
    except subprocess.TimeoutExpired:
        process.kill()
        raise
    return process.returncode, out, errors


def _check(outcome, code, traceback=False):
    exit_code, stdout, stderr = outcome
    result = Result(exit_code, stdout, stderr.decode(errors="replace"))
    assert code is None or result.code == code, f"exit {result.code}, expected {code}: {result.stderr}"
    assert (TRACEBACK in result.stderr) == traceback, result.stderr
    return result


def run(*arguments, stdin=b"", cwd=None, env=None, code=0, traceback=False):
    """Run ``nlptx ARGUMENTS`` with ``stdin`` piped in. ``code`` is the expected exit code; None allows any code.

    Without --jobs, nlptx uses a single worker.
    """
    return _check(_finish(start(*arguments, cwd=cwd, env=ONE_WORKER | (env or {})), _as_bytes(stdin)), code, traceback)


def run_program(program, *arguments, stdin=b"", cwd=None, code=0):
    """Run Python source that runs ``nlptx ARGUMENTS``, for example with a function replaced."""
    return _check(_finish(start(*arguments, program=program, cwd=cwd), _as_bytes(stdin)), code)


def shell(script, *, stdin=b"", cwd=None, env=None, code=0):
    """Run a shell command in which ``nlptx`` is the version under test."""
    done = subprocess.run(
        [*_SHELL, _NLPTX_IN_SHELL + script],
        input=_as_bytes(stdin),
        capture_output=True,
        cwd=cwd,
        env=environment(**(env or {})),
        timeout=TIMEOUT,
        check=False,
    )
    return _check((done.returncode, done.stdout, done.stderr), code)


def _as_bytes(text):
    return text.encode() if isinstance(text, str) else text


def refused(*arguments, code, says=(), untouched=None, **options):
    """Run a command that must fail with an error message of one to three lines and without output.

    Args:
        arguments: arguments of nlptx.
        code: expected exit code.
        says: text, or texts, that the message must contain.
        untouched: folder whose files must not change.
        options: keyword arguments of :func:`run`.
    """
    before = contents(untouched) if untouched else None
    result = run(*arguments, code=code, **options)
    assert result.stdout == b""
    assert 1 <= len([line for line in result.stderr.splitlines() if line.strip()]) <= 3, result.stderr
    for part in [says] if isinstance(says, str) else says:
        assert str(part) in result.stderr, result.stderr
    assert before is None or contents(untouched) == before
    return result


def header_of(path):
    """Return the JSON header of an artifact."""
    with np.load(path, allow_pickle=False) as arrays:
        return json.loads(arrays["header"].tobytes())


def contents(folder):
    """Return the bytes of all files in a folder and its subfolders, including hidden files, by relative path."""
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def run_forking(program):
    """Run a Python program that forks; it needs a new process, because the test process has threads.

    Warnings are errors in the new process.
    """
    words = [sys.executable, "-W", "error", "-c", _FORK_WARNS + program]
    return subprocess.run(words, capture_output=True, env=environment(), check=False, text=True, timeout=TIMEOUT)


class Running:
    """A running ``nlptx ARGUMENTS``, whose standard streams are pipes or a terminal.

    Args:
        arguments: arguments of nlptx.
        terminal: numbers of the streams (0 input, 1 output, 2 errors) that are connected to one terminal.
        program: Python source to run instead, with the same arguments.
        cwd: working directory.
        env: changes to the environment.
    """

    def __init__(self, *arguments, terminal=(), program=None, cwd=None, env=None):
        self.screen, slave = pty.openpty() if terminal else (None, None)
        ends = [slave if number in terminal else PIPE for number in range(3)]
        streams = dict(zip(("stdin", "stdout", "stderr"), ends, strict=True))
        self.process = start(*arguments, program=program, cwd=cwd, env=env, **streams)
        if slave is not None:
            os.close(slave)
        self.seen = b""

    def __enter__(self):
        return self

    def __exit__(self, *error):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            if stream is not None:
                stream.close()
        if self.screen is not None:
            os.close(self.screen)

    def write(self, data):
        self.process.stdin.write(data)

    def read_until(self, mark, source=None):
        """Read until ``mark`` appears, and return everything read.

        ``source`` is the pipe to read. By default, the terminal is read, or standard output if there is no terminal.
        """
        source = source or (self.process.stdout if self.screen is None else None)
        descriptor = self.screen if source is None else source.fileno()
        seen, end = b"", time.monotonic() + TIMEOUT
        while mark is None or mark not in seen:
            ready, _, _ = select.select([descriptor], [], [], max(0, end - time.monotonic()))
            assert ready, f"waited in vain for {mark!r}, got {seen!r}"
            try:
                data = os.read(descriptor, 65536)
            except OSError:  # the process has closed the terminal
                data = b""
            if not data:
                break
            seen += data
        assert mark is None or mark in seen, f"ended before {mark!r}: {seen!r}"
        return seen

    def finish(self):
        """Close the input, wait until the process ends, and return the output that was not read before."""
        if self.process.stdin is not None:
            self.process.stdin.close()
            self.process.stdin = None
        screen = self.read_until(None) if self.screen is not None else b""
        # Read both streams concurrently: reading one to its end would block forever if the pipe of the other were full.
        out, errors = (screen if data is None else data for data in self.process.communicate(b"", timeout=TIMEOUT))
        result = Result(self.process.returncode, out, errors.decode(errors="replace"))
        assert TRACEBACK not in result.stderr, result.stderr
        return result


def on_terminal(*arguments, terminal=(0, 1, 2), **options):
    """Run nlptx with some standard streams on a terminal; the result contains the text shown there."""
    with Running(*arguments, terminal=terminal, **options) as running:
        return running.finish()


def children(running):
    pid = running.process.pid
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def alive(pid):
    """Return whether a process is running; a zombie is not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):  # the process ended before the file was opened or read
        return False


def all_end(pids):
    end = time.monotonic() + TIMEOUT
    while any(alive(pid) for pid in pids) and time.monotonic() < end:
        time.sleep(0.01)
    return not any(alive(pid) for pid in pids)
