"""Tests of tasks on the processes of a local cluster: order, errors, and workers that die or are unsuitable."""

import errno
import json
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest
from calling import call
from local_cluster import local_cluster, needs_distributed
from sample_data import make_rows, write_tsv

from nlptx.cli.cluster import cooccur, predict
from nlptx.cli.terminal.stop_signal import StopSignal
from nlptx.cluster import cluster as module
from nlptx.cluster import connection
from nlptx.cluster.cluster import Cluster
from nlptx.cluster.connection import check_address
from nlptx.cluster.worker import RequiredFile, Requirements, versions
from nlptx.errors import DataError, NlptxError, SettingsError

pytestmark = [
    needs_distributed,
    # dask.distributed causes these warnings when its event loop ends.
    pytest.mark.filterwarnings("default::ResourceWarning", "default::DeprecationWarning"),
]


@pytest.fixture(scope="module")
def scheduler():
    """A cluster of two processes; tests connect to its address."""
    with local_cluster(2) as running:
        yield running


@pytest.fixture
def connect(scheduler):
    notes = []

    def open_cluster(*paths, requirements=None):
        return Cluster(scheduler.scheduler_address, requirements or Requirements.of(paths), notes.append)

    open_cluster.notes = notes
    return open_cluster


# ---------------------------------------------------------------- tasks


def square(number):
    time.sleep(0.02 * (number % 3 == 0))
    return number * number


def where_it_runs(_):
    return os.getpid(), os.environ.get("OPENBLAS_NUM_THREADS")


def fail(number):
    if number == 3:
        raise DataError("this text is bad", where="texts.txt:3", hint="Mend it.")
    return number


def die(folder, times, number):
    """If ``number`` is 2, kill this process, as Linux does when memory runs out; do this at most ``times`` times."""
    count = len(list(Path(folder).glob(f"{number}-*")))
    if number == 2 and count < times:
        (Path(folder) / f"{number}-{count}").touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return number


# ---------------------------------------------------------------- results


def test_a_missing_package_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with (
        pytest.raises(NlptxError, match=r"^a cluster needs dask.distributed") as caught,
        connection.connected("local:1", print),
    ):
        pass
    assert (type(caught.value), caught.value.hint) == (NlptxError, "pip install 'nlptx[cluster]'")


def test_results_are_in_order_and_come_from_other_processes(connect):
    with connect() as cluster:
        assert list(cluster.map(square, range(40))) == [number * number for number in range(40)]
        processes = {process for process, _ in cluster.map(where_it_runs, range(12))}
    assert os.getpid() not in processes
    assert len(processes) == 2


def test_items_are_requested_only_when_they_are_needed(connect):
    requested = []

    def items():
        for number in range(1000):
            requested.append(number)
            yield number

    with connect() as cluster:
        results = cluster.map(square, items())
        assert next(results) == 0
        assert len(requested) < 20
        results.close()


def test_an_error_of_a_task_arrives_with_all_its_parts(connect):
    with connect() as cluster, pytest.raises(DataError) as raised:
        list(cluster.map(fail, range(6)))
    assert (raised.value.message, raised.value.where, raised.value.hint) == (
        "this text is bad",
        "texts.txt:3",
        "Mend it.",
    )


def test_a_signal_that_was_ignored_in_a_destructor_ends_the_wait(scheduler):
    stop = StopSignal()
    with Cluster(scheduler.scheduler_address, Requirements.of([]), print, stop.check) as cluster:
        results = cluster.map(square, range(9))
        assert next(results) == 0
        with suppress(KeyboardInterrupt):
            stop._handle(signal.SIGINT, None)
        with pytest.raises(KeyboardInterrupt):
            list(results)


def time_out(number):
    raise TimeoutError(errno.ETIMEDOUT, "Connection timed out", "texts.txt")


def test_a_time_out_in_a_task_is_not_taken_for_a_slow_task(connect):
    with connect() as cluster, pytest.raises(TimeoutError, match="timed out"):
        list(cluster.map(time_out, range(2)))


def test_no_task_is_left_after_an_error(connect, scheduler):
    with connect() as cluster, pytest.raises(DataError):
        list(cluster.map(fail, range(6)))
    deadline = time.monotonic() + 10
    while scheduler.scheduler.tasks and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not scheduler.scheduler.tasks


def test_a_task_is_repeated_if_its_worker_dies(connect, tmp_path):
    with connect() as cluster:
        assert list(cluster.map(partial(die, str(tmp_path), 1), range(4))) == [0, 1, 2, 3]
    assert len(list(tmp_path.iterdir())) == 1


