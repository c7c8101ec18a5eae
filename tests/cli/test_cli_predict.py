"""Tests of ``nlptx predict``: formats, order, streaming, and unusual texts."""

import csv
import io
import json
import os
import random
import signal
import subprocess
import sys
import tarfile
import time

import pytest
from calling import call, failure
from command import Running, contents, environment, on_terminal, refused, run, shell
from reviews import make_reviews, small_fit
from sample_data import LABEL_WORDS, PLAIN

NEG, POS = "the film was awful boring and dull", "a great and lovely story"
APPENDED = ["label", "confidence", "score", "prob_neg", "prob_pos"]


def predict(model, *words, **options):
    return run("predict", "-m", model, *words, **options)


def predict_here(model, *words, **options):
    """Run ``nlptx predict`` inside this process."""
    return call("predict", "-j", "1", "-m", model, *words, **options)


def read_table(data, layout):
    text = data.decode()
    if layout == "jsonl":
        return [json.loads(line) for line in text.splitlines()]
    if layout == "csv":
        return list(csv.DictReader(io.StringIO(text)))
    header, *rows = [line.split("\t") for line in text.splitlines()]
    return [dict(zip(header, row, strict=True)) for row in rows]


def write_table(path, rows):
    layout = path.suffix[1:]
    if layout == "jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    else:
        with open(path, "w", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]), delimiter="," if layout == "csv" else "\t")
            writer.writeheader()
            writer.writerows(rows)
    return path


# ---------------------------------------------------------------- plain text


def test_each_line_has_label_score_and_text(model):
    rows = predict(model, stdin=f"{NEG}\n{POS}\n").rows
    assert [(label, text) for label, _, text in rows] == [("neg", NEG), ("pos", POS)]
    assert -1 <= float(rows[0][1]) < 0 < float(rows[1][1]) <= 1


def test_unordered_labels_have_a_confidence_instead_of_a_score(work):
    rows = predict(work / "kinds.npz", stdin="laugh joke clown pie\nhorse gun saloon\n").rows
    assert [row[0] for row in rows] == ["comedy", "western"]
    assert all(1 / 3 <= float(row[1]) <= 1 for row in rows)


@pytest.mark.parametrize("words", [(), ("empty.jsonl",)], ids=str)
def test_empty_input_yields_no_rows(words, model, tmp_path):
    (tmp_path / "empty.jsonl").touch()
    result = predict(model, *words, cwd=tmp_path)
    assert (result.stdout, result.stderr) == (b"", "")


def test_blank_lines_keep_their_rows(model):
    rows = predict(model, stdin=f"{NEG}\n\n   \n{POS}\n").rows
    assert [row[2] for row in rows] == [NEG, "", "   ", POS]


def test_last_line_needs_no_line_end(model):
    assert predict(model, stdin=f"{NEG}\n{POS}").stdout == predict(model, stdin=f"{NEG}\r\n{POS}\r\n").stdout


def test_texts_without_a_known_word_get_the_prior_and_are_reported(work):
    data = "zzz qqq\nlaugh clown\n\n"
    result = predict(work / "kinds.npz", "--format", "jsonl", stdin=data)
    rows = [json.loads(line) for line in result.lines]
    names = ("prob_comedy", "prob_drama", "prob_western")
    # The three labels are equally frequent in the training data.
    for row in (rows[0], rows[2]):
        assert [row[name] for name in names] == pytest.approx([1 / 3] * 3, abs=1e-6)
    assert rows[1]["label"] == "comedy"
    assert len(result.stderr.splitlines()) == 1
    assert "2 texts" in result.stderr
    assert "<stdin>:1, <stdin>:3" in result.stderr
    assert predict(work / "kinds.npz", "-q", stdin=data).stderr == ""


