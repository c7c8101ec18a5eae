"""Tests with real-world tables that have other column names, delimiters, labels and weights, or broken rows.

The tests also check that every guess is reported."""

import json

import pytest
from calling import call, failure
from reviews import make_reviews
from sample_data import make_rows, one_step

import nlptx
from nlptx.artifacts import container

MIXED = 'id|Text|Stars\n1|"good | film"|1\n2|bad film|0\n'


def write(path, content):
    path.write_text(content, encoding="utf-8", newline="")
    return path


def table(folder, name, rows, header="text,label"):
    """Write rows as CSV; none of their fields needs quotes."""
    delimiter = next(character for character in ",;" if character in header)
    return write(
        folder / name, "".join(f"{delimiter.join(map(str, row))}\n" for row in [header.split(delimiter), *rows])
    )


def trained(work, output, data, *words):
    """Train on a table for one step; return the model artifact and the printed notes."""
    step = [data if word == str(work / "train.tsv") else word for word in one_step(work, "--lsa-components", "4")]
    result = call(*step, *words, "-o", output, "-j", "1")
    return container.read(str(output)), result.stderr


def same_model(one, other):
    assert one.arrays.keys() == other.arrays.keys()
    assert all(one.arrays[name].tobytes() == other.arrays[name].tobytes() for name in one.arrays)
    assert one.details["history"] == other.details["history"]


# ---------------------------------------------------------------- train


def test_a_table_with_other_names_and_labels_trains_the_same_model(work, tmp_path):
    rows = make_rows(("neg", "pos"), 40, seed=1)
    plain = table(tmp_path, "plain.csv", rows)
    other = [(number, text, "10"[label == "neg"]) for number, (text, label) in enumerate(rows)]
    odd = table(tmp_path, "odd.csv", other, "id;Review;Stars")
    names = ("--text-column", "review", "--label-column", "stars")
    one, plain_notes = trained(work, tmp_path / "plain.npz", plain)
    two, message = trained(work, tmp_path / "odd.npz", odd, *names, "--map", "1=pos", "--map", "0=neg")
    same_model(one, two)
    assert "read as" not in plain_notes
    assert message.count("';'; if that is wrong, use --delimiter ,") == 1
    assert (
        message.count("column 'Review' is read as the text")
        == message.count("column 'Stars' is read as the label")
        == 1
    )
    recipe = call("info", tmp_path / "odd.npz", "--json").json["commands"][-1]
    assert "--map 0=neg --map 1=pos" in recipe


def test_quiet_suppresses_notes_about_guesses(work, tmp_path):
    odd = table(tmp_path, "odd.csv", make_rows(("neg", "pos"), 20, seed=1), "Text;LABEL")
    assert trained(work, tmp_path / "model.npz", odd, "-q")[1] == ""


def test_texts_of_weight_zero_are_left_out(work, tmp_path):
    rows = make_rows(("neg", "pos"), 40, seed=1)
    weighted = [(text, label, number % 5 and 1) for number, (text, label) in enumerate(rows)]
    kept = table(tmp_path, "kept.csv", [row[:2] for row in weighted if row[2]])
    one, _ = trained(work, tmp_path / "kept.npz", kept)
    data = table(tmp_path, "weighted.csv", weighted, "text,label,weight")
    two, _ = trained(work, tmp_path / "weighted.npz", data, "--weight-column", "Weight")
    same_model(one, two)
    assert "--weight-column Weight" in call("info", tmp_path / "weighted.npz", "--json").json["commands"][-1]


def test_weights_change_the_model(work, tmp_path):
    rows = make_rows(("neg", "pos"), 40, seed=1)
    data = table(tmp_path, "a.csv", [(text, label, 1 + (label == "pos")) for text, label in rows], "text,label,n")
    one, _ = trained(work, tmp_path / "one.npz", data)
    two, message = trained(work, tmp_path / "two.npz", data, "--weight-column", "n")
    assert any(one.arrays[name].tobytes() != two.arrays[name].tobytes() for name in one.arrays)
    assert "mean weight" not in message


@pytest.mark.parametrize("weight", ["nan", "-1", "1e308", ""])
def test_the_message_about_an_invalid_weight_names_file_and_line(work, tmp_path, weight):
    data = table(tmp_path, "a.csv", [("a", "pos", 1), ("b", "neg", weight)], "text,label,n")
    words = ("train", data, "-e", work / "embeddings.npz", "-o", tmp_path / "m.npz")
    code, message = failure(*words, "--weight-column", "n")
    assert (code, message.startswith(f"{data}:3: the weight is ")) == (3, True)
    assert "--skip-bad" in message


