"""Tests of the accuracy on groups of texts: by the value of a column, and by the number of words."""

import json

import numpy as np
import pytest
from calling import call, failure

from nlptx.corpus.document import Document
from nlptx.errors import DataError
from nlptx.evaluation.groups import accuracy_by_group, accuracy_by_length, column_values, group_values
from nlptx.metrics import wilson_interval


def row(**fields):
    return Document("a", source="d.tsv", line=2, fields=fields, format="tsv")


def test_groups_are_sorted_by_size_then_by_name():
    found = accuracy_by_group(["b", "a", "c", "c"], np.array([True, False, True, False]))
    assert [(group.name, group.texts, group.accuracy) for group in found] == [("c", 2, 0.5), ("a", 1, 0), ("b", 1, 1)]
    assert found[0].interval == wilson_interval(1, 2)


def test_columns_match_without_regard_to_case():
    assert column_values("KIND ", [row(kind=" x "), row(kind=None), row(kind=3)]) == ["x", "", "3"]


def test_a_json_row_without_the_column_has_an_empty_group():
    other = Document("b", fields={"text": "b"}, format="jsonl")
    assert column_values("kind", [row(kind="x"), other]) == ["x", ""]


@pytest.mark.parametrize(
    ("documents", "says"),
    [
        ([Document("a", source="d", line=1)], "not in a table"),
        ([row(text="a")], "no column 'kind'"),
        ([row(Kind="x", KIND="y")], "both match"),
        ([Document("b", fields={"text": "b"}, format="jsonl")], "no column 'kind'"),
    ],
)
def test_a_missing_column_is_an_error(documents, says):
    with pytest.raises(DataError, match=says):
        column_values("kind", documents)


def test_texts_without_a_value_are_one_group_and_counted():
    notes = []
    documents = [row(kind="x"), row(kind=" "), row(kind=None)]
    assert group_values("kind", documents, notes.append) == ["x", "", ""]
    assert notes == ["2 of 3 texts have no value in the column 'kind'; they are treated as one group"]


@pytest.mark.parametrize("words", [("crossvalidate", "d.csv"), ("compare", "d.csv", "d.csv")])
def test_group_names_a_column_as_for_by(words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = "".join(f"a{n},{label},{label},{n},{n % 2}\n" for n, label in enumerate(["neg", "pos"] * 3))
    (tmp_path / "d.csv").write_text("text,label,predicted,Author,AUTHOR\n" + rows)
    code, message = failure(*words, "--group", "author")
    assert (code, "columns 'Author' and 'AUTHOR' both match 'author'" in message) == (3, True)
    assert "--group" in message
    (tmp_path / "d.jsonl").write_text(
        "".join(f'{{"text": "a", "label": "{label}", "predicted": "x"}}\n' for label in "xyx")
    )
    code, message = failure(*(word.replace("csv", "jsonl") for word in words), "--group", "author")
    assert (code, "no column 'author'" in message) == (3, True)


def test_lengths_are_groups_of_similar_size_and_equal_lengths_stay_together():
    texts = ["a " * length for length in (*range(1, 41), *[50] * 40)]
    found = accuracy_by_length(texts, np.ones(80, bool))
    assert sum(group.texts for group in found) == 80
    assert found[0].name.startswith("1 to ")
    assert found[-1].name.endswith("50")
    assert found[-1].texts >= 40
    assert len(found) <= 8


@pytest.mark.parametrize("texts", [["a"], [""], ["a", "a b"], ["x"] * 9])
def test_few_texts_have_lengths_too(texts):
    found = accuracy_by_length(texts, np.ones(len(texts), bool))
    assert sum(group.texts for group in found) == len(texts)


def test_evaluate_shows_groups_in_tables_and_json(work, model, tmp_path):
    lines = (work / "test.tsv").read_text().splitlines()
    rows = [line + ("\todd" if number % 2 else "\teven") for number, line in enumerate(lines[1:])]
    (tmp_path / "d.tsv").write_text("\n".join([lines[0] + "\tParity", *rows]) + "\n")
    words = ("evaluate", tmp_path / "d.tsv", "-m", model, "--by", "parity", "-j", "1")
    found = call(*words, "--json").json
    assert [(group["name"], group["texts"]) for group in found["by"]["parity"]] == [("even", 16), ("odd", 15)]
    hits = sum(group["accuracy"] * group["texts"] for group in found["by"]["parity"])
    assert hits == pytest.approx(found["accuracy"] * found["texts"])
    shown = call(*words).text
    assert "by parity" in shown
    assert f"{found['by']['parity'][0]['accuracy']:.2%}" in shown
    assert "by" not in json.loads(call(*words[:4], "-j", "1", "--json").text)


def test_an_unknown_column_is_an_error_that_names_the_option(work, model):
    code, message = failure("evaluate", work / "test.tsv", "-m", model, "--by", "nope")
    assert code == 3
    assert "the columns are text, label" in message
    assert "--by" in message
    assert failure("evaluate", work / "test.tsv", "-m", model, "--by", "a", "--by", "a")[0] == 2