def test_scores_are_expected_values_and_probabilities_sum_to_one(model):
    rng = random.Random(0)
    texts = [
        " ".join(rng.choices(PLAIN + LABEL_WORDS["neg"] + LABEL_WORDS["pos"], k=rng.randint(1, 12))) for _ in range(60)
    ]
    rows = [json.loads(line) for line in predict(model, "--json", stdin="\n".join(texts)).lines]
    assert [row["text"] for row in rows] == texts
    for row in rows:
        assert row["prob_neg"] + row["prob_pos"] == pytest.approx(1, abs=2e-6)
        assert row["score"] == pytest.approx(row["prob_pos"] - row["prob_neg"], abs=3e-6)
        assert -1 <= row["score"] <= 1
        assert row["confidence"] == max(row["prob_neg"], row["prob_pos"])
        assert row["label"] == ("neg" if row["score"] < 0 else "pos")


def test_order_is_kept_over_many_lines(model):
    rng = random.Random(1)
    lines = [f"{number} {' '.join(rng.choices(PLAIN, k=rng.randint(0, 40)))}" for number in range(1500)]
    rows = predict(model, "-j", "2", "-q", stdin="\n".join(lines)).rows
    assert [row[2] for row in rows] == lines


def test_the_score_of_a_text_does_not_depend_on_other_texts(model):
    """A score has the same printed digits whether texts are scored in batches or arrive one by one."""
    rng = random.Random(2)
    words = PLAIN + LABEL_WORDS["neg"] + LABEL_WORDS["pos"]
    lines = [" ".join(rng.choices(words, k=rng.randint(1, 40))) for _ in range(500)]
    together = predict(model, "--json", stdin="\n".join(lines)).lines
    alone = []
    with Running("predict", "-m", model, "--json") as running:
        for line in lines:
            running.write(f"{line}\n".encode())
            alone.append(running.read_until(b"\n").decode().rstrip("\n"))
        running.finish()
    assert together == alone


@pytest.fixture
def reviews(monkeypatch, tmp_path):
    """The same two texts as files in a folder and in an archive."""
    monkeypatch.chdir(tmp_path)
    for name, text in (("b.txt", POS), ("a.txt", NEG.replace(" was ", "\nwas\t"))):
        path = tmp_path / "reviews" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    with tarfile.open("reviews.tgz", "w:gz") as archive:
        archive.add("reviews")
    return ["reviews/a.txt", "reviews/b.txt"]


@pytest.mark.parametrize("name", ["reviews", "reviews.tgz"])
def test_file_names_are_shown_if_each_file_is_a_text(name, reviews, model):
    expected = reviews if name == "reviews" else [f"{name}:{member}" for member in reviews]
    rows = sorted(predict_here(model, name).rows, key=lambda row: row[2])
    assert [(row[0], row[2]) for row in rows] == list(zip(["neg", "pos"], expected, strict=True))
    for layout in ("csv", "tsv", "jsonl"):
        rows = read_table(predict_here(model, name, "--format", layout).stdout, layout)
        assert list(rows[0]) == ["file", "text", *APPENDED]
        assert sorted((row["file"], row["label"]) for row in rows) == list(zip(expected, ["neg", "pos"], strict=True))


def test_line_breaks_in_file_names_are_replaced(model, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "f").mkdir()
    (tmp_path / "f" / "a\tb\nc.txt").write_text(POS)
    assert predict_here(model, "f").rows[0][2] == "f/a b c.txt"


# ---------------------------------------------------------------- tables


def test_labels_that_are_not_used_cause_no_error(model, tmp_path):
    rows = [{"text": POS, "label": ["a", "b"]}, {"text": NEG, "label": {"a": 1}}, {"text": NEG, "label": "x"}]
    path = write_table(tmp_path / "in.jsonl", rows)
    for words in ((), ("--skip-bad",)):
        found = read_table(predict_here(model, path, *words).stdout, "jsonl")
        assert [row["label"] for row in found] == [row["label"] for row in rows]
        assert [row["predicted_label"] for row in found] == ["pos", "neg", "neg"]
    assert len(call("explain", "-m", model, "--input", path, "--json").lines) == 3
    call("cooccur", path, "--min-count", "1", "-o", tmp_path / "counts.npz")


