"""Tests of ``nlptx evaluate`` for tables with the predictions of any program."""

import pytest
from calling import call, failure
from command import refused, run

PLAIN = "text,label,predicted\na,neg,neg\nb,pos,?\nc,pos,pos\nd,neg,pos\n"


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "p.csv"
    path.write_text(PLAIN)
    return path


@pytest.mark.parametrize(("predicted", "low", "high"), [("neg", 0.722, 1), ("pos", 0, 0.278)])
def test_the_interval_of_several_seeds_is_that_of_the_texts_if_all_seeds_agree(predicted, low, high, tmp_path):
    rows = (f"text {text},neg,{predicted},{seed}\n" for seed in (1, 2, 3) for text in range(10))
    (tmp_path / "p.csv").write_text("text,label,predicted,seed\n" + "".join(rows))
    interval = call("evaluate", "-m", tmp_path / "p.csv", "--json").json["interval"]
    assert interval == pytest.approx([low, high], abs=1e-3)


def test_without_probabilities(table):
    result = run("evaluate", "-m", table, "--json")
    report = result.json
    assert report["accuracy"] == 0.5
    assert report["confusion"] == [[1, 1], [0, 1]]
    assert [row["texts"] for row in report["classes"]] == [2, 2]
    assert [report[name] for name in ("auc", "log_loss", "ece", "aurc", "seed")] == [None] * 5
    assert report["unanswered_texts"] == 1
    assert "texts without an answer (counted as wrong): 1 of 4" in result.stderr
    text = run("evaluate", "-m", table).text
    assert "50.00%" in text
    assert not {"nan", "log-loss", "ROC-AUC", "calibration"} & set(text.replace("  ", "\n").split("\n"))


def test_the_mean_absolute_error_leaves_out_texts_without_an_answer(table):
    table.write_text("text,label,predicted\na,1,1\nb,2,?\nc,3,1\n")
    assert "mean absolute error of answered texts  1.0000 steps" in run("evaluate", "-m", table).text
    table.write_text("text,label,predicted\na,1,1\nb,2,2\nc,3,1\n")
    assert "mean absolute error  0.6667 steps" in run("evaluate", "-m", table).text
    table.write_text("text,label,predicted\na,1,?\nb,2,?\nc,3,?\n")
    assert "mean absolute error" not in run("evaluate", "-m", table).text


def test_numeric_labels_may_be_names(table, tmp_path):
    table.write_text("text,label,predicted\na,1,1\nb,2,2\nc,3,1\n")
    scale = run("evaluate", "-m", table, "--json")
    assert scale.json["mean_absolute_error"] == pytest.approx(2 / 3)
    assert "numeric labels are treated as ordered; if they are names, use --label-order none" in scale.stderr
    ordered = run("evaluate", "-m", table, "--label-order", "auto", "--json")
    assert (ordered.json, ordered.stderr) == (scale.json, "")
    names = run("evaluate", "-m", table, "--label-order", "none", "--json")
    assert names.json == scale.json | {"mean_absolute_error": None}
    assert not names.stderr


@pytest.mark.parametrize(
    ("rows", "options"),
    [
        ("a,1,1\nb,2,1\n", ()),  # two labels
        ("a,negative,neutral\nb,positive,positive\n", ()),  # ordered words
        ("a,x,y\nb,y,z\n", ()),
        ("a,1;2,1\nb,2,2;3\n", ("--label-separator", ";")),
    ],
)
def test_no_note_about_the_order_of_other_labels(rows, options, table):
    table.write_text(f"text,label,predicted\n{rows}")
    assert "ordered" not in run("evaluate", "-m", table, *options).stderr


def test_a_model_needs_no_label_order(tmp_path, monkeypatch):
    (tmp_path / "data.csv").write_text("text,label\nI loved it,pos\nhow boring,neg\n")
    words = ("evaluate", tmp_path / "data.csv", "--label-order", "none")
    for model in ((), ("-m", "bundled")):
        refused(*words, *model, code=2, says="--label-order none needs a table of predictions (-m)")
    refused(*words, "-m", "nofile", code=2, says="nofile: no such file")
    report = run(*words[:2], "--json").json
    monkeypatch.setenv("NLPTX_EVALUATE_LABEL_ORDER", "none")
    assert run(*words[:2], "--json").json["confusion"] == report["confusion"]


