"""What is said of arguments that cannot be meant so: options given twice, misspelt names, texts in place of files."""

from importlib import import_module

import click
import pytest
from calling import call

COMMANDS = ("cooccur", "pca", "train", "predict", "evaluate", "neighbors", "explain", "info")


def usage_error(*words, **options):
    """What is said of a command line that is refused with exit code 2, in one line."""
    result = call(*words, code=2, **options)
    assert result.stdout == b""
    return " ".join(result.stderr.split())


# ---------------------------------------------------------------- given twice


@pytest.mark.parametrize("command", COMMANDS)
def test_an_option_with_one_value_is_refused_when_given_twice(command):
    for option in getattr(import_module(f"nlptx.cli.{command}"), command).params:
        if isinstance(option, click.Option) and not option.multiple:
            # Once by its first name and once by its last one: -o and --output, --freeze and --no-freeze.
            names = (option.opts[0], (option.secondary_opts or option.opts)[-1])
            words = [word for name in names for word in ([name] if option.is_flag else [name, "1"])]
            said = usage_error(command, "x", *words)
            assert f"{option.opts[0]}" in said
            assert "is given twice" in said


def test_a_second_model_is_not_taken_silently(work):
    said = usage_error("evaluate", work / "test.tsv", "-m", work / "model.npz", "-m", work / "kinds.npz")
    assert "-m / --model is given twice" in said


def test_options_for_several_values_may_be_repeated(work):
    words = ("evaluate", work / "test.tsv", "-m", work / "model.npz", "--split", "test", "--split", "train", "-j", "1")
    assert "accuracy" in call(*words).text


def test_a_variable_and_an_option_are_not_twice(work, monkeypatch):
    monkeypatch.setenv("NLPTX_EVALUATE_MODEL", "nosuch.npz")
    assert "accuracy" in call("evaluate", work / "test.tsv", "-m", work / "model.npz", "-j", "1").text


def test_help_is_given_whatever_else_is_wrong():
    assert "Usage" in call("train", "--lr", "1", "--lr", "2", "--help").text


# ---------------------------------------------------------------- environment variables


def explained(model, *words):
    """What ``explain`` says on standard error."""
    return call("explain", "-m", model, *words, "great film").stderr.splitlines()


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("NLPTX_EXPLAIN_LABLE", "NLPTX_EXPLAIN_LABEL"),
        ("NLPTX_EXPLIAN_LABEL", "NLPTX_EXPLAIN_LABEL"),
        ("NLPTX_TRIAN_WORD_DROPOUT", "NLPTX_TRAIN_WORD_DROPOUT"),
    ],
)
def test_a_misspelt_variable_is_noted_with_the_nearest_one(wrong, right, model, monkeypatch):
    monkeypatch.setenv(wrong, "pos")
    assert explained(model) == [f"note: the environment variable {wrong} has no effect; did you mean {right}?"]
    assert explained(model, "-q") == []


def test_a_variable_like_no_other_is_noted_too(model, monkeypatch):
    monkeypatch.setenv("NLPTX_EXPLAIN_ZZZZZZZZZZZZZZZZZZZZZZZZZZZZ", "1")
    (said,) = explained(model)
    assert "has no effect" in said
    assert "did you mean" not in said


OTHERS = ("NLPTX_EXPLAIN_LABEL", "NLPTX_DEBUG", "NLPTX_SHARED_DATA", "NLPTX_TRAIN_LRR", "NLPTXX")


@pytest.mark.parametrize("name", OTHERS)
def test_variables_that_are_known_or_of_other_commands_are_not_noted(name, model, monkeypatch):
    monkeypatch.setenv(name, "pos")
    assert explained(model) == []


# ---------------------------------------------------------------- misspelt names


@pytest.mark.parametrize(("wrong", "right"), [("trian", "train"), ("predcit", "predict"), ("neighbours", "neighbors")])
def test_a_misspelt_command_is_answered_with_the_nearest_one(wrong, right):
    assert f"there is no command {wrong!r}. Did you mean {right!r}?" in usage_error(wrong)


def test_a_command_like_no_other_is_answered_with_all_of_them():
    said = usage_error("zzz")
    assert all(command in said for command in COMMANDS)


def test_a_misspelt_option_is_answered_with_the_nearest_one():
    assert "--format" in usage_error("predict", "x", "--formt", "csv")


# ---------------------------------------------------------------- texts in place of files


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("I love it", "echo 'I love it' | nlptx predict"),
        ("it's fine", "echo 'it'\"'\"'s fine' | nlptx predict"),
        ("reviws.txt", 'echo "I love it" | nlptx predict'),
        ("long " * 100 + "text", 'echo "I love it" | nlptx predict'),
    ],
)
def test_predict_says_how_to_score_a_text(name, hint, model):
    said = usage_error("predict", "-m", model, name)
    assert f"{name}: no such file or folder" in said
    assert f"To score a text, pipe it in: {hint}" in said


def test_nothing_is_scored_where_one_of_the_inputs_is_missing(work, model):
    usage_error("predict", "-m", model, work / "test.tsv", "missing.txt")


def test_explain_notes_that_its_text_is_the_name_of_a_file(model, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "great").write_text("awful\n")
    result = call("explain", "-m", model, "great")
    assert "great" in result.text
    assert (
        result.stderr
        == "note: this explains the name great; to explain the contents of the file: nlptx explain < great\n"
    )


# ---------------------------------------------------------------- neighbors: files and words


def found(*words, **options):
    return list(call("neighbors", *words, "--json", "-n", "1", **options).json)


def test_without_a_file_the_words_are_those_of_the_bundled_model():
    assert found("friendly") == ["friendly"]
    assert found("friendly", "terrible") == ["friendly", "terrible"]
    assert found("--analogy", "man", "king", "woman") == ["man king woman"]


def test_a_file_comes_first(work):
    for name in ("embeddings.npz", "model.npz"):
        assert found(work / name, "awful", "great") == ["awful", "great"]


def test_an_artifact_is_one_whatever_its_name(work, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "vectors").write_bytes((work / "embeddings.npz").read_bytes())
    assert found("vectors", "awful") == ["awful"]
    assert "no word to look up in vectors" in usage_error("neighbors", "vectors")


def test_a_word_is_one_though_a_file_or_folder_has_its_name(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "friendly").write_text("text\n")
    (tmp_path / "terrible").mkdir()
    assert found("friendly", "terrible") == ["friendly", "terrible"]
    assert found("terrible", "friendly") == ["terrible", "friendly"]


def test_with_a_model_every_argument_is_a_word(work, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "awful").write_bytes((work / "embeddings.npz").read_bytes())
    assert found("-m", work / "embeddings.npz", "awful") == ["awful"]
    assert "'a.npz' is not among" in call("neighbors", "-m", work / "embeddings.npz", "a.npz", code=3).stderr


@pytest.mark.parametrize("name", ["missing.npz", "folder/missing", "missing.vec"])
def test_what_is_named_like_a_file_is_one(name):
    said = call("neighbors", name, "friendly", code=None)
    assert said.code in (2, 4)
    assert f"{name}: no such file" in said.stderr


def test_an_unknown_word_says_whose_words_were_asked():
    said = call("neighbors", "embedings", "friendly", code=3).stderr
    assert "'embedings' is not among the 27000 words" in said
    assert "bundled model; name others with -m FILE" in said


@pytest.mark.parametrize("words", [(), ("embeddings.npz",)])
def test_a_word_is_needed(words):
    assert "WORD..." in usage_error("neighbors", *words)