@pytest.mark.parametrize("layout", ["csv", "tsv", "jsonl"])
def test_tables_keep_their_columns_and_order(layout, model, tmp_path):
    rows = [{"id": "7", "text": NEG, "note": 'x "y", z'}, {"id": "3", "text": POS, "note": "ü"}]
    if layout == "tsv":
        rows[0]["note"] = "plain"
    result = predict(model, write_table(tmp_path / f"in.{layout}", rows))
    found = read_table(result.stdout, layout)
    assert [list(row) for row in found] == [["id", "text", "note", *APPENDED]] * 2
    assert [{name: row[name] for name in rows[0]} for row in found] == rows
    assert [row["label"] for row in found] == ["neg", "pos"]


def test_tables_have_no_score_for_unordered_labels(work, tmp_path):
    path = write_table(tmp_path / "in.csv", [{"text": "laugh clown"}])
    header = predict(work / "kinds.npz", path).lines[0]
    assert header == "text,label,confidence,prob_comedy,prob_drama,prob_western"


@pytest.mark.parametrize(
    ("given", "requested"),
    [("text", "csv"), ("text", "tsv"), ("csv", "text"), ("jsonl", "csv")],
)
def test_format_overrides_the_format_of_the_input(given, requested, model, tmp_path):
    path = tmp_path / f"in.{given}"
    if given == "text":
        path.write_text(f"{NEG}\n{POS}\n")
    else:
        write_table(path, [{"text": NEG}, {"text": POS}])
    result = predict(model, path, "--format", requested)
    if requested == "text":
        assert [(row[0], row[2]) for row in result.rows] == [("neg", NEG), ("pos", POS)]
    else:
        rows = read_table(result.stdout, requested)
        assert [(row["text"], row["label"]) for row in rows] == [(NEG, "neg"), (POS, "pos")]
        assert list(rows[0]) == ["text", *APPENDED]


@pytest.mark.parametrize(("layout", "source"), [("csv", "stdin"), ("tsv", "stdin"), ("csv", "other-name")])
def test_the_output_has_the_given_input_format(layout, source, model, tmp_path):
    path = write_table(tmp_path / f"in.{layout}", [{"text": NEG}, {"text": POS}])
    expected = predict(model, path).stdout
    if source == "stdin":
        result = predict(model, "--input-format", layout, stdin=path.read_bytes())
    else:
        result = predict(model, "--input-format", layout, path.rename(tmp_path / "in.data"))
    assert result.stdout == expected


def test_clashing_columns_are_renamed_with_a_note(model, tmp_path):
    path = write_table(tmp_path / "in.csv", [{"text": NEG, "label": "mine", "score": "9"}])
    result = predict(model, path)
    (row,) = read_table(result.stdout, "csv")
    assert (row["label"], row["score"], row["predicted_label"]) == ("mine", "9", "neg")
    assert -1 <= float(row["predicted_score"]) < 0
    for name in ("label", "score"):
        assert f"'predicted_{name}'" in result.stderr


def test_column_names_clash_in_any_case(model, tmp_path):
    """If " LABEL" and "label" were different columns, ``evaluate`` would take the predictions for the true labels."""
    path = write_table(tmp_path / "in.csv", [{"Text": NEG, " LABEL": "pos"}])
    (row,) = read_table(predict(model, path).stdout, "csv")
    assert (row[" LABEL"], row["predicted_label"]) == ("pos", "neg")
    assert "label" not in row


def test_columns_survive_repeated_predictions(model, tmp_path):
    """A table that already has the columns label and predicted_label keeps both columns."""
    row = {"text": NEG, "label": "mine", "predicted_label": "theirs"}
    (found,) = read_table(predict(model, write_table(tmp_path / "in.csv", [row])).stdout, "csv")
    assert {name: found[name] for name in row} == row
    assert "neg" in found.values()


def test_csv_fields_are_preserved_exactly(model, tmp_path):
    rng = random.Random(1)
    texts = ["".join(rng.choices("ab \n\r\t,;\"'", k=rng.randint(1, 9))) + "x" for _ in range(200)]
    given = write_table(tmp_path / "t.csv", [{"text": text, "number": str(n)} for n, text in enumerate(texts)])
    rows = list(csv.DictReader(io.StringIO(predict(model, given).stdout.decode(), newline="")))
    assert [(row["text"], row["number"]) for row in rows] == [(text, str(n)) for n, text in enumerate(texts)]


