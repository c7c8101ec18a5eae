"""Runs nlptx inside the test process, which is fast, and merges repeated options of commands."""

import io
import os
import sys
from unittest import mock

from command import ONE_WORKER, Result

from nlptx.cli.main import run_command

_STREAMS = ("stdin", "stdout", "stderr")


def call(*arguments, stdin=b"", code=0):
    """Run ``nlptx ARGUMENTS`` with ``stdin`` as input; ``code`` is the expected exit code (None: any).

    Without --jobs, nlptx uses a single worker.
    """
    data = stdin.encode() if isinstance(stdin, str) else stdin
    streams = {name: io.TextIOWrapper(io.BytesIO(data if name == "stdin" else b""), "utf-8") for name in _STREAMS}
    before = {name: getattr(sys, name) for name in _STREAMS}
    try:
        for name, stream in streams.items():
            setattr(sys, name, stream)
        with mock.patch.dict(os.environ, ONE_WORKER | os.environ):
            exit_code = run_command([str(word) for word in arguments])
    finally:
        for name, stream in before.items():
            setattr(sys, name, stream)
    for name in ("stdout", "stderr"):
        streams[name].flush()
    result = Result(exit_code, streams["stdout"].buffer.getvalue(), streams["stderr"].buffer.getvalue().decode())
    assert code is None or result.code == code, f"exit {result.code}, expected {code}: {result.stderr}"
    return result


def failure(*arguments, **options):
    """Run a command that fails; return its exit code and its message."""
    result = call(*arguments, **options, code=None)
    assert result.code, "the command did not fail"
    return result.code, result.stderr.removeprefix("nlptx: error: ")


def last_of_each(*words):
    """Return command arguments without repeated options, which nlptx rejects; the last occurrence is kept."""
    parts = []
    for word in map(str, words):
        if word.startswith("-") or not parts:
            parts = [part for part in parts if part[0] != word or not word.startswith("--")]
            parts.append([])
        parts[-1].append(word)
    return tuple(word for part in parts for word in part)
