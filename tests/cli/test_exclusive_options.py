"""Contradictory options: the command line overrides the config file, and the config file overrides the environment."""

from pathlib import Path

import pytest
from calling import call, failure
from sample_data import make_rows, write_tsv

from nlptx import Model

TEXTS = "a great and lovely story\nthe film was awful\n"
TRAIN = ("train", "train.tsv", "--lsa-components", "8", "--epochs", "0", "-q", "-o", "m.npz")


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_tsv(tmp_path / "train.tsv", make_rows(("neg", "pos"), 60, seed=1))
    return tmp_path


def predict(model, *words, **options):
    return call("predict", "-q", "-m", model, *words, stdin=TEXTS, **options)


@pytest.mark.parametrize(
    ("variables", "words", "expected"),
    [
        ({"JSON": "1"}, ("--format", "csv"), ("--format", "csv")),
        ({"OUTPUT": "o.csv"}, ("--json",), ("--json",)),
        ({"FORMAT": "csv"}, ("--json",), ("--json",)),
        ({"FORMAT": "csv", "JSON": "1"}, ("--json",), ("--json",)),
        ({"FORMAT": "csv", "JSON": "1"}, ("--format", "tsv"), ("--format", "tsv")),
        ({"JSON": "1"}, ("--format", "auto"), ("--json",)),
        ({}, ("--format", "auto", "--json"), ("--json",)),
        ({"JSON": "1", "FORMAT": "auto"}, (), ("--json",)),
        ({"ABSTAIN": "0.9"}, ("--max-error", "0.5"), ("--max-error", "0.5")),
        ({"MAX_ERROR": "0.5"}, ("--abstain", "1"), ("--abstain", "1")),
        ({"MAX_ERROR": "0.5"}, ("--prior",), ("--prior",)),
        ({"PRIOR": "1"}, ("--max-error", "0.5"), ("--max-error", "0.5")),
        ({"PRIOR": "0", "MAX_ERROR": "0.5"}, (), ("--max-error", "0.5")),
    ],
)
def test_the_command_line_overrides_variables_of_predict(variables, words, expected, monkeypatch):
    without = predict("bundled", *expected).stdout
    for name, value in variables.items():
        monkeypatch.setenv(f"NLPTX_PREDICT_{name}", value)
    assert predict("bundled", *words).stdout == without
    assert not Path("o.csv").exists()


def test_the_name_of_the_output_overrides_a_variable(monkeypatch):
    monkeypatch.setenv("NLPTX_PREDICT_JSON", "1")
    monkeypatch.setenv("NLPTX_PREDICT_FORMAT", "tsv")
    predict("bundled", "-o", "o.csv")
    assert Path("o.csv").read_text().startswith("text,label,")
    monkeypatch.setenv("NLPTX_EXPLAIN_JSON", "1")
    call("explain", "a great film", "-o", "o.html")
    assert Path("o.html").read_text().startswith("<!DOCTYPE html>")
    monkeypatch.setenv("NLPTX_TRAIN_JSON", "1")
    assert call(*TRAIN[:-1], "-").stdout.startswith(b"PK")


def test_an_option_overrides_the_variable_of_the_output(monkeypatch):
    monkeypatch.setenv("NLPTX_TRAIN_OUTPUT", "-")
    assert call(*TRAIN[:-2], "--json").json["output"] == "model.npz"
    assert Path("model.npz").exists()


@pytest.mark.parametrize("words", [("-o", "o.html"), ("--format", "html", "-o", "o.html")])
def test_a_variable_for_attention_is_ignored_for_a_page(words, monkeypatch):
    monkeypatch.setenv("NLPTX_EXPLAIN_ATTENTION_WEIGHTS", "1")
    call("explain", "a great film", *words)
    assert Path("o.html").read_text().startswith("<!DOCTYPE html>")


def test_the_attention_overrides_variables_for_a_page(monkeypatch):
    monkeypatch.setenv("NLPTX_EXPLAIN_OUTPUT", "o.html")
    monkeypatch.setenv("NLPTX_EXPLAIN_FORMAT", "html")
    assert "attention_shape" in call("explain", "a great film", "--attention-weights", "--json").json
    assert not Path("o.html").exists()


