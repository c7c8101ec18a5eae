"""Tests of ``nlptx crossvalidate``: tables, predictions, resuming, quality gate, errors."""

import csv
import json
import os
import signal

import pytest
from calling import call, failure
from command import Running, run
from sample_data import make_rows

from nlptx.cli.commands import crossvalidate as crossvalidation
from nlptx.errors import OutputError

FAST = ("--epochs", "1", "--lr", "0.01", "--warmup", "0", "--width", "8", "--lsa-components", "4", "--folds", "3")


@pytest.fixture
def here(work, tmp_path, monkeypatch):
    """Run the test in an empty working folder; return ``work``, the folder with the input files."""
    monkeypatch.chdir(tmp_path)
    return work


def table(path):
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t" if path.endswith("tsv") else ","))


def test_the_table_and_the_json_object(here):
    result = run("crossvalidate", here / "train.tsv", *FAST, "--seeds", "2")
    assert result.lines[0] == "folds"
    assert [line.split()[:3] for line in result.lines[2:8]] == [
        [str(seed), str(fold), str(texts)] for seed in (1, 2) for fold, texts in ((1, 27), (2, 27), (3, 26))
    ]
    assert "no word vectors are given (-e)" in result.stderr
    assert "fold 3 of 3  accuracy" in result.stderr
    found = run("crossvalidate", here / "train.tsv", *FAST, "--seeds", "2", "--json", "-q", "-j", "1")
    assert found.stderr == ""
    report = found.json
    assert [(fold["seed"], fold["fold"]) for fold in report["folds"]] == [(s, f) for s in (1, 2) for f in (1, 2, 3)]
    accuracies = [fold["accuracy"] for fold in report["folds"]]
    assert report["accuracy"] == pytest.approx(sum(accuracies) / 6)
    assert f"{report['accuracy']:.2%}" in result.text
    low, high = report["interval"]
    assert low <= report["accuracy"] <= high
    assert f"{low:.2%} to {high:.2%}" in result.text


@pytest.mark.parametrize("name", ["p.csv", "p.tsv", "p.jsonl", "p.csv.gz"])
def test_predictions_keep_the_columns_of_the_input(here, name):
    rows = make_rows(("neg", "pos"), 30, seed=4)
    with open("in.csv", "w", encoding="utf-8") as file:
        file.write("id,text,label\n" + "".join(f"{n},{text},{label}\n" for n, (text, label) in enumerate(rows)))
    call("crossvalidate", "in.csv", *FAST, "--predictions", name, "-q")
    if name.endswith("gz"):
        assert call("cooccur", name, "--min-count", "1", "--json", "-o", "c.npz").json["documents"] == 30
        return
    if name.endswith("jsonl"):
        with open(name, encoding="utf-8") as file:
            found = [json.loads(line) for line in file]
    else:
        found = table(name)
    columns = ["id", "text", "label", "predicted", "confidence", "prob_neg", "prob_pos", "fold", "seed"]
    assert [list(row) for row in found] == [columns] * 30
    assert [row["id"] for row in found] == [str(number) for number in range(30)]
    assert all(float(row["confidence"]) == float(row[f"prob_{row['predicted']}"]) for row in found)
    assert {str(row["fold"]) for row in found} == {"1", "2", "3"}


def test_accuracy_of_the_predictions(here):
    report = call("crossvalidate", here / "train.tsv", *FAST, "--predictions", "p.tsv", "--json").json
    found = table("p.tsv")
    for fold in report["folds"]:
        right = [row["predicted"] == row["label"] for row in found if row["fold"] == str(fold["fold"])]
        assert sum(right) / len(right) == pytest.approx(fold["accuracy"])


def test_whole_numbers_in_json_lines_are_the_same_labels_in_tables(here):
    """Labels 5.0 and 5 of JSON lines are both written to a table as 5, because they are equal; 0.5 stays 0.5."""
    with open("in.jsonl", "w", encoding="utf-8") as file:
        for number, (text, label) in enumerate(make_rows(("neg", "pos"), 30, seed=4)):
            rating = 5 - 4 * (label == "neg")
            row = {"text": text, "label": float(rating) if number % 2 else rating, "price": 0.5}
            file.write(json.dumps(row) + "\n")
    expected = call("crossvalidate", "in.jsonl", *FAST, "--predictions", "p.csv", "--json").json
    assert {(row["label"], row["price"]) for row in table("p.csv")} == {("1", "0.5"), ("5", "0.5")}
    report = call("evaluate", "-m", "p.csv", "--json").json
    hits = sum(fold["accuracy"] * fold["texts"] for fold in expected["folds"])
    assert report["accuracy"] * 30 == pytest.approx(hits)
    call("predict", "in.jsonl", "-m", here / "model.npz", "-o", "out.csv")
    assert {(row["label"], row["price"]) for row in table("out.csv")} == {("1", "0.5"), ("5", "0.5")}


