"""Tests of the commands that report on models, vectors and artifacts: evaluate, neighbors, info, explain."""

import hashlib
import json
import math
import re
import shlex

import numpy as np
import pytest
from calling import call, last_of_each
from command import refused, run, shell
from metric_definitions import auc_by_pairs, ece_by_bins
from sample_data import COUNT, LABEL_WORDS, PCA, TRAIN, make_rows, one_step, write_tsv

KEYS = {
    "model",
    "data",
    "seed",
    "texts",
    "accuracy",
    "interval",
    "majority",
    "balanced_accuracy",
    "macro_f1",
    "auc",
    "log_loss",
    "ece",
    "ece_floor",
    "mean_absolute_error",
    "classes",
    "confusion",
    "unknown_texts",
    "confidence",
    "coverage",
    "coverage_curve",
    "aurc",
    "seen_in",
    "seconds",
    "peak_memory_mb",
}


@pytest.fixture(scope="module")
def weak(work, tmp_path_factory):
    """A model that makes errors, because it was trained for only one step."""
    path = tmp_path_factory.mktemp("weak") / "model.npz"
    words = (
        "--epochs",
        "1",
        "--batch",
        "80",
        "--lr",
        "1e-4",
        "--weight-averaging",
        "0",
        "--ngrams",
        "0",
        "--seed",
        "3",
    )
    run("train", work / "train.tsv", "-e", work / "embeddings.npz", *words, "-o", path)
    return path


# ---------------------------------------------------------------- evaluate


def test_report_equals_a_computation_by_hand(work, weak):
    report = run("evaluate", "-m", weak, work / "test.tsv", "--json").json
    # The column "label" contains the true label, and the model's outputs are in other columns.
    rows = [json.loads(line) for line in run("predict", "-m", weak, work / "test.tsv", "--json").lines]
    true = np.array([row["label"] == "pos" for row in rows])
    positive = np.array([row["prob_pos"] for row in rows])
    predicted = positive > 0.5
    hit = predicted == true
    count = len(rows)
    assert 0 < hit.sum() < count, "the test needs both correct and wrong predictions"
    assert report["texts"] == count
    assert report["accuracy"] == hit.mean()
    assert report["majority"] == max(true.mean(), 1 - true.mean())
    assert report["confusion"] == [
        [int((~true & ~predicted).sum()), int((~true & predicted).sum())],
        [int((true & ~predicted).sum()), int((true & predicted).sum())],
    ]
    assert report["log_loss"] == pytest.approx(-np.log(np.where(true, positive, 1 - positive)).mean(), abs=1e-5)
    assert report["auc"] == pytest.approx(auc_by_pairs(positive, true), abs=1e-5)
    assert report["ece"] == pytest.approx(ece_by_bins(np.maximum(positive, 1 - positive), hit, 15), abs=1e-3)
    f1 = [2 * (t & s).sum() / (t.sum() + s.sum()) for t, s in ((~true, ~predicted), (true, predicted))]
    assert [row["f1"] for row in report["classes"]] == pytest.approx(f1)
    assert report["macro_f1"] == pytest.approx(np.mean(f1))
    assert [row["label"] for row in report["classes"]] == ["neg", "pos"]
    low, high = report["interval"]
    assert 0 <= low < report["accuracy"] < high <= 1


def test_json_and_table_show_the_same_numbers(work, model):
    result = run("evaluate", "-m", model, work / "test.tsv", "--json")
    assert len(result.lines) == 1
    report = result.json
    assert set(report) == KEYS
    assert set(report["classes"][0]) == {"label", "precision", "recall", "f1", "auc", "texts"}
    shown = run("evaluate", "-m", model, work / "test.tsv").text
    floor = report["ece_floor"]
    percentages = (report["accuracy"], report["balanced_accuracy"], floor["mean"], floor["percentile_95"])
    for number in (
        *(f"{share:.2%}" for share in percentages),
        f"{report['macro_f1']:.4f}",
        f"{report['log_loss']:.4f}",
    ):
        assert number in shown
    for name in ("macro-F1", "ROC-AUC", "log-loss", "calibration", "precision", "recall", "confusion", "neg", "pos"):
        assert name in shown


