"""A fork of the server of the tests behaves like a new interpreter."""

import os
import signal
import subprocess
import time

import pytest
from command import TIMEOUT, TRACEBACK, alive, start

ENVIRONMENTS = pytest.mark.parametrize("env", [{"FORKED": "1"}, {"PYTHONDONTWRITEBYTECODE": "1"}], ids=["fork", "new"])
WAITS = "import os, sys; print(os.getsid(0) == os.getpid(), flush=True); sys.stdin.read()"


def end_of(program, *arguments, data=b"", **options):
    process = start(*arguments, program=program, **options)
    out, errors = process.communicate(data, timeout=TIMEOUT)
    return process.returncode, out, errors.decode()


@ENVIRONMENTS
def test_a_process_has_its_own_streams_arguments_folder_and_environment(env, tmp_path):
    program = "import os, sys; print(sys.stdin.read(), sys.argv[1:], os.getcwd(), os.environ['FOUND'])"
    ended = end_of(program, "a", "é", data=b"text", cwd=tmp_path, env=env | {"FOUND": "here"})
    assert ended == (0, f"text ['a', 'é'] {tmp_path} here\n".encode(), "")


@ENVIRONMENTS
@pytest.mark.parametrize(
    ("statement", "code"), [("sys.exit(7)", 7), ("pass", 0), ("os.kill(os.getpid(), 9)", -signal.SIGKILL)]
)
def test_the_exit_code_is_that_of_the_program(statement, code, env):
    assert end_of(f"import os, sys\n{statement}", env=env) == (code, b"", "")


@ENVIRONMENTS
def test_an_exception_ends_with_a_traceback(env):
    code, _, errors = end_of("1 / 0", env=env)
    assert code == 1
    assert errors.startswith(TRACEBACK)


@ENVIRONMENTS
@pytest.mark.parametrize("name", ["SIGTERM", "SIGKILL"])
def test_a_signal_reaches_the_process_in_its_own_session(name, env):
    process = start(program=WAITS, env=env)
    assert process.stdout.readline() == b"True\n"
    assert process.poll() is None
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(0.01)
    process.send_signal(getattr(signal, name))
    assert process.wait(TIMEOUT) == -getattr(signal, name)
    process.send_signal(signal.SIGTERM)  # does nothing any more
    process.communicate(timeout=TIMEOUT)


def test_until_its_exit_code_is_received_a_process_keeps_its_id():
    process = start(program="pass")
    while alive(process.pid):
        time.sleep(0.001)
    os.kill(process.pid, 0)  # is a zombie
    process.communicate(timeout=TIMEOUT)
    assert process.returncode == 0
