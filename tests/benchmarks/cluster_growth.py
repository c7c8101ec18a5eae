"""Measures counting on a cluster, and estimates the time and traffic for larger corpora and clusters.

    python tests/benchmarks/cluster_growth.py CORPUS.txt --work build/cluster --copies 1 4 17

First, copies of the corpus are counted with ``--jobs N`` and with ``--cluster local:N``, in alternating runs, whose
results must have the same bytes. Then the tasks of one run are timed one by one, and the sizes of the files that the
tasks exchange are measured. Finally, a model predicts the time and traffic for 100 GB and 1 TB of text on 10 and 100
machines from the measured times and sizes; see :func:`predicted`.
"""

from __future__ import annotations

import argparse
import hashlib
import math
import os
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from measure import alternate, command

from nlptx.cluster.cluster import Cluster
from nlptx.cluster.count_tasks import CountJob
from nlptx.cluster.counting import count_partitions
from nlptx.cluster.worker import Requirements
from nlptx.corpus.partitioning import partition_inputs
from nlptx.corpus.read_options import ReadOptions
from nlptx.io.memory_budget import MemoryBudget
from nlptx.runtime.allocator import keep_freed_memory, return_freed_memory
from nlptx.settings import DEFAULT_MEMORY, CountSettings

NLPTX = (sys.executable, "-m", "nlptx")
# Bytes per entry (pair of words): in the files that tasks exchange (an int32 column and an int32 sum), and in the
# artifact.
ENTRY, STORED_ENTRY = 8, 12
PARTITION, FAN_IN = 256 << 20, 8
# Assumptions of the model: cores per machine, and bytes per second that a core can hash with SHA-256.
CORES, HASHING = 8, 1.2e9


@dataclass
class Costs:
    """Measured costs.

    Args:
        encode, count: seconds of one core per byte of text.
        add: seconds of one core per entry that is added.
        finish: seconds that the command itself takes per entry of the result.
        tokens: bytes of encoded tokens per byte of text.
        task: seconds that the scheduler takes per task.
        words: number of words in the vocabulary.
        entries: number of distinct pairs in ``size`` bytes of text.
        size: bytes of text that were counted.
        growth: exponent b, assuming that the number of distinct pairs grows as (bytes of text)^b.
    """

    encode: float = 0.0
    count: float = 0.0
    add: float = 0.0
    finish: float = 0.0
    tokens: float = 0.0
    task: float = 0.0
    words: int = 0
    entries: float = 0.0
    size: float = 1.0
    growth: float = 0.0

    def pairs(self, size: float) -> float:
        """Return the estimated number of distinct pairs in ``size`` bytes of text."""
        return min(self.entries * (size / self.size) ** self.growth, 0.5 * self.words**2)


