"""Runs nlptx in processes that start immediately: forks of a server that has already imported all modules.

A new interpreter takes up to half a second to import NumPy and SciPy, which is most of the time that a small command
takes. A forked program is a normal process: it has a separate session, signal handlers, streams, environment and
working directory, and it ends as a new interpreter does, with an exit code, flushed streams and possibly a traceback.
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

# Prefixes of environment variables that are read only when an interpreter starts or a library is loaded.
_READ_AT_START = ("PYTHON", "OPENBLAS", "OMP_", "MKL_", "LD_", "MALLOC_")
# Module that nlptx imports only when it needs it.
_IMPORTED_LATE = "scipy.special"
MAIN = "from nlptx.__main__ import main\nmain()\n"


class ForkServer:
    """A server process, which starts at the first call of :meth:`start` and ends together with the test process."""

    def __init__(self, environment):
        self._environment = environment
        self._socket = None
        self._lock = threading.Lock()

    def can_run(self, changes):
        """Return whether a fork can run with these changes to the environment."""
        return not any(name.startswith(_READ_AT_START) for name in changes)

    def start(self, arguments, streams, cwd, environment, program=None):
        """Start ``nlptx ARGUMENTS``, or another ``program``, in a new session.

        Args:
            arguments: arguments of the program.
            streams: standard input, output and error, each as for :class:`subprocess.Popen`.
            cwd: working directory, or None for the current one.
            environment: all environment variables.
            program: Python source to run; by default it runs nlptx.
        """
        with self._lock:
            if self._socket is None:
                self._start_server()
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        pipes, ends = zip(*(_ends(number, stream) for number, stream in enumerate(streams)), strict=True)
        with theirs, self._lock:
            socket.send_fds(self._socket, [b"run"], [theirs.fileno(), *ends])
        for descriptor in ends:
            os.close(descriptor)
        cwd = os.path.abspath(cwd or os.getcwd())
        call = {"arguments": arguments, "cwd": cwd, "environment": environment, "program": program or MAIN}
        ours.sendall(json.dumps(call).encode("utf-8", "surrogateescape"))
        return ForkedProcess(ours, pipes)

    def _start_server(self):
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            words = [sys.executable, __file__, str(theirs.fileno())]
            quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL}
            process = subprocess.Popen(words, pass_fds=[theirs.fileno()], env=self._environment, **quiet)
        atexit.register(process.wait)
        atexit.register(self._socket.close)


def _ends(number, stream):
    """Return both ends of a standard stream: a file for the test (or None), and a descriptor for the child."""
    if stream == subprocess.PIPE:
        reading, writing = os.pipe()
        # Input is not buffered, so that written data arrives immediately.
        return (open(reading, "rb"), writing) if number else (open(writing, "wb", buffering=0), reading)
    if stream == subprocess.DEVNULL:
        return None, os.open(os.devnull, os.O_RDWR)
    return None, os.dup(stream if isinstance(stream, int) else stream.fileno())


class ForkedProcess:
    """A running fork, with attributes and methods of :class:`subprocess.Popen`.

    The parent of the fork sends the exit code to the test process, and reaps the fork only when the test process has
    received the code. Until the fork is reaped, no other process can get its id.
    """

    def __init__(self, wire, pipes):
        self._wire = wire
        self.stdin, self.stdout, self.stderr = pipes
        self.returncode = None
        self.pid = self._receive("pid")  # the fork sends its id when its signals and streams are ready

    def _receive(self, kind):
        received_kind, number = self._wire.recv(32).split()
        assert received_kind.decode() == kind, "the fork failed before the program started"
        return int(number)

    def poll(self):
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.wait(0)
        return self.returncode

    def wait(self, timeout=None):
        if self.returncode is None:
            self._wire.settimeout(timeout)
            try:
                self.returncode = self._receive("exit")
            except (BlockingIOError, TimeoutError):
                raise subprocess.TimeoutExpired(f"process {self.pid}", timeout) from None
            self._wire.close()
        return self.returncode

    def send_signal(self, number):
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self):
        self.send_signal(signal.SIGKILL)

    def communicate(self, data=b"", timeout=None):
        """Write ``data`` and wait; return standard output and standard error (None for a stream without a pipe)."""
        outputs = {}
        threads = [
            threading.Thread(target=_feed, args=(self.stdin, data), daemon=True),
            *(
                threading.Thread(target=_drain, args=(file, outputs), daemon=True)
                for file in (self.stdout, self.stderr)
            ),
        ]
        for thread in threads:
            thread.start()
        self.wait(timeout)
        for thread in threads:
            thread.join(timeout)
        return outputs.get(self.stdout), outputs.get(self.stderr)


def _feed(file, data):
    with contextlib.suppress(BrokenPipeError), file or contextlib.nullcontext():
        if file:
            file.write(data)


def _drain(file, outputs):
    if file:
        with file:
            outputs[file] = file.read()


# ---------------------------------------------------------------- the server


def serve(requests):
    """Handle requests until the socket is closed, then exit. In each forked process, return the program to run."""
    import nlptx

    names = [module.name for module in pkgutil.walk_packages(nlptx.__path__, "nlptx.")]
    for name in (*names, _IMPORTED_LATE):
        importlib.import_module(name)
    gc.freeze()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    while True:
        message, descriptors, _, _ = socket.recv_fds(requests, 16, 4)
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:  # reap children that have ended
                pass
        if not message:
            os._exit(0)
        if os.fork() == 0:
            requests.close()
            return _answer(*descriptors)
        for descriptor in descriptors:
            os.close(descriptor)


def _answer(connection, *streams):
    """Fork the program, wait until it ends, and send its exit code. In the fork, return the source of the program."""
    with socket.socket(fileno=connection) as wire:
        call = json.loads(wire.recv(1 << 20))
        child = os.fork()
        if child:
            for descriptor in streams:
                os.close(descriptor)
            ended = os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
            code = ended.si_status if ended.si_code == os.CLD_EXITED else -ended.si_status
            with contextlib.suppress(OSError):  # the test process may have closed its end
                wire.sendall(f"exit {code}".encode())
                wire.recv(1)  # returns when the test process has received the exit code
            os.waitpid(child, 0)
            os._exit(0)
        os.setsid()
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
        wire.sendall(f"pid {os.getpid()}".encode())
    return call["program"]


def _opened(server_stream, descriptor):
    """Open a standard stream with the encoding and error handler of the server's stream."""
    options = {"encoding": server_stream.encoding, "errors": server_stream.errors, "closefd": False}
    return open(descriptor, "w" if descriptor else "r", 1 if descriptor == 2 else -1, **options)


if __name__ == "__main__":
    source = serve(socket.socket(fileno=int(sys.argv[1])))
    try:
        exec(source, {"__name__": "__main__"})
    except SystemExit as ended:
        threading._shutdown()
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(ended.code or 0)
