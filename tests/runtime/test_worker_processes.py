"""Tests of the worker processes of commands: killed workers, signals, and termination."""

import os
import signal
import sys

import pytest
from calling import last_of_each
from command import TIMEOUT, Running, alive, all_end, children, contents, run, run_program, shell
from sample_data import COUNT, PCA, TRAIN, make_rows, write_tsv

from nlptx.runtime.processes import forked

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="workers are threads on this system")
KILLED = "nlptx: error: a worker process was killed\n"


@pytest.fixture
def scoring(work):
    """A running `predict` with two workers that has scored its first text."""
    with Running("predict", "-m", work / "model.npz", "--jobs", "2") as running:
        running.write(b"great film\n")
        running.read_until(b"\n")
        yield running


def train_words(work, *more):
    words = ("train", work / "train.tsv", "-e", work / "embeddings.npz", *TRAIN, "--jobs", "3", "-o", "m.npz")
    return last_of_each(*words, *more)


@pytest.fixture
def training(work, tmp_path):
    """A running `train` with three jobs and so many epochs that it never ends by itself during a test."""
    with Running(*train_words(work, "--epochs", "100000", "--patience", "0"), cwd=tmp_path) as running:
        running.read_until(b"epoch 2/", running.process.stderr)
        yield running


# ---------------------------------------------------------------- killed workers


def test_without_processes_the_filters_of_warnings_are_not_touched(monkeypatch):
    """warnings.catch_warnings changes the filters of all threads, and threads may overwrite each other's filters."""
    with monkeypatch.context() as changed:
        changed.setattr("warnings.catch_warnings", None)
        with forked([]) as processes:
            assert processes == []


def test_killed_workers_cause_a_single_error(scoring):
    """Both workers are killed, because either of them may get the next text."""
    both = children(scoring)
    assert len(both) == 2
    for pid in both:
        os.kill(pid, signal.SIGKILL)
    scoring.write(b"awful film\n")
    ended = scoring.finish()
    assert ended.code == 1
    assert ended.stderr.startswith(KILLED)
    assert "fewer --jobs" in ended.stderr
    assert all_end(both)


def test_a_killed_worker_ends_a_training_with_a_checkpoint(training, tmp_path):
    both = children(training)
    assert len(both) == 2
    os.kill(both[1], signal.SIGKILL)
    ended = training.finish()
    assert ended.code == 1
    assert KILLED in ended.stderr
    assert "fewer --jobs" in ended.stderr
    assert list(contents(tmp_path)) == ["m.npz.checkpoint"]
    assert all_end(both)


COUNTING = """
import os, signal
from nlptx.cli.main import main
from nlptx.cooccurrence import parallel_count
from nlptx.cooccurrence.window_pairs import PairCounter

PairCounter.count = lambda counter, rows: os.kill(os.getpid(), signal.SIGKILL)
parallel_count._PAIRS_PER_GROUP = 100  # so that there is work for all workers
main()
"""


def test_a_worker_killed_while_counting_leaves_no_files(work, tmp_path):
    count = ("cooccur", work / "corpus.txt", "--jobs", "2", "-o", tmp_path / "counts.npz")
    done = run_program(COUNTING, *count, code=1)
    assert done.stderr.startswith(KILLED)
    assert os.listdir(tmp_path) == []


# ---------------------------------------------------------------- signals


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_workers_ignore_stop_signals(name, scoring):
    both = children(scoring)
    for pid in both:
        os.kill(pid, getattr(signal, name))
    scoring.write(b"awful film\n")
    ended = scoring.finish()
    assert (ended.code, ended.stderr) == (0, "")
    assert len(ended.lines) == 1
    assert all_end(both)


@pytest.mark.parametrize(
    ("name", "code", "message"),
    [("SIGINT", 130, "nlptx: interrupted\n"), ("SIGTERM", 143, "nlptx: stopped by SIGTERM\n")],
)
def test_a_signal_to_all_processes_of_predict_is_handled_by_the_parent(name, code, message, scoring):
    """Ctrl-C in a terminal and the command ``timeout`` send signals to the parent and to all workers."""
    both = children(scoring)
    os.killpg(scoring.process.pid, getattr(signal, name))
    assert scoring.process.wait(TIMEOUT) == code
    assert scoring.process.stderr.read().decode() == message
    assert all_end(both)


