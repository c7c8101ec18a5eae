"""Tests of failures on a real cluster: the scheduler and the workers are started by commands, as users start them."""

import json
import os
import random
import signal
import subprocess
import sys
import time
import tomllib
from contextlib import ExitStack, contextmanager

import pytest
from harness import SCALE
from local_cluster import needs_distributed

pytestmark = [
    pytest.mark.torture,
    needs_distributed,
    pytest.mark.filterwarnings("default::ResourceWarning", "default::DeprecationWarning"),
]
# Program that runs a command with small partitions.
SMALL = """
import sys
from nlptx.cli.cluster import cooccur, predict
size = int(sys.argv.pop(1))
cooccur.partition_size = lambda inputs: size
predict._PARTITION = size
from nlptx.__main__ import main
if __name__ == "__main__":
    main()
"""
ENVIRONMENT = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MALLOC_TRIM_THRESHOLD_": "65536"}


@contextmanager
def running(*arguments, **options):
    with subprocess.Popen(
        [sys.executable, *map(str, arguments)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        **{"env": ENVIRONMENT, **options},
    ) as process:
        try:
            yield process
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)


class Running:
    """A scheduler, and workers that can be started and killed at any time."""

    def __init__(self, folder):
        self.folder = folder
        self.stack = ExitStack()
        self.workers = []

    def __enter__(self):
        file = self.folder / "scheduler.json"
        options = ("--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", file)
        self.scheduler = self.stack.enter_context(running("-m", "distributed.cli.dask_scheduler", *options))
        deadline = time.monotonic() + 60
        while not file.exists() and time.monotonic() < deadline:
            time.sleep(0.1)
        time.sleep(0.2)
        self.address = json.loads(file.read_text())["address"]
        return self

    def __exit__(self, *raised):
        self.stack.close()

    def add_worker(self, number, *options, **settings):
        """Start a worker with a separate working folder and a separate folder for temporary files."""
        folder = self.folder / f"worker-{number}"
        (folder / "tmp").mkdir(parents=True, exist_ok=True)
        words = ("--nthreads", "1", "--no-dashboard", "--local-directory", folder, *options)
        env = {**ENVIRONMENT, "TMPDIR": str(folder / "tmp"), **settings.pop("env", {})}
        worker = running("-m", "distributed.cli.dask_worker", self.address, *words, cwd=folder, env=env)
        self.workers.append(self.stack.enter_context(worker))

    def command(self, *words, partition=20_000):
        """Start a command that uses this cluster."""
        program = [sys.executable, "-c", SMALL, str(partition), *map(str, words), "--cluster", self.address]
        return subprocess.Popen(program, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=self.folder / "work")


@pytest.fixture
def cluster(tmp_path):
    (tmp_path / "work").mkdir()
    with Running(tmp_path) as started:
        yield started


@pytest.fixture(scope="module")
def corpus():
    rng = random.Random(0)
    words = [f"word{n}" for n in range(500)] + ["good", "bad", "film", "not"] * 20
    return "".join(" ".join(rng.choices(words, k=rng.randrange(40))) + "\n" for _ in range(20_000)).encode()


STAGES = {
    "cooccur": ("cooccur", "texts.txt", "-o", "result.npz"),
    "pca": ("pca", "counts.npz", "--components", "100", "--block", "4", "-o", "result.npz"),
    "predict": ("predict", "texts.txt", "-o", "result.tsv"),
    "evaluate": ("evaluate", "labelled.tsv", "--json"),
    "train": ("train", "labelled.tsv", "--effort", "fast", "-o", "result.npz"),
    "crossvalidate": ("crossvalidate", "few.tsv", "--folds", "12", "--shuffle", "--predictions", "result.csv"),
}
INPUTS = {"pca": "counts.npz", "evaluate": "labelled.tsv", "train": "labelled.tsv", "crossvalidate": "few.tsv"}
# Stages that can be split into so many short tasks that they are still running when the test injects a failure.
TIMED = ("cooccur", "predict")


def expected(folder, corpus, stage):
    """Write the input of a stage, and return the result of running it without a cluster."""
    work = folder / "work"
    name = INPUTS.get(stage, "texts.txt")
    if stage == "pca":
        (folder / "texts.txt").write_bytes(corpus)
        count = (sys.executable, "-m", "nlptx", "cooccur", folder / "texts.txt", "-q", "-o", work / name)
        subprocess.run(count, check=True)
    elif name.endswith(".tsv"):
        lines = corpus.splitlines()[: 1500 if stage == "crossvalidate" else None]
        rows = [b"%s\t%s" % (line, b"pos" if number % 3 else b"neg") for number, line in enumerate(lines) if line]
        (work / name).write_bytes(b"text\tlabel\n" + b"\n".join(rows * (1 if stage == "crossvalidate" else 8)) + b"\n")
    else:
        (work / name).write_bytes(corpus)
    done = subprocess.run(
        [sys.executable, "-m", "nlptx", *STAGES[stage], "-q"], cwd=work, check=True, stdout=subprocess.PIPE
    )
    result = result_of(folder, stage, done.stdout)
    if stage != "evaluate":
        (work / STAGES[stage][-1]).unlink()
    return result


def result_of(folder, stage, output):
    """Return the bytes of the output file, or the report without its running time and peak memory."""
    if stage != "evaluate":
        return (folder / "work" / STAGES[stage][-1]).read_bytes()
    report = json.loads(output)
    del report["seconds"], report["peak_memory_mb"]
    return report


def finish(process, seconds=600):
    output, errors = process.communicate(timeout=seconds)
    return process.returncode, output, errors.decode()


def check_clean(folder, stage, *, result):
    names = [INPUTS.get(stage, "texts.txt"), *([STAGES[stage][-1]] if result and stage != "evaluate" else [])]
    assert sorted(path.name for path in (folder / "work").iterdir()) == sorted(names)