def test_results_that_are_lost_with_a_worker_are_computed_again(connect):
    """When a worker dies, another worker recomputes the results that only the dead worker had."""
    with connect() as cluster:
        results = cluster.map(where_it_runs, range(8))
        first, _ = next(results)
        time.sleep(0.3)  # by now, results of later tasks are waiting on the workers
        os.kill(first, signal.SIGKILL)
        others = [process for process, _ in results]
    assert len(others) == 7
    assert first not in others


@pytest.mark.torture
def test_a_task_that_kills_every_worker_is_named(connect, tmp_path):
    with connect() as cluster, pytest.raises(NlptxError, match="died, one after the other") as raised:
        list(cluster.map(partial(die, str(tmp_path), 9), range(4)))
    assert raised.value.where == "2"


def test_local_workers_that_are_not_started_again(connect, monkeypatch):
    """If a worker dies while it starts, dask.distributed does not start it again."""
    monkeypatch.setattr(module, "_CHECK_INTERVAL", 0.01)
    monkeypatch.setattr(module, "_RESTART_TIMEOUT", 0)
    monkeypatch.setattr(Cluster, "_count_threads", lambda cluster: None)
    with connect() as cluster:
        cluster.address = "local:2"
        with pytest.raises(NlptxError, match="all local workers died"):
            list(cluster.map(slow, range(3)))


# ---------------------------------------------------------------- commands


def test_commands_give_the_bytes_of_one_machine(scheduler, tmp_path, monkeypatch):
    monkeypatch.setattr(cooccur, "partition_size", lambda inputs: 400)
    monkeypatch.setattr(predict, "_PARTITION", 400)
    (tmp_path / "texts.txt").write_bytes(b"I loved this film .\nIt was awful , and too long .\n" * 30)
    on_cluster = ("--cluster", scheduler.scheduler_address)
    counting = ("cooccur", tmp_path / "texts.txt", "--min-count", "1", "-o")
    call(*counting, tmp_path / "one.npz")
    call(*counting, tmp_path / "cluster.npz", *on_cluster)
    assert (tmp_path / "cluster.npz").read_bytes() == (tmp_path / "one.npz").read_bytes()
    scoring = ("predict", tmp_path / "texts.txt")
    assert call(*scoring, *on_cluster).stdout == call(*scoring).stdout
    fitting = ("pca", tmp_path / "one.npz", "--components", "3", "-o")
    call(*fitting, tmp_path / "vectors.npz")
    call(*fitting, tmp_path / "vectors2.npz", *on_cluster)
    assert (tmp_path / "vectors2.npz").read_bytes() == (tmp_path / "vectors.npz").read_bytes()
    write_tsv(tmp_path / "rows.tsv", make_rows(("neg", "pos"), 30, seed=1))
    small = ("--epochs", "1", "--width", "8", "--heads", "2", "--blocks", "1")
    testing = ("crossvalidate", tmp_path / "rows.tsv", "--folds", "2", *small, "--predictions")
    call(*testing, tmp_path / "one.csv")
    call(*testing, tmp_path / "cluster.csv", *on_cluster)
    assert (tmp_path / "cluster.csv").read_bytes() == (tmp_path / "one.csv").read_bytes()
    reports = [json.loads(call("evaluate", tmp_path / "rows.tsv", "--json", *more).stdout) for more in ((), on_cluster)]
    assert reports[0]["log_loss"] == reports[1]["log_loss"]
    assert not list(tmp_path.glob(".nlptx-*"))


# ---------------------------------------------------------------- requirements


def test_other_versions_are_refused(connect):
    other = tuple((name, "0.1" if name == "NumPy" else version) for name, version in versions())
    with (
        pytest.raises(NlptxError, match=r"has NumPy .*; expected 0\.1"),
        connect(requirements=Requirements(other, ())),
    ):
        pass


def not_installed(requirements):
    raise ModuleNotFoundError("No module named 'nlptx'")


def test_workers_without_nlptx_are_refused(connect, monkeypatch):
    monkeypatch.setattr(module, "inspect_worker", not_installed)
    with pytest.raises(NlptxError, match="cannot run nlptx: No module named 'nlptx'"), connect():
        pass


def test_another_blas_is_noted(connect, monkeypatch):
    monkeypatch.setattr(module, "blas", lambda: "another BLAS")
    with connect():
        pass
    assert any("the last digits of scores may differ" in note for note in connect.notes)


def test_the_blas_does_not_depend_on_what_a_worker_has_done():
    code = "from nlptx.cluster.worker import blas; first = blas(); import scipy.optimize; assert first == blas() != ''"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_file_that_a_worker_does_not_see(connect, tmp_path):
    path = tmp_path / "texts.txt"
    path.write_text("a text")
    needed = Requirements.of([str(path), str(tmp_path)])
    path.write_text("another text")
    with pytest.raises(NlptxError, match="sees a different file") as raised, connect(requirements=needed):
        pass
    assert str(path) in str(raised.value)
    path.unlink()
    with pytest.raises(NlptxError, match="cannot read it: no such file"), connect(requirements=needed):
        pass


