"""Kills ``nlptx`` at chosen moments, or sends it signals there, to see what it leaves.

:func:`killed_at` and :func:`signalled_at` strike at a point of the work, whatever the speed of the machine.
:func:`killed_after` kills after some seconds, wherever the command is then; :func:`survives` does that many times over.
"""

import json
import os
import signal
import subprocess
import sys
import time

from command import NLPTX, TIMEOUT, TRACEBACK, environment, run

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
# Run in the child: the process sends itself signals when functions are called for the n-th time.
_SIGNAL_DRIVER = """
import importlib, json, os, signal, sys
strikes, force_after, *words = sys.argv[1:]
import nlptx.cli.stop_signal
nlptx.cli.stop_signal._FORCE_AFTER = float(force_after)

def strike(module, owner, name, number, signal_name):
    holder = importlib.import_module(module)
    holder = getattr(holder, owner) if owner else holder
    usual, calls = getattr(holder, name), 0
    def counted(*args, **kwargs):
        nonlocal calls
        calls += 1
        if calls == number:
            os.kill(os.getpid(), getattr(signal, signal_name))
        return usual(*args, **kwargs)
    setattr(holder, name, counted)

for one in json.loads(strikes):
    strike(*one)
sys.argv = ["nlptx", *words]
from nlptx.cli.main import main
main()
"""
STEP = ("nlptx.training.trainer", "Trainer", "take_step")
JUDGE = ("nlptx.training.supervised", "SupervisedTrainer", "after_epoch")
SAVE = ("nlptx.training.checkpoint", "Checkpoint", "save")
KEEP = ("nlptx.classifier.model", "Model", "save")
# Work before the first step: the encoding of the texts, and the features of n-grams.
ENCODE = ("nlptx.training.fit", "", "encode")
FEATURES = ("nlptx.training.fit", "", "add_ngram_features")
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


def signalled_at(strikes, *words, force_after=1000, cwd=None):
    """Run ``nlptx WORDS``, which sends itself signals at points of its work; return its exit code and standard error.

    Args:
        strikes: (point, number, signal) of each: a function such as STEP, which of its calls, and a name.
        words: of the command.
        force_after: seconds after the first signal from which on Ctrl-C forces an end.
        cwd: folder to run in.
    """
    strikes = json.dumps([(*point, number, name) for point, number, name in strikes])
    words = [sys.executable, "-c", _SIGNAL_DRIVER, strikes, str(force_after), *map(str, words)]
    done = subprocess.run(
        words, stdin=subprocess.DEVNULL, capture_output=True, cwd=cwd, env=environment(), timeout=TIMEOUT, check=False
    )
    assert TRACEBACK not in done.stderr.decode(), done.stderr.decode()
    return done.returncode, done.stderr.decode()


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
