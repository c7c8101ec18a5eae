"""Tests of ``nlptx check``: report, table of suspicious rows and ``--exclude``, quality gate, hostile input."""

import csv
import json

import pytest
from calling import call, failure
from command import refused, run, shell
from sample_data import make_rows

from nlptx import Model, read_training_data
from nlptx.corpus.read_options import ReadOptions

ROWS = [
    ("a good film", "pos"),
    ("A  good film", "neg"),
    ("a bad film", "neg"),
    ("", "pos"),
    ("a dull film", ""),
    ("a cafÃ©", "pos"),
]


def write(path, rows, header=("text", "label")):
    path.write_text("".join("\t".join(row) + "\n" for row in [header, *rows]), encoding="utf-8")
    return path


@pytest.fixture
def data(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return write(tmp_path / "data.tsv", ROWS)


def faults_of(*words):
    report = call("check", *words, "--json", "-q").json
    return {kind: fault["count"] for kind, fault in report["faults"].items()}


def test_the_report(data):
    result = run("check", "data.tsv")
    assert "conflicting-labels" in result.text
    assert "data.tsv:3  [neg]  A good film" in result.text
    assert "wrong labels were not searched for" in result.stderr
    report = call("check", "data.tsv", "--json").json
    assert report["profile"]["texts"] == len(ROWS)
    assert report["profile"]["columns"] == ["text", "label"]
    assert report["profile"]["words"]["maximum"] == 3
    assert report["profile"]["labels"][0] == {"label": "pos", "texts": 3, "fraction": 0.6}
    assert {kind: fault["count"] for kind, fault in report["faults"].items()} == {
        "empty-texts": 1,
        "missing-labels": 1,
        "duplicates": 1,
        "conflicting-labels": 2,
        "mojibake": 1,
    }
    assert report["faults"]["mojibake"]["examples"] == [{"where": "data.tsv:7", "text": "a cafÃ©", "label": "pos"}]


def test_the_number_of_jobs_does_not_change_the_report(work):
    reports = [call("check", work / "train.tsv", "--json", "-j", jobs).json for jobs in (1, 2)]
    for report in reports:
        del report["seconds"], report["peak_memory_mb"]
    assert reports[0] == reports[1]


def test_the_quality_gate(data):
    assert failure("check", "data.tsv", "--fail-on", "duplicates")[0] == 5
    assert failure("check", "data.tsv", "--fail-on", "any")[0] == 5
    call("check", "data.tsv", "--fail-on", "overlap", "--fail-on", "markup")
    assert "faults: copies of another text (1)" in failure("check", "data.tsv", "--fail-on", "duplicates")[1]


def test_overlap_with_test_data(data, tmp_path):
    write(tmp_path / "test.tsv", [("a bad film", "neg")])
    assert faults_of("data.tsv", "--against", "test.tsv")["overlap"] == 1


def test_listed_rows_are_excluded_unless_their_line_is_deleted(work, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = (work / "train.tsv").read_text().splitlines(keepends=True)
    (tmp_path / "data.tsv").write_text("".join([*lines, lines[1], lines[2]]))
    call("check", "data.tsv", "--bad-rows", "rows.csv")
    with open("rows.csv", encoding="utf-8", newline="") as file:
        table = list(csv.DictReader(file))
    copies = [row for row in table if row["reason"] == "duplicates"]
    assert [int(row["line"]) for row in copies] == [len(lines) + 1, len(lines) + 2]
    texts = len(lines) + 1
    report = call("evaluate", "data.tsv", "-m", work / "model.npz", "--exclude", "rows.csv", "--json")
    assert report.json["texts"] == texts - len(table)
    assert f"left out {len(table)} row" in report.stderr
    kept = [line for line in (tmp_path / "rows.csv").read_text().splitlines() if f",{len(lines) + 2}," not in line]
    (tmp_path / "rows.csv").write_text("\n".join(kept) + "\n")
    report = call("evaluate", "data.tsv", "-m", work / "model.npz", "--exclude", "rows.csv", "--json")
    assert report.json["texts"] == texts - len(table) + 1
    fast = ("--epochs", "1", "--ngrams", "0", "-e", work / "embeddings.npz")
    call("train", "data.tsv", *fast, "--exclude", "rows.csv", "-o", "m.npz")
    assert "--exclude EXCLUDE" in call("info", "m.npz").text


def test_training_leaves_out_listed_rows_of_the_held_out_texts_too(work, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [(f"a {'good' if number % 2 else 'bad'} film {number}", ("neg", "pos")[number % 2]) for number in range(40)]
    write(tmp_path / "a.tsv", rows[:30])
    write(tmp_path / "b.tsv", [*rows[30:], rows[30]])
    call("check", "a.tsv", "b.tsv", "--bad-rows", "rows.tsv")
    listed = (tmp_path / "rows.tsv").read_text().splitlines()
    (tmp_path / "rows.tsv").write_text("\n".join(line for line in listed if not line.startswith("a.tsv")) + "\n")
    assert any(line.startswith("b.tsv") for line in listed)
    done = call("train", "a.tsv", "--valid", "b.tsv", "--effort", "fast", "--exclude", "rows.tsv", "-o", "m.npz")
    assert "not in the data" not in done.stderr
    count = sum(line.startswith("b.tsv") for line in listed)
    assert f"left out {count} row" in done.stderr
    assert Model.load("m.npz").source["valid_documents"] == 11
    assert (
        len(read_training_data("a.tsv", valid="b.tsv", options=ReadOptions(exclude="rows.tsv")).valid[0]) == 11 - count
    )


def test_a_changed_file_is_noticed(work, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "data.tsv", [("a good film", "pos"), ("a good film", "pos"), ("a bad film", "neg")])
    call("check", "data.tsv", "--bad-rows", "rows.tsv", "-q")
    write(tmp_path / "data.tsv", [("a bad film", "neg"), ("a bad film", "neg")])
    code, message = failure("evaluate", "data.tsv", "-m", work / "model.npz", "--exclude", "rows.tsv")
    assert (code, message.splitlines()[0]) == (
        3,
        "data.tsv:3: this text differs from the one in rows.tsv: the data or the reading options have changed since the"
        " table was made",
    )
    write(tmp_path / "other.tsv", [("a bad film", "neg")])
    code, message = failure("evaluate", "other.tsv", "-m", work / "model.npz", "--exclude", "rows.tsv")
    assert (code, "none of its 1 rows is in the data" in message) == (3, True)


def test_predictions_of_another_program_find_wrong_labels(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [(f"text number {number}", "ab"[number % 2]) for number in range(20)]
    write(tmp_path / "data.tsv", rows)
    p = [0.9 if label == "a" else 0.1 for _, label in rows]
    p[3] = 0.95
    predicted = [(text, label, f"{value}", f"{1 - value}") for (text, label), value in zip(rows, p, strict=True)]
    write(tmp_path / "p.tsv", predicted, ("text", "label", "prob_a", "prob_b"))
    fault = call("check", "data.tsv", "--out-of-fold", "p.tsv", "--json").json["faults"]["wrong-labels"]
    assert fault["count"] == 1
    assert fault["examples"][0] == {
        "where": "data.tsv:5",
        "text": "text number 3",
        "label": "b",
        "suggested": "a",
        "score": 0.95,
    }


def test_a_text_that_should_have_no_label_differs_from_one_without_a_suggestion(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "data.tsv", [("good film", "a"), ("good film", ""), ("good film", ""), ("b c", "a"), ("b c", "")])
    words = ("check", "data.tsv", "--label-separator", ";", "--bad-rows", "rows.tsv")
    shown = call(*words).text
    assert shown.count("probably") == shown.count("same as data.tsv:3 []  probably no label") == 1
    fault = call(*words, "--json").json["faults"]["conflicting-labels"]
    assert [each["suggested"] for each in fault["examples"]] == ["", None, None]


def test_probabilities_alone_find_wrong_labels_of_multi_label_data(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [(f"text number {number}", ("a;b", "b", "a", "")[number % 4]) for number in range(40)]
    write(tmp_path / "data.tsv", rows)
    p = [["0.9" if name in label else "0.1" for name in "ab"] for _, label in rows]
    p[3] = ["0.1", "0.95"]
    write(
        tmp_path / "p.tsv",
        [(text, *of_text) for (text, _), of_text in zip(rows, p, strict=True)],
        ("text", "prob_a", "prob_b"),
    )
    words = ("data.tsv", "--label-separator", ";", "--out-of-fold", "p.tsv", "--json")
    result = call("check", *words)
    assert result.stderr == ""
    fault = result.json["faults"]["wrong-labels"]
    assert fault["examples"] == [
        {"where": "data.tsv:5", "text": "text number 3", "label": "", "suggested": "b", "score": 0.95}
    ]
    code, message = failure("evaluate", "data.tsv", "-m", "p.tsv", "--label-separator", ";")
    assert (code, "probabilities alone do not determine the labels" in message) == (3, True)


def test_predictions_of_several_seeds_are_averaged(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [(f"text number {number}", "ab"[number % 2]) for number in range(20)]
    write(tmp_path / "data.tsv", rows)
    p = [{"a": 0.9, "b": 0.1}[label] for _, label in rows]
    predicted = []
    for of_row_5 in (0.99, 0.93):
        p[5] = of_row_5
        predicted += [(text, f"{value}", f"{1 - value}") for (text, _), value in zip(rows, p, strict=True)]
    write(tmp_path / "p.tsv", predicted, ("text", "prob_a", "prob_b"))
    fault = call("check", "data.tsv", "--out-of-fold", "p.tsv", "--json").json["faults"]["wrong-labels"]
    assert [(each["where"], each["score"]) for each in fault["examples"]] == [("data.tsv:7", 0.96)]


def test_rows_of_weight_0_have_no_predictions(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [(*row, str(number % 5)) for number, row in enumerate(make_rows(("neg", "pos"), 40, seed=4))]
    write(tmp_path / "data.tsv", rows, ("text", "label", "w"))
    words = ("--weight-column", "w", "--epochs", "0", "--folds", "2", "--predictions", "folds.csv")
    call("crossvalidate", "data.tsv", *words, "-q")
    done = call("check", "data.tsv", "--out-of-fold", "folds.csv")
    assert "folds.csv: 8 of 40 texts have no row, and are left out" in done.stderr
    with open("folds.csv", "a", encoding="utf-8") as file:
        file.write("another text,neg,1,neg,0.6,0.6,0.4,1,1\n")
    code, message = failure("check", "data.tsv", "--out-of-fold", "folds.csv")
    assert (code, "the text 'another text' is not in data.tsv" in message) == (3, True)


@pytest.mark.parametrize("seeds", ["1", "2"])
def test_predictions_for_empty_texts_are_ignored(tmp_path, monkeypatch, seeds):
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "data.tsv", [*make_rows(("neg", "pos"), 30, seed=4), ("", "neg"), ("", "pos")])
    words = ("--epochs", "0", "--folds", "2", "--seeds", seeds, "--predictions", "folds.csv", "-q")
    call("crossvalidate", "data.tsv", *words)
    done = call("check", "data.tsv", "--out-of-fold", "folds.csv", "--json")
    assert len(done.json["faults"]["empty-texts"]["examples"]) == 2
    assert "no row" not in done.stderr


def test_a_model_finds_wrong_labels(work):
    assert "the model was trained on this data" in call("check", work / "train.tsv", "-m", work / "model.npz").stderr
    call("check", work / "test.tsv", "-m", work / "model.npz")
    assert failure("check", work / "test.tsv", "-m", work / "model.npz", "--out-of-fold", "p.tsv")[0] == 2


def test_a_table_that_repeats_the_training_texts_for_several_seeds_is_noticed(work, tmp_path):
    header, *rows = (work / "train.tsv").read_text(encoding="utf-8").splitlines()
    lines = [f"{header}\tpredicted\tseed", *(f"{row}\tpos\t{seed}" for seed in (1, 2) for row in rows)]
    (tmp_path / "seeds.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    done = call("check", tmp_path / "seeds.tsv", "-m", work / "model.npz")
    assert "the model was trained on this data" in done.stderr


def test_hostile_inputs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "binary.tsv").write_bytes(bytes(range(256)) * 10)
    (tmp_path / "header.tsv").write_text("text\tlabel\n")
    (tmp_path / "bad.jsonl").write_text('{"text": 1}\n[]\n')
    for name in ("binary.tsv", "header.tsv", "bad.jsonl"):
        code, message = failure("check", name)
        assert code == 3
        assert name in message
    write(tmp_path / "one.tsv", [(f"text {number}", "same") for number in range(9)])
    assert set(faults_of("one.tsv")) <= {"near-duplicates"}
    write(tmp_path / "each.tsv", [(f"text {number}", f"label {number}") for number in range(9)])
    assert set(faults_of("each.tsv")) <= {"near-duplicates"}
    write(tmp_path / "same.tsv", [("the same", "a")] * 5000)
    assert faults_of("same.tsv") == {"duplicates": 4999}
    write(tmp_path / "sets.tsv", [(f"text {number}", "a; b" if number % 2 else "") for number in range(30)])
    report = call("check", "sets.tsv", "--label-separator", ";", "--json").json
    assert report["profile"]["without_label"] == 0
    assert [label["texts"] for label in report["profile"]["labels"]] == [15, 15]
    (tmp_path / "plain.txt").write_text("one text\nanother text\n")
    assert faults_of("plain.txt") == {}
    (tmp_path / "rows.jsonl").write_text(json.dumps({"text": "good", "label": "a"}) + "\nnot json" * 9)
    assert faults_of("rows.jsonl") == {"unreadable-rows": 9}
    for number in (0, 2, 5):
        positions = [f"rows.jsonl:{line}" for line in range(2, 2 + number)]
        faults = call("check", "rows.jsonl", "--examples", str(number), "--json").json["faults"]
        assert faults["unreadable-rows"]["examples"] == [{"where": position} for position in positions]
        shown = call("check", "rows.jsonl", "--examples", str(number)).text
        assert shown.count("rows.jsonl:") == number + 2  # the two longest texts are named too


def test_two_label_columns_that_differ_only_by_case(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "data.tsv", [("a", "x", "y"), ("b", "y", "x")], ("text", "LABEL", "Label"))
    code, message = failure("check", "data.tsv")
    assert (code, "columns 'LABEL' and 'Label' both match 'label'" in message) == (3, True)
    assert call("check", "data.tsv", "--label-column", "Label", "--json").json["profile"]["labels"]


def test_usage_errors(data):
    assert refused("check", "data.tsv", "--bad-rows", "-", code=2)
    assert refused("check", "data.tsv", "--bad-rows", "rows.npz", code=2)
    assert refused("check", "data.tsv", "--fail-on", "nothing", code=2)
    refused("check", "data.tsv", "--skip-bad", code=2, says="it always reports bad rows and continues")


@pytest.fixture
def to_label(work, tmp_path, monkeypatch):
    """A folder with data.tsv, whose texts have labels, and more.txt, whose texts have none."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data.tsv").write_text((work / "train.tsv").read_text())
    rows = [line.split("\t") for line in (work / "test.tsv").read_text().splitlines()]
    (tmp_path / "more.txt").write_text("".join(row[rows[0].index("text")] + "\n" for row in rows[1:]))
    return tmp_path


def test_suggested_texts_can_be_labelled_and_used_for_training(to_label, work):
    words = ("check", "data.tsv", "--suggest", "5", "--unlabelled", "more.txt")
    report = call(*words, "--json", "-q").json["suggested"]
    assert len(report) == 5
    assert all(each["where"].startswith("more.txt:") and 0 < each["probability"] < 1 for each in report)
    drawn = call(*words, "--to-label", "next.csv")
    assert "texts most worth labelling" in drawn.text
    assert report[0]["where"] in drawn.text
    with open("next.csv", encoding="utf-8", newline="") as file:
        table = list(csv.DictReader(file))
    assert [row["text"] for row in table] == [each["text"] for each in report]
    assert {row["label"] for row in table} == {""}
    with open("next.csv", "w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, ["text", "label"])
        writer.writeheader()
        writer.writerows(row | {"label": "pos"} for row in table)
    before, after = (call("check", *names, "--json", "-q").json for names in (["data.tsv"], ["data.tsv", "next.csv"]))
    assert after["profile"]["texts"] == before["profile"]["texts"] + 5
    assert after["profile"]["without_label"] == 0
    call("train", "data.tsv", "next.csv", "--epochs", "0", "-o", "m.npz", "-q")


def test_suggestions_do_not_depend_on_jobs_and_may_come_from_a_model(to_label, work):
    words = ("check", "data.tsv", "--suggest", "4", "--unlabelled", "more.txt", "--json", "-q")
    assert call(*words, "-j", "1").json["suggested"] == call(*words, "-j", "2").json["suggested"]
    of_model = call(*words, "-m", work / "model.npz").json["suggested"]
    chances = [each["probability"] for each in of_model]
    assert chances == sorted(chances)
    assert chances != [each["probability"] for each in call(*words).json["suggested"]]
    assert {each["probable_label"] for each in of_model} <= {"neg", "pos"}


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (("--unlabelled", "more.txt"), 2, "need --suggest"),
        (("--to-label", "next.csv"), 2, "need --suggest"),
        (("--suggest", "2", "--unlabelled", "more.txt", "--to-label", "-"), 2, "writes a file"),
        (("--suggest", "2", "--unlabelled", "more.txt", "--to-label", "next.npz"), 2, "next.npz"),
        (("--suggest", "2", "--unlabelled", "none.txt"), 2, "none.txt"),
        (("--suggest", "2"), 3, "Use --unlabelled to add texts without labels"),
    ],
)
def test_impossible_suggestions(to_label, words, code, says):
    refused("check", "data.tsv", *words, code=code, says=says)


def test_no_text_is_left_to_suggest(to_label):
    (to_label / "other.txt").write_text("zzz qqq\n")
    result = run("check", "data.tsv", "--suggest", "2", "--unlabelled", "other.txt", "--to-label", "next.csv")
    reason = "none of the unlabelled texts has a word in common with the labelled texts"
    assert f"none: {reason}" in result.text
    report = call("check", "data.tsv", "--suggest", "2", "--unlabelled", "other.txt", "--json", "-q").json
    assert (report["suggested"], report["none_suggested_because"]) == ([], reason)
    assert (to_label / "next.csv").read_text().split() == ["text,label"]


@pytest.mark.parametrize(
    "words",
    [
        ("--bad-rows", "data.tsv"),
        ("--against", "other.csv", "--bad-rows", "other.csv"),
        ("--suggest", "2", "--unlabelled", "other.csv", "--to-label", "other.csv"),
        ("--suggest", "2", "--unlabelled", "other.csv", "--to-label", "data.tsv"),
    ],
)
def test_outputs_never_replace_inputs(to_label, words):
    (to_label / "other.csv").write_text("text,label\na text,pos\n")
    before = {path.name: path.read_bytes() for path in to_label.iterdir()}
    refused("check", "data.tsv", *words, code=2, says="is also an input")
    assert {path.name: path.read_bytes() for path in to_label.iterdir()} == before


def test_excluded_rows_are_not_checked(tmp_path, monkeypatch):
    """The predictions come from a cross-validation that excluded the rows listed in bad.csv."""
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "data.tsv", make_rows(("neg", "pos"), 30, seed=1) + make_rows(("neg", "pos"), 2, seed=1))
    assert "duplicates" in call("check", "data.tsv", "--json", "-q", "--bad-rows", "bad.csv").json["faults"]
    words = ("--exclude", "bad.csv", "--epochs", "0", "--folds", "2", "--predictions", "folds.csv")
    call("crossvalidate", "data.tsv", *words, "-q")
    done = call("check", "data.tsv", "--exclude", "bad.csv", "--out-of-fold", "folds.csv", "--json")
    assert "duplicates" not in done.json["faults"]
    assert "bad.csv" in done.stderr


def test_two_outputs_need_two_names(to_label):
    words = ("--suggest", "2", "--unlabelled", "more.txt", "--bad-rows", "a.csv", "--to-label", "./a.csv")
    refused("check", "data.tsv", *words, code=2, says="the same file")


def test_several_labels_per_text(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [("great plot", "good; plot"), ("great", "good"), ("awful plot", "plot"), ("awful", "")] * 4
    write(tmp_path / "sets.tsv", [(f"{text} {n}", labels) for n, (text, labels) in enumerate(rows)], ("text", "Label"))
    (tmp_path / "more.txt").write_text("great but awful\nplot\n")
    report = call("check", "sets.tsv", "--label-separator", ";", "--json", "-q").json
    assert report["profile"]["without_label"] == 0  # an empty cell means "no labels", even if the header is "Label"
    words = ("train", "sets.tsv", "--label-separator", ";", "--epochs", "1", "--ngram-min-texts", "1", "-o", "m.npz")
    call(*words, "-q")
    words = ("check", "sets.tsv", "-m", "m.npz", "--suggest", "2", "--unlabelled", "more.txt")
    by_model = call(*words, "--json", "-q").json  # the model stores the label separator
    assert {label["label"] for label in by_model["profile"]["labels"]} == {"good", "plot"}
    assert len(by_model["suggested"]) == 2
    assert "delete the lines that you do not label" in call(*words, "--to-label", "next.csv").stderr


def test_labels_that_differ_only_in_case_and_labels_for_missing_values_are_noted(tmp_path):
    rows = "".join(f"good film {number},{('pos', 'POS', 'neg', 'NA')[number % 4]}\n" for number in range(40))
    (tmp_path / "a.csv").write_text(f"text,label\n{rows}")
    notes = call("check", tmp_path / "a.csv", "-j", "1", code=None).stderr
    assert "labels 'POS' (10 texts) and 'pos' (10 texts) are read as different labels" in notes
    assert "label 'NA' (10 texts) is treated like any other label" in notes


def test_a_label_map_need_not_apply_to_the_test_data(tmp_path):
    (tmp_path / "a.csv").write_text("text;label\n" + "".join(f"film {n};{n % 2}\n" for n in range(20)))
    (tmp_path / "b.jsonl").write_text('{"text": "film 3", "label": "pos"}\n')
    words = ("--against", tmp_path / "b.jsonl", "--map", "1=pos", "--map", "0=neg", "--delimiter", ";")
    report = call("check", tmp_path / "a.csv", *words, "-j", "1", "--json").json
    assert report["faults"]["overlap"]["count"] == 1


@pytest.mark.parametrize("words", [("check", "--similarity"), ("evaluate", "--min-accuracy")])
def test_nan_is_in_no_range(words, work):
    assert "nan is not a number" in failure(words[0], work / "test.tsv", words[1], "nan")[1]


def test_tables_are_written_even_if_nobody_reads_the_report(data, tmp_path):
    words = "check data.tsv --bad-rows rows.tsv"
    shell(f"{{ sleep 0.2; nlptx {words}; }} | true; exit ${{PIPESTATUS[0]}}", cwd=tmp_path, code=141)
    assert (tmp_path / "rows.tsv").read_text().count("\n") > 1


def test_the_report_is_printed_even_if_a_table_cannot_be_written(data, tmp_path):
    (tmp_path / "full.csv").symlink_to("/dev/full")
    result = shell("nlptx check data.tsv --bad-rows full.csv", cwd=tmp_path, code=1)
    assert "profile" in result.text
    assert "full.csv" in result.stderr


def test_rows_without_a_label_need_skip_bad_in_training(data):
    assert "then train with --exclude and --skip-bad" in call("check", "data.tsv", "--bad-rows", "rows.tsv").stderr
