"""A crew: every member does its part of every task, and nobody outlives the program."""

import os
import signal
import sys

import numpy as np
import pytest
from command import Running, all_end, children, contents, run, run_forking, shell
from conftest import COUNT, PCA, TRAIN, make_rows, write_tsv
from numpy.testing import assert_array_equal

from nlptx.runtime.crew import crew
from nlptx.runtime.shared_memory import shared_copy, shared_empty

forks = pytest.mark.skipif(sys.platform != "linux", reason="helpers are threads on this system")


@pytest.mark.parametrize("members", [1, 2, 4])
def test_helpers_are_threads_unless_processes_are_asked_for(members):
    with crew(lambda task, member: (task, member, os.getpid()), members) as together:
        for task in range(3):
            assert together(task) == [(task, member, os.getpid()) for member in range(members)]


def test_an_error_of_a_thread_is_raised():
    def work(task, member):
        if member == task:
            raise ValueError(f"of {member}")
        return member

    with crew(work, 3) as together:
        assert together(7) == [0, 1, 2]
        for member in range(3):
            with pytest.raises(ValueError, match=f"of {member}"):
                together(member)


@pytest.mark.parametrize("shape", [3, (2, 5), (0,), (4, 0)])
def test_shared_arrays_are_arrays(shape):
    array = shared_empty(shape, np.float32)
    assert_array_equal(array, np.zeros(shape, np.float32))
    array += 1
    copy = shared_copy(array)
    array += 1
    assert_array_equal(copy, np.ones(shape, np.float32))
    assert copy.dtype == np.float32


FORKED = """
import os
import signal
import sys
import numpy as np
from nlptx.runtime.crew import crew
from nlptx.errors import DataError
from nlptx.runtime.shared_memory import shared_empty

secret, parent, array = object(), os.getpid(), shared_empty((4, 2), np.int64)
reading, writing = os.pipe()

def work(task, member):
    if task == ("error", member):
        raise DataError("no", where=f"file:{member}", hint="Take another.")
    if task == "leave" and member:
        os._exit(1)
    if task == "unspeakable" and member == 1:
        return lambda: None  # which no pipe carries
    array[member] += array[3]
    signals = [signal.getsignal(number) == signal.SIG_IGN for number in (signal.SIGINT, signal.SIGTERM)]
    try:
        os.write(writing, b"")
        open_here = True
    except OSError:
        open_here = False
    return member, os.getpid() != parent, id(secret), signals, open_here

with crew(work, 3, processes=True) as together:
    array[:] = [[1, 2], [11, 12], [21, 22], [5, 5]]
    said = together(None)
    assert said[0] == (0, False, id(secret), [False, False], True), said
    assert said[1:] == [(member, True, id(secret), [True, True], False) for member in (1, 2)], said
    assert array.tolist() == [[6, 7], [16, 17], [26, 27], [5, 5]], array
    for member in (2, 1, 0):
        try:
            together(("error", member))
        except DataError as error:
            print(error)
    assert [said[0] for said in together(None)] == [0, 1, 2]  # every answer is that to the last task
for task in ("leave", "unspeakable"):
    try:
        with crew(work, 3, processes=True) as together:
            together(task)
    except Exception as error:
        print(error)
try:
    os.waitpid(-1, os.WNOHANG)
except ChildProcessError:
    print("alone")

def refuse():
    raise BlockingIOError(11, "Resource temporarily unavailable")

os.fork = refuse
try:
    with crew(work, 2, processes=True):
        pass
except Exception as error:
    print(error)
"""


@forks
def test_processes_share_what_is_in_memory_and_hand_back_results_and_errors():
    done = run_forking(FORKED)
    assert done.stderr == ""
    ended = "a worker process was ended from outside\n  The system does so where memory is short: give --jobs 1, "
    assert done.stdout == (
        "file:2: no\n  Take another.\nfile:1: no\n  Take another.\nfile:0: no\n  Take another.\n"
        + 2 * f"{ended}or less text at a time.\n"
        + "alone\nno process can be started: Resource temporarily unavailable\n  Give --jobs 1.\n"
    )