def test_used_column_names_are_reported(here):
    with open("in.tsv", "w", encoding="utf-8") as file:
        file.write("text\tlabel\tfold\n")
        file.write("".join(f"{text}\t{label}\tx\n" for text, label in make_rows(("neg", "pos"), 30, seed=4)))
    result = call("crossvalidate", "in.tsv", *FAST, "--predictions", "p.tsv")
    assert "the input already has a column 'fold', so the added column is 'predicted_fold'" in result.stderr
    assert {row["predicted_fold"] for row in table("p.tsv")} == {"1", "2", "3"}


def test_given_vectors_groups_and_several_labels(here):
    with open("in.jsonl", "w", encoding="utf-8") as file:
        for number, (text, label) in enumerate(make_rows(("drama", "comedy"), 40, seed=4)):
            row = {"text": text, "label": label if number % 4 else "drama; comedy", "film": number // 4}
            file.write(json.dumps(row) + "\n")
    words = ("--label-separator", ";", "--group", "film", "-e", here / "embeddings.npz")
    call("crossvalidate", "in.jsonl", *FAST, *words, "--predictions", "p.jsonl")
    with open("p.jsonl", encoding="utf-8") as file:
        found = [json.loads(line) for line in file]
    assert all(isinstance(row["predicted"], list) for row in found)
    assert len({(row["film"], row["fold"]) for row in found}) == 10
    report = call("evaluate", "-m", "p.jsonl", "--label-separator", ";", "--json").json
    assert report["accuracy"] == sum(set(row["predicted"]) == set(row["label"].split("; ")) for row in found) / 40


def test_settings_come_from_the_file_and_the_preset(here):
    with open("c.toml", "w", encoding="utf-8") as file:
        file.write("[pca]\ncomponents = 3\n[train]\nepochs = 4\noutput = 'model.npz'\nresume = true\n")
    words = ("crossvalidate", here / "train.tsv", *FAST[2:], "--config", "c.toml", "--predictions", "p.csv")
    with Running(*words, "-v") as running:
        message = running.finish().stderr
    assert "'components': 3," in message
    assert "'epochs': 4," in message
    code, message = failure("crossvalidate", here / "train.tsv", "--preset", "goldstraw", "-v")
    assert (code, "'optimizer': 'sgd'" in message, "'min_count': 50" in message) == (3, True, True)


def test_an_interrupted_run_is_resumed(here):
    words = ("crossvalidate", here / "train.tsv", *FAST, "--seeds", "30", "--predictions", "p.csv", "--json")
    with Running(*words) as running:
        running.read_until(b"seed 2 of 30, fold 1", running.process.stderr)
        running.process.send_signal(signal.SIGINT)
        stopped = running.finish()
    assert stopped.code == 130
    assert "--resume continues from p.csv.checkpoint" in stopped.stderr
    with Running(*words, "--resume") as running:
        running.read_until(b"seed 3 of 30, fold 1", running.process.stderr)
        running.process.kill()
    few = ("crossvalidate", here / "train.tsv", *FAST, "--seeds", "3", "--predictions", "p.csv", "--json")
    resumed = call(*few, "--resume")
    assert "finished folds: " in resumed.stderr
    resumed_predictions = table("p.csv")
    assert not os.path.exists("p.csv.checkpoint")
    whole = call(*few).json
    assert table("p.csv") == resumed_predictions
    without_times = [
        [{k: v for k, v in fold.items() if k != "seconds"} for fold in report["folds"]]
        for report in (resumed.json, whole)
    ]
    assert without_times[0] == without_times[1]


def test_the_folds_are_kept_if_the_predictions_cannot_be_written(here, monkeypatch):
    def fail(*arguments):
        raise OutputError("the disk is full", where="p.csv")

    words = ("crossvalidate", here / "train.tsv", *FAST, "--predictions", "p.csv")
    monkeypatch.setattr(crossvalidation, "write_predictions", fail)
    code, message = failure(*words)
    assert (code, "p.csv.checkpoint; --resume does not repeat them" in message) == (1, True)


def test_starting_over_keeps_the_folds_of_an_interrupted_run(here):
    words = ("crossvalidate", here / "train.tsv", *FAST, "--predictions", "p.csv")
    with open("p.csv.checkpoint", "w", encoding="utf-8") as file:
        file.write("finished folds")
    stopped = failure(*words, "--label-column", "nothing")
    assert stopped[0] == 3
    with Running(*words, "--seeds", "30") as running:
        running.read_until(b"seed 1 of 30, fold 2", running.process.stderr)
        running.process.send_signal(signal.SIGINT)
        assert running.finish().code == 130
    with open("p.csv.checkpoint.old", encoding="utf-8") as file:
        assert file.read() == "finished folds"
    call(*words, "--resume")
    assert sorted(os.listdir()) == ["p.csv"]


def test_other_settings_are_refused_on_resuming(here):
    words = ("crossvalidate", here / "train.tsv", *FAST, "--predictions", "p.csv")
    with Running(*words, "--seeds", "30") as running:
        running.read_until(b"seed 1 of 30, fold 2", running.process.stderr)
        running.process.kill()
    code, message = failure(*words, "--shuffle", "--resume")
    assert (code, "--shuffle was False and is now True" in message) == (4, True)


def test_minimum_accuracy(here):
    words = ("crossvalidate", here / "train.tsv", *FAST, "--ngrams", "0", "--freeze", "-q")
    assert call(*words, "--min-accuracy", "1", code=5).text.startswith("folds")
    call(*words, "--min-accuracy", "0")


def test_a_mean_accuracy_that_equals_the_minimum_is_enough(here):
    """The mean of three accuracies of 0.7 is 0.6999999999999998."""
    texts = [("neg" if number % 10 < 3 else "pos", f"the film w{number}x") for number in range(30)]
    lines = ["label\ttext", *map("\t".join, texts)]
    (here / "equal.tsv").write_text("\n".join(lines))
    words = ("crossvalidate", here / "equal.tsv", "--folds", "3", "--effort", "fast", "-j", "1", "--json")
    found = call(*words, "--min-accuracy", "0.7").json
    assert [fold["accuracy"] for fold in found["folds"]] == [0.7] * 3
    assert "0.7000, below" in failure(*words, "--min-accuracy", "0.7001")[1]


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (("--resume",), 2, "--resume needs --predictions FILE"),
        (("--predictions", "-"), 2, "use a file name instead of -"),
        (("--predictions", "p.txt"), 2, "name it *.csv"),
        (("--predictions", "p.json"), 2, "p.json is not the name of a table; name it *.csv, *.tsv or *.jsonl"),
        (("--group", "film", "--shuffle"), 2, "use only one of them"),
        (("--group", "film"), 3, "no column 'film'; the columns are text, label"),
        (("--folds", "1"), 2, "--folds"),
        (("--folds", "99"), 3, "80 texts for 99 folds"),
        (("-e", "a.npz", "--start", "b.npz"), 2, "use only one of them"),
    ],
)
def test_errors(here, words, code, says):
    fast = FAST if "--folds" not in words else FAST[:-2]
    found, message = failure("crossvalidate", here / "train.tsv", *fast, *words)
    assert (found, says in message) == (code, True), message


