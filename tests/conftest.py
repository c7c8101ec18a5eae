"""Fixtures: a tiny corpus and the artifacts of all stages, which are made once and only read by the tests."""

import os
import signal

# BLAS gets one thread, because on a busy machine with several BLAS threads, small matrix products spend most of their
# time waiting. The number of threads must be set before NumPy is imported.
os.environ.update({"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"})

import pytest
from command import run
from hypothesis import HealthCheck, settings
from made_once import made_once
from sample_data import COUNT, PCA, TRAIN, make_rows, write_tsv
from tally import table

# The examples of Hypothesis are the same in every run. On a busy machine, an example may take a second.
settings.register_profile("tests", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("tests")

# Child processes inherit the signals that their parent ignores. Under nohup or in a background job, pytest ignores
# SIGHUP or SIGINT, so this signal would not stop the programs under test.
for number, default in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)):
    if signal.getsignal(number) == signal.SIG_IGN:
        signal.signal(number, default)

# Modules that have few but slow tests.
SLOW = ("tests/torture/", "tests/cluster/", "tests/experiments/", "tests/estimator/test_scikit_learn.py")


def pytest_configure(config):
    """Give each worker of pytest-xdist one core. By default, tiny models then train with one job, which is faster."""
    worker = getattr(config, "workerinput", None)
    if worker and hasattr(os, "sched_setaffinity") and config.option.markexpr != "torture":
        cores = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, {cores[int(worker["workerid"].removeprefix("gw")) % len(cores)]})


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    from xdist.scheduler import LoadScopeScheduling

    class ByModule(LoadScopeScheduling):
        """Runs all tests of a module in one worker, so that only this worker creates the fixtures of the module.

        Modules with many tests run first, and slow modules even earlier, so that all workers end at the same time.
        """

        def _assign_work_unit(self, node):
            slow = [scope for scope in self.workqueue if scope.startswith(SLOW)]
            if slow:
                self.workqueue.move_to_end(slow[0], last=False)
            super()._assign_work_unit(node)

        def _split_scope(self, nodeid):
            module = nodeid.split("::")[0]
            # In `make torture`, workers get single tests, because the tests are slow and share only a few fixtures.
            apart = config.option.markexpr == "torture" and not module.endswith("test_failing_clusters.py")
            return nodeid if apart else module

    return ByModule(config, log)


def pytest_terminal_summary(terminalreporter):
    reports = [report for reports in terminalreporter.stats.values() for report in reports]
    for line in table(reports) if terminalreporter.config.option.markexpr == "torture" else ():
        terminalreporter.write_line(line)


@pytest.fixture
def same_folds(monkeypatch):
    """Folds that do not depend on the labels, so that changing a label changes nothing else."""
    from nlptx.sampling import splits

    monkeypatch.setattr(splits, "_most_frequent_label", lambda stretch, targets: stretch[: stretch[-1] + 1] * 0)
    monkeypatch.setattr(splits, "_MAX_EXCESS", float("inf"))


@pytest.fixture
def files(monkeypatch):
    """A list that receives every temporary file opened because of a memory limit."""
    from nlptx.io.memory_budget import MemoryBudget

    opened = []
    original = MemoryBudget.file

    def file(budget):
        opened.append(original(budget))
        return opened[-1]

    monkeypatch.setattr(MemoryBudget, "file", file)
    return opened


@pytest.fixture(scope="session")
def work(tmp_path_factory):
    """A folder with corpora, tables and the artifacts made from them.

    The folder contains corpus.txt; train.tsv and test.tsv (labels neg, pos); kinds.tsv (three unordered labels);
    cooccur.npz, embeddings.npz and model.npz; and kinds.npz, a model trained on kinds.tsv.
    """
    return made_once(tmp_path_factory, "work", make_work)


def make_work(folder):
    """Fill the folder of :func:`work`."""
    train = make_rows(("neg", "pos"), 80, seed=1)
    kinds = make_rows(("drama", "comedy", "western"), 60, seed=2)
    write_tsv(folder / "train.tsv", train)
    write_tsv(folder / "test.tsv", make_rows(("neg", "pos"), 31, seed=3))
    write_tsv(folder / "kinds.tsv", kinds)
    (folder / "corpus.txt").write_text("".join(f"{text}\n" for text, _ in train + kinds))
    run("cooccur", "corpus.txt", *COUNT, "-o", "cooccur.npz", cwd=folder)
    run("pca", "cooccur.npz", *PCA, "-o", "embeddings.npz", cwd=folder)
    run("train", "train.tsv", "-e", "embeddings.npz", *TRAIN, "-o", "model.npz", cwd=folder)
    run("train", "kinds.tsv", "-e", "embeddings.npz", *TRAIN, "-o", "kinds.npz", cwd=folder)


@pytest.fixture
def model(work):
    """The model with the labels neg and pos."""
    return work / "model.npz"


@pytest.fixture(scope="session")
def stages(tmp_path_factory):
    """Return the commands that the torture tests run, as a dictionary from name to command."""
    from harness import make_stages, stages_in  # in tests/torture, and importable only by the tests there

    return stages_in(made_once(tmp_path_factory, "stages", lambda folder: make_stages(folder, 20_000)))