def test_invalid_label_maps_are_rejected(work, tmp_path):
    data = table(tmp_path, "a.csv", [("a", "pos"), ("b", "neg")])
    words = ("train", data, "-e", work / "embeddings.npz", "-o", tmp_path / "m.npz")
    code, message = failure(*words, "--map", "neg=pos")
    assert (code, "only the label 'pos'" in message) == (3, True)
    assert failure(*words, "--map", "neg=pos", "--map", "neg=neu")[0] == 2
    code, message = failure(*words, "--map", "NEG=pos")
    assert (code, message.splitlines()[0]) == (3, "--map replaces 'NEG', but the data has only the labels neg, pos")


def test_a_table_with_a_single_column_has_no_labels(work, tmp_path):
    data = write(tmp_path / "a.csv", "Review\ngood\nbad\n")
    code, message = failure("train", data, "-e", work / "embeddings.npz", "-o", tmp_path / "m.npz")
    assert code == 3
    assert "no column 'label'; the columns are Review\n  Name the column with --label-column" in message


# ---------------------------------------------------------------- evaluate


@pytest.mark.parametrize("command", ["predict", "check"])
def test_a_named_text_column_is_not_replaced_by_the_only_one(tmp_path, command, monkeypatch):
    """In a table without a header, the first text would be taken for the name of the only column, and be lost."""
    path = write(tmp_path / "texts.csv", "a good film\na bad film\n")
    code, message = failure(command, path, "--text-column", "text")
    assert (code, "no column 'text'; the columns are a good film" in message) == (3, True)
    assert "'a good film' is the only one, and is read as the text" in call(command, path).stderr
    monkeypatch.setenv(f"NLPTX_{command.upper()}_TEXT_COLUMN", "text")
    assert failure(command, path)[0] == 3


@pytest.mark.parametrize(
    ("labels", "reading"),
    [
        (("1", "0"), "0 as neg, 1 as pos"),
        (("True", "False"), "False as neg, True as pos"),
        (("+1", "-1"), "+1 as pos, -1 as neg"),
        (("Positive", "negative"), "Positive as pos, negative as neg"),
        (("POS", "neg"), "POS as pos"),
    ],
)
def test_common_names_of_labels_are_recognised(tmp_path, labels, reading):
    data = table(tmp_path, "a.csv", [("I loved it", labels[0]), ("so bad", labels[1])])
    result = call("evaluate", data, "-j", "1", "--json")
    assert result.json["confusion"] == [[1, 0], [0, 1]]
    (note,) = result.stderr.splitlines()
    assert note == (
        f"labels in the data are read as model labels: {reading}; if that is wrong, map them with --map OLD=NEW"
    )


def test_ambiguous_labels_are_rejected_unless_mapped(tmp_path):
    rows = [("I loved it", "5"), ("so bad", "1"), ("fine", "4")]
    data = table(tmp_path, "a.csv", rows)
    code, message = failure("evaluate", data, "-j", "1")
    assert code == 3
    assert message == (
        f"{data}:2: labels '5', '1', '4' are not among the model's labels: neg, pos\n"
        "  Map each of them to one of the model's labels: --map 5=NEW --map 1=NEW --map 4=NEW.\n"
    )
    result = call("evaluate", data, "-j", "1", "--json", "--map", "1=neg", "--map", "4=pos", "--map", "5=pos")
    assert (result.json["texts"], result.stderr) == (3, "")
    assert failure("evaluate", data, "-j", "1", "--map", "1=neg")[0] == 3
    equation = table(tmp_path, "b.csv", [("I loved it", "a=b"), ("so bad", "neg")])
    assert r"--map 'a\=b=NEW'" in failure("evaluate", equation, "-j", "1")[1]


def test_environment_variables_can_set_maps_and_delimiters(tmp_path, monkeypatch):
    data = write(tmp_path / "a.csv", "text^label\nI loved it^good\nso bad^bad\n")
    monkeypatch.setenv("NLPTX_EVALUATE_MAP", "good=pos bad=neg")
    monkeypatch.setenv("NLPTX_EVALUATE_DELIMITER", "^")
    result = call("evaluate", data, "-j", "1", "--json")
    assert (result.json["texts"], result.stderr) == (2, "")


@pytest.mark.parametrize(("command", "file"), [("evaluate", False), ("train", True)])
def test_a_message_about_a_map_in_a_variable_says_that_it_is_split_at_spaces(command, file, tmp_path, monkeypatch):
    data = table(tmp_path, "a.csv", [("I loved it", "pos"), ("so bad", "neg")])
    monkeypatch.setenv(f"NLPTX_{command.upper()}_MAP", "neg=very bad")
    code, message = failure(command, data, "-j", "1")
    assert (code, f"NLPTX_{command.upper()}_MAP is split at spaces" in message) == (2, True)
    assert ("--config" in message) == file
    assert "split at spaces" not in failure(command, data, "-j", "1", "--map", "bad")[1]