def test_plain_text_output_has_one_line_per_text(model, tmp_path):
    given = write_table(tmp_path / "t.jsonl", [{"text": "two\nlines"}, {"text": "and\r\ntwo"}])
    assert [row[2] for row in predict(model, given, "--format", "text").rows] == ["two lines", "and two"]


def test_a_renamed_column_keeps_its_new_name(model, tmp_path):
    given = write_table(tmp_path / "t.jsonl", [{"text": "good", "label": "pos"}, {"text": "bad"}])
    rows = read_table(predict(model, given).stdout, "jsonl")
    assert ["predicted_label" in row for row in rows] == [True, True]
    assert "label" not in rows[1]


def test_rows_with_different_columns_cannot_form_a_table(model, tmp_path):
    given = write_table(tmp_path / "t.jsonl", [{"text": "good", "id": "1"}, {"text": "bad"}])
    result = predict(model, given, "--format", "csv", code=3)
    assert f"{given}:2: its columns differ" in result.stderr


def test_a_table_without_rows_keeps_its_header(model, tmp_path):
    (tmp_path / "in.csv").write_text("id,text\n")
    assert predict(model, tmp_path / "in.csv").lines == [",".join(["id", "text", *APPENDED])]


def test_json_values_of_any_type_are_preserved(model, tmp_path):
    row = {"text": NEG, "list": [1, {"a": None}], "big": 2**70, "true": True, "none": None, "float16": 0.5, "ü": "ß"}
    (found,) = read_table(predict(model, write_table(tmp_path / "in.jsonl", [row])).stdout, "jsonl")
    assert {name: found[name] for name in row} == row


def test_numbers_beyond_floats_do_not_become_invalid_json(model, tmp_path):
    (tmp_path / "in.jsonl").write_text('{"text": "great", "x": 1e400}\n')
    result = predict(model, tmp_path / "in.jsonl", code=None)
    assert b"Infinity" not in result.stdout


def test_lone_surrogates_in_json_are_written_as_escapes(model, tmp_path):
    (tmp_path / "in.jsonl").write_text('{"text": "great \\ud800 film", "\\udfff": 1}\n')
    result = predict(model, tmp_path / "in.jsonl")
    assert b'"great \\ud800 film"' in result.stdout
    assert json.loads(result.text)["\udfff"] == 1


def test_details_count_tokens_and_known_words(model, tmp_path):
    path = write_table(tmp_path / "in.csv", [{"text": "great zzz film qqq"}, {"text": "qqq"}])
    rows = read_table(predict(model, path, "--details", "-q").stdout, "csv")
    found = [(row["n_tokens"], row["known_words"], row["truncated"]) for row in rows]
    assert found == [("4", "2", "false"), ("1", "0", "false")]


def test_details_precede_the_text(model, tmp_path):
    line = predict_here(model, "--details", stdin="great zzz\tfilm\n").text.rstrip()
    label, _, *details, text = line.split("\t", 7)
    assert (label, details[:3], details[4], text) == ("pos", ["3", "2", "false"], "true", "great zzz\tfilm")
    assert 2.33 < float(details[3]) < 10
    (tmp_path / "a.txt").write_text("great zzz film")
    line = predict_here(model, "--details", tmp_path).text
    assert line.split("\t")[2:] == [*details, f"{tmp_path}/a.txt\n"]


def test_csv_safe_text_contains_no_formula(model):
    lines = "=1+1\nfilm\n"
    assert [row[2] for row in predict_here(model, "--csv-safe", "-q", stdin=lines).rows] == ["'=1+1", "film"]


def test_csv_safe_labels_contain_no_formula(tmp_path):
    texts, labels = make_reviews(40)
    small_fit(texts, [{"neg": "-1", "pos": "=1+1"}[label] for label in labels]).save(tmp_path / "m.npz")
    rows = predict_here(tmp_path / "m.npz", "--csv-safe", "-q", stdin="\n".join(texts)).rows
    assert {row[0] for row in rows} == {"-1", "'=1+1"}


