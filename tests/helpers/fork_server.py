"""Runs nlptx in processes that start immediately: forks of a server that has already imported all modules.

A new interpreter takes half a second to import NumPy, SciPy and pandas, which is most of the time of a small command.
A forked program ends in the same way as in a new interpreter: exit code, flushed streams, traceback.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import importlib
import json
import os
import pkgutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading

import nlptx.__main__

# Prefixes of variables that are only read when an interpreter starts or a library is loaded.
_READ_AT_START = ("PYTHON", "OPENBLAS", "OMP_", "MKL_", "LD_", "MALLOC_")


class ForkServer:
    """A server process. It is started by the first call, and ends with the process that started it."""

    def __init__(self, environment):
        self._environment = environment
        self._socket = None
        self._lock = threading.Lock()

    def can_run(self, changes):
        """Return whether a fork can run with these changes to the environment."""
        return not any(name.startswith(_READ_AT_START) for name in changes)

    def run(self, arguments, data, cwd, environment, timeout):
        """Run ``nlptx ARGUMENTS``; return its exit code, output and errors. Raises subprocess.TimeoutExpired."""
        with self._lock:
            if self._socket is None:
                self._start()
        ours, theirs = socket.socketpair()
        pipes = [os.pipe() for _ in range(3)]
        (stdin, feed), (out, stdout), (errors, stderr) = pipes
        with ours:
            with theirs, self._lock:
                socket.send_fds(self._socket, [b"run"], [theirs.fileno(), stdin, stdout, stderr])
            for descriptor in (stdin, stdout, stderr):
                os.close(descriptor)
            call = {"arguments": arguments, "cwd": str(cwd or os.getcwd()), "environment": environment}
            ours.sendall(json.dumps(call).encode("utf-8", "surrogateescape") + b"\n")
            found = [b"", b""]
            threads = [
                threading.Thread(target=_feed, args=(feed, data), daemon=True),
                *(
                    threading.Thread(target=_drain, args=(end, found, n), daemon=True)
                    for n, end in enumerate((out, errors))
                ),
            ]
            for thread in threads:
                thread.start()
            with ours.makefile("r") as answers:
                child = int(answers.readline())
                ours.settimeout(timeout)
                try:
                    code = int(answers.readline())
                except TimeoutError:
                    os.kill(child, signal.SIGKILL)
                    raise subprocess.TimeoutExpired(["nlptx", *arguments], timeout) from None
            for thread in threads:
                thread.join(timeout)
        return code, found[0], found[1]

    def _start(self):
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            words = [sys.executable, __file__, str(theirs.fileno())]
            quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL}
            process = subprocess.Popen(words, pass_fds=[theirs.fileno()], env=self._environment, **quiet)
        atexit.register(process.wait)
        atexit.register(self._socket.close)


def _feed(descriptor, data):
    with contextlib.suppress(BrokenPipeError), open(descriptor, "wb") as file:
        file.write(data)


def _drain(descriptor, found, number):
    with open(descriptor, "rb") as file:
        found[number] = file.read()


# ---------------------------------------------------------------- the server


def serve(requests):
    """Answer requests until the socket is closed. Returns only in a fork that then runs the program."""
    for module in pkgutil.walk_packages(nlptx.__path__, "nlptx."):
        if module.name != "nlptx.__main__":
            importlib.import_module(module.name)
    gc.freeze()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    while True:
        message, descriptors, _, _ = socket.recv_fds(requests, 16, 4)
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:  # collect children that have finished
                pass
        if not message:
            os._exit(0)
        if os.fork() == 0:
            requests.close()
            return _answer(*descriptors)
        for descriptor in descriptors:
            os.close(descriptor)


def _answer(connection, *streams):
    """Fork the program, wait until it ends, and send its exit code. Returns only in the forked program."""
    with socket.socket(fileno=connection) as wire:
        with wire.makefile("r") as lines:
            call = json.loads(lines.readline())
        child = os.fork()
        if child:
            for descriptor in streams:
                os.close(descriptor)
            wire.sendall(f"{child}\n".encode())
            _, status = os.waitpid(child, 0)
            wire.sendall(f"{os.waitstatus_to_exitcode(status)}\n".encode())
            os._exit(0)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number, descriptor in enumerate(streams):
        os.dup2(descriptor, number)
        os.close(descriptor)
    sys.stdin, sys.stdout, sys.stderr = map(_opened, (sys.stdin, sys.stdout, sys.stderr), range(3))
    os.environ.clear()
    os.environ.update(call["environment"])
    os.chdir(call["cwd"])
    tempfile.tempdir = None
    sys.argv = ["nlptx", *call["arguments"]]


def _opened(usual, descriptor):
    """Open a standard stream with the encoding and error handler of the server's stream."""
    options = {"encoding": usual.encoding, "errors": usual.errors, "closefd": False}
    return open(descriptor, "w" if descriptor else "r", 1 if descriptor == 2 else -1, **options)


if __name__ == "__main__":
    serve(socket.socket(fileno=int(sys.argv[1])))
    try:
        nlptx.__main__.main()
    except SystemExit as ended:
        threading._shutdown()
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(ended.code or 0)
