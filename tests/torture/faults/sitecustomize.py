"""Injects a fault into the final write of nlptx.

Python imports this file automatically if its folder is on PYTHONPATH, so the tests run the same program as users.

The steps of a final write are its system calls from the moment a temporary file (``*.tmp``) is opened:
open, flock, each write to it, fchmod, fsync, replace, unlink. Two environment variables control what happens:

TORTURE_TRACE   a file to which the name of each step is appended, one per line
TORTURE_FAULT   JSON object with ``step`` (from 0), ``after`` (true: after the step, false: before it) and ``do``:
                the name of a signal that the process sends to itself; the name of an operating-system error, which is
                raised; or ``wait:FILE``, which creates FILE and waits until it has been removed
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
# Paths and descriptors that belong to the final write: the temporary file and its folder while they are in use.
tracked = set()
step = -1


def inject(do):
    if do.startswith("wait:"):
        waiting = do.removeprefix("wait:")
        os.close(system_open(waiting, os.O_CREAT | os.O_WRONLY))
        while os.path.exists(waiting):
            time.sleep(0.01)
    elif do.startswith("SIG"):
        os.kill(os.getpid(), getattr(signal, do))
    else:
        raise OSError(getattr(errno, do), os.strerror(getattr(errno, do)))


def instrumented(name, call):
    """Return a wrapper of ``call`` that counts the steps and injects the fault."""

    def counting(*arguments, **options):
        global step
        first = arguments[0] if isinstance(arguments[0], int) else str(arguments[0])
        # Checkpoints are written in the same way, but only the steps of writing the output are counted.
        begins = name == "open" and str(first).endswith(".tmp") and ".checkpoint." not in first
        if begins and arguments[1] & os.O_EXCL:
            tracked.update((first, os.path.dirname(first)))
        if first not in tracked:
            return call(*arguments, **options)
        step += 1
        if trace:
            with open(trace, "a", encoding="utf-8") as file:
                file.write(name + "\n")
        faulty = step == fault.get("step")
        if faulty and not fault["after"]:
            inject(fault["do"])
        try:
            result = call(*arguments, **options)
            if name == "open":
                # When the folder is opened, the temporary file is closed, and another file may have its descriptor.
                tracked.difference_update([number for number in tracked if isinstance(number, int)])
                tracked.add(result)
            return result
        finally:  # needed because unlink raises an exception after a successful write
            if faulty and fault["after"]:
                inject(fault["do"])

    return counting


for module, name in CALLS:
    setattr(module, name, instrumented(name, getattr(module, name)))
