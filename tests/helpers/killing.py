"""Kills ``nlptx``, or sends it signals, at chosen points, so that tests can check which files remain.

:func:`killed_at` and :func:`signalled_at` act at a given function call, so they do not depend on the speed of the
machine. :func:`killed_after` kills ``nlptx`` after a given time; :func:`survives` does this several times.
"""

import json
import os
import signal
import subprocess
import time

from command import run, run_program, start

# Code that runs in the child: the process kills itself before or after the n-th call of a function.
_DRIVER = """
import importlib, os, signal, sys
module, owner, name, number, after, *words = sys.argv[1:]
import nlptx.training.checkpoint
nlptx.training.checkpoint._MIN_INTERVAL = 0  # otherwise the steps here would be too fast for more than one checkpoint
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
# Code that runs in the child: the process sends itself signals when functions are called for the n-th time.
_SIGNAL_DRIVER = """
import importlib, json, os, signal, sys
strikes, force_after, *words = sys.argv[1:]
import nlptx.cli.terminal.stop_signal
nlptx.cli.terminal.stop_signal._FORCE_AFTER = float(force_after)

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
VALIDATE = ("nlptx.training.supervised", "SupervisedTrainer", "after_epoch")
SAVE = ("nlptx.training.checkpoint", "Checkpoint", "save")
SAVE_MODEL = ("nlptx.classifier.model", "Model", "save")
# Functions called before the first step: they encode the texts, and compute the n-gram features.
ENCODE = ("nlptx.training.fit", "", "encode")
FEATURES = ("nlptx.training.fit", "", "add_ngram_features")
# Function called for each entry of a file that is being written.
ENTRY = ("nlptx.artifacts.container", "", "write_array")
REPLACE = ("os", "", "replace")
REMOVE = ("nlptx.training.checkpoint", "Checkpoint", "remove")


def killed_at(point, number, *words, when="before", cwd=None):
    """Run ``nlptx WORDS`` until it calls ``point`` for the ``number``-th time, then kill it with SIGKILL.

    Args:
        point: a function, such as STEP, given as its module, its class ("" if it has none) and its name.
        number: number of the call, from 1.
        words: arguments of the command.
        when: whether to kill the process "before" or "after" the call.
        cwd: working directory.
    """
    return run_program(_DRIVER, *point, number, when, *words, cwd=cwd, code=-signal.SIGKILL).stderr


def signalled_at(strikes, *words, force_after=1000, cwd=None):
    """Run ``nlptx WORDS``, which sends itself signals at given function calls; return exit code and standard error.

    Args:
        strikes: (point, number, signal) of each signal: a function such as STEP, the number of its call, and the name
            of the signal.
        words: arguments of the command.
        force_after: seconds that must pass after the first signal before Ctrl-C forces the command to end.
        cwd: working directory.
    """
    strikes = json.dumps([(*point, number, name) for point, number, name in strikes])
    result = run_program(_SIGNAL_DRIVER, strikes, force_after, *words, cwd=cwd, code=None)
    return result.code, result.stderr


def killed_after(seconds, *words, cwd=None):
    """Run ``nlptx WORDS`` for ``seconds``, then kill it with SIGKILL; return whether it was still running."""
    process = start(*words, cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.kill()
    return process.wait() == -signal.SIGKILL


def survives(fractions, words, output, cwd):
    """Kill ``nlptx WORDS -o OUTPUT`` after each given fraction of its time, and continue with ``--resume``.

    Each killed run starts with an empty folder. The final file must have the same bytes as that of an uninterrupted
    run, and no other file may remain in the folder.

    Args:
        fractions: fractions of the time of an uninterrupted run, each from 0 to 1.
        words: arguments of the command, except for its output file.
        output: name of the output file.
        cwd: working directory, which must be empty.
    """
    start = time.monotonic()
    run(*words, "-q", "-o", output, cwd=cwd)
    seconds = time.monotonic() - start
    uninterrupted = (cwd / output).read_bytes()
    for fraction in fractions:
        moment = fraction * seconds
        (cwd / output).unlink()
        while not killed_after(moment, *words, "-q", "-o", output, cwd=cwd):
            moment /= 2  # the command ended before it could be killed: the machine was slower during the timed run
            (cwd / output).unlink()
        run(*words, "-q", "--resume", "-o", output, cwd=cwd)
        assert os.listdir(cwd) == [output], f"after a kill at {fraction:.3f} of the time"
        assert (cwd / output).read_bytes() == uninterrupted, f"after a kill at {fraction:.3f} of the time"