def test_a_map_overrides_recognised_labels(tmp_path):
    data = table(tmp_path, "a.csv", [("I loved it", "0"), ("so bad", "1")])
    result = call("evaluate", data, "-j", "1", "--json", "--map", "0=pos", "--map", "1=neg")
    assert (result.json["confusion"], result.stderr) == ([[1, 0], [0, 1]], "")


def test_evaluate_skips_bad_rows(tmp_path):
    data = write(tmp_path / "a.csv", "text,label\nI loved it,pos\nso bad,\n,neg\nbroken\nso bad,neg\n")
    result = call("evaluate", data, "-j", "1", "--json", "--skip-bad")
    assert result.json["texts"] == 2
    causes = "1 that cannot be read, 1 without a label, 1 without a text"
    assert result.stderr == f"left out 3 rows: {causes} ({data}:3, {data}:4, {data}:5)\n"


# ---------------------------------------------------------------- predict


def test_predictions_keep_the_delimiter_of_the_input(tmp_path):
    data = write(tmp_path / "a.csv", MIXED)
    result = call("predict", data, "-j", "1")
    assert result.lines[0] == "id|Text|Stars|label|confidence|score|prob_neg|prob_pos"
    assert [line.rsplit("|", 4)[0] for line in result.lines[1:]] == ['1|"good | film"|1|pos', "2|bad film|0|neg"]
    assert len(result.stderr.splitlines()) == 2  # notes on the delimiter and the text column, but none on labels
    assert call("predict", data, "-j", "1", "--format", "tsv", "-q").lines[0].startswith("id\tText\tStars\tlabel\t")
    again = write(tmp_path / "b.csv", result.text)
    assert json.loads(call("predict", again, "-j", "1", "-q", "--json").lines[0])["Text"] == "good | film"


@pytest.mark.parametrize(
    ("name", "output_format", "has_mark"),
    [
        ("a.csv", "auto", True),
        ("a.tsv", "auto", True),
        ("a.txt", "csv", True),
        ("a.csv", "jsonl", False),
        ("a.csv", "text", False),
        ("a.txt", "text", False),
    ],
)
def test_tables_begin_with_a_byte_order_mark_if_the_first_input_does(tmp_path, name, output_format, has_mark):
    marked = write(tmp_path / name, "\ufefftext\ngreat film\n")
    plain = write(tmp_path / f"plain-{name}", "text\ngreat film\n")
    words = ("-j", "1", "-q", "--format", output_format)
    assert call("predict", marked, *words).text == "\ufeff" * has_mark + call("predict", plain, *words).text
    assert call("predict", marked, plain, *words).text.count("\ufeff") == has_mark
    assert call("predict", plain, marked, *words).text.count("\ufeff") == 0


def test_a_header_alone_begins_with_a_byte_order_mark_too(tmp_path):
    result = call("predict", write(tmp_path / "a.csv", "\ufefftext\n"), "-j", "1")
    assert result.text.startswith("\ufefftext,label,")


@pytest.mark.parametrize("word", ["tab", r"\t", "\t"])
def test_tabs_can_be_named(word):
    stdin = 'text\tn\n"good\tfilm"\t1\n'
    result = call("predict", "-", "--input-format", "csv", "--delimiter", word, "-j", "1", stdin=stdin)
    assert result.lines[1].startswith('"good\tfilm"\t1\tpos\t')
    assert result.stderr == ""


def test_a_piped_table_is_read_like_a_file():
    stdin = "\ufeffTEXT;n\r\ngood film;1\r\n"
    result = call("predict", "--input-format", "csv", "-j", "1", stdin=stdin)
    assert result.lines[0].startswith("\ufeffTEXT;n;label;")
    assert result.lines[1].startswith("good film;1;pos;")
    assert result.stderr.startswith("<stdin>: ")


@pytest.mark.parametrize(
    ("name", "words", "says"),
    [
        ("a.txt", ("--delimiter", ";"), "a.txt is read as plain text"),
        ("a.jsonl", ("--delimiter", ";"), "a.jsonl is read as JSON lines"),
        ("a.csv", ("--delimiter", ";;"), "--delimiter is ';;'; expected one character"),
        ("a.csv", ("--delimiter", ""), "--delimiter is ''; expected one character"),
    ],
)
def test_an_invalid_delimiter_is_a_usage_error(tmp_path, name, words, says):
    data = write(tmp_path / name, '{"text": "a"}\n' if name == "a.jsonl" else "text\na\n")
    code, message = failure("predict", data, *words, "-j", "1")
    assert (code, says in message) == (2, True), message


