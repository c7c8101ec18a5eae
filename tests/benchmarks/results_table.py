"""Print a Markdown table that compares the recorded runs of nlptx and of the baselines."""

from __future__ import annotations

import argparse
import json
import statistics
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from nlptx.metrics import wilson_interval

# Folder of a run (or of the baselines of a data set) -> name of the data set, name of the method.
RUNS = {
    "imdb": ("IMDB", "nlptx"),
    "imdb-no-regions": ("IMDB", "nlptx without region filters"),
    "imdb-no-network": ("IMDB", "nlptx without the network"),
    "imdb-no-unlabelled": ("IMDB", "nlptx without unlabelled texts"),
    "imdb-no-lsa": ("IMDB", "nlptx without LSA components"),
    "imdb-no-ngrams": ("IMDB", "nlptx without n-grams: the transformer alone"),
    "imdb-distillation": ("IMDB", "nlptx with distillation"),
    "imdb-passages": ("IMDB", "nlptx with passages"),
    "imdb-every-label": ("IMDB", "nlptx with every label, nothing held out"),
    "goldstraw": ("IMDB", "nlptx, preset goldstraw"),
    "bloem": ("IMDB", "nlptx, preset bloem"),
    "sst2": ("SST-2", "nlptx"),
    "sst5": ("SST-5", "nlptx"),
    "trec": ("TREC", "nlptx"),
    "cr": ("CR", "nlptx, bundled model, nothing trained"),
}
STEPS = ("SST-5",)  # data sets whose labels form a scale with more than two steps
BASELINES = {
    "majority": "majority",
    "vader": "VADER",
    "tfidf": "TF-IDF + logistic regression",
    "nblr": "NB-LR",
    "nbsvm": "NB-SVM",
    "fasttext": "fastText",
}
NOTES = """\
Accuracy in percent with its 95% interval (Wilson; for nlptx on TREC, the corrected interval over folds); for several
seeds or folds, the mean and the standard deviation.
Wall time covers reading, choosing settings, training and testing, for one seed or fold. For nlptx on IMDB it includes
making the word vectors, which are reused for SST-2, SST-5 and TREC. The parameter counts of nlptx do not include the
n-gram features."""


def load(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def read_run(folder: Path) -> dict[str, Any]:
    """Return the report of a run, with the total time of all stages and the number of parameters."""
    report = load(folder / "evaluate.json")
    if "folds" not in report:
        stages = (load(folder / f"{stage}.json") for stage in ("cooccur", "pca", "train"))
        report["seconds"] += sum(stage.get("seconds", 0) for stage in stages)
    else:
        report["seconds"] = statistics.fmean(fold["seconds"] for fold in report["folds"])
    sizes = load(folder / "info.json").get("sizes")
    inside = sizes["flat"][0] + sizes["table"][0] * sizes["table"][1] if sizes else None
    report.setdefault("parameters", load(folder / "train.json").get("parameters", inside))
    return report


def over_seeds(reports: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the mean of several reports on the same texts, with the interval of the mean accuracy.

    The time is that of the first run, because the other runs reuse its word vectors.
    """
    mean: dict[str, Any] = {}
    for name, value in reports[0].items():
        if isinstance(value, int | float):
            mean[name] = statistics.fmean(report[name] for report in reports)
    mean["seconds"] = reports[0]["seconds"]
    hits = round(mean["accuracy"] * mean["texts"])
    mean |= {
        "interval": wilson_interval(hits, round(mean["texts"])),
        "seeds": [report["accuracy"] for report in reports],
    }
    return mean


def always(report: dict[str, Any]) -> dict[str, Any]:
    """Return the report of a classifier that always predicts the most frequent label of the evaluated texts."""
    hits = round(report["majority"] * report["texts"])
    return {
        "texts": report["texts"],
        "accuracy": report["majority"],
        "interval": wilson_interval(hits, report["texts"]),
    }


def rows(build: Path) -> Iterator[dict[str, str]]:
    """Yield a row for each recorded run in ``build``; the baselines of a data set precede its first run."""
    for name, (data, method) in RUNS.items():
        for baseline, title in BASELINES.items():
            if report := load(build / "baselines" / name / f"{baseline}.json"):
                yield row(data, title, report)
            elif baseline == "majority" and name == "cr" and (report := load(build / name / "evaluate.json")):
                yield row(data, f"{title} (of the test texts)", always(report))
        seeds = sorted(path.parent for path in (build / name).glob("seed-*/evaluate.json"))
        if seeds:
            yield row(data, method, over_seeds([read_run(folder) for folder in (build / name, *seeds)]))
        elif (build / name / "evaluate.json").exists():
            yield row(data, method, read_run(build / name))


def row(data: str, method: str, report: dict[str, Any]) -> dict[str, str]:
    low, high = report["interval"]
    spread = ("seeds", report["seeds"]) if "seeds" in report else None
    if "folds" in report:
        spread = "folds", [fold["accuracy"] for fold in report["folds"]]

    def number(name: str, form: str, unit: str = "") -> str:
        value = report.get(name)
        return "" if value is None else format(value, form) + unit

    return {
        "data": f"{data} ({report['texts']:,.0f})",
        "method": method,
        "accuracy": f"{100 * report['accuracy']:.1f} ({100 * low:.1f} to {100 * high:.1f})",
        "spread": f"± {100 * statistics.stdev(spread[1]):.1f}, {len(spread[1])} {spread[0]}" if spread else "",
        "log-loss": number("log_loss", ".3f"),
        "ECE": number("ece", ".1%"),
        "mean absolute error": number("mean_absolute_error", ".3f") if data in STEPS else "",
        "wall time": number("seconds", ".1f", " s"),
        "parameters": number("parameters", ",.0f"),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", type=Path, help="folder with one folder per run, and baselines/")
    table = pd.DataFrame(rows(parser.parse_args().build))
    table = table.loc[:, (table != "").any()]
    for line in [list(table.columns), ["---"] * len(table.columns), *table.to_numpy().tolist()]:
        print(f"| {' | '.join(line)} |")
    print(f"\n{NOTES}")


if __name__ == "__main__":
    main()
