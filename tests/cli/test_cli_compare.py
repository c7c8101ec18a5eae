"""Tests of ``nlptx compare``."""

import csv
import json
import os

import pytest
from command import refused, run

TEXTS = [("great film", "pos"), ("I loved it", "pos"), ("boring", "neg"), ("awful and dull", "neg")] * 6


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("compare")
    texts = [(f"{text} {number}", label) for number, (text, label) in enumerate(TEXTS)]
    lines = [f"{text}\t{label}\t{number // 4}" for number, (text, label) in enumerate(texts)]
    (path / "data.tsv").write_text("\n".join(["text\tlabel\tauthor", *lines]) + "\n")
    wrong = {"pos": "neg", "neg": "pos"}
    with (path / "bad.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["text", "label", "predicted"])
        writer.writerows(
            [text, label, wrong[label] if number % 2 else label] for number, (text, label) in enumerate(texts)
        )
    with (path / "good.jsonl").open("w") as file:
        for text, label in texts:
            probabilities = {"prob_neg": 0.9, "prob_pos": 0.1} if label == "neg" else {"prob_neg": 0.1, "prob_pos": 0.9}
            file.write(json.dumps({"text": text, "label": label, **probabilities}) + "\n")
    return path


def test_two_tables(folder):
    result = run("compare", folder / "bad.csv", folder / "good.jsonl", "--json").json
    assert result["texts"] == 24
    assert [each["accuracy"] for each in result["candidates"]] == [0.5, 1]
    assert result["candidates"][0]["log_loss"] is None
    pair = result["pairs"][0]
    assert (pair["only_first"], pair["only_second"]) == (0, 12)
    assert pair["p_value"] == pytest.approx(2 / 2**12)
    assert pair["verdict"].startswith(f"{folder / 'good.jsonl'} is better")


def test_one_table_with_true_labels_is_enough(folder, tmp_path):
    """Of two tables, the one without true labels may be given first or second, with its rows in any order."""
    rows = [f"{text} {number},{label}\n" for number, (text, label) in enumerate(TEXTS)]
    (tmp_path / "unlabelled.csv").write_text("text,predicted\n" + "".join(reversed(rows)))
    for tables in (["bad.csv", tmp_path / "unlabelled.csv"], [tmp_path / "unlabelled.csv", "bad.csv"]):
        found = run("compare", *tables, "--json", cwd=folder).json["candidates"]
        assert {str(each["source"]): each["accuracy"] for each in found} == {
            "bad.csv": 0.5,
            str(tmp_path / "unlabelled.csv"): 1,
        }
    words = tmp_path / "unlabelled.csv", tmp_path / "unlabelled.csv"
    refused("compare", *words, code=3, says="no column 'label'")


def test_a_table_that_is_named_twice_is_read_once(tmp_path):
    table = tmp_path / "a.csv"
    table.write_text("text,label,predicted\ngood,pos,?\nbad,neg,neg\n")
    result = run("compare", table, table)
    assert result.stderr.count("texts without an answer (counted as wrong): 1 of 2") == 1


def test_labels_that_are_only_spelled_differently_are_no_disagreement(tmp_path):
    (tmp_path / "a.csv").write_text("text,predicted\ngood,1\nbad,0\nfine,0\n")
    (tmp_path / "b.csv").write_text("text,predicted\ngood,pos\nbad,neg\nfine,pos\n")
    (tmp_path / "data.csv").write_text("text,label\ngood,1\nbad,0\nfine,1\n")
    run("compare", "a.csv", "b.csv", "data.csv", "--disagreements", "differ.csv", cwd=tmp_path)
    with (tmp_path / "differ.csv").open() as file:
        assert [row["text"] for row in csv.DictReader(file)] == ["fine"]


def test_three_models_are_compared_with_the_first(folder, tmp_path):
    words = ("compare", "bad.csv", "good.jsonl", "bundled", "data.tsv", "--show", "2")
    result = run(*words, "--disagreements", tmp_path / "differ.csv", cwd=folder)
    assert "row minus column" in result.text
    assert "corrected" in result.text
    assert "good.jsonl right, bad.csv wrong" in result.text
    with (tmp_path / "differ.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) >= 12
    assert list(rows[0])[:5] == ["where", "text", "label", "predicted_1", "predicted_2"]
    assert run(*words, cwd=folder).stdout == result.stdout
    examples = run(*words, "--json", cwd=folder).json["examples"]
    assert len(examples) == 4
    assert (examples[1]["correct"], examples[1]["wrong"]) == ("good.jsonl", "bad.csv")
    first = examples[1]["texts"][0]
    assert first["label"] != first["wrong_prediction"]
    assert f"{first['confidence']:.3f}" in result.text


def test_tables_with_a_row_for_each_seed(folder, tmp_path):
    with (folder / "bad.csv").open() as file:
        rows = list(csv.DictReader(file))
    with (tmp_path / "seeds.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, ["text", "label", "predicted", "seed"])
        writer.writeheader()
        writer.writerows(row | {"seed": seed} for seed in (1, 2) for row in rows)
    once = run("compare", "bad.csv", "good.jsonl", "--json", cwd=folder).json
    for inputs in [
        (tmp_path / "seeds.csv", "good.jsonl"),
        (tmp_path / "seeds.csv", "good.jsonl", "data.tsv"),
        ("bad.csv", "good.jsonl", tmp_path / "seeds.csv"),
    ]:
        done = run("compare", *inputs, "--json", cwd=folder)
        result = done.json
        assert "48 rows for 24 texts, because it covers several seeds" in done.stderr
        assert (result["texts"], result["groups"]) == (48, 24)
        # Copies of the predictions add no information, so the interval is as wide as without the copies.
        assert result["pairs"][0]["accuracy"] == pytest.approx(once["pairs"][0]["accuracy"], abs=0.05)
    done = run("evaluate", "-m", tmp_path / "seeds.csv", "--json", cwd=folder)
    assert "48 rows for 24 texts" in done.stderr
    of_one_seed = run("evaluate", "-m", "bad.csv", "data.tsv", "--json", cwd=folder).json
    assert done.json["interval"] == pytest.approx(of_one_seed["interval"], abs=0.03)
    refused("compare", tmp_path / "seeds.csv", "half.csv", code=3, says="no row for the text", cwd=half(folder))


def half(folder):
    lines = (folder / "bad.csv").read_text().splitlines()
    (folder / "half.csv").write_text("\n".join(lines[:10]) + "\n")
    return folder


def test_groups(folder):
    result = run("compare", "bad.csv", "good.jsonl", "data.tsv", "--group", "author", "--json", cwd=folder)
    assert result.json["groups"] == 6
    assert "with only 6 groups, the intervals are too narrow\n" in result.stderr
    words = ("compare", "bad.csv", "good.jsonl", "data.tsv", "--group", "label")
    assert "no difference can be significant" in run(*words, cwd=folder).stderr
    refused(
        "compare", "bad.csv", "good.jsonl", "data.tsv", "--group", "place", code=3, says="no column 'place'", cwd=folder
    )


def test_a_model_is_applied_to_the_texts_of_a_table(folder):
    result = run("compare", "bad.csv", "bundled", "--json", cwd=folder).json
    assert result["candidates"][1]["source"] == "bundled"
    assert result["seen_in"] == {"bundled": None}


def test_labelled_texts_with_predictions_are_noted(folder):
    note = "bad.csv contains predictions, which are compared with those of the models"
    result = run("compare", "bundled", "bundled", "bad.csv", "--json", cwd=folder)
    assert [each["source"] for each in result.json["candidates"]] == ["bundled", "bundled", "bad.csv"]
    assert note in result.stderr
    for words in (["bundled", "bad.csv"], ["bundled", "good.jsonl", "bad.csv"]):
        assert note not in run("compare", *words, "--json", cwd=folder).stderr


@pytest.mark.parametrize(
    ("inputs", "columns", "compared"),
    [
        (["bundled", "bundled"], "gold label confidence", False),
        (["bundled"], "gold label confidence", True),
        (["bundled", "gold.csv"], "gold label confidence", True),
        (["bundled", "bundled"], "gold predicted confidence", True),
        (["bundled", "bundled"], "gold label confidence prob_neg prob_pos", True),
    ],
)
def test_after_two_models_a_label_with_a_confidence_is_not_taken_for_a_prediction(inputs, columns, compared, tmp_path):
    rows = ["great film,pos,neg,0.6,0.6,0.4", "I loved it,pos,pos,0.7,0.3,0.7", "boring,neg,neg,0.8,0.8,0.2"]
    header = ["text", *columns.split()]
    lines = [",".join(header), *(",".join(row.split(",")[: len(header)]) for row in rows)]
    (tmp_path / "gold.csv").write_text("\n".join(lines) + "\n")
    done = run("compare", *inputs, "gold.csv", "--label-column", "gold", "--json", cwd=tmp_path)
    assert [each["source"] for each in done.json["candidates"]] == [*inputs, *["gold.csv"] * compared]
    assert ("its column 'label' is not compared" in done.stderr) != compared
    assert done.json["texts"] == 3


def test_the_map_applies_to_labels_that_only_a_table_has(folder, tmp_path):
    """In numbers.csv, 0 means positive, and every prediction is right."""
    rows = [f"{text} {number},{int(label == 'neg')}\n" for number, (text, label) in enumerate(TEXTS)]
    (tmp_path / "numbers.csv").write_text("text,predicted\n" + "".join(rows))
    words = (tmp_path / "numbers.csv", "bundled", folder / "data.tsv", "--json")
    assert run("compare", *words).json["candidates"][0]["accuracy"] == 0
    mapped = ("--map", "1=neg", "--map", "0=pos")
    assert run("compare", *words, *mapped).json["candidates"][0]["accuracy"] == 1
    table = run("evaluate", folder / "data.tsv", "-m", tmp_path / "numbers.csv", *mapped, "--json").json
    assert table["accuracy"] == 1
    message = refused("compare", *words, "--map", "neg=1", "--map", "pos=0", code=3).stderr
    assert "--map replaces 'neg' with '1', but '1' is read as the model's label 'pos'" in message
    assert "but the data has only the labels" in refused("compare", *words, "--map", "2=pos", code=3).stderr


def test_rows_that_the_map_leaves_out_may_be_in_a_table_without_true_labels(tmp_path):
    (tmp_path / "a.csv").write_text("text,label,predicted\ngood,pos,pos\nbad,neg,pos\nok,neutral,neg\n")
    (tmp_path / "b.csv").write_text("text,predicted\nok,neg\ngood,pos\nbad,neg\n")
    for tables in (("a.csv", "b.csv"), ("b.csv", "a.csv")):
        result = run("compare", *tables, "--map", "neutral=", "--json", cwd=tmp_path).json
        assert result["texts"] == 2
        assert {each["source"]: each["accuracy"] for each in result["candidates"]} == {"a.csv": 0.5, "b.csv": 1}


def test_the_map_may_apply_to_one_of_the_tables_only(tmp_path):
    (tmp_path / "a.csv").write_text("text,label,predicted\nx,pos,1\ny,neg,neg\n")
    (tmp_path / "b.csv").write_text("text,predicted\nx,pos\ny,pos\n")
    result = run("compare", "a.csv", "b.csv", "--map", "1=pos", "--json", cwd=tmp_path).json
    assert [each["accuracy"] for each in result["candidates"]] == [1, 0.5]


def test_the_first_row_of_a_table_may_lack_the_prediction(tmp_path):
    rows = [{"text": "x", "label": "pos"}, {"text": "y", "label": "neg", "predicted": "neg"}]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    result = run("compare", "a.jsonl", "a.jsonl", "--json", cwd=tmp_path).json
    assert result["candidates"][0]["accuracy"] == 0.5


def test_data_from_a_pipe(folder):
    data = (folder / "data.tsv").read_text()
    words = ("compare", "bad.csv", "good.jsonl", "-", "--input-format", "tsv", "--json")
    assert run(*words, stdin=data, cwd=folder).json["texts"] == 24
    words = ("compare", "bad.csv", "good.jsonl", "/dev/stdin", "--input-format", "tsv", "--json")
    assert run(*words, stdin=data, cwd=folder).json["texts"] == 24


def test_predictions_from_a_pipe(folder, tmp_path):
    refused("compare", "-", "bad.csv", code=2, says="only the labelled texts", cwd=folder)
    os.mkfifo(tmp_path / "pipe.csv")
    refused("compare", tmp_path / "pipe.csv", "bad.csv", code=2, says="a pipe can be read only once", cwd=folder)


def test_unusable_inputs_are_refused(folder, tmp_path):
    refused("compare", "bad.csv", code=2, says="nothing to compare", cwd=folder)
    refused("compare", "bad.csv", "data.tsv", code=2, says="nothing to compare", cwd=folder)
    refused("compare", "bundled", "bundled", code=2, says="labelled data is needed", cwd=folder)
    refused("compare", "bad.csv", "none.csv", code=2, says="none.csv: no such file", cwd=folder)
    words = ("compare", "bad.csv", "good.jsonl", "--disagreements", tmp_path / "a.xlsx")
    refused(*words, code=2, says="name it *.csv", cwd=folder)
    words = ("compare", "bad.csv", "good.jsonl", "--disagreements")
    refused(*words, "bad.csv", code=2, says="is also an input", cwd=folder)
    refused(*words, tmp_path / "none" / "a.csv", code=1, says="folder does not exist", cwd=folder)
    for words in (["data.tsv", "bundled", "bundled"], ["bad.csv", "data.tsv", "bundled"], [".", "bad.csv", "data.tsv"]):
        refused("compare", *words, code=3, says="labelled texts must be the last argument", cwd=folder)
    refused("compare", "data.tsv", "bad.csv", "good.jsonl", code=3, says="bad.csv good.jsonl data.tsv", cwd=folder)
    other = tmp_path / "other.csv"
    other.write_text("text,label,predicted\nsomething else,pos,pos\n")
    refused("compare", folder / "bad.csv", other, code=3, says=f"{other}: no row for the text 'great film 0'")


def test_a_map_that_makes_predictions_of_a_model_impossible_is_refused(folder, tmp_path):
    """The map changes the labels in the table, but not the predictions of the model."""
    run("predict", folder / "data.tsv", "-o", tmp_path / "table.csv", "-q")
    for words in (("compare", "bundled", "table.csv"), ("evaluate", "-m", "bundled", folder / "data.tsv")):
        message = refused(*words, "--map", "neg=pos", code=3, cwd=tmp_path).stderr
        assert (
            "--map replaces 'neg' with 'pos', but the model predicts 'neg', which could then never be correct"
            in message
        )
    swapped = run(
        "evaluate", "-m", "bundled", folder / "data.tsv", "--map", "neg=pos", "--map", "pos=neg", "--json"
    ).json
    assert swapped["accuracy"] < 0.5
    assert run("compare", "table.csv", "table.csv", "--map", "neg=pos", "--json", cwd=tmp_path).json["texts"] == 24
