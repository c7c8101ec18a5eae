"""Kills ``nlptx`` at chosen moments, to see whether what it leaves can be gone on from.

Two ways. :func:`killed_at` ends a command at a point of its work, whatever the speed of the machine.
:func:`killed_after` ends it after some seconds, wherever it is then; :func:`survives` does that many times over.
"""

import os
import signal
import subprocess
import sys
import time

from command import NLPTX, TIMEOUT, environment, run

# Run in the child: the process kills itself when a function is called for the n-th time, before or after its work.
_DRIVER = """
import importlib, os, signal, sys
module, owner, name, number, after, *words = sys.argv[1:]
import nlptx.training.checkpoint
nlptx.training.checkpoint._LEAST_REST = 0  # or the steps here would be too fast for more than one checkpoint
holder = importlib.import_module(module)
holder = getattr(holder, owner) if owner else holder
usual, calls = getattr(holder, name), 0
def counted(*args, **kwargs):
    global calls
    calls += 1
    last = calls == int(number)
    if last and after == "before":
        os.kill(os.getpid(), signal.SIGKILL)
    result = usual(*args, **kwargs)
    if last:
        os.kill(os.getpid(), signal.SIGKILL)
    return result
setattr(holder, name, counted)
sys.argv = ["nlptx", *words]
from nlptx.cli.main import main
main()
"""
STEP = ("nlptx.training.trainer", "Trainer", "take_step")
JUDGE = ("nlptx.training.supervised", "SupervisedTrainer", "after_epoch")
SAVE = ("nlptx.training.checkpoint", "Checkpoint", "save")
# Each entry of a file that is being written passes here.
ENTRY = ("nlptx.artifacts.container", "", "write_array")
REPLACE = ("os", "", "replace")
REMOVE = ("nlptx.training.checkpoint", "Checkpoint", "remove")


def killed_at(point, number, *words, when="before", cwd=None):
    """Run ``nlptx WORDS`` until it calls ``point`` for the ``number``-th time, and SIGKILL it there.

    Args:
        point: module, class ("" for none) and name of a function, such as STEP.
        number: from 1.
        words: of the command.
        when: ``before`` or ``after`` the call.
        cwd: folder to run in.
    """
    words = [sys.executable, "-c", _DRIVER, *point, str(number), when, *map(str, words)]
    done = subprocess.run(
        words, stdin=subprocess.DEVNULL, capture_output=True, cwd=cwd, env=environment(), timeout=TIMEOUT, check=False
    )
    assert done.returncode == -signal.SIGKILL, f"it was not killed, but ended with {done.returncode}: {done.stderr}"
    return done.stderr.decode()


def killed_after(seconds, *words, cwd=None):
    """Run ``nlptx WORDS`` for so long, then SIGKILL it; tell whether it was still running."""
    process = subprocess.Popen(
        [*NLPTX, *map(str, words)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd=cwd,
        env=environment(),
        start_new_session=True,
    )
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.kill()
    return process.wait() == -signal.SIGKILL


def survives(fractions, words, output, cwd):
    """Kill ``nlptx WORDS -o OUTPUT`` after these shares of its time, each time going on with ``--resume``.

    Every kill starts from an empty place. The file made in the end must have the bytes of one made without a kill,
    and nothing else may be left beside it.

    Args:
        fractions: of the time a run takes from start to end, each from 0 to 1.
        words: of the command, without its output.
        output: name of the file, in the folder ``cwd`` that is otherwise empty.
    """
    start = time.monotonic()
    run(*words, "-q", "-o", output, cwd=cwd)
    seconds = time.monotonic() - start
    whole = (cwd / output).read_bytes()
    for fraction in fractions:
        moment = fraction * seconds
        (cwd / output).unlink()
        while not killed_after(moment, *words, "-q", "-o", output, cwd=cwd):
            moment /= 2  # the machine was slower when the time was taken
            (cwd / output).unlink()
        run(*words, "-q", "--resume", "-o", output, cwd=cwd)
        assert os.listdir(cwd) == [output], f"after a kill at {fraction:.3f} of the time"
        assert (cwd / output).read_bytes() == whole, f"after a kill at {fraction:.3f} of the time"
