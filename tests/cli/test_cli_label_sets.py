"""Tests of the commands with a model that gives each text any number of labels."""

import csv
import json

import numpy as np
import pandas as pd
import pytest
from calling import call, failure
from label_sets import make_sets, small_model, write_sets
from sample_data import TRAIN

import nlptx

LABELS = ["blue", "green", "red"]
NONE = "the of a it"
TEXTS = ["red0 red1 red2 the", "blue1 the green2 blue0 green3", NONE]


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "m.npz"
    small_model().save(path)
    return path


@pytest.fixture
def table(tmp_path):
    return write_sets(tmp_path / "test.tsv", *make_sets(60, seed=3))


def predict(model, *words, **options):
    return call("predict", "-q", "-j", "1", "-m", model, *words, **{"stdin": "\n".join(TEXTS), **options})


# ---------------------------------------------------------------- train


def test_train_reads_the_separator_and_stores_it(tmp_path):
    path = write_sets(tmp_path / "train.csv", *make_sets(60), separator="| ")
    path.write_text(path.read_text().replace("\t", ","))
    out = tmp_path / "m.npz"
    summary = call("train", path, "--label-separator", "|", *TRAIN, "-o", out, "-j", "1", "--json").json
    assert summary["labels"] == LABELS
    model = nlptx.Model.load(out)
    assert model.multi_label.separator == "|"
    assert model.source["reading"] == {"label_separator": "|"}
    (command,) = call("info", out, "--json").json["commands"][-1:]
    assert "--label-separator '|'" in command
    texts, sets = make_sets(60)
    again = nlptx.fit(texts, sets, settings=model.settings, label_separator="|", jobs=1)
    assert again.flat.tobytes() == model.flat.tobytes(), "the same model as from Python"


def test_train_works_in_the_same_way_on_two_cores_and_with_three_commands(tmp_path):
    path = write_sets(tmp_path / "train.tsv", *make_sets(60))
    options = ("--label-separator", ";", *TRAIN, "-q")
    for jobs in (1, 2):
        call("train", path, *options, "-j", jobs, "-o", tmp_path / f"{jobs}.npz")
    call("cooccur", path, "-q", "-o", tmp_path / "c.npz")
    call("pca", tmp_path / "c.npz", "--components", "22", "-q", "-o", tmp_path / "e.npz")
    call("train", path, "-e", tmp_path / "e.npz", *options, "-o", tmp_path / "3.npz")
    first, *others = ((tmp_path / f"{name}.npz").read_bytes() for name in (1, 2, 3))
    assert others == [first, first]


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["--class-weight", "balanced"], 2, "--class-weight balanced requires one label per text"),
        (["--loss", "squared-error"], 2, "--loss squared-error requires one label per text"),
        (["--loss", "cross-entropy", "--effort", "fast"], 2, "--loss cross-entropy requires one label per text, but"),
        (["--map", "other=red"], 3, "--map replaces 'other'"),
    ],
)
def test_train_rejects_what_does_not_fit_several_labels(words, code, says, table, tmp_path):
    found, message = failure("train", table, "--label-separator", ";", *words, "-o", tmp_path / "m.npz")
    assert (found, says in message) == (code, True), message


def test_the_separator_overrides_a_variable_for_the_loss(table, tmp_path, monkeypatch):
    monkeypatch.setenv("NLPTX_TRAIN_LOSS", "cross-entropy")
    call("train", table, "--label-separator", ";", "--effort", "fast", "-q", "-o", tmp_path / "m.npz")
    assert nlptx.Model.load(tmp_path / "m.npz").settings.loss == "binary-cross-entropy"
    monkeypatch.setenv("NLPTX_TRAIN_LABEL_SEPARATOR", ";")
    code, message = failure("train", table, "-o", tmp_path / "m.npz")
    assert (code, "--loss cross-entropy (from NLPTX_TRAIN_LOSS) requires" in message) == (2, True)


@pytest.mark.parametrize("by_file", [False, True])
def test_a_loss_does_not_override_the_separator_of_a_variable_or_file(by_file, table, tmp_path, monkeypatch):
    words = ("--skip-bad", "--effort", "fast", "--loss", "cross-entropy", "-o", tmp_path / "m.npz")
    monkeypatch.chdir(tmp_path)
    if by_file:
        (tmp_path / "c.toml").write_text("[train]\nlabel-separator = ';'\n")
        words = (*words, "--config", "c.toml")
    else:
        monkeypatch.setenv("NLPTX_TRAIN_LABEL_SEPARATOR", ";")
    code, message = failure("train", table, *words)
    origin = "[train] in c.toml" if by_file else "NLPTX_TRAIN_LABEL_SEPARATOR"
    says = f"--loss cross-entropy requires one label per text, but --label-separator ; (from {origin})"
    assert (code, says in message) == (2, True), message
    call("train", table, *words, "--label-separator", ";", code=2)
    assert not (tmp_path / "m.npz").exists()