@forks
def test_where_the_end_of_a_process_is_not_told_training_ends_as_ever(work, tmp_path):
    """As under ``trap '' CHLD``, and some supervisors."""
    ignore = f"trap '' CHLD; nlptx {' '.join(map(str, words(work)))}"
    shell(ignore, cwd=tmp_path)
    assert list(contents(tmp_path)) == ["m.npz"]


def test_no_room_is_a_memory_error():
    with pytest.raises(MemoryError, match="no room for"):
        shared_empty((1 << 40, 1 << 7), np.float64)


def words(work, *more):
    return ("train", work / "train.tsv", "-e", work / "embeddings.npz", *TRAIN, "--jobs", "3", "-o", "m.npz", *more)


@pytest.fixture
def training(work, tmp_path):
    """A training under way, with three jobs, that would take very long."""
    with Running(*words(work, "--epochs", "100000", "--patience", "0"), cwd=tmp_path) as running:
        running.read_until(b"epoch 2/", running.process.stderr)
        yield running


@forks
def test_a_helper_that_was_killed_is_one_clear_error_and_the_training_can_go_on(training, tmp_path):
    helpers = children(training)
    assert len(helpers) == 2
    os.kill(helpers[1], signal.SIGKILL)
    ended = training.finish()
    assert ended.code == 1
    assert "nlptx: error: a worker process was ended from outside\n" in ended.stderr
    assert "--jobs 1" in ended.stderr
    assert list(contents(tmp_path)) == ["m.npz.checkpoint"]
    assert all_end(helpers)


@forks
@pytest.mark.parametrize(("name", "code"), [("SIGINT", 130), ("SIGTERM", 143), ("SIGHUP", 129)])
def test_a_signal_to_all_processes_is_answered_by_the_parent(name, code, training, tmp_path):
    """As Ctrl-C at a terminal: the best model so far is kept, and the checkpoint."""
    helpers = children(training)
    os.killpg(training.process.pid, getattr(signal, name))
    ended = training.finish()
    assert ended.code == code, ended.stderr
    assert "m.npz holds the best model so far" in ended.stderr
    assert sorted(contents(tmp_path)) == ["m.npz", "m.npz.checkpoint"]
    assert all_end(helpers)


@forks
def test_helpers_end_with_their_parent_and_leave_its_lock(training, work, tmp_path):
    helpers = children(training)
    for helper in helpers:
        os.kill(helper, signal.SIGSTOP)
    training.process.kill()
    training.process.wait()
    run(*words(work), cwd=tmp_path)  # who held the lock is gone
    for helper in helpers:
        os.kill(helper, signal.SIGCONT)
    assert all_end(helpers)


def test_models_are_the_same_for_any_number_of_jobs(tmp_path):
    """Texts long enough for two shares a batch."""
    rows = [(" ".join([text] * 4), label) for text, label in make_rows(("neg", "pos"), 80, seed=5)]
    write_tsv(tmp_path / "train.tsv", rows)
    (tmp_path / "corpus.txt").write_text("".join(f"{text}\n" for text, _ in rows))
    run("cooccur", "corpus.txt", *COUNT, "-o", "cooccur.npz", cwd=tmp_path)
    run("pca", "cooccur.npz", *PCA, "-o", "embeddings.npz", cwd=tmp_path)
    models = set()
    for jobs in (1, 2, 3, 9):
        more = ("--pretrain", "1", "--word-dropout", "0.1", "--jobs", jobs)
        run("train", "train.tsv", "-e", "embeddings.npz", *TRAIN, *more, "-o", "m.npz", cwd=tmp_path)
        models.add((tmp_path / "m.npz").read_bytes())
    assert len(models) == 1