def test_the_report_names_model_data_and_seed(work, weak, monkeypatch):
    monkeypatch.chdir(work)
    words = ("test.tsv", "train.tsv", "-j", "1")
    report = call("evaluate", "-m", weak, *words, "--json").json
    assert (report["model"], report["data"], report["seed"]) == (str(weak), ["test.tsv", "train.tsv"], 3)
    shown = [line.split() for line in call("evaluate", "-m", weak, *words).lines]
    assert shown[1:4] == [["model", str(weak)], ["seed", "3"], ["data", "test.tsv", "train.tsv"]]
    bundled = call(
        "evaluate", "-", "--input-format", "tsv", "-j", "1", "--json", stdin=(work / "test.tsv").read_bytes()
    )
    assert (bundled.json["model"], bundled.json["data"]) == ("bundled", ["-"])


def test_labels_without_an_order_have_no_absolute_error(work):
    report = run("evaluate", "-m", work / "kinds.npz", work / "kinds.tsv", "--json").json
    assert report["mean_absolute_error"] is None
    assert np.array(report["confusion"]).shape == (3, 3)


def test_measures_of_an_absent_label_are_null_instead_of_nan(work, model):
    result = run("evaluate", "-m", model, "--input-format", "tsv", "--json", stdin="text\tlabel\ngreat film\tpos\n")
    assert "NaN" not in result.text
    assert result.json["auc"] is None
    assert result.json["classes"][0]["texts"] == 0


def test_for_many_labels_only_the_most_frequent_confusions_are_shown(work, tmp_path):
    rows = make_rows(tuple(LABEL_WORDS), 50, seed=1)
    train = write_tsv(tmp_path / "train.tsv", [(text, f"{label} {n % 4}") for n, (text, label) in enumerate(rows)])
    words = last_of_each(*TRAIN, "--width", "64", "--subwords", "off")
    run("train", train, "-e", work / "embeddings.npz", *words, "-o", "many.npz", cwd=tmp_path)
    report = run("evaluate", "-m", "many.npz", train, cwd=tmp_path).text
    assert "most frequent confusions" in report
    assert "rows: true" not in report
    confusions, _, _ = report.split("most frequent confusions")[1].partition("accuracy against coverage")
    table = [line.split() for line in confusions.splitlines()[2:]]
    counts = [int(words[-1]) for words in table]
    assert counts == sorted(counts, reverse=True)
    assert 0 < len(counts) <= 10


def test_piped_lines_have_no_trailing_blanks(work, model):
    for words in (("evaluate", "-m", model, work / "test.tsv"), ("info", model), ("explain", "-m", model, "great")):
        assert not re.search(r"[ \t]$", run(*words).text, re.MULTILINE), words


@pytest.mark.parametrize(("minimum", "code", "json_option"), [("0", 0, ()), ("0.999", 5, ("--json",))])
def test_min_accuracy_is_checked_after_the_report(minimum, code, json_option, work, weak):
    result = run("evaluate", "-m", weak, work / "test.tsv", "--min-accuracy", minimum, *json_option, code=code)
    assert "accuracy" in result.text
    assert ("--min-accuracy" in result.stderr) == (code == 5)


@pytest.mark.parametrize("minimum", ["1.5", "nan"])
def test_min_accuracy_must_be_between_0_and_1(minimum, work, model):
    refused("evaluate", "-m", model, work / "test.tsv", "--min-accuracy", minimum, code=2, says="--min-accuracy")


def test_the_message_about_an_unknown_label_names_label_and_line(model, tmp_path):
    (tmp_path / "t.tsv").write_text("text\tlabel\ngreat\tpos\nso so\tneu\n")
    says = ("t.tsv:3", "'neu'", "neg, pos")
    refused("evaluate", "-m", model, "t.tsv", code=3, says=says, cwd=tmp_path)


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("t.txt", "great\n", "t.txt:1"),
        ("t.tsv", "text\tlabel\n", "t.tsv: there is nothing to evaluate"),
    ],
    ids=["text", "no-rows"],
)
def test_data_without_labels_is_rejected(name, content, says, model, tmp_path):
    (tmp_path / name).write_text(content)
    refused("evaluate", "-m", model, name, code=3, says=says, cwd=tmp_path)


# ---------------------------------------------------------------- neighbors