def test_a_bad_separator_and_a_needless_loss_are_usage_errors(table, tmp_path):
    assert failure("train", table, "--label-separator", "", "-o", tmp_path / "m.npz")[0] == 2
    code, message = failure("train", table, "--loss", "binary-cross-entropy", "--skip-bad", "-o", tmp_path / "m.npz")
    assert code == 2
    assert "--label-separator" in message


def test_a_folder_per_label_is_rejected_with_the_reason(tmp_path):
    for label in ("pos", "neg"):
        (tmp_path / "data" / label).mkdir(parents=True)
        (tmp_path / "data" / label / "1.txt").write_text("a text")
    code, message = failure("train", tmp_path / "data", "--label-separator", ";", "-o", tmp_path / "m.npz")
    assert code == 3
    assert "--label-separator is for tables, such as .csv files" in message


# ---------------------------------------------------------------- predict


def test_plain_text_has_the_labels_joined_or_a_dash(model):
    rows = [line.split("\t") for line in predict(model).lines]
    assert [row[0] for row in rows] == ["red", "blue;green", "-"]
    assert all(0 <= float(row[1]) <= 1 for row in rows)
    assert [row[2] for row in rows] == TEXTS


@pytest.mark.parametrize("layout", ["csv", "tsv"])
def test_tables_have_the_labels_joined_or_an_empty_cell(model, layout):
    lines = predict(model, "--format", layout).lines
    rows = list(csv.DictReader(lines, delimiter="\t" if layout == "tsv" else ","))
    assert list(rows[0]) == ["text", "label", "confidence", *(f"prob_{label}" for label in LABELS)]
    assert [row["label"] for row in rows] == ["red", "blue;green", ""]


def test_json_has_a_list_of_labels(model):
    rows = [json.loads(line) for line in predict(model, "--json").lines]
    assert [row["label"] for row in rows] == [["red"], ["blue", "green"], []]
    p = small_model().predict_proba(TEXTS, jobs=1)
    assert np.allclose([[row[f"prob_{label}"] for label in LABELS] for row in rows], p, atol=1e-6)


def test_predictions_can_be_evaluated_and_trained_on(model, tmp_path):
    predict(model, "-o", tmp_path / "p.csv")
    predict(model, "-o", tmp_path / "p.jsonl")
    for name in ("p.csv", "p.jsonl"):
        report = call("evaluate", tmp_path / name, "-m", model, "--json", "-j", "1").json
        assert (report["accuracy"], report["micro_f1"]) == (1, 1)


def test_texts_that_are_not_answered_have_no_labels(model):
    unknown = "zzz\n"
    assert predict(model, stdin=unknown).lines[0].startswith("?\t")
    assert json.loads(predict(model, "--json", stdin=unknown).lines[0])["label"] is None
    assert all(line.startswith("?\t") for line in predict(model, "--abstain", "1").lines)
    assert [line.partition("\t")[0] for line in predict(model, "--abstain", "0").lines] == ["red", "blue;green", "-"]


def test_with_prior_a_text_without_a_known_word_gets_the_labels_above_their_thresholds(model):
    expected = small_model().predict(["zzz"])[0]
    (line,) = predict(model, "--prior", stdin="zzz").lines
    assert line.split("\t")[0] == (";".join(expected) or "-")
    assert json.loads(predict(model, "--prior", "--json", stdin="zzz").lines[0])["label"] == expected
    frame = small_model().predict_frame(pd.DataFrame({"text": ["zzz"]}), jobs=1, prior=True)
    assert frame["label"][0] == expected


def test_a_table_with_lists_of_labels_can_be_predicted(model, tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps({"text": TEXTS[0], "label": ["red", "blue"]}) + "\n")
    (row,) = map(json.loads, predict(model, path).lines)
    assert (row["label"], row["predicted_label"]) == (["red", "blue"], ["red"])
    predict(model, path, "-o", tmp_path / "p.csv")
    assert (tmp_path / "p.csv").read_text().splitlines()[1].startswith(f"{TEXTS[0]},red;blue,red,")
    assert call("evaluate", "-m", tmp_path / "p.csv", "--label-separator", ";", "--json").json["texts"] == 1