def test_names_with_a_comma_are_quoted_so_that_the_delimiter_can_be_detected(model, tmp_path):
    (tmp_path / "in.csv").write_text('text;"Preis, netto"\nfilm;7\n')
    result = predict(model, "-q", tmp_path / "in.csv").text
    assert result.startswith('"text";"Preis, netto";"label";')
    (tmp_path / "out.csv").write_text(result)
    assert predict(model, "-q", tmp_path / "out.csv").text.count("\n") == 2


def test_csv_safe_tables_can_be_evaluated(model, tmp_path):
    (tmp_path / "in.csv").write_text("text,label\n=great film,pos\nawful,neg\n")
    (tmp_path / "out.csv").write_bytes(predict(model, "-q", "--csv-safe", tmp_path / "in.csv").stdout)
    report = run("evaluate", "-m", tmp_path / "out.csv", tmp_path / "in.csv", "--json").json
    assert report["texts"] == 2


def test_no_score_is_minus_zero(model, tmp_path):
    assert "-0.0000" not in predict(model, stdin="".join(f"zz{number}\n" for number in range(20)).encode()).text


@pytest.mark.parametrize("layout", ["csv", "tsv"])
def test_csv_safe_tables_contain_no_formula(layout, model, tmp_path):
    rows = [{"text": "=cmd|' /C calc'!A0", "+id": "-1+1", "note": "@SUM(A1)"}, {"text": NEG, "+id": "7", "note": "a=1"}]
    path = write_table(tmp_path / f"in.{layout}", rows)
    first, second = read_table(predict(model, "--csv-safe", "-q", path).stdout, layout)
    assert (first["text"], first["'+id"], first["note"]) == ("'=cmd|' /C calc'!A0", "'-1+1", "'@SUM(A1)")
    assert (second["text"], second["'+id"], second["note"]) == (NEG, "7", "a=1")
    assert float(second["score"]) < 0  # numbers written by nlptx are not escaped
    verbatim = read_table(predict(model, "-q", path).stdout, layout)
    assert [{name: row[name] for name in rows[0]} for row in verbatim] == rows


def test_json_numbers_are_not_escaped_in_a_csv_safe_table(model, tmp_path):
    path = write_table(tmp_path / "in.jsonl", [{"text": NEG, "number": -5, "word": "-five"}])
    (row,) = read_table(predict(model, path, "--format", "csv", "--csv-safe").stdout, "csv")
    assert (row["number"], row["word"]) == ("-5", "'-five")


def test_a_table_is_not_replaced_in_a_format_that_cannot_hold_its_cells(model, tmp_path):
    """TSV has no quoting, so tabs and line breaks would become spaces."""
    path = tmp_path / "t.tsv"
    content = f'text;n\n"{POS}\tfilm\nsecond line";1\n'
    path.write_text(content)
    code, message = failure("predict", path, "-m", model, "--delimiter", ";", "-o", path)
    assert (code, "would be overwritten" in message) == (2, True)
    assert path.read_text() == content


def test_the_score_of_a_text_does_not_depend_on_its_position(model):
    rng = random.Random(4)
    lines = [" ".join(rng.choices(PLAIN + LABEL_WORDS["pos"], k=rng.randint(1, 60))) for _ in range(300)]
    twice = predict(model, "--json", "-j", "2", stdin="\n".join([*lines, POS, *lines[::-1], POS])).lines
    assert twice[:300] == twice[301:601][::-1]
    assert twice[300] == twice[601]