@pytest.mark.parametrize("stage", STAGES)
def test_workers_are_killed_at_random_moments(cluster, tmp_path, corpus, stage):
    whole = expected(tmp_path, corpus, stage)
    rng = random.Random(1)
    for number in range(int(10 * SCALE)):
        cluster.add_worker(2 * number)
        cluster.add_worker(2 * number + 1)
        process = cluster.command(*STAGES[stage])
        time.sleep(2 + rng.random() * 5)
        os.killpg(cluster.workers[-1].pid, signal.SIGKILL)
        code, output, errors = finish(process)
        assert code == 0, errors
        assert result_of(tmp_path, stage, output) == whole
        check_clean(tmp_path, stage, result=True)
        os.killpg(cluster.workers[-2].pid, signal.SIGKILL)


def test_workers_are_killed_during_a_search(cluster, tmp_path, corpus):
    # How many settings a search can try depends on the speed of the machine, so only its success is checked.
    expected(tmp_path, corpus, "crossvalidate")
    for number in range(3):
        cluster.add_worker(number)
    process = cluster.command("tune", "few.tsv", "--minutes", "0.4", "-o", "tuned.toml")
    for worker in cluster.workers[1:]:
        time.sleep(8)
        assert process.poll() is None
        os.killpg(worker.pid, signal.SIGKILL)
    code, _, errors = finish(process)
    assert code == 0, errors
    assert sorted(path.name for path in (tmp_path / "work").iterdir()) == [
        "few.tsv",
        "tuned.toml",
        "tuned.toml.checkpoint",
    ]
    assert set(tomllib.loads((tmp_path / "work/tuned.toml").read_text())) <= {"cooccur", "pca", "train"}


@pytest.mark.parametrize("stage", TIMED)
def test_the_scheduler_is_killed(cluster, tmp_path, corpus, stage):
    expected(tmp_path, corpus, stage)
    cluster.add_worker(0)
    process = cluster.command(*STAGES[stage], "-q", partition=2000)
    time.sleep(6)
    assert process.poll() is None
    killed = time.monotonic()
    os.killpg(cluster.scheduler.pid, signal.SIGKILL)
    code, _, errors = finish(process, 60)
    assert time.monotonic() - killed < 30
    assert code == 1, errors
    assert errors.startswith("nlptx: error: the connection to the scheduler")
    assert errors.count("\n") == 2
    check_clean(tmp_path, stage, result=False)


@pytest.mark.parametrize("stage", TIMED)
def test_ctrl_c_leaves_no_task_on_the_cluster(cluster, tmp_path, corpus, stage):
    from distributed import Client

    expected(tmp_path, corpus, stage)
    cluster.add_worker(0)
    process = cluster.command(*STAGES[stage], "-q", partition=2000)
    time.sleep(6)
    process.send_signal(signal.SIGINT)
    code, _, errors = finish(process, 30)
    assert code == 130, errors
    check_clean(tmp_path, stage, result=False)
    with Client(cluster.address) as client:
        deadline = time.monotonic() + 10
        while (left := client.run_on_scheduler(lambda dask_scheduler: len(dask_scheduler.tasks))) and (
            time.monotonic() < deadline
        ):
            time.sleep(0.2)
        assert left == 0


def test_a_worker_joins_late(cluster, tmp_path, corpus):
    whole = expected(tmp_path, corpus, "predict")
    cluster.add_worker(0)
    process = cluster.command(*STAGES["predict"], partition=5000)
    time.sleep(4)
    cluster.add_worker(1)
    code, _, errors = finish(process)
    assert code == 0, errors
    assert (tmp_path / "work/result.tsv").read_bytes() == whole


def test_a_worker_with_another_nlptx_gets_no_tasks(cluster, tmp_path, corpus):
    whole = expected(tmp_path, corpus, "predict")
    other = tmp_path / "other"
    other.mkdir()
    package = os.path.dirname(os.path.dirname(os.path.abspath(__import__("nlptx").__file__)))
    (other / "sitecustomize.py").write_text(
        f"import sys; sys.path.insert(0, {package!r}); import nlptx.version as v; v.__version__ = '0.0.1'"
    )
    cluster.add_worker(0)
    process = cluster.command(*STAGES["predict"], partition=3000)
    time.sleep(4)
    cluster.add_worker(1, env={"PYTHONPATH": str(other)})
    code, _, errors = finish(process)
    assert code == 0, errors
    assert (tmp_path / "work/result.tsv").read_bytes() == whole
    # A command fails if a worker with another version of nlptx exists when the command starts.
    code, _, errors = finish(cluster.command(*STAGES["predict"]))
    assert code == 1
    assert "has nlptx 0.0.1; expected" in errors


def test_a_worker_is_over_its_memory_limit(cluster, tmp_path, corpus):
    (tmp_path / "work/texts.txt").write_bytes(corpus * 15)
    cluster.add_worker(0, "--memory-limit", "170MiB")
    code, _, errors = finish(cluster.command(*STAGES["cooccur"], partition=10**9))
    assert code == 1, errors
    assert errors.count("texts.txt, bytes 0 to") == 1
    assert "died, one after the other" in errors
    check_clean(tmp_path, "cooccur", result=False)


def test_five_thousand_tiny_partitions(cluster, tmp_path, corpus):
    part = corpus[: corpus.index(b"\n", 150_000) + 1]
    whole = expected(tmp_path, part, "predict")
    cluster.add_worker(0)
    cluster.add_worker(1)
    code, _, errors = finish(cluster.command(*STAGES["predict"], partition=30))
    assert code == 0, errors
    assert (tmp_path / "work/result.tsv").read_bytes() == whole