@pytest.mark.parametrize(("name", "value"), [("ABSTAIN", "0.9"), ("MAX_ERROR", "0.1"), ("CLUSTER", "local:1")])
def test_a_table_of_predictions_overrides_variables_that_need_a_model(name, value, monkeypatch):
    Path("table.csv").write_text("text,label,predicted\ngood,pos,pos\nbad,neg,pos\n")
    monkeypatch.setenv(f"NLPTX_EVALUATE_{name}", value)
    assert call("evaluate", "-m", "table.csv", "--json").json["accuracy"] == 0.5
    monkeypatch.setenv("NLPTX_EVALUATE_MODEL", "table.csv")
    code, message = failure("evaluate")
    option = f"--{name.lower().replace('_', '-')} {value} (from NLPTX_EVALUATE_{name})"
    assert (code, f"{option} needs a model, but -m table.csv (from NLPTX_EVALUATE_MODEL)" in message) == (2, True)


def test_a_model_overrides_the_variable_for_the_order_of_labels_in_tables(monkeypatch, work):
    monkeypatch.setenv("NLPTX_EVALUATE_LABEL_ORDER", "none")
    assert call("evaluate", "train.tsv", "-m", work / "model.npz", "--json").json["accuracy"] > 0
    monkeypatch.setenv("NLPTX_EVALUATE_MODEL", str(work / "model.npz"))
    assert call("evaluate", "train.tsv", "--json").json["accuracy"] > 0
    code, message = failure("evaluate", "train.tsv", "--label-order", "none")
    assert (code, "--label-order none needs a table of predictions (-m)" in message) == (2, True)


def test_an_option_that_needs_a_model_does_not_replace_the_table_of_a_variable_with_the_bundled_model(monkeypatch):
    Path("table.csv").write_text("text,label,predicted\ngood,pos,pos\n")
    monkeypatch.setenv("NLPTX_EVALUATE_MODEL", "table.csv")
    code, message = failure("evaluate", "table.csv", "--abstain", "0.1")
    table = "-m table.csv (from NLPTX_EVALUATE_MODEL)"
    assert (code, f"--abstain 0.1 needs a model, but {table} is a table" in message) == (2, True)


def test_the_command_line_overrides_variables_of_training(work, monkeypatch):
    monkeypatch.setenv("NLPTX_TRAIN_EMBEDDINGS", "none.npz")
    call(*TRAIN[:2], *TRAIN[4:], "--start", "bundled")
    monkeypatch.setenv("NLPTX_TRAIN_START", "none.npz")
    call(*TRAIN, "-e", work / "embeddings.npz")


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [("PRESET", "bloem", ("--effort", "default")), ("EFFORT", "fast", ("--preset", "bloem", "--ngrams", "1"))],
)
def test_preset_and_effort_override_each_other(name, value, words, monkeypatch):
    def settings():
        call(*TRAIN, *words)
        return Model.load("m.npz").settings

    without = settings()
    monkeypatch.setenv(f"NLPTX_TRAIN_{name}", value)
    assert settings() == without
    Path("c.toml").write_text(f'[train]\n{name.lower()} = "{value}"\n')
    monkeypatch.delenv(f"NLPTX_TRAIN_{name}")
    words = ("--config", "c.toml", *words)
    assert settings() == without
    words = (*words[2:], *words[:2])
    assert settings() == without


def test_an_ignored_preset_does_not_apply_to_word_vectors_either(monkeypatch):
    def trained():
        small = ("--region-filters", "0", "--width", "8", "--heads", "2")
        call("train", "train.tsv", "--effort", "best", *small, "--epochs", "1", "-q", "-o", "m.npz")
        return Path("m.npz").read_bytes()

    without = trained()
    monkeypatch.setenv("NLPTX_TRAIN_PRESET", "goldstraw")
    assert trained() == without


def test_the_file_overrides_variables(monkeypatch):
    Path("c.toml").write_text('[train]\nstart = "bundled"\neffort = "fast"\n')
    monkeypatch.setenv("NLPTX_TRAIN_EMBEDDINGS", "none.npz")
    monkeypatch.setenv("NLPTX_TRAIN_PRESET", "bloem")
    call("train", "train.tsv", "--config", "c.toml", "-q", "-o", "m.npz")
    assert Model.load("m.npz").settings.epochs == 0


