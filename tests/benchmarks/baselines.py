"""Evaluates baselines on the same texts and in the same way as ``nlptx evaluate``, and writes JSON.

A method whose requirements are missing (the ``bench`` extra; the program ``fasttext`` on the PATH) is skipped with a
message.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from baseline_methods import METHODS
from baseline_task import Absent, Task
from folds import folds, pool

from nlptx.corpus.corpus import Corpus
from nlptx.corpus.labelled import LabelledDocuments
from nlptx.corpus.read_options import ReadOptions
from nlptx.metrics import compute_report
from nlptx.training.labels import order_labels

FOLDS, SEED = 5, 1


@dataclass(frozen=True)
class Data:
    """A data set: the names of its files in the shared folder ("" means the IMDB archive), and whether its labels form
    a scale.

    A data set without a test file is cross-validated. A data set without a training file is only for methods that need
    no training.
    """

    train: str | None
    test: str | None
    ordered: bool = True


DATA = {
    "imdb": Data("", ""),
    "sst2": Data("sst2/train.tsv", "sst2/dev.tsv"),
    "sst5": Data("sst5/train.tsv", "sst5/dev.tsv"),
    "trec": Data("trec/train.tsv", None, ordered=False),
    "cr": Data(None, "cr/cr.tsv"),
}


def read(path: Path, split: str) -> tuple[list[str], list[str]]:
    """Return the texts of a file, or of one split of an archive, and their labels."""
    documents = list(LabelledDocuments(Corpus([str(path)], ReadOptions(splits=(split,)))))
    return [document.text for document in documents], [document.label or "" for document in documents]


def tasks(data: Data, archive: Path, shared: Path) -> Iterator[tuple[Task, np.ndarray]]:
    """Yield a task and the true classes of its test texts: once, or once per fold."""

    def part(name: str | None, split: str) -> tuple[list[str], list[str]]:
        return ([], []) if name is None else read(shared / name if name else archive, split)

    train, test = part(data.train, "train"), part(data.test, "test")
    labels, values = order_labels(train[1] or test[1], data.ordered)
    index = {label: number for number, label in enumerate(labels)}
    known, true = (np.array([index[label] for label in part_labels], int) for _, part_labels in (train, test))
    if data.test is not None:
        yield Task(train[0], known, test[0], labels, values is not None), true
        return
    import pandas as pd

    fold = folds(pd.Series(train[1]), FOLDS, SEED)
    texts = np.array(train[0], object)
    for number in range(FOLDS):
        inside = fold != number
        yield Task(list(texts[inside]), known[inside], list(texts[~inside]), labels, values is not None), known[~inside]


def score(method: str, data: Data, archive: Path, shared: Path) -> dict[str, Any]:
    """Return the report of a method, or the mean of the reports of all folds."""
    reports = []
    clock = time.perf_counter()
    for task, true in tasks(data, archive, shared):
        answer = METHODS[method](task)
        report = asdict(compute_report(answer.probabilities, true, task.labels, task.ordered))
        del report["classes"], report["confusion"]
        if not answer.sure:
            report.update(log_loss=None, ece=None)
        seconds, clock = time.perf_counter() - clock, time.perf_counter()
        reports.append({**report, "seconds": seconds, "parameters": answer.parameters, "chosen": answer.chosen})
    return pool(reports) if len(reports) > 1 else reports[0]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", choices=DATA, required=True)
    parser.add_argument("--method", choices=METHODS, action="append", help="run only this method; may be repeated")
    parser.add_argument("--archive", type=Path, help="an aclImdb archive; by default the one in the shared folder")
    parser.add_argument("--shared", type=Path, default="../shared/data", help="folder of the other data sets")
    parser.add_argument("--out", type=Path, required=True, help="folder for one JSON file per method")
    arguments = parser.parse_args()
    archive = arguments.archive or arguments.shared / "aclImdb_dev.tar.gz"
    arguments.out.mkdir(parents=True, exist_ok=True)
    for method in arguments.method or METHODS:
        try:
            report = score(method, DATA[arguments.data], archive, arguments.shared)
        except Absent as reason:
            print(f"{arguments.data}: {method} is left out: {reason}", file=sys.stderr)
            continue
        plain = {
            name: None if isinstance(value, float) and math.isnan(value) else value for name, value in report.items()
        }
        (arguments.out / f"{method}.json").write_text(json.dumps(plain, indent=1) + "\n")
        print(f"{arguments.data}: {method} {report['accuracy']:.2%}, {report['seconds']:.1f} s", file=sys.stderr)


if __name__ == "__main__":
    main()