@pytest.fixture(scope="module")
def vectors(work, tmp_path_factory):
    """The vector of each word, read from a file in word2vec text format."""
    path = tmp_path_factory.mktemp("vectors") / "v.txt"
    run("pca", work / "cooccur.npz", *PCA, "-o", path)
    lines = [line.split(" ") for line in path.read_text().splitlines()[1:]]
    return {word: np.array(numbers, float) for word, *numbers in lines}


def cosine(a, b):
    return a @ b / math.sqrt((a @ a) * (b @ b))


def nearest(vectors, target, excluded, top):
    ranked = sorted(((cosine(vector, target), word) for word, vector in vectors.items()), reverse=True)
    return [(word, number) for number, word in ranked if word not in excluded][:top]


def check_table(found, expected):
    assert [row["word"] for row in found] == [word for word, _ in expected]
    assert [row["cosine"] for row in found] == pytest.approx([number for _, number in expected], abs=1e-5)


def test_neighbors_are_the_words_with_the_largest_cosine(work, vectors):
    found = run("neighbors", work / "embeddings.npz", "awful", "Great", "-n", "4", "--json").json
    assert list(found) == ["awful", "Great"]
    check_table(found["awful"], nearest(vectors, vectors["awful"], {"awful"}, 4))
    check_table(found["Great"], nearest(vectors, vectors["great"], {"great"}, 4))


def test_analogy_is_nearest_to_b_minus_a_plus_c(work, vectors):
    a, b, c = "awful", "great", "boring"
    unit = {word: vectors[word] / math.sqrt(vectors[word] @ vectors[word]) for word in (a, b, c)}
    expected = nearest(vectors, unit[b] - unit[a] + unit[c], {a, b, c}, 3)
    found = run("neighbors", work / "embeddings.npz", "--analogy", a, b, c, "-n", "3", "--json").json
    check_table(found["awful great boring"], expected)


def test_neighbors_table_shows_words_and_cosines(work, vectors):
    (word, number), *_ = nearest(vectors, vectors["awful"], {"awful"}, 1)
    lines = run("neighbors", work / "embeddings.npz", "awful", "-n", "2").lines
    assert len(lines) == 4
    assert [part for part in lines[2].split() if part] == [word, f"{number:.4f}"]


def test_neighbors_accepts_a_model(work):
    assert len(run("neighbors", work / "model.npz", "awful", "--json").json["awful"]) == 10


def test_the_message_about_unknown_words_names_them(work):
    refused("neighbors", work / "embeddings.npz", "awful", "zzz", code=3, says="'zzz'")


def test_analogies_take_three_words(work):
    refused("neighbors", work / "embeddings.npz", "--analogy", "awful", code=2, says="three words")


# ---------------------------------------------------------------- info


@pytest.mark.parametrize(
    ("name", "kind", "stages"),
    [("cooccur.npz", "cooccurrence", 1), ("embeddings.npz", "embeddings", 2), ("model.npz", "model", 3)],
)
def test_info_shows_kind_settings_and_provenance(name, kind, stages, work):
    found = run("info", work / name, "--json").json
    assert (found["kind"], found["format"], found["seed"]) == (kind, 1, 1)
    assert len(found["commands"]) == stages
    link, kinds = found, []
    while link:
        kinds.insert(0, link["kind"])
        assert link["settings"]
        first, link = link, link["made_from"]
    assert kinds == ["cooccurrence", "embeddings", "model"][:stages]
    assert first["details"]["sha256"] == hashlib.sha256((work / "corpus.txt").read_bytes()).hexdigest()


def test_text_and_json_of_info_agree(work):
    found = run("info", work / "kinds.npz", "--json").json
    assert found["details"]["labels"] == ["comedy", "drama", "western"]
    shown = run("info", work / "kinds.npz").text
    assert "model" in shown
    assert "comedy, drama, western" in shown
    assert found["made_from"]["made_from"]["details"]["sha256"] in shown.replace("\n", "")
    for command in found["commands"]:
        assert command.split()[1] in shown


def test_info_of_a_model_begins_with_purpose_accuracy_and_labels(work, tmp_path):
    beginnings = {
        None: [("purpose", "positive or negative"), ("accuracy", "%"), ("labels", "neg, pos")],
        work / "kinds.npz": [
            ("purpose", "Distinguish comedy, drama and western."),
            ("accuracy", "held-out"),
            ("labels", "comedy"),
        ],
    }
    for name, facts in beginnings.items():
        lines = call("info", *([name] if name else [])).lines
        # The first column of continuation lines is empty.
        shown = [line for line in lines[1:] if line[1] != " "]
        for line, (fact, value) in zip(shown, facts, strict=False):
            assert line.split()[0] == fact
            assert value in line
        arrays = lines.index("arrays")
        assert all(line.split()[0] not in ("flat", "table") for line in lines[:arrays])
        assert any(line.split()[0] == "table" for line in lines[arrays:])