@pytest.mark.parametrize(
    ("variables", "words", "says"),
    [
        ({"CROSSVALIDATE_GROUP": "none"}, ("crossvalidate", "train.tsv", "--shuffle"), None),
        ({"CROSSVALIDATE_SHUFFLE": "1"}, ("crossvalidate", "train.tsv", "--group", "none"), "no column 'none'"),
        ({"CHECK_MODEL": "none.npz"}, ("check", "train.tsv", "--out-of-fold", "none.csv"), "none.csv"),
        ({"CHECK_OUT_OF_FOLD": "none.csv"}, ("check", "train.tsv", "-m", "none.npz"), "none.npz"),
        ({"COOCCUR_CLUSTER": "local:1"}, ("cooccur", "train.tsv", "--shard", "1/2"), None),
        ({"EXPLAIN_INPUT": "none.tsv"}, ("explain", "a great film"), None),
        ({"EXPLAIN_INPUT": "none.tsv"}, ("explain",), "none.tsv"),
    ],
)
def test_the_command_line_overrides_variables_of_other_commands(variables, words, says, monkeypatch):
    for name, value in variables.items():
        monkeypatch.setenv(f"NLPTX_{name}", value)
    fast = ("--effort", "fast", "--folds", "2", "--lsa-components", "0") if words[0] == "crossvalidate" else ()
    result = call(*words, *fast, code=None)
    assert (result.code == 0) == (says is None), result.stderr
    assert (says or "") in result.stderr


@pytest.mark.parametrize(
    ("variables", "words", "says"),
    [
        (
            {"PREDICT_ABSTAIN": "0.9", "PREDICT_MAX_ERROR": "0.2"},
            ("predict",),
            "--max-error (from NLPTX_PREDICT_MAX_ERROR) and --abstain (from NLPTX_PREDICT_ABSTAIN) both set",
        ),
        (
            {"PREDICT_JSON": "1", "PREDICT_FORMAT": "csv"},
            ("predict",),
            "--format csv (from NLPTX_PREDICT_FORMAT) and --json (from NLPTX_PREDICT_JSON) ask for different formats.",
        ),
        (
            {"PREDICT_FORMAT": "csv", "PREDICT_OUTPUT": "o.tsv"},
            ("predict",),
            "-o o.tsv (from NLPTX_PREDICT_OUTPUT) and --format csv (from NLPTX_PREDICT_FORMAT) ask for different"
            " formats.",
        ),
        (
            {"EXPLAIN_ATTENTION_WEIGHTS": "1", "EXPLAIN_OUTPUT": "o.html"},
            ("explain", "a text"),
            "--attention-weights (from NLPTX_EXPLAIN_ATTENTION_WEIGHTS) needs JSON output, but -o o.html"
            " (from NLPTX_EXPLAIN_OUTPUT)",
        ),
        (
            {"TRAIN_PRESET": "bloem", "TRAIN_EFFORT": "fast"},
            TRAIN,
            "--preset (from NLPTX_TRAIN_PRESET) and --effort (from NLPTX_TRAIN_EFFORT) both choose the settings",
        ),
        ({}, (*TRAIN, "--config", "c.toml"), "-e (from [train] in c.toml) and --start (from [train] in c.toml) both"),
        ({}, ("explain", "a text", "--input", "train.tsv"), "use either a text or --input, not both"),
        (
            {"TRAIN_OUTPUT": "-", "TRAIN_JSON": "1"},
            ("train", "train.tsv"),
            "--json (from NLPTX_TRAIN_JSON) and -o - (from NLPTX_TRAIN_OUTPUT) both write to standard output",
        ),
        (
            {"EXPLAIN_ATTENTION_WEIGHTS": "1"},
            ("explain", "a text"),
            "--attention-weights (from NLPTX_EXPLAIN_ATTENTION_WEIGHTS) needs JSON output; add --json",
        ),
    ],
)
def test_options_from_the_same_source_are_rejected_and_the_source_is_named(variables, words, says, monkeypatch):
    Path("c.toml").write_text('[train]\nembeddings = "e.npz"\nstart = "bundled"\n')
    for name, value in variables.items():
        monkeypatch.setenv(f"NLPTX_{name}", value)
    code, message = failure(*words)
    assert (code, says in message) == (2, True), message


def test_options_that_contradict_each_other_in_an_earlier_stage_do_not_stop_training(monkeypatch):
    monkeypatch.setenv("NLPTX_COOCCUR_SHARD", "1/2")
    monkeypatch.setenv("NLPTX_COOCCUR_CLUSTER", "local:2")
    call(*TRAIN)
    assert Path("m.npz").exists()
