"""Worker processes of the commands: what kills them, what signals do, and that none outlives its time."""

import os
import signal
import sys

import pytest
from calling import last_of_each
from command import TIMEOUT, Running, alive, all_end, children, contents, run, run_program, shell
from sample_data import COUNT, PCA, TRAIN, make_rows, write_tsv

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="workers are threads on this system")
KILLED = "nlptx: error: a worker process was killed\n"


@pytest.fixture
def scoring(work):
    """A scoring under way, with two workers, that has answered its first text."""
    with Running("predict", "-m", work / "model.npz", "--jobs", "2") as running:
        running.write(b"great film\n")
        running.read_until(b"\n")
        yield running


def words(work, *more):
    words = ("train", work / "train.tsv", "-e", work / "embeddings.npz", *TRAIN, "--jobs", "3", "-o", "m.npz")
    return last_of_each(*words, *more)


@pytest.fixture
def training(work, tmp_path):
    """A training under way, with three jobs, that would take very long."""
    with Running(*words(work, "--epochs", "100000", "--patience", "0"), cwd=tmp_path) as running:
        running.read_until(b"epoch 2/", running.process.stderr)
        yield running


# ---------------------------------------------------------------- killed


def test_killed_workers_are_one_clear_error(scoring):
    """Both are killed, because one alone may never be asked again."""
    both = children(scoring)
    assert len(both) == 2
    for pid in both:
        os.kill(pid, signal.SIGKILL)
    scoring.write(b"awful film\n")
    ended = scoring.finish()
    assert ended.code == 1
    assert ended.stderr.startswith(KILLED)
    assert "--jobs 1" in ended.stderr
    assert all_end(both)


def test_a_killed_worker_ends_a_training_that_can_go_on(training, tmp_path):
    both = children(training)
    assert len(both) == 2
    os.kill(both[1], signal.SIGKILL)
    ended = training.finish()
    assert ended.code == 1
    assert KILLED in ended.stderr
    assert "--jobs 1" in ended.stderr
    assert list(contents(tmp_path)) == ["m.npz.checkpoint"]
    assert all_end(both)


COUNTING = """
import os, signal
from nlptx.cli.main import main
from nlptx.cooccurrence import parallel_count
from nlptx.cooccurrence.window_pairs import PairCounter

PairCounter.count = lambda counter, rows: os.kill(os.getpid(), signal.SIGKILL)
parallel_count._PAIRS = 100  # so that there is work for all
main()
"""


def test_a_worker_that_is_killed_while_it_counts_leaves_nothing_behind(work, tmp_path):
    count = ("cooccur", work / "corpus.txt", "--jobs", "2", "-o", tmp_path / "counts.npz")
    done = run_program(COUNTING, *count, code=1)
    assert done.stderr.startswith(KILLED)
    assert os.listdir(tmp_path) == []


# ---------------------------------------------------------------- signals


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_workers_leave_stop_signals_to_their_parent(name, scoring):
    both = children(scoring)
    for pid in both:
        os.kill(pid, getattr(signal, name))
    scoring.write(b"awful film\n")
    ended = scoring.finish()
    assert (ended.code, ended.stderr) == (0, "")
    assert len(ended.lines) == 1
    assert all_end(both)


@pytest.mark.parametrize(
    ("name", "code", "said"), [("SIGINT", 130, "nlptx: interrupted\n"), ("SIGTERM", 143, "nlptx: stopped by SIGTERM\n")]
)
def test_a_signal_to_all_processes_of_a_scoring_is_answered_by_the_parent(name, code, said, scoring):
    """As by Ctrl-C at a terminal, or by ``timeout``."""
    both = children(scoring)
    os.killpg(scoring.process.pid, getattr(signal, name))
    assert scoring.process.wait(TIMEOUT) == code
    assert scoring.process.stderr.read().decode() == said
    assert all_end(both)


@pytest.mark.parametrize(("name", "code"), [("SIGINT", 130), ("SIGTERM", 143), ("SIGHUP", 129)])
def test_a_signal_to_all_processes_of_a_training_is_answered_by_the_parent(name, code, training, tmp_path):
    """As by Ctrl-C at a terminal: the best model so far is kept, and the checkpoint."""
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

place, name = sys.argv.pop(1), sys.argv.pop(1)
parent, start, strikes = os.getpid(), Process.__init__, [getattr(signal, name)]

def strike():
    if strikes:
        os.kill(parent, strikes.pop())

def start_and_strike(process, work):
    start(process, work)
    strike()

if place == "within":
    os.register_at_fork(after_in_parent=strike)
else:
    Process.__init__ = start_and_strike
main()
"""


@pytest.mark.parametrize(("name", "code"), [("SIGINT", 130), ("SIGTERM", 143)])
@pytest.mark.parametrize("place", ["within", "after"])
def test_a_signal_in_the_middle_of_a_fork_is_neither_lost_nor_a_hang(place, name, code, work):
    predict = ("predict", "-m", work / "model.npz", work / "test.tsv", "--jobs", "2")
    run_program(SIGNALLED, place, name, *predict, code=code)


def test_where_the_end_of_a_process_is_not_told_training_ends_as_ever(work, tmp_path):
    """As under ``trap '' CHLD``, and some supervisors."""
    shell(f"trap '' CHLD; nlptx {' '.join(map(str, words(work)))}", cwd=tmp_path)
    assert list(contents(tmp_path)) == ["m.npz"]


# ---------------------------------------------------------------- the end


def test_workers_end_with_a_parent_that_is_killed(scoring):
    both = children(scoring)
    scoring.process.kill()
    assert all_end(both)


def test_workers_end_with_a_killed_parent_and_leave_its_lock(training, work, tmp_path):
    both = children(training)
    for pid in both:
        os.kill(pid, signal.SIGSTOP)
    training.process.kill()
    training.process.wait()
    run(*words(work), cwd=tmp_path)  # which the lock would refuse
    for pid in both:
        os.kill(pid, signal.SIGCONT)
    assert all_end(both)


def test_the_end_of_the_input_ends_the_workers(scoring):
    both = children(scoring)
    assert scoring.finish().code == 0
    assert not any(alive(pid) for pid in both)


# ---------------------------------------------------------------- the same bytes


def test_files_are_scored_alike_by_any_number_of_workers(work):
    path = work / "test.tsv"
    scored = {run("predict", "-m", work / "model.npz", path, "--jobs", jobs).stdout for jobs in (1, 2, 3)}
    assert len(scored) == 1


COUNTED = """
from nlptx.cli.main import main
from nlptx.cooccurrence import parallel_count, window_pairs

# Many tasks, many groups, and each buffer is used many times.
window_pairs._PAIRS, parallel_count._PAIRS, parallel_count._ENTRIES = 50, 100, 0
main()
"""


def test_a_corpus_is_counted_alike_by_any_number_of_workers(work, tmp_path):
    count = ("cooccur", work / "corpus.txt", "--min-count", "1", "--window", "4")
    run(*count, "--jobs", "1", "-o", tmp_path / "plain.npz")
    for jobs in ("1", "2", "3"):
        run_program(COUNTED, *count, "--jobs", jobs, "-o", tmp_path / f"{jobs}.npz")
    assert len({path.read_bytes() for path in tmp_path.iterdir()}) == 1


def test_models_are_the_same_for_any_number_of_jobs(tmp_path):
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