def test_an_empty_table_keeps_its_delimiter(tmp_path):
    data = write(tmp_path / "a.csv", "text;n\n")
    assert call("predict", data, "-j", "1").text == "text;n;label;confidence;score;prob_neg;prob_pos\n"


def test_predict_keeps_every_row_or_reports_which_it_left_out(tmp_path):
    content = "text,n\ngood film,1\n,2\nbroken\nbad film,4\n"
    data = write(tmp_path / "a.csv", content)
    assert failure("predict", data, "-j", "1")[0] == 3
    result = call("predict", data, "-j", "1", "--skip-bad")
    assert [line.split(",")[:3] for line in result.lines[1:]] == [["good film", "1", "pos"], ["bad film", "4", "neg"]]
    assert result.stderr == f"left out 2 rows: 1 that cannot be read, 1 without a text ({data}:3, {data}:4)\n"
    data = write(tmp_path / "b.csv", content.replace("broken\n", ""))
    assert [line.split(",")[2] for line in call("predict", data, "-j", "1").lines[1:]] == ["pos", "?", "neg"]


def test_a_table_without_valid_rows_has_a_header(tmp_path):
    result = call("predict", write(tmp_path / "a.csv", "text,n\n,1\n"), "-j", "1", "--skip-bad")
    assert result.text == "text,n,label,confidence,score,prob_neg,prob_pos\n"


def test_cooccur_reads_the_same_tables(tmp_path):
    texts = [f"film {number % 7} was good" for number in range(30)]
    odd = table(tmp_path, "odd.csv", [(text, 1) for text in texts], "Text;n")
    plain = write(tmp_path / "plain.txt", "".join(f"{text}\n" for text in texts))
    for name, data in (("one", odd), ("two", plain)):
        call("cooccur", data, "--min-count", "1", "-j", "1", "-q", "-o", tmp_path / f"{name}.npz")
    assert (tmp_path / "one.npz").read_bytes() == (tmp_path / "two.npz").read_bytes()


def test_one_command_and_three_yield_the_same_model_with_weights_and_a_map(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = zip(*make_reviews(300, plain_words=300), strict=True)
    table(tmp_path, "a.csv", [(t, "10"[y == "neg"], n % 3) for n, (t, y) in enumerate(rows)], "Text;Label;n")
    more = (
        "--map",
        "1=pos",
        "--map",
        "0=neg",
        "--weight-column",
        "n",
        "--epochs",
        "1",
        "--ngrams",
        "0",
        "-j",
        "1",
        "-q",
    )
    call("cooccur", "a.csv", "-j", "1", "-q", "-o", "c.npz")
    call("pca", "c.npz", "-j", "1", "-q", "-o", "e.npz")
    call("train", "a.csv", "-e", "e.npz", *more, "-o", "three.npz")
    call("train", "a.csv", *more, "-o", "one.npz")
    assert (tmp_path / "one.npz").read_bytes() == (tmp_path / "three.npz").read_bytes()
    (recipe,) = call("info", "one.npz", "--json").json["commands"]
    assert "--weight-column n" in recipe


def test_two_labels_can_be_merged_in_a_table_of_predictions_but_not_in_a_model(tmp_path):
    """A model would still predict the label that is replaced."""
    model = nlptx.fit(["good one", "bad one", "fair one"] * 10, ["pos", "neg", "neutral"] * 10)
    model.save(tmp_path / "m.npz")
    data = table(tmp_path, "a.csv", [("good one", "pos"), ("fair one", "neutral")])
    words = ("evaluate", data, "-j", "1", "--map", "neutral=neg", "-m")
    code, message = failure(*words, tmp_path / "m.npz")
    assert (code, "'neutral', which could then never be correct" in message) == (3, True)
    call("predict", data, "-m", tmp_path / "m.npz", "-j", "1", "-o", tmp_path / "t.csv")
    result = call(*words, tmp_path / "t.csv", "--json").json
    assert (result["texts"], result["accuracy"]) == (2, 1)


def test_a_model_with_labels_in_another_unicode_form_still_fits(tmp_path):
    model = nlptx.fit(["good one", "bad one"] * 10, ["e\u0301t\u00e9", "hiver"] * 10)
    model.save(tmp_path / "m.npz")
    data = table(tmp_path, "a.csv", [("good one", "\u00e9t\u00e9"), ("bad one", "hiver")])
    assert call("evaluate", data, "-m", tmp_path / "m.npz", "-j", "1", "--json").json["accuracy"] == 1
