"""Summarise an experiment from the JSON output of its commands: data, settings, quality, time and memory."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import pandas as pd

STAGES = ("cooccur", "pca", "train", "evaluate")


def summarise(folder: Path, data: str) -> pd.DataFrame:
    """Return a table that describes the run in ``folder``, with one property per row."""
    files = {stage: folder / f"{stage}.json" for stage in STAGES}
    runs = {stage: json.loads(path.read_text()) for stage, path in files.items() if path.exists()}
    report, training = runs["evaluate"], runs.get("train")
    low, high = report["interval"]
    seconds = {stage: run["seconds"] for stage, run in runs.items()}
    rows = {
        "data": Path(data).name,
        "settings": " | ".join(
            f"{stage}: {(folder / f'{stage.upper()}.args').read_text().strip() or 'defaults'}"
            for stage in STAGES
            if (folder / f"{stage.upper()}.args").exists()
        ),
        "training texts": _training_texts(training, report),
        "test texts": f"{report['texts']:,}",
        "parameters": f"{training['parameters']:,}" if training else "",
        "accuracy": f"{report['accuracy']:.2%} (95% interval {low:.2%} to {high:.2%})",
        "folds": ", ".join(f"{fold['accuracy']:.2%}" for fold in report.get("folds", ())),
        "log-loss": f"{report['log_loss']:.4f}",
        "wall time": f"{sum(seconds.values()):.0f} s ("
        + ", ".join(f"{stage} {value:.0f}" for stage, value in seconds.items())
        + ")",
        "peak memory": f"{max(run['peak_memory_mb'] for run in runs.values()):,} MB",
    }
    return pd.DataFrame({"": [*rows.values()]}, index=list(rows)).loc[lambda table: table[""] != ""]


def _training_texts(training: dict | None, report: dict) -> str:
    if "folds" in report:
        return f"{len(report['folds'])}-fold cross-validation"
    return f"{training['texts']:,}" if training else "none here: the bundled model"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--data", required=True)
    arguments = parser.parse_args()
    for name, value in summarise(arguments.folder, arguments.data)[""].items():
        print(f"{name:<15} {value}")


if __name__ == "__main__":
    main()
