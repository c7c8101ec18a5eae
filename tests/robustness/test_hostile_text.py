"""The commands handle unusual and malformed texts in a defined way, without a traceback."""

import json

import pytest
from command import on_terminal, refused, run
from sample_data import COUNT, PCA, TRAIN

# Name -> a text that contains no line feed.
UNUSUAL = {
    "nul": "great\0film",
    "escape": "great \x1b[31mfilm\x1b[0m \x1b]0;title\x07",
    "c1": "great \x9b31m film",
    "bidi": "great \u202efilm\u2066 \u200f",
    "combining": "g\u0301" + "\u0300" * 500 + " great",
    "emoji": "great \U0001f469\u200d\U0001f4bb\U0001f1e9\U0001f1ea \u2764\ufe0f",
    "separators": "great\x0bfilm\x0c\x1c\x1d\x85\u2028\u2029story",
    "carriage": "great\rfilm",
    "empty": "",
    "spaces": " \u00a0\u3000\ufeff ",
    "noncharacters": "great \ufffe\uffff\U0010ffff",
}


@pytest.mark.parametrize("text", UNUSUAL.values(), ids=UNUSUAL)
def test_predict_returns_a_text_unchanged(text, model):
    out = run("predict", "-m", model, stdin=f"{text}\ngreat film\n".encode()).stdout
    assert out.endswith(b"\n")
    first, second = out[:-1].split(b"\n")
    label, score, returned = first.split(b"\t", 2)
    assert (label, returned) == (label, text.rstrip("\r").encode())
    assert label in ((b"neg", b"pos") if "great" in text or "g\u0301" in text else (b"?",))
    assert -1 <= float(score) <= 1
    assert second.startswith(b"pos\t")


def test_every_stage_accepts_unusual_texts(work, tmp_path):
    rows = [
        {"text": f"{text} film", "label": label}
        for text in [*UNUSUAL.values(), "a\ud800b"]
        for label in ("x", "\udfff")
    ]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    run("cooccur", "a.jsonl", *COUNT, "-o", "c.npz", cwd=tmp_path)
    run("pca", "c.npz", "--components", "2", "-o", "e.npz", cwd=tmp_path)
    run("train", "a.jsonl", "-e", "e.npz", *TRAIN, "-o", "m.npz", cwd=tmp_path)
    predicted = run("predict", "-m", "m.npz", "a.jsonl", cwd=tmp_path)
    # Lines are split as bytes, because JSON may contain U+2028, at which str.splitlines would split.
    assert [json.loads(line)["text"] for line in predicted.stdout.splitlines()] == [row["text"] for row in rows]
    assert run("evaluate", "-m", "m.npz", "a.jsonl", "--json", cwd=tmp_path).json["texts"] == len(rows)
    run("info", "m.npz", cwd=tmp_path)


@pytest.mark.parametrize("name", ["escape", "c1", "bidi"])
def test_control_sequences_do_not_reach_the_terminal(name, model, tmp_path):
    (tmp_path / "a.txt").write_text(UNUSUAL[name])
    shown = on_terminal("predict", "-m", model, tmp_path / "a.txt").stdout
    assert b"great" in shown
    for mark in (b"\x1b[31m", b"\x1b]0;", "\x9b".encode(), "\u202e".encode(), "\u2066".encode()):
        assert mark not in shown


def test_control_sequences_in_labels_names_and_file_names_do_not_reach_the_terminal(model, tmp_path):
    rows = "".join(f"great,{label},{label}\n" for label in ("a\x1b[31m", "b", "c"))
    (tmp_path / "p.csv").write_text(f"text,label,predicted\n{8 * rows}")
    (tmp_path / "card.json").write_text(json.dumps({"a\x1b[31m": "b\x1b[31m"}))
    run("train", "p.csv", "--effort", "fast", "--card", "card.json", "-o", "m.npz", cwd=tmp_path)
    for words, code in (
        (("evaluate", "-m", tmp_path / "p.csv"), 0),
        (("info", tmp_path / "m.npz"), 0),
        (("predict", "-m", model, tmp_path / "p.csv", "-o", tmp_path / "a\x1b[31m.parquet"), 2),
        (("predict", "--a\x1b[31m"), 2),
    ):
        shown = on_terminal(*words)
        assert shown.code == code
        assert b"\x1b[31m" not in shown.stdout
        assert code or "\ufffd[31m" in shown.text  # Click removes the sequence from its messages


BAD_ROWS = {
    "nan": '{"text": "a", "x": NaN}',
    "twice": '{"text": "a", "text": "b"}',
    "depth": '{"text": "a", "x": ' + "[" * 200 + "]" * 200 + "}",
    "bomb": '{"text": ' + "[" * 100_000,
    "digits": '{"text": "a", "x": ' + "1" * 5000 + "}",
}


@pytest.mark.parametrize("row", BAD_ROWS.values(), ids=BAD_ROWS)
@pytest.mark.parametrize("command", ["cooccur", "predict", "evaluate", "train"])
def test_rows_that_are_not_strict_json_are_rejected_with_their_line_number(command, row, work, tmp_path):
    (tmp_path / "a.jsonl").write_text(f'{{"text": "great", "label": "pos"}}\n{row}\n')
    options = {
        "cooccur": ("-o", "out.npz"),
        "train": ("-e", work / "embeddings.npz", "-o", "out.npz"),
        "predict": ("-m", work / "model.npz", "-o", "out.jsonl"),
        "evaluate": ("-m", work / "model.npz"),
    }[command]
    refused(command, "a.jsonl", *options, code=3, says="a.jsonl:2", cwd=tmp_path, untouched=tmp_path)


def test_allowed_nesting_is_returned_unchanged(model, tmp_path):
    row = '{"text": "great", "x": ' + "[" * 90 + "]" * 90 + "}"
    (tmp_path / "a.jsonl").write_text(row + "\n")
    assert run("predict", "-m", model, tmp_path / "a.jsonl").json["x"] == json.loads(row)["x"]


def test_an_unclosed_quote_is_reported_where_it_opens(model, tmp_path):
    (tmp_path / "a.csv").write_text('text,n\n"two\nlines",1\n"open,2\n' + "more,3\n" * 1000)
    refused("predict", "-m", model, "a.csv", "-o", "out.csv", code=3, says="a.csv:4", cwd=tmp_path, untouched=tmp_path)


def test_a_vocabulary_of_words_that_never_co_occur(tmp_path):
    (tmp_path / "a.txt").write_text("".join(f"z{number}\n" for number in range(100_000)))
    facts = run("cooccur", "a.txt", *COUNT, "--max-words", "100", "--json", cwd=tmp_path).json
    assert (facts["distinct_words"], facts["words"]) == (100_000, 100)
    refused("pca", "cooccur.npz", *PCA, code=3, says="near each other", cwd=tmp_path)