def test_the_input_is_not_replaced(here):
    with open("in.csv", "w", encoding="utf-8") as file:
        file.write(
            "text,label\n" + "".join(f"{text},{label}\n" for text, label in make_rows(("neg", "pos"), 30, seed=4))
        )
    code, message = failure("crossvalidate", "in.csv", *FAST, "--predictions", "in.csv")
    assert (code, "in.csv is also an input" in message) == (2, True)


def test_predictions_out_of_fold_can_be_evaluated_again(here):
    """The file of predictions is a labelled table, so another model can be tested on its texts."""
    call("crossvalidate", here / "train.tsv", *FAST, "--predictions", "p.csv", "-q")
    assert call("evaluate", "-m", here / "model.npz", "p.csv", "--json").json["texts"] == 80


def test_texts_without_weight_are_refused(here, tmp_path):
    (tmp_path / "zero.csv").write_text("text,label,w\ngood,pos,0\nbad,neg,0\n")
    code, message = failure("crossvalidate", "zero.csv", "--weight-column", "w")
    assert (code, "zero.csv: the weights of all texts are 0" in message) == (3, True)


@pytest.mark.parametrize("command", ["crossvalidate", "tune"])
def test_a_table_without_rows_is_refused(here, tmp_path, command):
    (tmp_path / "header.csv").write_text("text,label\n")
    code, message = failure(command, "header.csv")
    assert code == 3
    assert "header.csv: there are no training texts" in message
