"""Times ``nlptx train --effort`` from raw data to the evaluated model, and TF-IDF with logistic regression.

Every run is a separate process, which reads the data, trains and evaluates. The runs of all methods alternate, so that
changes in the speed of the machine affect all of them. Times are also given as multiples of the median time of TF-IDF.
The processor time is the total for all threads and processes.
"""

from __future__ import annotations

import argparse
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

EFFORTS = ("fast", "default", "best")
PEER = "tfidf"
_SEED_OF_ROUND = 1


def peer(train: Path, test: Path) -> dict[str, float]:
    """Return the accuracy and log-loss of logistic regression on TF-IDF values of words and pairs of words."""
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression

    from nlptx.corpus.document import ReadOptions
    from nlptx.corpus.training_data import read_training_data
    from nlptx.metrics import log_loss

    archive = train == test
    known, new = (
        read_training_data(str(path), options=ReadOptions(splits=(part,))) if archive else read_training_data(str(path))
        for part, path in (("train", train), ("test", test))
    )
    vectorizer = TfidfVectorizer(ngram_range=(1, 2), min_df=2, sublinear_tf=True)
    model = LogisticRegression(max_iter=1000).fit(vectorizer.fit_transform(known.texts), known.labels)
    p = model.predict_proba(vectorizer.transform(new.texts))
    classes = {label: number for number, label in enumerate(model.classes_)}
    targets = np.array([classes[label] for label in new.labels])
    return {"accuracy": float((p.argmax(axis=1) == targets).mean()), "log_loss": float(log_loss(p, targets))}


def run(method: str, train: Path, test: Path, options: list[str], seed: int, folder: Path) -> dict[str, float]:
    """Run one method; return its accuracy, log-loss, seconds and processor seconds."""
    nlptx, model = [sys.executable, "-m", "nlptx"], str(folder / "model.npz")
    if method == PEER:
        commands = [[sys.executable, __file__, str(train), "--test", str(test), "--peer"]]
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
    unit = {name: median(row[name] for row in results[PEER]) for name in ("seconds", "processor_seconds")}
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
    parser.add_argument("--test", type=Path, help="test data; by default the test split of the archive")
    parser.add_argument("--efforts", nargs="+", choices=EFFORTS, default=EFFORTS)
    parser.add_argument("--rounds", type=int, default=3, help="number of rounds, each with a different seed")
    parser.add_argument("--peer", action="store_true", help=argparse.SUPPRESS)
    parser.epilog = "Further options of nlptx train follow after --."
    words = sys.argv[1:]
    end = words.index("--") if "--" in words else len(words)
    arguments, options = parser.parse_args(words[:end]), words[end + 1 :]
    test = arguments.test or arguments.train
    if arguments.peer:
        print(json.dumps(peer(arguments.train, test)))
        return
    results: dict[str, list[dict[str, float]]] = {PEER: [], **{effort: [] for effort in arguments.efforts}}
    with tempfile.TemporaryDirectory() as folder:
        for number in range(arguments.rounds):
            for method, rows in results.items():
                seed = _SEED_OF_ROUND + number
                rows.append(run(method, arguments.train, test, options, seed, Path(folder)))
                print(method, json.dumps(rows[-1]), file=sys.stderr, flush=True)
    print(as_markdown(results))


if __name__ == "__main__":
    main()
