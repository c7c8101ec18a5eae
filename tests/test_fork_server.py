"""A process forked from the test server behaves like a new interpreter."""

import os
import signal
import subprocess
import time

import pytest
from command import TIMEOUT, TRACEBACK, alive, start

ENVIRONMENTS = pytest.mark.parametrize("env", [{"FORKED": "1"}, {"PYTHONDONTWRITEBYTECODE": "1"}], ids=["fork", "new"])
WAITS = "import os, sys; print(os.getsid(0) == os.getpid(), flush=True); sys.stdin.read()"


def result_of(program, *arguments, data=b"", **options):
    process = start(*arguments, program=program, **options)
    out, errors = process.communicate(data, timeout=TIMEOUT)
    return process.returncode, out, errors.decode()


@ENVIRONMENTS
def test_a_process_has_its_own_streams_arguments_folder_and_environment(env, tmp_path):
    program = "import os, sys; print(sys.stdin.read(), sys.argv[1:], os.getcwd(), os.environ['FOUND'])"
    result = result_of(program, "a", "é", data=b"text", cwd=tmp_path, env=env | {"FOUND": "here"})
    assert result == (0, f"text ['a', 'é'] {tmp_path} here\n".encode(), "")


@ENVIRONMENTS
@pytest.mark.parametrize(
    ("statement", "code"), [("sys.exit(7)", 7), ("pass", 0), ("os.kill(os.getpid(), 9)", -signal.SIGKILL)]
)
def test_exit_code_of_the_program_is_returned(statement, code, env):
    assert result_of(f"import os, sys\n{statement}", env=env) == (code, b"", "")


@ENVIRONMENTS
def test_exception_prints_a_traceback(env):
    code, _, errors = result_of("1 / 0", env=env)
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
    process.send_signal(signal.SIGTERM)  # a signal to an ended process has no effect
    process.communicate(timeout=TIMEOUT)


def test_process_id_is_not_reused_before_the_exit_code_is_received():
    process = start(program="pass")
    while alive(process.pid):
        time.sleep(0.001)
    os.kill(process.pid, 0)  # raises an error unless the id is in use; a zombie keeps it
    process.communicate(timeout=TIMEOUT)
    assert process.returncode == 0