def peak_memory(model, lines, folder):
    """Return the peak memory, in KiB, of scoring ``lines`` lines."""
    path = folder / f"{lines}.txt"
    rng = random.Random(lines)
    path.write_text("".join(" ".join(rng.choices(PLAIN, k=10)) + "\n" for _ in range(lines)))
    code = (
        "import sys; from nlptx.cli.main import nlptx\n"
        "nlptx(sys.argv[1:], standalone_mode=False)\n"
        # ru_maxrss cannot be used, because a child process inherits its value from the test process.
        "print(open('/proc/self/status').read().partition('VmHWM:')[2].split()[0])"
    )
    words = ("predict", "-m", model, path, "-q", "-j", "2", "-o", folder / "out.txt")
    done = subprocess.run(
        [sys.executable, "-c", code, *map(str, words)], capture_output=True, env=environment(), check=True
    )
    assert (folder / "out.txt").read_bytes().count(b"\n") == lines
    return int(done.stdout)


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="the peak memory is read from /proc")
def test_memory_does_not_grow_with_the_input(model, tmp_path):
    assert peak_memory(model, 64_000, tmp_path) < 1.2 * peak_memory(model, 16_000, tmp_path)


def test_predict_stops_reading_while_its_output_is_not_read(model):
    """If the output is not read, ``predict`` reads only as much input as fits in the pipes and a few batches."""
    written = 0
    line = f"{NEG}\n".encode() * 100
    with Running("predict", "-m", model, "-q") as running:
        os.set_blocking(running.process.stdin.fileno(), False)
        deadline = time.monotonic() + 2
        while time.monotonic() < deadline:
            count = running.process.stdin.write(line)  # write() returns None if the pipe is full
            written += count or 0
            if count is None:
                time.sleep(0.01)
        assert 0 < written < 4_000_000


def test_text_column_selects_the_texts(model, tmp_path):
    path = write_table(tmp_path / "in.csv", [{"text": NEG, "review": POS}])
    (row,) = read_table(predict(model, path, "--text-column", "review").stdout, "csv")
    assert (row["text"], row["label"]) == (NEG, "pos")


# ---------------------------------------------------------------- streams


@pytest.mark.parametrize("layout", ["text", "jsonl"])
def test_each_line_is_scored_before_the_next_one_arrives(layout, model):
    with Running("predict", "-m", model, "--input-format", layout) as running:
        for text in (NEG, POS, NEG):
            line = text if layout == "text" else json.dumps({"text": text})
            running.write(line.encode() + b"\n")
            assert text.encode() in running.read_until(b"\n")
        assert running.finish().code == 0


def test_a_closed_output_pipe_ends_predict_silently(model):
    result = shell(f"yes {NEG} | nlptx predict -m {model} | head -1; exit ${{PIPESTATUS[1]}}", code=141)
    assert len(result.rows) == 1
    assert result.stderr == ""


def test_a_closed_output_pipe_ends_predict_silently_during_a_slow_stream(model):
    """The input may stay open without further lines, for example in ``tail -f log | nlptx predict | head -1``."""
    with Running("predict", "-m", model) as running:
        running.write(f"{NEG}\n".encode())
        running.read_until(b"\n")
        running.process.stdout.close()
        running.write(f"{POS}\n".encode())
        assert running.process.wait(30) == 141
        assert running.process.stderr.read() == b""


@pytest.mark.parametrize(("name", "code"), [("SIGINT", 130), ("SIGTERM", 143)])
def test_signals_stop_predict_while_it_waits_for_input(name, code, model):
    with Running("predict", "-m", model) as running:
        running.write(f"{NEG}\n".encode())
        running.read_until(b"\n")
        running.process.send_signal(getattr(signal, name))
        assert running.process.wait(30) == code
        assert b"Fatal" not in running.process.stderr.read()


def test_closed_standard_input_is_a_usage_error(model):
    for words in ("", "-"):
        result = shell(f"nlptx predict -m {model} {words} <&-", code=2)
        assert "input" in result.stderr or "read" in result.stderr


@pytest.mark.parametrize("words", ["predict -m {0} {1}", "info {0}"])
def test_closed_standard_output_is_an_error(words, work):
    command = words.format(work / "model.npz", work / "test.tsv")
    assert shell(f"nlptx {command} >&-", code=1).stderr == "nlptx: error: standard output: Bad file descriptor\n"


# ---------------------------------------------------------------- terminals and files

HOSTILE = "great \x1b[31mred\x1b]0;title\x07 \x9b2J\u202e film"


