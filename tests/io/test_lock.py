"""One training at a time: the second is refused, and nobody is held up by one that was killed."""

import errno
import fcntl
import os
import signal

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


def test_a_second_training_of_the_same_output_is_refused(work, tmp_path):
    with Running(*endless(work), cwd=tmp_path) as first:
        first.read_until(b"epoch 2/", first.process.stderr)
        (tmp_path / "link.npz").symlink_to("out.npz")
        for name in ("out.npz", tmp_path / "out.npz", "link.npz"):
            refused(*one_step(work), "-o", name, code=1, says="another process is training", cwd=tmp_path)
        run(*one_step(work), "-q", "-o", "other.npz", cwd=tmp_path)  # beside it is no matter
        first.process.send_signal(signal.SIGINT)
        assert first.finish().code == 130
    assert sorted(contents(tmp_path)) == sorted(["other.npz", "out.npz", "out.npz.checkpoint", "link.npz"])
    run(*one_step(work), "-q", "-o", "out.npz", cwd=tmp_path)


def test_a_killed_training_holds_nobody_up(work, tmp_path):
    with Running(*endless(work), cwd=tmp_path) as first:
        first.read_until(b"epoch 2/", first.process.stderr)
        first.process.kill()
        first.process.wait()
    assert LOCK in contents(tmp_path)
    run(*one_step(work), "-q", "-o", "out.npz", cwd=tmp_path)
    assert list(contents(tmp_path)) == ["out.npz"]


def test_of_many_trainings_started_at_once_one_wins_whole(work, tmp_path):
    words = (*one_step(work), "-q", "-o", "out.npz")
    started = [start(*words, cwd=tmp_path) for _ in range(4)]
    ended = [(process.communicate()[1].decode(), process.returncode) for process in started]
    # One that comes when another has ended may train too; it writes the same bytes.
    assert {code for _, code in ended} <= {0, 1}
    assert 0 in {code for _, code in ended}
    assert all("another process is training out.npz" in said for said, code in ended if code)
    alone = tmp_path / "alone"
    alone.mkdir()
    run(*one_step(work), "-q", "-o", "out.npz", cwd=alone)
    left = contents(tmp_path)
    assert left == {"out.npz": left["alone/out.npz"], "alone/out.npz": left["alone/out.npz"]}


def test_the_lock_is_held_within_the_block_only(tmp_path):
    path = str(tmp_path / "lock")
    with locked(path, "taken"):
        for _ in range(2):
            with pytest.raises(OutputError, match="taken"), locked(path, "taken"):
                pass
        assert os.listdir(tmp_path) == ["lock"]
    assert os.listdir(tmp_path) == []
    with locked(path, "taken"):
        pass


def test_a_lock_file_removed_while_it_was_waited_for_is_made_again(tmp_path, monkeypatch):
    """Else two processes could hold the lock of two files of the same name."""
    path = str(tmp_path / "lock")
    usual, calls = fcntl.flock, []

    def flock(descriptor, what):
        usual(descriptor, what)
        if not calls:
            os.unlink(path)  # the one before cleans up, just after this one opened the file
        calls.append(descriptor)

    monkeypatch.setattr(fcntl, "flock", flock)
    with locked(path, "taken"):
        assert len(calls) == 2
        assert os.path.exists(path)


def test_a_lock_file_that_another_made_meanwhile_is_left_alone(tmp_path):
    path = tmp_path / "lock"
    with locked(str(path), "taken"):
        path.unlink()
        path.write_text("another's")
    assert path.read_text() == "another's"


def test_a_file_system_without_locks_is_done_without(tmp_path, monkeypatch):
    def flock(descriptor, what):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", flock)
    with locked(str(tmp_path / "lock"), "taken"):
        pass
    assert os.listdir(tmp_path) == []


def test_a_lock_that_cannot_be_made_is_an_error(tmp_path):
    with pytest.raises(OutputError, match="No such file"), locked(str(tmp_path / "no" / "lock"), "taken"):
        pass
