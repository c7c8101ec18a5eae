"""Only one training run per output file is possible at a time; a killed run does not block later ones."""

import errno
import fcntl
import os
import signal
import threading

import pytest
from calling import last_of_each
from command import Running, contents, refused, run, start
from sample_data import TRAIN, one_step

from nlptx.errors import OutputError
from nlptx.io.lock import locked

LOCK = ".out.npz.checkpoint.lock"


def endless(work, *more):
    words = (
        "train",
        work / "train.tsv",
        "-e",
        work / "embeddings.npz",
        *TRAIN,
        "--epochs",
        "100000",
        "--patience",
        "0",
    )
    return last_of_each(*words, "-o", "out.npz", *more)


def test_a_second_training_with_the_same_output_is_rejected(work, tmp_path):
    with Running(*endless(work), cwd=tmp_path) as first:
        first.read_until(b"epoch 2/", first.process.stderr)
        (tmp_path / "link.npz").symlink_to("out.npz")
        for name in ("out.npz", tmp_path / "out.npz", "link.npz"):
            refused(*one_step(work), "-o", name, code=1, says="another process is training", cwd=tmp_path)
        run(*one_step(work), "-q", "-o", "other.npz", cwd=tmp_path)  # another output in the same folder is allowed
        first.process.send_signal(signal.SIGINT)
        assert first.finish().code == 130
    assert sorted(contents(tmp_path)) == sorted(["other.npz", "out.npz", "out.npz.checkpoint", "link.npz"])
    run(*one_step(work), "-q", "-o", "out.npz", cwd=tmp_path)


def test_a_killed_training_does_not_block_the_next_one(work, tmp_path):
    with Running(*endless(work), cwd=tmp_path) as first:
        first.read_until(b"epoch 2/", first.process.stderr)
        first.process.kill()
        first.process.wait()
    assert LOCK in contents(tmp_path)
    run(*one_step(work), "-q", "-o", "out.npz", cwd=tmp_path)
    assert list(contents(tmp_path)) == ["out.npz"]


def test_concurrent_trainings_leave_one_complete_model(work, tmp_path):
    words = (*one_step(work), "-q", "-o", "out.npz")
    running = [start(*words, cwd=tmp_path) for _ in range(4)]
    results = [(process.communicate()[1].decode(), process.returncode) for process in running]
    # A process that starts after another one has finished may also train, and writes the same bytes.
    assert {code for _, code in results} <= {0, 1}
    assert 0 in {code for _, code in results}
    expected = "another process is training a model with the output out.npz"
    assert all(expected in message for message, code in results if code)
    alone = tmp_path / "alone"
    alone.mkdir()
    run(*one_step(work), "-q", "-o", "out.npz", cwd=alone)
    files = contents(tmp_path)
    assert files == {"out.npz": files["alone/out.npz"], "alone/out.npz": files["alone/out.npz"]}


def test_the_lock_is_held_only_within_the_block(tmp_path):
    path = str(tmp_path / "lock")
    with locked(path, "taken"):
        for _ in range(2):
            with pytest.raises(OutputError, match="taken"), locked(path, "taken"):
                pass
        assert os.listdir(tmp_path) == ["lock"]
    assert os.listdir(tmp_path) == []
    with locked(path, "taken"):
        pass


def test_a_lock_that_is_held_for_another_moment_is_awaited(tmp_path):
    """If a process is killed, a worker that it has just forked may hold the lock for another moment."""
    path = str(tmp_path / "lock")
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    threading.Timer(0.05, os.close, [descriptor]).start()
    with locked(path, "taken"):
        assert os.listdir(tmp_path) == ["lock"]


def test_a_lock_file_removed_before_it_is_locked_is_recreated(tmp_path, monkeypatch):
    """If the lock file were not recreated, two processes could lock two different files of the same name."""
    path = str(tmp_path / "lock")
    original, calls = fcntl.flock, []

    def flock(descriptor, operation):
        original(descriptor, operation)
        if not calls:
            os.unlink(path)  # the previous owner removes the lock file just after this process opened it
        calls.append(descriptor)

    monkeypatch.setattr(fcntl, "flock", flock)
    with locked(path, "taken"):
        assert len(calls) == 2
        assert os.path.exists(path)


def test_a_lock_file_recreated_by_another_process_is_not_removed(tmp_path):
    path = tmp_path / "lock"
    with locked(str(path), "taken"):
        path.unlink()
        path.write_text("another's")
    assert path.read_text() == "another's"


def test_a_file_system_without_locks_is_supported(tmp_path, monkeypatch):
    def flock(descriptor, operation):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", flock)
    with locked(str(tmp_path / "lock"), "taken"):
        pass
    assert os.listdir(tmp_path) == []


def test_a_lock_file_that_cannot_be_created_is_an_error(tmp_path):
    with pytest.raises(OutputError, match="No such file"), locked(str(tmp_path / "no" / "lock"), "taken"):
        pass