class Timed:
    """Runs tasks one after the other in this process, and adds up their times by kind."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = defaultdict(float)

    def map(self, work: Any, items: Iterable[Any], *, isolated: bool = True) -> Iterator[Any]:
        for item in items:
            started = time.perf_counter()
            yield work(item)
            self.seconds[work.func.__name__] += time.perf_counter() - started
            return_freed_memory()


def compare(corpus: Path, work: Path, copies: int, workers: int, runs: int) -> None:
    text, one, other = work / f"corpus-{copies}.txt", work / "one.npz", work / "cluster.npz"
    if not text.exists():
        with text.open("wb") as file:
            for _ in range(copies):
                file.write(corpus.read_bytes())
    base = (*NLPTX, "cooccur", str(text), "-q", "-o")
    cluster = command(*base, str(other), "--cluster", f"local:{workers}")
    seconds, plain = alternate(cluster, command(*base, str(one), "-j", str(workers)), runs)
    assert plain is not None
    digests = [hashlib.sha256(path.read_bytes()).hexdigest()[:16] for path in (one, other)]
    same = "same bytes" if digests[0] == digests[1] else "OTHER BYTES"
    size = text.stat().st_size / 1e6
    print(f"{size:8,.0f} MB  {workers} workers  --jobs {plain:6.1f} s  cluster {seconds:6.1f} s", end="  ")
    print(f"ratio {seconds / plain:.2f}  {digests[0]}  {same}", flush=True)


def measured(corpus: Path, work: Path) -> Costs:
    """Time the tasks for a corpus in partitions of 64 MB, and the overhead of the scheduler."""
    keep_freed_memory()
    costs, size = Costs(), corpus.stat().st_size
    partitions = partition_inputs([str(corpus)], ReadOptions(), 64 << 20)
    timed = Timed()
    with tempfile.TemporaryDirectory(dir=work) as folder, MemoryBudget(DEFAULT_MEMORY, folder) as budget:
        job = CountJob.of(partitions, CountSettings(), ReadOptions(), folder, DEFAULT_MEMORY)
        sizes: dict[str, int] = {}

        def look(step: str, done: int, total: int) -> None:
            if not done:
                for kind in ("tokens", "pairs-000000"):
                    found = [os.path.getsize(entry) for entry in os.scandir(folder) if entry.name.startswith(kind)]
                    sizes[kind] = max(sizes.get(kind, 0), sum(found))

        started = time.perf_counter()
        counts = count_partitions(partitions, job, timed, budget, on_progress=look)
        rest = time.perf_counter() - started - sum(timed.seconds.values())
        costs.words, costs.entries, costs.size = len(counts.vocabulary), len(counts.matrix.columns), size
    costs.encode, costs.count = (timed.seconds[name] / size for name in ("encode_partition", "count_partition"))
    costs.add = timed.seconds["sum_rows"] / (sizes["pairs-000000"] / ENTRY)
    costs.finish, costs.tokens = rest / costs.entries, sizes["tokens"] / size
    with tempfile.TemporaryDirectory(dir=work) as folder:
        half = Path(folder) / "part.txt"
        half.write_bytes(corpus.read_bytes()[: size // 8])
        with MemoryBudget(DEFAULT_MEMORY, folder) as budget:
            parts = partition_inputs([str(half)], ReadOptions(), PARTITION)
            job = CountJob.of(parts, CountSettings(), ReadOptions(), folder, DEFAULT_MEMORY)
            fewer = len(count_partitions(parts, job, Timed(), budget).matrix.columns)
        costs.growth = math.log(costs.entries / fewer) / math.log(8)
        with Cluster("local:2", Requirements.of([folder]), lambda note: None) as cluster:
            list(cluster.map(abs, range(100)))
            started = time.perf_counter()
            list(cluster.map(abs, range(2000)))
            costs.task = (time.perf_counter() - started) / 2000
    return costs


def predicted(costs: Costs, size: float, machines: int) -> dict[str, float]:
    """Return the estimated seconds of each step and the bytes that are read and written.

    The model assumes that all cores are busy in a step, unless the step has fewer tasks than there are cores; that the
    shared storage is fast enough for all machines; and that the scheduler handles one task at a time, while the workers
    compute.
    """
    cores = machines * CORES
    partitions = math.ceil(size / PARTITION)
    blocks = math.ceil(min(10 * size / 5, costs.words**2) / 24e6)
    pairs, total = costs.pairs(PARTITION), costs.pairs(size)
    added, left, tasks, part = 0.0, partitions, 2 * partitions + 1, float(PARTITION)
    while left > 1:
        added += left * costs.pairs(part)
        left, part = math.ceil(left / FAN_IN), min(part * FAN_IN, size)
        tasks += left * blocks
    written = costs.tokens * size + partitions * pairs * ENTRY + added / FAN_IN * ENTRY + total * STORED_ENTRY
    steps = {
        "encode": max(costs.encode * size / min(cores, partitions), size / HASHING),
        "count": costs.count * size / min(cores, partitions),
        "add": costs.add * added / min(cores, blocks * max(1, partitions // FAN_IN)),
        "finish": costs.finish * total,
    }
    busy = sum(steps.values())
    return {
        "tasks": tasks,
        **steps,
        "scheduler": costs.task * tasks,
        "total": max(busy, costs.task * tasks),
        "read": 2 * size + costs.tokens * size + added * ENTRY + total * ENTRY,
        "written": written,
        "files": partitions * blocks,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path, help="plain text, one document per line")
    parser.add_argument("--work", type=Path, required=True, help="folder for the copies and the artifacts")
    parser.add_argument("--copies", type=int, nargs="*", default=[1, 4, 17])
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--runs", type=int, default=2)
    given = parser.parse_args()
    given.work.mkdir(parents=True, exist_ok=True)
    for copies in given.copies:
        for workers in given.workers:
            compare(given.corpus, given.work, copies, workers, given.runs)
    costs = measured(given.corpus, given.work)
    print(costs)
    for size in (1e11, 1e12):
        for machines in (10, 100):
            print(f"{size:.0e} bytes, {machines} machines of {CORES} cores")
            for name, value in predicted(costs, size, machines).items():
                print(f"  {name:<10} {value:16,.0f}")


if __name__ == "__main__":
    main()
