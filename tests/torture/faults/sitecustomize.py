"""Strikes a process of nlptx in the middle of its final write. Python imports this file by itself where its folder is
on PYTHONPATH, so the program under test is the one that users run.

The steps of a final write are the calls into the system from the moment a temporary file (``*.tmp``) is opened:
open, flock, each write to it, fchmod, fsync, replace, unlink. Two variables say what is to happen:

TORTURE_TRACE   a file that gets the name of each step, a line each
TORTURE_FAULT   JSON: ``step`` (from 0), ``after`` (else before) and ``do``: the name of a signal, which the process
                sends itself; the name of an error of the system, which takes the place of the call; or ``wait:FILE``,
                which makes FILE and goes on once it has been removed
"""

import errno
import fcntl
import json
import os
import signal
import time

CALLS = ((os, "open"), (fcntl, "flock"), (os, "write"), (os, "fchmod"), (os, "fsync"), (os, "replace"), (os, "unlink"))
trace = os.environ.get("TORTURE_TRACE")
fault = json.loads(os.environ.get("TORTURE_FAULT", "{}"))
system_open = os.open
# Paths and descriptors of the final write: the temporary file and its folder, as long as they are in use.
known = set()
step = -1


def strike(do):
    if do.startswith("wait:"):
        waiting = do.removeprefix("wait:")
        os.close(system_open(waiting, os.O_CREAT | os.O_WRONLY))
        while os.path.exists(waiting):
            time.sleep(0.01)
    elif do.startswith("SIG"):
        os.kill(os.getpid(), getattr(signal, do))
    else:
        raise OSError(getattr(errno, do), os.strerror(getattr(errno, do)))


def watched(name, call):
    """Return ``call`` as it is, but for being counted and struck."""

    def counting(*arguments, **options):
        global step
        first = arguments[0] if isinstance(arguments[0], int) else str(arguments[0])
        # The checkpoints of a training are written in the same way, but are not what it is run for.
        begins = name == "open" and str(first).endswith(".tmp") and ".checkpoint." not in first
        if begins and arguments[1] & os.O_EXCL:
            known.update((first, os.path.dirname(first)))
        if first not in known:
            return call(*arguments, **options)
        step += 1
        if trace:
            with open(trace, "a", encoding="utf-8") as file:
                file.write(name + "\n")
        struck = step == fault.get("step")
        if struck and not fault["after"]:
            strike(fault["do"])
        try:
            result = call(*arguments, **options)
            if name == "open":
                # Last comes the folder; the descriptor of the file that was renamed may be another's by then.
                known.difference_update([number for number in known if isinstance(number, int)])
                known.add(result)
            return result
        finally:  # unlink, for one, fails when all went well
            if struck and fault["after"]:
                strike(fault["do"])

    return counting


for module, name in CALLS:
    setattr(module, name, watched(name, getattr(module, name)))