def test_control_sequences_are_unchanged_in_files_and_pipes(model, tmp_path):
    assert predict(model, stdin=HOSTILE + "\n").rows[0][2] == HOSTILE
    predict(model, "-o", tmp_path / "out.txt", stdin=HOSTILE + "\n")
    assert HOSTILE in (tmp_path / "out.txt").read_text()


@pytest.mark.parametrize("layout", ["text", "csv", "tsv", "jsonl"])
def test_control_sequences_do_not_reach_a_terminal(layout, model, tmp_path):
    path = write_table(tmp_path / "in.jsonl", [{"text": HOSTILE}])
    shown = on_terminal("predict", "-m", model, path, "--format", layout, terminal=(1,)).text
    assert "great" in shown
    assert not set("\x1b\x07\x9b\u202e") & set(shown)


@pytest.mark.parametrize("command", ["predict", "evaluate", "train", "cooccur", "explain"])
def test_missing_input_at_a_terminal_is_an_error_instead_of_a_hang(command, work, tmp_path):
    options = {
        "train": ("-e", work / "embeddings.npz", "-o", tmp_path / "out.npz"),
        "cooccur": ("-o", tmp_path / "out.npz"),
    }
    with Running(command, *options.get(command, ("-m", work / "model.npz")), terminal=(0,)) as running:
        assert running.process.wait(30) == 2
        assert b"nothing to" in running.process.stderr.read()


def test_output_replaces_the_old_file(model, tmp_path):
    target = tmp_path / "out.txt"
    target.write_text("old\n")
    result = predict(model, "-o", target, stdin=f"{POS}\n")
    assert result.stdout == b""
    assert target.read_bytes() == predict(model, stdin=f"{POS}\n").stdout
    assert list(contents(tmp_path)) == ["out.txt"]


@pytest.mark.parametrize("stdin", [b"great\n\xff\n", None], ids=["bad-bytes", "missing-file"])
def test_output_file_is_unchanged_after_an_error(stdin, model, tmp_path):
    (tmp_path / "out.txt").write_text("old\n")
    inputs, code = (("missing.txt",), 2) if stdin is None else ((), 3)
    words = ("predict", "-m", model, *inputs, "-o", "out.txt")
    refused(*words, code=code, stdin=stdin or b"", cwd=tmp_path, untouched=tmp_path)


def test_a_file_can_be_scored_in_place(model, tmp_path):
    path = write_table(tmp_path / "in.csv", [{"text": NEG}, {"text": POS}])
    expected = predict(model, path).stdout
    predict(model, path, "-o", path)
    assert path.read_bytes() == expected


def test_predict_uses_the_bundled_model_by_default():
    """``cut -f3 reviews.tsv | nlptx predict`` needs no -m."""
    rows = run("predict", stdin="I loved every minute of it.\nA complete waste of an evening.\n").rows
    assert [row[0] for row in rows] == ["pos", "neg"]


@pytest.mark.parametrize(
    "words",
    [("in.csv", "-o", "m.npz"), ("in.csv", "more.csv", "-o", "in.csv"), ("in.txt", "-o", "in.txt"), ("in", "-o", "in")],
    ids=" ".join,
)
def test_an_output_never_replaces_an_input(words, model, tmp_path):
    files = {"in.csv": f"text\n{NEG}\n", "more.csv": f"text\n{POS}\n", "in.txt": f"{NEG}\n", "in": f"{NEG}\n"}
    for name, content in files.items():
        (tmp_path / name).write_text(content)
    (tmp_path / "m.npz").write_bytes(model.read_bytes())
    refused(
        "predict",
        *words,
        "-m",
        "m.npz",
        code=2,
        says="npz" if words[-1] == "m.npz" else "is also an input",
        cwd=tmp_path,
    )
    assert (tmp_path / "m.npz").read_bytes() == model.read_bytes()
    assert all((tmp_path / name).read_text() == content for name, content in files.items())


def test_a_single_table_can_be_extended_in_place(model, tmp_path):
    path = write_table(tmp_path / "in.csv", [{"text": NEG}, {"text": POS}])
    predict(model, path, "-o", path)
    assert [row["label"] for row in read_table(path.read_bytes(), "csv")] == ["neg", "pos"]
