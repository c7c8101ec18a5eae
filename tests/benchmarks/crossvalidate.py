"""Cross-validate ``nlptx train`` on a labelled table: stratified folds, each scored by a model trained on the others.

Prints a table, and writes the mean of the reports of all folds to ``evaluate.json`` in the folder ``--work``.
"""

from __future__ import annotations

import argparse
import csv
import json
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd

from nlptx.metrics import wilson_interval


def folds(labels: pd.Series, count: int, seed: int) -> np.ndarray:
    """Return the fold, 0 to count - 1, of each row; each label is spread evenly over the folds."""
    rng = np.random.default_rng(seed)
    result = np.empty(len(labels), int)
    for label in sorted(labels.unique()):
        rows = rng.permutation(np.flatnonzero(labels == label))
        result[rows] = np.arange(len(rows)) % count
    return result


def pool(reports: list[dict]) -> dict:
    """Return the mean of reports, weighted by their numbers of texts, with the interval for all texts together."""
    texts = [report["texts"] for report in reports]
    pooled = {}
    for name, value in reports[0].items():
        if isinstance(value, int | float):
            pooled[name] = float(np.average([report[name] for report in reports], weights=texts))
    return {
        **pooled,
        "texts": sum(texts),
        "interval": wilson_interval(round(pooled["accuracy"] * sum(texts)), sum(texts)),
        "folds": [report["accuracy"] for report in reports],
        "chosen": [report.get("chosen", {}) for report in reports],
    }


def nlptx(*arguments: str) -> dict:
    """Run a command and return the JSON it prints."""
    done = subprocess.run(
        [sys.executable, "-m", "nlptx", *arguments, "--json", "-q"], stdout=subprocess.PIPE, check=True
    )
    return json.loads(done.stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, epilog="Arguments of nlptx train follow after --.")
    parser.add_argument("data", type=Path)
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--embeddings", required=True)
    parser.add_argument("--work", type=Path, required=True, help="folder for the parts and models")
    parser.add_argument("--seed", type=int, default=1)
    words = sys.argv[1:]
    end = words.index("--") if "--" in words else len(words)
    arguments, training = parser.parse_args(words[:end]), words[end + 1 :]
    table = pd.read_csv(arguments.data, sep="\t", dtype=str, quoting=csv.QUOTE_NONE, keep_default_na=False)
    fold = folds(table["label"], arguments.folds, arguments.seed)
    arguments.work.mkdir(parents=True, exist_ok=True)
    rows, reports = [], []
    for number in range(arguments.folds):
        parts = {"train": table[fold != number], "test": table[fold == number]}
        for name, part in parts.items():
            lines = ["\t".join(row) for row in [table.columns, *part.itertuples(index=False)]]
            (arguments.work / f"{name}.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")
        model = str(arguments.work / f"model{number}.npz")
        train_file, test_file = (str(arguments.work / f"{name}.tsv") for name in ("train", "test"))
        trained = nlptx("train", train_file, "-e", arguments.embeddings, *training, "-o", model)
        report = nlptx("evaluate", test_file, "-m", model)
        reports.append(
            {**report, "seconds": trained["seconds"] + report["seconds"], "parameters": trained["parameters"]}
        )
        rows.append([report["accuracy"], report["log_loss"], trained["seconds"], trained["peak_memory_mb"]])
        print(f"fold {number + 1}/{arguments.folds}: accuracy {report['accuracy']:.4f}", file=sys.stderr)
    (arguments.work / "evaluate.json").write_text(json.dumps(pool(reports)) + "\n")
    result = pd.DataFrame(rows, columns=["accuracy", "log-loss", "seconds", "peak MB"], dtype=float)
    result.index = [f"fold {number + 1}" for number in range(arguments.folds)]
    result.loc["mean"] = result.mean()
    result.loc["std"] = result.iloc[:-1].std()
    settings = shlex.join(training) or "defaults"
    print(f"{arguments.data.name}, {len(table):,} texts, {arguments.folds}-fold cross-validation; train: {settings}")
    print(result.to_string(float_format=lambda value: f"{value:.4f}"))


if __name__ == "__main__":
    main()
