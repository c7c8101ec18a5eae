"""Tests of inputs that are not text, of tables whose file names do not reveal their format, and of unlabelled rows."""

import io
import json
import subprocess

import numpy as np
import pytest
from calling import call, failure
from command import NLPTX, environment, header_of, refused, run
from sample_data import TRAIN, write_tsv

ARRAY = json.dumps([{"text": "great film", "label": "pos"}, {"text": "awful film", "label": "neg"}])
PAGE = "<!DOCTYPE html>\n<html><head><title>Films</title></head><body>great film</body></html>\n"


def arrays():
    with io.BytesIO() as out:
        np.savez(out, x=np.zeros(3))
        return out.getvalue()


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("a.json", ARRAY.encode(), ("a JSON array", "jq -c")),
        ("a.txt", PAGE.encode(), ("an HTML page", "html2text")),
        ("a.npz", arrays(), ("a NumPy archive", "Only text")),
        ("a.txt", "great film\n".encode("utf-16"), ("text in UTF-16", "iconv -f UTF-16 -t UTF-8")),
        ("a.xlsx", b"text,label\ngreat film,pos\n", ("an Excel workbook", "--input-format")),
    ],
    ids=["array", "page", "npz", "utf-16", "csv-named-xlsx"],
)
def test_every_command_rejects_input_that_is_not_text(name, content, says, work, tmp_path):
    path = tmp_path / name
    path.write_bytes(content)
    for words in (
        ("cooccur", path, "-o", tmp_path / "out.npz"),
        ("predict", "-m", work / "model.npz", path, "-o", tmp_path / "out.tsv"),
        ("evaluate", "-m", work / "model.npz", path),
        ("train", path, "-e", work / "embeddings.npz", "-o", tmp_path / "out.npz"),
    ):
        code, message = failure(*words)
        assert code == 3
        for part in (str(path), *says):
            assert part in message
        assert [file.name for file in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize("content", [ARRAY.encode(), PAGE.encode(), arrays()], ids=["array", "page", "npz"])
def test_piped_input_that_is_not_text_is_rejected(content, model):
    refused("predict", "-m", model, stdin=content, code=3, says=("<stdin>: this is", "expected text in UTF-8"))
    refused("explain", "-m", model, stdin=content, code=3, says=("<stdin>: this is", "expected text in UTF-8"))


def test_a_text_that_begins_like_markup_or_json_is_scored(model):
    rows = run("predict", "-m", model, stdin="<great film>\n[lovely story]\n").rows
    assert [row[0] for row in rows] == ["pos", "pos"]


@pytest.mark.parametrize("first", ["text,label", "text\tlabel"])
def test_a_piped_header_causes_a_note_and_is_scored_as_a_text(first, model):
    result = run("predict", "-m", model, stdin=f"{first}\ngreat film\n")
    assert [row[0] for row in result.rows] == ["?", "pos"]
    note, _ = result.stderr.splitlines()
    assert "<stdin>: the first line looks like the header of a table" in note
    assert "--input-format" in note
    assert run("predict", "-q", "-m", model, stdin=f"{first}\ngreat film\n").stderr == ""


def test_the_first_line_of_a_slow_pipe_is_scored_before_the_second_arrives(model):
    with subprocess.Popen(
        [*NLPTX, "predict", "-m", str(model)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
        bufsize=0,
    ) as process:
        process.stdin.write(b"great film\n")
        assert process.stdout.readline().startswith(b"pos\t")
        process.stdin.close()


# ---------------------------------------------------------------- rows without a label

GAPS = [("great film", "pos"), ("awful film", "neg"), ("dull film", ""), ("", "pos")] + [
    (f"{word} story", label) for word, label in (("lovely", "pos"), ("poor", "neg"))
] * 4


def test_the_message_about_an_empty_label_names_the_line_and_a_remedy(work, tmp_path):
    path = write_tsv(tmp_path / "a.tsv", GAPS)
    for words in (
        ("train", path, "-e", work / "embeddings.npz", "-o", tmp_path / "m.npz"),
        ("evaluate", path, "-m", work / "model.npz"),
    ):
        code, message = failure(*words)
        assert (code, message.partition(":4: ")[0]) == (3, str(path))
        assert "'label' is empty" in message
        assert "--skip-bad" in message


def test_bad_rows_are_skipped_and_reported(work, tmp_path):
    path = write_tsv(tmp_path / "a.tsv", GAPS)
    words = ("train", path, "-e", work / "embeddings.npz", *TRAIN, "--skip-bad", "-o", tmp_path / "m.npz")
    result = call(*words)
    assert f"left out 2 rows: 1 without a label, 1 without a text ({path}:4, {path}:5)" in result.stderr
    history = header_of(tmp_path / "m.npz")["details"]["history"]
    assert history["train_texts"] + history["valid_texts"] == len(GAPS) - 2
    assert "--skip-bad" in call("info", tmp_path / "m.npz").text
    report = call("evaluate", path, "-m", tmp_path / "m.npz", "--skip-bad", "--json")
    assert json.loads(report.text)["texts"] == len(GAPS) - 2
    assert "left out" in report.stderr


# ---------------------------------------------------------------- ambiguous labels


def test_train_reports_that_labels_are_treated_as_ordered(work, tmp_path):
    path = write_tsv(tmp_path / "a.tsv", [(f"great film {number}", str(number % 6)) for number in range(24)])
    words = ("train", path, "-e", work / "embeddings.npz", *TRAIN, "-o", tmp_path / "m.npz")
    message = call(*words).stderr
    assert "labels 0, 1, 2, 3, 4, 5 are treated as ordered; if they are names, use --label-order none" in message
    assert "ordered" not in call(*words, "--label-order", "none").stderr
    assert "ordered" not in call(*words, "-q").stderr