@pytest.mark.parametrize(("name", "code"), [("SIGINT", 130), ("SIGTERM", 143), ("SIGHUP", 129)])
def test_a_signal_to_all_processes_of_train_is_handled_by_the_parent(name, code, training, tmp_path):
    """The best model so far and the checkpoint are kept, as after Ctrl-C in a terminal."""
    both = children(training)
    os.killpg(training.process.pid, getattr(signal, name))
    ended = training.finish()
    assert ended.code == code, ended.stderr
    assert "m.npz holds the best model so far" in ended.stderr
    assert sorted(contents(tmp_path)) == ["m.npz", "m.npz.checkpoint"]
    assert all_end(both)


SIGNALLED = """
import os
import signal
import sys
from nlptx.cli.main import main
from nlptx.runtime.processes import Process

moment, name = sys.argv.pop(1), sys.argv.pop(1)
parent, start, signals = os.getpid(), Process.__init__, [getattr(signal, name)]

def send_signal():
    if signals:
        os.kill(parent, signals.pop())

def start_and_signal(process, work):
    start(process, work)
    send_signal()

if moment == "within":
    os.register_at_fork(after_in_parent=send_signal)
else:
    Process.__init__ = start_and_signal
main()
"""


@pytest.mark.parametrize(("name", "code"), [("SIGINT", 130), ("SIGTERM", 143)])
@pytest.mark.parametrize("moment", ["within", "after"])
def test_a_signal_during_a_fork_is_not_lost_and_causes_no_hang(moment, name, code, work):
    predict = ("predict", "-m", work / "model.npz", work / "test.tsv", "--jobs", "2")
    run_program(SIGNALLED, moment, name, *predict, code=code)


def test_training_works_if_sigchld_is_ignored(work, tmp_path):
    """SIGCHLD is ignored after ``trap '' CHLD`` in a shell, and under some process supervisors."""
    shell(f"trap '' CHLD; nlptx {' '.join(map(str, train_words(work)))}", cwd=tmp_path)
    assert list(contents(tmp_path)) == ["m.npz"]


# ---------------------------------------------------------------- termination


def test_workers_exit_if_their_parent_is_killed(scoring):
    both = children(scoring)
    scoring.process.kill()
    assert all_end(both)


def test_workers_of_a_killed_parent_do_not_hold_its_lock(training, work, tmp_path):
    both = children(training)
    for pid in both:
        os.kill(pid, signal.SIGSTOP)
    training.process.kill()
    training.process.wait()
    run(*train_words(work), cwd=tmp_path)  # training would fail if the old workers still held the lock
    for pid in both:
        os.kill(pid, signal.SIGCONT)
    assert all_end(both)


def test_workers_exit_at_the_end_of_the_input(scoring):
    both = children(scoring)
    assert scoring.finish().code == 0
    assert not any(alive(pid) for pid in both)


# ---------------------------------------------------------------- reproducibility


def test_the_number_of_workers_does_not_change_scores(work):
    path = work / "test.tsv"
    scored = {run("predict", "-m", work / "model.npz", path, "--jobs", jobs).stdout for jobs in (1, 2, 3)}
    assert len(scored) == 1


COUNTED = """
from nlptx.cli.main import main
from nlptx.cooccurrence import parallel_count, window_pairs

# Small limits, so that there are many tasks and groups, and each buffer is used many times.
window_pairs._PAIRS_AT_A_TIME, parallel_count._PAIRS_PER_GROUP, parallel_count._ENTRIES = 50, 100, 0
main()
"""


def test_the_number_of_workers_does_not_change_counts(work, tmp_path):
    count = ("cooccur", work / "corpus.txt", "--min-count", "1", "--window", "4")
    run(*count, "--jobs", "1", "-o", tmp_path / "plain.npz")
    for jobs in ("1", "2", "3"):
        run_program(COUNTED, *count, "--jobs", jobs, "-o", tmp_path / f"{jobs}.npz")
    assert len({path.read_bytes() for path in tmp_path.iterdir()}) == 1


def test_the_number_of_jobs_does_not_change_models(tmp_path):
    """The texts are long enough for two microbatches per batch."""
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