def test_out_of_fold_predictions_for_lists_of_labels_can_be_evaluated(tmp_path):
    texts, sets = make_sets(60)
    rows = [json.dumps({"text": text, "label": list(labels)}) for text, labels in zip(texts, sets, strict=True)]
    (tmp_path / "a.jsonl").write_text("\n".join(rows))
    words = ("--label-separator", ";", "--json")
    options = ("--effort", "fast", "--folds", "2", "-j", "1", "--predictions", tmp_path / "p.csv")
    found = call("crossvalidate", tmp_path / "a.jsonl", *words, *options).json
    assert call("evaluate", "-m", tmp_path / "p.csv", *words).json["accuracy"] == pytest.approx(found["accuracy"])


def test_a_table_without_texts_has_a_header(model):
    columns = ["text", "label", "confidence", *(f"prob_{label}" for label in LABELS)]
    assert predict(model, "--format", "csv", stdin="").lines == [",".join(columns)]


def test_data_frames_get_the_same_columns(model):
    frame = small_model().predict_frame(pd.DataFrame({"text": [*TEXTS, None]}), jobs=1)
    assert list(frame) == ["text", "label", "confidence", *(f"prob_{label}" for label in LABELS)]
    assert frame["label"].tolist() == [["red"], ["blue", "green"], [], None]
    rows = [json.loads(line) for line in predict(model, "--json").lines]
    assert np.allclose(frame["confidence"][:3], [row["confidence"] for row in rows], atol=1e-6)


# ---------------------------------------------------------------- evaluate


def test_evaluate_measures_the_sets(model, table):
    report = call("evaluate", table, "-m", model, "--json", "-j", "1").json
    texts, sets = make_sets(60, seed=3)
    predicted = small_model().predict(texts, jobs=1)
    hits = sum(len(set(found) & true) for found, true in zip(predicted, sets, strict=True))
    both = sum(map(len, predicted)) + sum(map(len, sets))
    assert report["micro_f1"] == pytest.approx(2 * hits / both)
    assert report["accuracy"] == pytest.approx(
        np.mean([set(found) == true for found, true in zip(predicted, sets, strict=True)])
    )
    assert [row["label"] for row in report["classes"]] == LABELS
    assert [row["texts"] for row in report["classes"]] == [sum(label in each for each in sets) for label in LABELS]
    assert [row["threshold"] for row in report["classes"]] == small_model().multi_label.thresholds.tolist()
    assert report["macro_f1"] == pytest.approx(np.mean([row["f1"] for row in report["classes"]]))


def test_the_measures_equal_those_of_scikit_learn():
    metrics = pytest.importorskip("sklearn.metrics")
    texts, sets = make_sets(80, seed=6)
    model = small_model()
    true = np.array([[label in each for label in LABELS] for each in sets])
    p = model.predict_proba(texts, jobs=1)
    report = nlptx.evaluate(model, texts, sets, jobs=1)
    for average, found in ("micro", report.micro_f1), ("macro", report.macro_f1):
        assert found == pytest.approx(metrics.f1_score(true, model.choose(p), average=average))
    assert report.accuracy == pytest.approx(metrics.accuracy_score(true, model.choose(p)))
    assert report.auc == pytest.approx(metrics.roc_auc_score(true, p))
    losses = [metrics.log_loss(true[:, c], p[:, c], labels=[0, 1]) for c in range(3)]
    assert report.log_loss == pytest.approx(sum(losses), rel=1e-6)


def test_the_report_has_a_table_of_labels(model, table):
    text = call("evaluate", table, "-m", model, "-j", "1").text
    assert "subset accuracy" in text
    assert "micro-F1" in text
    assert "threshold" in text
    assert "confusion" not in text


def test_the_order_of_labels_does_not_matter(model, tmp_path):
    texts, sets = make_sets(30, seed=3)
    reports = []
    for reverse in (False, True):
        path = tmp_path / "test.tsv"
        cells = [";".join(sorted(each, reverse=reverse)) for each in sets]
        path.write_text("text\tlabel\n" + "".join(f"{a}\t{b}\n" for a, b in zip(texts, cells, strict=True)))
        report = call("evaluate", path, "-m", model, "--json", "-j", "1").json
        reports.append({name: value for name, value in report.items() if name not in ("seconds", "peak_memory_mb")})
    assert reports[0] == reports[1]


def test_the_minimum_accuracy_is_that_of_the_sets(model, table):
    table.write_text(table.read_text().replace("\tred\n", "\tblue\n", 1))  # so that not all predictions are correct
    accuracy = call("evaluate", table, "-m", model, "--json", "-j", "1").json["accuracy"]
    call("evaluate", table, "-m", model, "--min-accuracy", accuracy - 0.01, "-j", "1")
    assert failure("evaluate", table, "-m", model, "--min-accuracy", 1, "-j", "1")[0] == 5