def test_info_does_not_claim_an_accuracy_that_was_not_measured(work, tmp_path):
    run(*one_step(work, "--valid-share", "0", "-q", "-o", tmp_path / "m.npz"))
    assert "Not measured: no texts were held out." in call("info", tmp_path / "m.npz").text


# Non-default options; some of them are needed to read the inputs.
COLUMNS = ("--text-column", "review")
TABLE = (*COLUMNS, "--label-column", "stars", "--valid", "VALID.csv")
RECIPE = {
    "cooccur": ("--window", "3", "--weighting", "linear", "--no-lowercase", "--max-words", "30", *COUNT, *COLUMNS),
    "pca": ("--transform", "log", "--no-standardize", "--normalize", "--smoothing", "0.5", "--seed", "9", *PCA),
    "train": ("--freeze", "--pool", "flatten", "--long-texts", "head", "--seed", "5", *TRAIN, *TABLE),
}


def test_the_commands_shown_by_info_reproduce_the_same_bytes(tmp_path):
    for name, rows in (("CORPUS", 60), ("DATA", 40), ("VALID", 10)):
        rows = make_rows(("neg", "pos"), rows, seed=8)
        table = "".join(f"{text},{label}\n" for text, label in rows)
        (tmp_path / f"{name}.csv").write_text("review,stars\n" + table)
    run("cooccur", "CORPUS.csv", *RECIPE["cooccur"], "-o", "cooccur.npz", cwd=tmp_path)
    run("pca", "cooccur.npz", *RECIPE["pca"], "-o", "embeddings.npz", cwd=tmp_path)
    run("train", "DATA.csv", "-e", "embeddings.npz", *RECIPE["train"], "-o", "model.npz", cwd=tmp_path)
    names = ("cooccur.npz", "embeddings.npz", "model.npz")
    before = {name: (tmp_path / name).read_bytes() for name in names}
    description = run("info", "model.npz", "--json", cwd=tmp_path).json
    history = description["details"]["history"]
    assert (history["train_texts"], history["valid_texts"]) == (40, 10)
    for name in names:
        (tmp_path / name).unlink()
    # The commands contain everything except the names of the inputs.
    for command in description["commands"]:
        for name in ("CORPUS", "DATA", "VALID"):
            command = command.replace(name, f"{name}.csv")
        run(*shlex.split(command)[1:], cwd=tmp_path)
    assert {name: (tmp_path / name).read_bytes() for name in names} == before


@pytest.fixture(scope="module")
def foreign(work, tmp_path_factory):
    """The bytes of a GloVe file, and what ``nlptx info`` prints for a model trained with its word vectors."""
    folder = tmp_path_factory.mktemp("foreign")
    vectors = folder / "glove.txt"
    vectors.write_text("the 0.1 0.2\nfilm -0.3 0.4\nawful 1 0\ngreat 0 1\n")
    run("train", work / "train.tsv", "-e", vectors, *TRAIN, "--new-word-min-count", "0", "-o", folder / "m.npz")
    return vectors.read_bytes(), run("info", folder / "m.npz", "--json")


def test_info_does_not_claim_that_foreign_vectors_came_from_pca(foreign):
    assert not any(command.startswith("nlptx pca") for command in foreign[1].json["commands"])


def test_info_shows_the_size_and_digest_of_foreign_vectors(foreign):
    vectors, description = foreign
    assert description.json["sizes"]["word_counts"] == [4]
    assert hashlib.sha256(vectors).hexdigest() in description.text


@pytest.mark.parametrize(
    ("words", "drawn"),
    [("info model.npz", r"\d\.\d{3} \|\**"), ("explain -m model.npz great awful", r"[+-]\d\.\d{4} +-?#+")],
)
def test_charts_are_drawn_in_ascii_if_the_output_encoding_is_narrow(words, drawn, work):
    shown = run(*words.split(), cwd=work, env={"PYTHONIOENCODING": "latin-1"}).text
    assert re.search(drawn, shown)
    assert "?" not in shown