def test_a_worker_that_joins_late_is_checked(connect, scheduler, monkeypatch, tmp_path):
    """The check on connecting is turned off, because it cannot see workers that join later."""
    monkeypatch.setattr(Cluster, "_check_workers", lambda cluster: None)
    needed = Requirements(versions(), (RequiredFile(str(tmp_path / "missing.txt"), 1, ""),))
    with connect(requirements=needed) as cluster, pytest.raises(NlptxError, match="cannot read it"):
        # All workers are unsuitable, so none of them can run the task.
        list(cluster.map(square, range(3)))
    assert any("gets no tasks" in note for note in connect.notes)


def test_the_requirements_of_this_machine_are_met_here(tmp_path):
    (tmp_path / "texts.txt").write_text("a text")
    Requirements.of([str(tmp_path), str(tmp_path / "texts.txt")]).check()


# ---------------------------------------------------------------- addresses


@pytest.mark.parametrize(
    "address",
    [
        "",
        "local",
        "local:",
        "local:0",
        "local:x",
        "local:-1",
        "tcp://",
        "tcp://host",
        "http://host:8786",
        "8",
        "tcp://host:",
        "tcp://host:x",
        "tcp://:8786",
        "tcp://host:0",
        "tcp://host:99999",
        "tcp://host:87/x",
        "tcp://::1:87",
    ],
)
def test_impossible_addresses(address):
    with pytest.raises(SettingsError, match="expected local:N"):
        check_address(address)


@pytest.mark.parametrize(
    "address", ["local:1", "local:64", "tcp://host:8786", "tls://10.0.0.1:8786", "tcp://[::1]:8786"]
)
def test_possible_addresses(address):
    check_address(address)


def test_nobody_answers(monkeypatch):
    monkeypatch.setattr(connection, "_TIMEOUT", 1)
    start = time.monotonic()
    cluster = Cluster("tcp://127.0.0.1:9", Requirements.of([]), print)
    with pytest.raises(NlptxError, match=r"no scheduler answers at tcp://127\.0\.0\.1:9"), cluster:
        pass
    assert time.monotonic() - start < 30


def test_local_workers_that_do_not_start(monkeypatch):
    def killed(**settings):
        raise RuntimeError("Nanny failed to start.")

    monkeypatch.setattr("distributed.LocalCluster", killed)
    cluster = connection.connected("local:2", lambda note: None)
    with pytest.raises(NlptxError, match=r"the local workers did not start \(Nanny failed to start\)"), cluster:
        pass


def test_a_scheduler_without_workers(monkeypatch):
    monkeypatch.setattr(module, "_FIRST_WORKER_TIMEOUT", 0.2)
    with (
        local_cluster(0) as empty,
        pytest.raises(NlptxError, match="has no workers"),
        Cluster(empty.scheduler_address, Requirements.of([]), print),
    ):
        pass


@pytest.mark.torture
def test_workers_that_have_ended_but_are_still_listed_do_not_end_the_wait(connect, monkeypatch):
    inspect_workers, first_answers = Cluster._inspect_workers, [{}, {}]
    monkeypatch.setattr(
        Cluster, "_inspect_workers", lambda cluster: first_answers.pop() if first_answers else inspect_workers(cluster)
    )
    with connect() as cluster:
        assert list(cluster.map(str, [1, 2])) == ["1", "2"]


def test_the_scheduler_is_lost_during_the_work(monkeypatch):
    monkeypatch.setattr(connection, "_TIMEOUT", 1)
    with local_cluster(1) as short_lived:
        with Cluster(short_lived.scheduler_address, Requirements.of([]), print) as cluster:
            results = cluster.map(slow, range(30))
            next(results)
            closing = threading.Thread(target=short_lived.close)
            closing.start()
            with pytest.raises(NlptxError, match="connection to the scheduler"):
                list(results)
        closing.join()


def slow(number):
    time.sleep(0.2)
    return number


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGHUP])
@pytest.mark.parametrize("delay", [0.5, 0.8, 1.1])
def test_a_signal_from_the_terminal_while_the_workers_start_gives_one_line(sent, delay, tmp_path):
    """A terminal sends these signals to the workers too."""
    (tmp_path / "texts.txt").write_text("I loved this film .\nIt was awful .\n" * 20)
    command = [sys.executable, "-m", "nlptx", "cooccur", "texts.txt", "-q", "-o", "c.npz", "--cluster", "local:2"]
    with subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, start_new_session=True) as process:
        time.sleep(delay)
        os.killpg(process.pid, sent)
        _, errors = process.communicate(timeout=60)
    assert process.returncode in (0, 128 + sent)
    assert errors.count(b"\n") <= 1, errors.decode()
