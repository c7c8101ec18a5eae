"""The available memory limits the number of folds that are trained at the same time."""

import pytest

from nlptx.experiments import parallel_runs as module
from nlptx.experiments.experiment import Experiment
from nlptx.experiments.parallel_runs import parallel_runs
from nlptx.runtime import resources
from nlptx.runtime.resources import available_cores, available_memory
from nlptx.runtime.workers import Workers

EXPERIMENT = Experiment(["x" * 25_000_000, "good"] * 2, ["a", "b"] * 2, folds=2)


@pytest.mark.parametrize(
    ("gigabytes", "jobs", "tasks", "expected"),
    [(100, 4, 9, 4), (100, 4, 3, 3), (6, 4, 9, 2), (1, 4, 9, 1), (None, 4, 9, 4), (1, 1, 9, 1), (9, 2, 0, 1)],
)
def test_the_number_of_folds_at_a_time(monkeypatch, gigabytes, jobs, tasks, expected):
    monkeypatch.setattr(module, "available_memory", lambda: None if gigabytes is None else gigabytes * 10**9)
    notes = []
    assert parallel_runs(EXPERIMENT, Workers(jobs), tasks, notes.append) == expected
    assert bool(notes) == (expected < min(jobs, max(tasks, 1)))
    assert all("each may need 2.8 GB of memory" in note for note in notes)


def test_the_limit_of_a_container_counts(monkeypatch, tmp_path):
    monkeypatch.setattr(resources, "_CONTROL_GROUP", tmp_path)
    monkeypatch.setattr(resources, "_MEMINFO", tmp_path / "meminfo")
    assert available_memory() is None
    (tmp_path / "meminfo").write_text("MemTotal: 3000 kB\nMemAvailable:    2000 kB\n")
    assert available_memory() == 2000 << 10
    (tmp_path / "memory.max").write_text("max\n")
    (tmp_path / "memory.current").write_text("500000\n")
    assert available_memory() == 2000 << 10
    (tmp_path / "memory.max").write_text("1500000\n")
    assert available_memory() == 1_000_000
    (tmp_path / "memory.current").write_text("1600000\n")
    assert available_memory() == 0
    (tmp_path / "memory.stat").write_text("active_file 900000\ninactive_file 300000\n")
    assert available_memory() == 200_000


@pytest.mark.parametrize(
    ("cpu_max", "expected"),
    [
        ("max 100000", 64),
        ("200000 100000", 2),
        ("150000 100000", 2),
        ("5000 100000", 1),
        ("9900000 100000", 64),
        ("", 64),
    ],
)
def test_the_number_of_cores_of_a_container_counts(monkeypatch, tmp_path, cpu_max, expected):
    monkeypatch.setattr(resources, "_CONTROL_GROUP", tmp_path)
    monkeypatch.setattr("os.sched_getaffinity", lambda process: range(64), raising=False)
    (tmp_path / "cpu.max").write_text(f"{cpu_max}\n")
    assert available_cores() == expected