def test_a_note_says_how_to_evaluate_the_predictions_in_the_data(table):
    told = run("evaluate", table).stderr
    assert f"{table} seems to contain predictions, but the bundled model is evaluated" in told
    assert f"to evaluate the predictions, add -m {table}\n" in told
    assert "seems to contain" not in run("evaluate", table, "-m", table).stderr
    table.write_text("text,label\nso good,pos\nso bad,neg\n")
    assert "seems to contain" not in run("evaluate", table).stderr


def test_a_table_cannot_be_read_from_standard_input(table):
    for data, says in (((), "cannot be read from standard input; name its file"), ((table,), "write it to a file")):
        assert says in call("evaluate", "-m", "-", *data, stdin=PLAIN, code=None).stderr


def test_predictions_of_a_model_give_its_report(tmp_path):
    data = tmp_path / "data.csv"
    data.write_text("text,label\nI loved it,pos\nhow boring,neg\nI hated it,neg\na wonderful day,neg\n")
    run("predict", data, "-o", tmp_path / "p.csv")
    found = run("evaluate", "-m", tmp_path / "p.csv", "--json").json
    expected = run("evaluate", data, "--json").json
    for name in ("accuracy", "macro_f1", "confusion", "interval", "majority"):
        assert found[name] == expected[name]
    assert found["log_loss"] == pytest.approx(expected["log_loss"], rel=1e-2)
    assert found["ece"] == pytest.approx(expected["ece"], abs=1e-4)


def test_the_name_of_the_label_column_does_not_change_the_report(tmp_path):
    data, table = tmp_path / "data.csv", tmp_path / "p.csv"
    data.write_text("text,truth\nI loved it,pos\nhow boring,pos\nI hated it,neg\na wonderful day,neg\n")
    run("predict", data, "-o", table)
    assert table.read_text().startswith("text,truth,label,confidence")
    truth = "--label-column", "truth", "--json"
    assert run("evaluate", data, *truth).json["accuracy"] == 0.5
    assert run("evaluate", data, "-m", table, *truth).json["accuracy"] == 0.5
    assert run("evaluate", "-m", table, *truth).json["accuracy"] == 0.5
    for words in (("bundled", table, data), ("bundled", table)):
        assert [each["accuracy"] for each in run("compare", *words, *truth).json["candidates"]] == [0.5, 0.5]


def test_data_and_gate(table, tmp_path):
    data = tmp_path / "data.tsv"
    data.write_text("text\tlabel\nb\tpos\na\tneg\nc\tneg\nd\tpos\n")
    assert run("evaluate", data, "-m", table, "--json").json["accuracy"] == 0.5
    assert run("evaluate", "-m", table, "--min-accuracy", "0.6", code=5).text
    refused("evaluate", "-m", table, "--abstain", "0.6", code=2, says="needs a model")
    data.write_text("text\tlabel\nz\tpos\n")
    refused("evaluate", data, "-m", table, code=3, says="no row for the text 'z'")


def test_sets_of_labels(table):
    table.write_text("text,label,predicted\na,x;y,y;x\nb,,x\n")
    report = run("evaluate", "-m", table, "--label-separator", ";", "--json").json
    assert report["accuracy"] == 0.5
    assert report["micro_f1"] == 0.8
    assert report["classes"][0]["threshold"] is None
    assert run("evaluate", "-m", table, "--label-separator", ";").text


def test_labels_without_anything_in_common(tmp_path):
    (tmp_path / "p.csv").write_text("text,label,predicted\na,1,neg\nb,5,pos\nc,5,pos\n")
    says = ["no true label (1, 5) is among the predicted labels (neg, pos)", "Rename the labels with --map."]
    refused("evaluate", "-m", tmp_path / "p.csv", code=3, says=says)
    mapped = run("evaluate", "-m", tmp_path / "p.csv", "--map", "1=neg", "--map", "5=pos", "--json")
    assert mapped.json["accuracy"] == 1


def test_no_predictions(tmp_path):
    data = tmp_path / "data.csv"
    data.write_text("text,label\na,x\n")
    refused("evaluate", "-m", data, code=3, says="there are no predictions")


def test_the_format_and_delimiter_apply_to_a_table_that_is_the_only_input(tmp_path):
    """A TSV file with quoted fields, as pandas writes it."""
    path = tmp_path / "a.tsv"
    path.write_text('text\tlabel\tpredicted\n"good ""film"""\tpos\tpos\n"bad\nfilm"\tneg\tpos\nbad\tneg\tneg\n')
    report = call("evaluate", "-m", path, "--input-format", "csv", "--delimiter", "tab", "--json").json
    assert report["texts"] == 3
    code, message = failure("evaluate", "-m", path)
    assert (code, "use --input-format csv" in message) == (3, True)
