"""While workers exist, every BLAS uses one thread, so results do not depend on BLAS settings or the number of cores."""

import gc
import hashlib
import json
import os
import random
import subprocess
import sys
import threading

import pytest
from command import TIMEOUT, environment, run
from sample_data import write_tsv
from threadpoolctl import threadpool_info, threadpool_limits

from nlptx import Model
from nlptx.classifier.decision import SingleLabelDecision
from nlptx.runtime import blas_limit
from nlptx.runtime.workers import Workers


@pytest.fixture(autouse=True)
def limit(monkeypatch):
    """A new BlasLimit, which no block uses, even if an earlier test in this process has left a block open."""
    monkeypatch.setattr(blas_limit, "LIMIT", blas_limit.BlasLimit())


def threads():
    return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]


def test_the_limit_ends_with_the_outermost_block():
    workers = Workers(2)
    with threadpool_limits(2):
        assert set(threads()) == {2}
        with workers:
            with workers, Workers(1):
                assert set(threads()) == {1}
            assert set(threads()) == {1}
        assert set(threads()) == {2}


def test_libraries_are_searched_for_again_only_after_an_import(monkeypatch):
    blas_limit._search.cache_clear()
    found = [blas_limit._libraries(), blas_limit._libraries()]
    assert found[0] is found[1]
    assert {library.filepath for library in found[0]} == {
        library["filepath"] for library in threadpool_info() if library["user_api"] == "blas"
    }
    monkeypatch.setitem(sys.modules, "a_new_module", os)
    assert blas_limit._libraries() is not found[0]


def test_the_limit_ends_with_the_last_thread_that_needs_it():
    """The second thread enters a block before the first thread leaves its own, and is the last one to leave."""
    entered, left, found = threading.Event(), threading.Event(), []

    def second():
        with Workers(1):
            entered.set()
            left.wait(TIMEOUT)
            found.append(set(threads()))

    with threadpool_limits(2):
        thread = threading.Thread(target=second)
        with Workers(1):
            thread.start()
            entered.wait(TIMEOUT)
        left.set()
        thread.join(TIMEOUT)
        assert found == [{1}]
        assert set(threads()) == {2}


def test_any_thread_can_limit_the_threads():
    """A thread can limit the BLAS threads even if another thread, which is still alive, did so before."""
    found = []

    def other():
        with Workers(1):
            found.append(set(threads()))

    with threadpool_limits(2):
        thread = threading.Thread(target=other)
        thread.start()
        thread.join(TIMEOUT)
        assert found == [{1}]
        assert set(threads()) == {2}


def test_other_threads_can_limit_the_threads_after_a_block():
    """threadpoolctl ignores the limits of other threads than the first one that sets a limit, while it is alive."""
    found = []

    def other():
        with threadpool_limits(1):
            found.append(set(threads()))

    with threadpool_limits(2):
        with Workers(1):
            pass
        thread = threading.Thread(target=other)
        thread.start()
        thread.join(TIMEOUT)
        assert found == [{1}]


def test_the_limit_ends_if_a_prediction_is_interrupted(monkeypatch):
    """The traceback of the interruption still refers to the generator that scores the texts."""
    model = Model.load()
    monkeypatch.setattr(SingleLabelDecision, "answer", interrupt)
    with threadpool_limits(2):
        with pytest.raises(KeyboardInterrupt) as interruption:
            model.predict(["good"], jobs=1)
        assert set(threads()) == {2}
        del interruption


def test_a_block_may_be_ended_by_another_thread():
    """Garbage collection in any thread may end a generator that uses workers."""

    def generator():
        with Workers(1):
            yield

    with threadpool_limits(2):
        running = generator()
        next(running)
        thread = threading.Thread(target=running.close)
        thread.start()
        thread.join(TIMEOUT)
        assert set(threads()) == {2}


def interrupt(*arguments):
    raise KeyboardInterrupt


@pytest.mark.parametrize("interrupted", [1, 2])
def test_an_interrupted_block_does_not_change_the_number_of_threads(interrupted, monkeypatch):
    """Ctrl-C may arrive while the limit is set or removed."""
    original, calls = blas_limit._libraries, []

    def interrupt():
        calls.append(1)
        if len(calls) == interrupted:
            raise KeyboardInterrupt
        return original()

    with threadpool_limits(2):
        monkeypatch.setattr(blas_limit, "_libraries", interrupt)
        with pytest.raises(KeyboardInterrupt), Workers(1):
            pass
        assert not blas_limit.LIMIT.users
        with Workers(1):
            assert set(threads()) == {1}
        assert set(threads()) == {2}


def test_a_block_that_was_not_left_ends_with_its_workers():
    """Ctrl-C may arrive at the first instruction of ``__exit__``."""
    with threadpool_limits(2):
        workers = Workers(1)
        workers.__enter__()
        assert set(threads()) == {1}
        del workers
        gc.collect()
        assert not blas_limit.LIMIT.users
        assert set(threads()) == {2}


