"""Times ``nlptx train --effort`` and other methods from raw data to the evaluated model.

    python tests/benchmarks/efforts.py aclImdb_v1.tar.gz --json imdb.json
    python tests/benchmarks/efforts_picture.py imdb.json -o efforts.svg

Every run is a separate process, which reads the data, trains and evaluates. The runs of all methods alternate, so that
changes in the speed of the machine affect all of them. Times are also given as multiples of the median time of TF-IDF.
The processor time is the total for all threads and processes.

Without ``--test``, the test data are the test split of an archive, or a fifth of the rows of a table, a different fifth
in each round.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import mean, median, stdev
from typing import Any

import numpy as np
import pandas as pd
from effort_peers import PEERS
from folds import folds

from nlptx.corpus.source import is_archive

EFFORTS = ("fast", "default", "best")
# Each time is also given as a multiple of the median time of TF-IDF.
UNIT = "tfidf"
_FOLDS = 5


def peer(name: str, train: Path, test: Path) -> dict[str, float]:
    """Return the accuracy and log-loss of a method of ``effort_peers.py``."""
    from nlptx.corpus.read_options import ReadOptions
    from nlptx.corpus.training_data import read_training_data
    from nlptx.metrics import log_loss

    archive = train == test
    known, new = (
        read_training_data(str(path), options=ReadOptions(splits=(part,))) if archive else read_training_data(str(path))
        for part, path in (("train", train), ("test", test))
    )
    labels, p = PEERS[name](list(known.texts), list(map(str, known.labels)), list(new.texts))
    targets = np.array([labels.index(str(label)) for label in new.labels])
    return {"accuracy": float((p.argmax(axis=1) == targets).mean()), "log_loss": float(log_loss(p, targets))}


def split(table: Path, number: int, folder: Path) -> tuple[Path, Path]:
    """Write one fold of a table to a test file and all other rows to a training file; return both paths."""
    rows = pd.read_csv(table, sep="\t", dtype=str, quoting=csv.QUOTE_NONE, keep_default_na=False)
    held_out = folds(rows["label"], _FOLDS, seed=1) == number % _FOLDS
    train, test = folder / "train.tsv", folder / "test.tsv"
    rows[~held_out].to_csv(train, sep="\t", index=False, quoting=csv.QUOTE_NONE)
    rows[held_out].to_csv(test, sep="\t", index=False, quoting=csv.QUOTE_NONE)
    return train, test


def run(method: str, train: Path, test: Path, options: list[str], seed: int, folder: Path) -> dict[str, float]:
    """Run one method; return its accuracy, log-loss, seconds and processor seconds."""
    nlptx, model = [sys.executable, "-m", "nlptx"], str(folder / "model.npz")
    if method in PEERS:
        commands = [[sys.executable, __file__, str(train), "--test", str(test), "--peer", method]]
    else:
        more = ["--effort", method, "--seed", str(seed), "-o", model, "-q", *options]
        commands = [
            [*nlptx, "train", str(train), *more],
            [*nlptx, "evaluate", str(test), "-m", model, "--json"],
        ]
    start, before = time.perf_counter(), os.times()
    for command in commands:
        done = subprocess.run(command, check=True, capture_output=True, text=True)
    after = os.times()
    found: dict[str, Any] = json.loads(done.stdout)
    return {
        "accuracy": found["accuracy"],
        "log_loss": found["log_loss"],
        "seconds": time.perf_counter() - start,
        "processor_seconds": sum(after[2:4]) - sum(before[2:4]),
    }


def as_markdown(results: dict[str, list[dict[str, float]]]) -> str:
    """Return a table with one row per method."""
    unit = {name: median(row[name] for row in results[UNIT]) for name in ("seconds", "processor_seconds")}
    lines = [
        "| method | accuracy | log-loss | seconds | times TF-IDF | processor time, times TF-IDF |",
        "|---" * 6 + "|",
    ]
    for method, rows in results.items():
        accuracies = [100 * row["accuracy"] for row in rows]
        spread = f" ± {stdev(accuracies):.2f}" if len(set(accuracies)) > 1 else ""
        times = {name: median(row[name] for row in rows) for name in unit}
        lines.append(
            f"| {method} | {mean(accuracies):.2f}{spread} | {mean(row['log_loss'] for row in rows):.4f} |"
            f" {times['seconds']:.0f} | {times['seconds'] / unit['seconds']:.2f} |"
            f" {times['processor_seconds'] / unit['processor_seconds']:.2f} |"
        )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("train", type=Path, help="training data; from an archive, the splits train and unsup are read")
    parser.add_argument("--test", type=Path, help="test data")
    parser.add_argument("--efforts", nargs="+", choices=EFFORTS, default=EFFORTS)
    parser.add_argument("--peers", nargs="+", choices=list(PEERS), default=list(PEERS))
    parser.add_argument("--rounds", type=int, default=3, help="number of rounds, each with a different seed")
    parser.add_argument("--json", type=Path, help="file for the results of all runs")
    parser.add_argument("--peer", help=argparse.SUPPRESS)
    parser.epilog = "Further options of nlptx train follow after --."
    words = sys.argv[1:]
    end = words.index("--") if "--" in words else len(words)
    arguments, options = parser.parse_args(words[:end]), words[end + 1 :]
    train = arguments.train
    test = arguments.test or train
    if arguments.peer:
        print(json.dumps(peer(arguments.peer, train, test)))
        return
    names = (UNIT, *(name for name in arguments.peers if name != UNIT), *arguments.efforts)
    results: dict[str, list[dict[str, float]]] = {name: [] for name in names}
    with tempfile.TemporaryDirectory() as folder:
        for number in range(arguments.rounds):
            if train == test and not is_archive(str(train)):
                files = split(train, number, Path(folder))
            else:
                files = train, test
            for method, rows in results.items():
                rows.append(run(method, *files, options, number + 1, Path(folder)))
                print(method, json.dumps(rows[-1]), file=sys.stderr, flush=True)
    if arguments.json:
        arguments.json.write_text(json.dumps(results))
    print(as_markdown(results))


if __name__ == "__main__":
    main()