@pytest.mark.parametrize(
    "words",
    [
        "info model.npz",
        "info model.npz --json",
        "evaluate -m model.npz test.tsv",
    ],
)
def test_reports_into_a_closed_pipe_end_silently(words, work):
    """The reader has closed its end of the pipe before nlptx starts."""
    result = shell(f"{{ sleep 0.2; nlptx {words}; }} | true; exit ${{PIPESTATUS[0]}}", cwd=work, code=141)
    assert result.stderr == ""


# ---------------------------------------------------------------- explain


def test_the_effect_is_the_decrease_in_probability_without_the_word(weak):
    words = ["great", "film", "awful"]
    found = run("explain", "-m", weak, "--label", "pos", " ".join(words), "--json").json
    texts = [words, words[1:], [words[0], words[2]], words[:2]]
    lines = run("predict", "-m", weak, "--json", stdin="\n".join(map(" ".join, texts))).lines
    complete, *without = [json.loads(line)["prob_pos"] for line in lines]
    assert (found["label"], [word["word"] for word in found["words"]]) == ("pos", words)
    assert found["probability"] == pytest.approx(complete, abs=1e-5)
    assert [word["effect"] for word in found["words"]] == pytest.approx([complete - part for part in without], abs=1e-5)


def test_attention_is_a_distribution_over_the_words(model):
    found = call("explain", "-m", model, "great film awful", "--json", "--attention-weights").json
    attention = np.array(found["attention"])
    assert found["attention_shape"] == list(attention.shape) == [1, 2, 3, 3]
    assert attention.min() >= 0
    assert attention.sum(axis=-1) == pytest.approx(1, abs=2e-4)
    received = np.array([word["attention"] for word in found["words"]])
    assert received == pytest.approx(attention.mean(axis=2).transpose(2, 0, 1), abs=2e-4)


def test_unknown_words_keep_their_position_and_are_marked(model):
    text = "zzz great Film qqq"
    rows = [line.split() for line in call("explain", "-m", model, text, "--pairs", "0").lines[2:]]
    assert [row[0] for row in rows] == ["zzz", "great", "film", "qqq"]
    assert [row[1] == "unknown" for row in rows] == [True, False, False, True]
    words = call("explain", "-m", model, text, "--json").json["words"]
    assert [word["known"] for word in words] == [False, True, True, False]
    unknown = {"known": False, "negated": False, "read_as": None, "effect": None, "attention": None}
    assert words[0] == {"word": "zzz", "position": 0, **unknown}
    assert [word["position"] for word in words] == [0, 1, 2, 3]
    for seen, alone in zip(words[1:3], call("explain", "-m", model, "great film", "--json").json["words"], strict=True):
        assert seen | {"position": 0} == alone | {"position": 0}


def test_words_after_the_head_of_a_text_are_marked(work, tmp_path):
    words = one_step(work, "--long-texts", "head", "--attention-window", "2", "-q", "-o", tmp_path / "head.npz")
    run(*words)
    shown = call("explain", "-m", tmp_path / "head.npz", "great film zzz awful", "--pairs", "0")
    rows = [line.split() for line in shown.lines[2:]]
    assert [" ".join(row[1:]) for row in rows[2:]] == ["unknown", "not read"]
    assert all(row[1][0] in "+-" for row in rows[:2])


def test_the_json_explanation_of_a_long_text_is_small(model):
    text = " ".join(["great film awful"] * 200)
    assert len(call("explain", "-m", model, "--json", stdin=text).stdout) < 30 * len(text)


def test_attention_matrices_require_json():
    result = call("explain", "great film", "--attention-weights", code=2)
    assert "add --json" in result.stderr


def test_explain_reads_standard_input_and_draws_a_table(model):
    shown = run("explain", "-m", model, "--pairs", "0", stdin="great film\n").lines
    assert shown[0].startswith("pos: ")
    assert [line.split()[0] for line in shown[2:]] == ["great", "film"]


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [(("zzz qqq",), 3, "none of the words"), (("great", "--label", "meh"), 2, ("--label", "'meh'", "'neg', 'pos'"))],
)
def test_explain_rejects_texts_without_known_words_and_unknown_labels(words, code, says, model):
    refused("explain", "-m", model, *words, code=code, says=says)