def test_an_unknown_label_is_an_error_and_can_be_mapped(model, tmp_path):
    path = tmp_path / "test.csv"
    path.write_text("text,label\nred0,red\nblue1 red0,blue;crimson\nthe,\n")
    code, message = failure("evaluate", path, "-m", model)
    assert code == 3
    assert "test.csv:3: label 'crimson' is not one of the model's labels: blue, green, red" in message
    report = call("evaluate", path, "-m", model, "--map", "crimson=red", "--json", "-j", "1").json
    assert report["labels_per_text"] == 1
    assert report["texts"] == 3


def test_a_model_with_one_label_per_text_needs_data_with_one_label_per_text(table):
    code, message = failure("evaluate", table, "--label-separator", ";", "-j", "1")
    assert code == 3
    assert "but the model predicts exactly one label for each text" in message


def test_only_models_of_one_kind_can_be_compared(model, table):
    code, message = failure("compare", model, "bundled", table)
    assert code == 3
    assert f"of {model} and bundled, one is single-label and the other is multi-label" in message


def test_the_output_of_predict_can_be_evaluated(model, table, tmp_path):
    table.write_text(table.read_text() + "zzzz\tred\n")
    call("predict", table, "-m", model, "-q", "-o", tmp_path / "p.csv")
    result = call("evaluate", "-m", tmp_path / "p.csv", "--label-separator", ";", "--json")
    assert result.json["texts"] == 61
    assert "texts without an answer (counted as wrong): 1 of 61" in result.stderr


def test_training_from_a_multi_label_model_needs_no_separator(model, table, tmp_path):
    call("train", table, "--start", model, "--epochs", "0", "-q", "-o", tmp_path / "m.npz")
    assert nlptx.Model.load(tmp_path / "m.npz").label_names == LABELS


def test_tables_that_are_written_have_the_separator_of_the_data(table, tmp_path):
    text = table.read_text().replace(";", "|")
    table.write_text(text + "\n".join(text.splitlines()[1:3]) + "\n")
    call("check", table, "--label-separator", "|", "--bad-rows", tmp_path / "bad.tsv", "-j", "1", code=None)
    rows = list(csv.DictReader((tmp_path / "bad.tsv").read_text().splitlines(), delimiter="\t"))
    assert rows
    assert all(";" not in row["label"] for row in rows)


def test_abstention_applies_to_whole_sets(model, table):
    report = call("evaluate", table, "-m", model, "--abstain", "0.5", "--json", "-j", "1").json
    assert 0 < report["coverage"] <= 1
    assert report["texts"] == round(report["coverage"] * 60)


# ---------------------------------------------------------------- info, explain


def test_info_shows_the_separator_and_the_thresholds(model):
    text = call("info", model).text
    assert "Find out which of blue, green and red apply." in text
    assert "threshold of each label" in text
    assert call("info", model, "--json").json["details"]["label_separator"] == ";"


def test_explain_explains_one_of_the_labels(model):
    seen = call("explain", "red0 the", "-m", model, "--json").json
    assert seen["label"] == "red"
    effects = {word["word"]: word["effect"] for word in seen["words"]}
    assert effects["red0"] > abs(effects["the"])
    assert call("explain", "red0 the", "-m", model, "--json", "--label", "blue").json["label"] == "blue"
    assert failure("explain", "red0 the", "-m", model, "--label", "other")[0] in (2, 3)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"thresholds": [0.5, 0.5]}, "thresholds"),
        ({"thresholds": [0.5, 0.5, 1.5]}, "thresholds"),
        ({"thresholds": [0.5, 0.5, "x"]}, "thresholds"),
        ({"label_separator": ""}, "separator"),
        ({"label_separator": "e"}, "separator"),
        ({"label_separator": None}, "separator"),
        ({"label_separator": 0, "thresholds": None}, "separator"),
    ],
)
def test_damaged_models_are_rejected(change, says):
    artifact = small_model().to_artifact()
    artifact.details.update(change)
    with pytest.raises(nlptx.NlptxError, match=says):
        nlptx.Model.from_artifact(artifact)


def test_a_loss_that_does_not_fit_is_rejected():
    artifact = small_model().to_artifact()
    del artifact.details["label_separator"]
    with pytest.raises(nlptx.NlptxError, match="the model is single-label"):
        nlptx.Model.from_artifact(artifact)
