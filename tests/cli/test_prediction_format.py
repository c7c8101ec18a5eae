"""The name of the output determines the format of predictions and whether they are compressed."""

import bz2
import gzip
import json
import lzma
import time
from datetime import date
from decimal import Decimal

import pytest
from calling import call
from command import contents

import nlptx
from nlptx.cli.results.table_writer import cell

TEXTS = "a great and lovely story\nthe film was awful\n"
COLUMNS = "text,label,confidence,score,prob_neg,prob_pos"
OPENERS = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}


def predict(model, *words, **options):
    return call("predict", "-q", "-j", "1", "-m", model, *words, **{"stdin": TEXTS, **options})


@pytest.fixture(autouse=True)
def here(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("ending", ["txt", "csv", "tsv", "jsonl", "ndjson"])
@pytest.mark.parametrize("given", ["text", "csv"])
def test_the_name_determines_the_format(ending, given, model, tmp_path):
    data = TEXTS if given == "text" else "text\n" + TEXTS
    layout = {"txt": "text", "ndjson": "jsonl"}.get(ending, ending)
    predict(model, "--input-format", given, "-o", f"out.{ending}", stdin=data)
    expected = predict(model, "--input-format", given, "--format", layout, stdin=data).stdout
    assert (tmp_path / f"out.{ending}").read_bytes() == expected
    assert expected.startswith(
        {"text": b"pos\t", "csv": b"text,label,", "tsv": b"text\tlabel", "jsonl": b'{"text"'}[layout]
    )


@pytest.mark.parametrize("name", ["out", "out.scores", "out.CSV"])
def test_other_names_mean_the_format_of_the_input(name, model, tmp_path):
    predict(model, "-o", name)
    if name == "out.CSV":
        assert (tmp_path / name).read_text().splitlines()[0] == COLUMNS
    else:
        assert (tmp_path / name).read_bytes() == predict(model).stdout


@pytest.mark.parametrize("ending", [".gz", ".bz2", ".xz"])
def test_output_is_compressed_according_to_its_name(ending, model, tmp_path):
    predict(model, "-o", f"out.csv{ending}")
    with OPENERS[ending](f"out.csv{ending}") as file:
        assert file.read() == predict(model, "--format", "csv").stdout
    # Check that the output can be read again, and that there are no other files.
    again = predict(model, f"out.csv{ending}", "--format", "text").rows
    assert [row[2] for row in again] == TEXTS.splitlines()
    assert list(contents(tmp_path)) == [f"out.csv{ending}"]


@pytest.mark.parametrize("ending", [".gz", ".bz2", ".xz"])
def test_compressed_output_has_the_same_bytes_at_any_time(ending, model, monkeypatch, tmp_path):
    predict(model, "-o", f"first.tsv{ending}")
    monkeypatch.setattr(time, "time", lambda: 2e9)
    predict(model, "-o", f"second.tsv{ending}")
    assert (tmp_path / f"first.tsv{ending}").read_bytes() == (tmp_path / f"second.tsv{ending}").read_bytes()


def test_an_error_keeps_the_old_compressed_file(model, tmp_path):
    (tmp_path / "out.csv.gz").write_bytes(b"old")
    predict(model, "-o", "out.csv.gz", stdin=b"great\n\xff\n", code=3)
    assert contents(tmp_path) == {"out.csv.gz": b"old"}


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--format", "csv", "-o", "out.jsonl"), ("--format csv", "-o out.jsonl")),
        (("--format", "text", "-o", "out.tsv.gz"), ("--format text", "-o out.tsv.gz")),
        (("--json", "-o", "out.csv"), ("--json", "-o out.csv")),
        (("--json", "--format", "tsv"), ("--json", "--format tsv")),
        (("-o", "out.xlsx"), ("out.xlsx", "*.csv")),
        (("-o", "out.parquet.gz"), ("out.parquet.gz", "*.csv")),
        (("-o", "out.json"), ("out.json", "*.jsonl")),
        (("-o", "out.csv.zst"), ("out.csv.zst", ".gz")),
        (("-o", "out.csv.ZIP"), ("out.csv.ZIP", ".gz")),
    ],
)
def test_contradictory_formats_are_rejected(words, says, model, tmp_path):
    result = predict(model, *words, code=2)
    assert all(part in result.stderr for part in says)
    assert contents(tmp_path) == {}


def test_options_with_the_same_format_are_accepted(model):
    assert predict(model, "--json", "--format", "jsonl").stdout == predict(model, "--json").stdout
    predict(model, "--json", "-o", "out.jsonl.gz")


def test_the_command_line_overrides_the_variable(model, monkeypatch, tmp_path):
    monkeypatch.setenv("NLPTX_PREDICT_FORMAT", "csv")
    assert predict(model).lines[0] == COLUMNS
    assert predict(model, "--json").lines[0].startswith("{")
    predict(model, "-o", "out.jsonl")
    assert (tmp_path / "out.jsonl").read_text().startswith("{")


@pytest.mark.parametrize("labels", [[0, 1], [False, True], [0.5, 1.5]])
def test_labels_in_json_have_the_type_that_they_had_in_training(labels, tmp_path):
    texts = ["so good", "so bad"] * 6
    nlptx.fit(texts, [labels["good" in text] for text in texts], settings=nlptx.TrainSettings(epochs=0)).save("m.npz")
    found = [json.loads(line)["label"] for line in predict("m.npz", "--json", stdin="so good\nso bad\n").lines]
    assert found == labels[::-1]
    assert [type(label) for label in found] == [type(labels[0])] * 2
    assert json.loads(predict("m.npz", "--json", stdin="xyzzy\n").lines[0])["label"] == "?"


def test_a_table_without_texts_has_a_header(model, tmp_path):
    predict(model, "-o", "out.csv", stdin=b"")
    assert (tmp_path / "out.csv").read_text() == COLUMNS + "\n"
    predict(model, "-o", "out.txt", stdin=b"")
    assert (tmp_path / "out.txt").read_bytes() == b""


@pytest.mark.parametrize("name", ["out.csv", "vectors.txt.gz", "model.npz.xz"])
def test_an_artifact_cannot_have_the_name_of_another_format(name, work, tmp_path):
    result = call("pca", work / "cooccur.npz", "-o", name, code=2)
    assert "name it *.npz" in result.stderr
    assert contents(tmp_path) == {}


@pytest.mark.parametrize(
    ("value", "written"),
    [(None, ""), ("a b", "a b"), (3, "3"), (True, "true"), ([1, "x"], '[1, "x"]'), ({"a": None}, '{"a": null}')],
)
def test_cells_of_a_table(value, written):
    assert cell(value) == written


@pytest.mark.parametrize(("value", "written"), [(date(2026, 1, 2), "2026-01-02"), (Decimal("1.10"), "1.10")])
def test_values_without_a_json_form_are_written_without_quotes(value, written):
    assert cell(value) == written


def test_a_parquet_table_without_rows_has_a_header(model, tmp_path):
    pytest.importorskip("pyarrow")
    import pandas as pd

    pd.DataFrame({"text": [], "id": []}).astype({"text": "str", "id": "int"}).to_parquet(tmp_path / "none.parquet")
    header = "text,id,label,confidence,score,prob_neg,prob_pos"
    assert predict(model, "none.parquet").lines == [header]
    assert predict(model, "none.parquet", "--format", "csv").lines == [header]
    predict(model, "none.parquet", "-o", "out.csv")
    assert (tmp_path / "out.csv").read_text() == header + "\n"