def test_a_block_may_end_while_another_begins(monkeypatch):
    """The garbage collector may end the block of a suspended generator."""
    original, suspended = blas_limit._libraries, []

    def collect():
        while suspended:
            suspended.pop().close()
        return original()

    def generator():
        with Workers(1):
            yield

    with threadpool_limits(2):
        suspended.append(generator())
        next(suspended[0])
        monkeypatch.setattr(blas_limit, "_libraries", collect)
        with Workers(1):
            assert set(threads()) == {1}
        assert set(threads()) == {2}


def test_a_forked_process_forgets_the_blocks_of_other_threads(monkeypatch):
    monkeypatch.setattr(blas_limit.LIMIT, "users", {1: 2, threading.get_ident(): 1})
    monkeypatch.setattr(blas_limit.LIMIT, "lock", blas_limit.LIMIT.lock)
    blas_limit.LIMIT.after_fork()
    assert blas_limit.LIMIT.users == {threading.get_ident(): 1}


def lines_of(program, *arguments, **variables):
    done = subprocess.run(
        [sys.executable, "-c", program, *map(str, arguments)],
        capture_output=True,
        env=environment(**variables),
        check=False,
        text=True,
        timeout=TIMEOUT,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()


FITTED = """
import random
import nlptx
from nlptx.ngrams import logistic_regression
from nlptx.runtime.workers import Workers
from threadpoolctl import threadpool_info

seen, loss = set(), logistic_regression._logistic_loss

def watched(*arguments):
    seen.update(library["num_threads"] for library in threadpool_info())
    return loss(*arguments)

logistic_regression._logistic_loss = watched
words = [f"w{number}" for number in range(20)]
texts = [" ".join(random.Random(number).choices(words, k=9)) for number in range(40)]
embeddings = nlptx.fit_pca(nlptx.count(texts, nlptx.CountSettings(min_count=1)), nlptx.PcaSettings(4))
settings = nlptx.TrainSettings(epochs=1, blocks=1, heads=1)
nlptx.fit(texts, ["neg", "pos"] * 20, embeddings, settings, jobs=Workers(2))
print(sorted(seen))
"""


def test_blas_is_limited_to_one_thread_while_linear_models_are_fitted():
    assert lines_of(FITTED, OPENBLAS_NUM_THREADS="2", OMP_NUM_THREADS="2") == ["[1]"]


STAGES = """
import json, os, sys
from nlptx.cli.main import nlptx

cores, *stages = json.loads(sys.argv[1])
if cores and hasattr(os, "sched_setaffinity"):
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:cores])
for words in stages:
    nlptx.main(words, standalone_mode=False)
"""


@pytest.fixture(scope="module")
def reviews(tmp_path_factory):
    """A folder with word vectors and a table. The texts have so many n-grams that a BLAS would use several threads."""
    folder, rng = tmp_path_factory.mktemp("reviews"), random.Random(1)
    words = [f"w{number}" for number in range(3000)]
    telling = {label: [f"{label}{number}" for number in range(5)] for label in ("neg", "pos")}
    labels = ["neg", "pos"] * 80
    texts = [" ".join(rng.choices(words, k=36) + rng.choices(telling[label], k=4)) for label in labels]
    write_tsv(folder / "train.tsv", zip(texts, labels, strict=True))
    run("cooccur", "train.tsv", "--min-count", "1", "-o", "c.npz", cwd=folder)
    run("pca", "c.npz", "--components", "8", "-o", "e.npz", cwd=folder)
    return folder


def test_cores_and_blas_threads_do_not_change_the_output_of_any_stage(reviews, tmp_path):
    """Training runs first, because it must limit the threads of libraries that no earlier stage has loaded."""
    found = set()
    for number, (cores, blas) in enumerate([(1, 1), (2, 4)]):
        paths = [tmp_path / f"{number}{name}" for name in ("m.npz", "s.tsv", "c.npz", "e.npz")]
        model, scores, counts, vectors = map(str, paths)
        texts, given = str(reviews / "train.tsv"), str(reviews / "e.npz")
        small = ("--epochs", "1", "--blocks", "1", "--heads", "2", "--ngram-min-texts", "1")
        stages = [
            ("train", texts, "-e", given, *small, "-q", "-o", model),
            ("predict", "-m", model, texts, "-q", "-o", scores),
            ("cooccur", texts, "--min-count", "1", "-q", "-o", counts),
            ("pca", counts, "--components", "8", "-q", "-o", vectors),
        ]
        lines_of(STAGES, json.dumps([cores, *stages]), OPENBLAS_NUM_THREADS=str(blas), OMP_NUM_THREADS=str(blas))
        found.add(tuple(hashlib.sha256(path.read_bytes()).hexdigest() for path in paths))
    assert len(found) == 1
