"""Tests of the results table: reading recorded runs, and averaging over folds and seeds."""

import json
import sys
from pathlib import Path

import pytest

from nlptx.metrics import wilson_interval

BENCHMARKS = Path(__file__).parent / "benchmarks"


def write(path, **report):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(report))


def report(accuracy, texts=1000, **more):
    interval = wilson_interval(round(accuracy * texts), texts)
    return {"texts": texts, "accuracy": accuracy, "interval": interval, "log_loss": 0.5, "ece": 0.02, **more}


@pytest.fixture
def table(tmp_path, monkeypatch, capsys):
    """Return a function that reads the printed table as (data, method) -> {column: cell}."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    monkeypatch.setattr(sys, "argv", ["results_table.py", str(tmp_path)])

    def read():
        import results_table

        results_table.main()
        output = capsys.readouterr().out
        head, separator, *rows = [line[2:-2].split(" | ") for line in output.splitlines() if line.startswith("| ")]
        assert set(separator) == {"---"}
        return {tuple(row[:2]): dict(zip(head, row, strict=True)) for row in rows}

    return read


def test_a_run_is_listed_with_its_baselines(tmp_path, table):
    write(tmp_path / "baselines/imdb/vader.json", **report(0.7, log_loss=None, ece=None, seconds=2, parameters=7506))
    write(tmp_path / "imdb/evaluate.json", **report(0.9, seconds=1.5, mean_absolute_error=0.1))
    write(tmp_path / "imdb/train.json", seconds=10.0, parameters=12345)
    write(tmp_path / "imdb/pca.json", seconds=3.0)
    rows = table()
    assert list(rows) == [("IMDB (1,000)", "VADER"), ("IMDB (1,000)", "nlptx")]
    assert rows["IMDB (1,000)", "nlptx"] == {
        "data": "IMDB (1,000)",
        "method": "nlptx",
        "accuracy": "90.0 (88.0 to 91.7)",
        "log-loss": "0.500",
        "ECE": "2.0%",
        "wall time": "14.5 s",
        "parameters": "12,345",
    }
    assert rows["IMDB (1,000)", "VADER"]["log-loss"] == ""


def test_runs_with_different_seeds_are_averaged(tmp_path, table):
    for folder, accuracy in (("sst5", 0.40), ("sst5/seed-2", 0.42), ("sst5/seed-3", 0.44)):
        more = {"seconds": 1, "mean_absolute_error": accuracy * 2}
        write(tmp_path / folder / "evaluate.json", **report(accuracy, **more))
        write(tmp_path / folder / "train.json", seconds=2, parameters=5)
    write(tmp_path / "sst5/pca.json", seconds=1)  # the runs with the seeds 2 and 3 use the same word vectors
    (row,) = table().values()
    assert row["accuracy"] == "42.0 (39.0 to 45.1)"
    assert row["spread"] == "± 2.0, 3 seeds"
    assert (row["mean absolute error"], row["wall time"], row["parameters"]) == ("0.840", "4.0 s", "5")


def test_folds_are_weighted_by_their_number_of_texts(tmp_path, table, monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    from folds import pool

    pooled = pool([report(0.8, 300, seconds=2.0), report(0.9, 100, seconds=4.0)])
    assert pooled["accuracy"] == pytest.approx(0.825)
    assert pooled["interval"] == wilson_interval(330, 400)
    write(tmp_path / "trec/evaluate.json", **pooled)
    write(tmp_path / "trec/pca.json", seconds=100)
    (row,) = table().values()
    assert (row["data"], row["spread"], row["wall time"]) == ("TREC (400)", "± 7.1, 2 folds", "3.0 s")


def test_the_bundled_model_is_listed_with_the_majority_baseline(tmp_path, table):
    write(tmp_path / "cr/evaluate.json", **report(0.71, majority=0.638, seconds=1))
    write(tmp_path / "cr/info.json", sizes={"flat": [50], "table": [10, 4]})
    majority, bundled = table().values()
    assert majority["accuracy"].startswith("63.8 ")
    assert bundled["parameters"] == "90"
