"""Tests of messages about probable mistakes: repeated options, misspelt names, texts instead of files."""

import gzip
from importlib import import_module, resources

import click
import pytest
from calling import call, failure

from nlptx.classifier.model import Model

COMMANDS = ("cooccur", "pca", "train", "predict", "evaluate", "check", "neighbors", "explain", "info")


def usage_error(*words, **options):
    """Return the error message, joined into one line, of a command line that is rejected with exit code 2."""
    result = call(*words, code=2, **options)
    assert result.stdout == b""
    return " ".join(result.stderr.split())


# ---------------------------------------------------------------- repeated options


@pytest.mark.parametrize("command", COMMANDS)
def test_repeating_an_option_with_one_value_is_an_error(command):
    for option in getattr(import_module(f"nlptx.cli.commands.{command}"), command).params:
        if isinstance(option, click.Option) and not option.multiple:
            # Give the option twice, by its first and by its last name: -o and --output, --freeze and --no-freeze.
            names = (option.opts[0], (option.secondary_opts or option.opts)[-1])
            words = [word for name in names for word in ([name] if option.is_flag else [name, "1"])]
            message = usage_error(command, "x", *words)
            assert f"{option.opts[0]}" in message
            assert "is given twice" in message


def test_a_long_option_needs_two_dashes():
    assert failure("train", "-effort", "fast", "d.tsv")[1].endswith("-effort has a single dash; write --effort.\n")
    assert "no such file" in failure("predict", "--", "-model")[1]


def test_a_second_model_is_an_error(work):
    message = usage_error("evaluate", work / "test.tsv", "-m", work / "model.npz", "-m", work / "kinds.npz")
    assert "-m / --model is given twice" in message


def test_options_for_several_values_may_be_repeated(work):
    words = ("evaluate", work / "test.tsv", "-m", work / "model.npz", "--split", "test", "--split", "train", "-j", "1")
    assert "accuracy" in call(*words).text


def test_an_option_may_override_its_variable(work, monkeypatch):
    monkeypatch.setenv("NLPTX_EVALUATE_MODEL", "nosuch.npz")
    assert "accuracy" in call("evaluate", work / "test.tsv", "-m", work / "model.npz", "-j", "1").text


def test_help_is_shown_despite_other_errors():
    assert "Usage" in call("train", "--lr", "1", "--lr", "2", "--help").text


# ---------------------------------------------------------------- environment variables


def explained(model, *words):
    """Return the lines that ``explain`` writes to standard error."""
    return call("explain", "-m", model, *words, "great film").stderr.splitlines()


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("NLPTX_EXPLAIN_LABLE", "NLPTX_EXPLAIN_LABEL"),
        ("NLPTX_EXPLIAN_LABEL", "NLPTX_EXPLAIN_LABEL"),
        ("NLPTX_LABEL", "NLPTX_EXPLAIN_LABEL"),
        ("NLPTX_TRIAN_WORD_DROPOUT", "NLPTX_TRAIN_WORD_DROPOUT"),
    ],
)
def test_a_misspelt_variable_causes_a_note_with_a_suggestion(wrong, right, model, monkeypatch):
    monkeypatch.setenv(wrong, "pos")
    assert explained(model) == [f"the environment variable {wrong} has no effect; did you mean {right}?"]
    assert explained(model, "-q") == []


def test_an_unknown_variable_causes_a_note(model, monkeypatch):
    monkeypatch.setenv("NLPTX_EXPLAIN_ZZZZZZZZZZZZZZZZZZZZZZZZZZZZ", "1")
    (message,) = explained(model)
    assert "has no effect" in message
    assert "did you mean" not in message


def test_the_option_version_has_no_variable(model, monkeypatch):
    monkeypatch.setenv("NLPTX_VERSION", "1")
    (message,) = explained(model)
    assert message.startswith("the environment variable NLPTX_VERSION has no effect")


OTHERS = ("NLPTX_EXPLAIN_LABEL", "NLPTX_DEBUG", "NLPTX_SHARED_DATA", "NLPTX_TRAIN_LRR", "NLPTXX")


@pytest.mark.parametrize("name", OTHERS)
def test_known_variables_and_those_of_other_commands_cause_no_note(name, model, monkeypatch):
    monkeypatch.setenv(name, "pos")
    assert explained(model) == []


# ---------------------------------------------------------------- misspelt names


@pytest.mark.parametrize(("wrong", "right"), [("trian", "train"), ("predcit", "predict"), ("neighbours", "neighbors")])
def test_the_message_about_a_misspelt_command_suggests_the_nearest_one(wrong, right):
    assert f"there is no command {wrong!r}. Did you mean {right!r}?" in usage_error(wrong)


def test_the_message_about_an_unknown_command_lists_all_commands():
    message = usage_error("zzz")
    assert all(command in message for command in COMMANDS)


def test_the_message_about_a_misspelt_option_suggests_the_nearest_one():
    assert "--format" in usage_error("predict", "x", "--formt", "csv")


# ---------------------------------------------------------------- texts instead of files


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("I love it", "echo 'I love it' | nlptx predict"),
        ("it's fine", "echo 'it'\"'\"'s fine' | nlptx predict"),
        ("reviws.txt", 'echo "I love it" | nlptx predict'),
        ("long " * 100 + "text", 'echo "I love it" | nlptx predict'),
    ],
)
def test_predict_explains_how_to_score_a_text(name, hint, model):
    message = usage_error("predict", "-m", model, name)
    assert f"{name}: no such file or folder" in message
    assert f"To score a text, pipe it in: {hint}" in message


def test_nothing_is_scored_if_an_input_is_missing(work, model):
    usage_error("predict", "-m", model, work / "test.tsv", "missing.txt")


def test_explain_notes_that_its_text_is_also_the_name_of_a_file(model, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "great").write_text("awful\n")
    result = call("explain", "-m", model, "great")
    assert "great" in result.text
    assert (
        result.stderr
        == "great is explained as a text; to explain the contents of the file, run nlptx explain --input great\n"
    )


# ---------------------------------------------------------------- neighbors: files and words


def looked_up(*words, **options):
    """Return the words for which ``neighbors`` found neighbours."""
    return list(call("neighbors", *words, "--json", "-n", "1", **options).json)


def test_text_on_standard_input_is_not_read_as_word_vectors():
    message = call("neighbors", "-", "good", stdin="good 1 0\nbad 0 1\n", code=4).stderr
    assert "Standard input must be an .npz file; word2vec text is read from a file (*.txt, *.vec)." in message


def test_words_are_read_from_standard_input(work):
    lines = "great\n\r\n awful \r\ngreat\n"
    for words in (("-",), (work / "embeddings.npz", "-"), ("-m", work / "embeddings.npz", "-")):
        found = call("neighbors", *words, "--json", "-n", "1", stdin=lines).json
        assert found == call("neighbors", *words[:-1], "great", "awful", "--json", "-n", "1").json
    assert looked_up("boring", "-", stdin=lines) == ["boring", "great", "awful"]
    assert looked_up("--analogy", "-", stdin="man\nking\nwoman") == ["man king woman"]
    assert looked_up("-", stdin="") == []
    assert call("neighbors", "-", "-n", "1", stdin=lines).lines[0] == "great"


def test_vectors_and_words_cannot_both_be_read_from_standard_input(work):
    for words in (("-", "-"), ("-m", "-", "-"), ("good", "-", "-")):
        assert "can be used for only one of the inputs" in usage_error("neighbors", *words)
    vectors = (work / "embeddings.npz").read_bytes()
    assert looked_up("-", "awful", stdin=vectors) == ["awful"]
    assert "this is an nlptx artifact; expected text" in call("neighbors", "-", stdin=vectors, code=3).stderr


def test_a_word_on_standard_input_without_neighbours_is_named(work):
    result = call("neighbors", work / "embeddings.npz", "-", "--json", stdin="great\nzzz\nawful\n")
    assert [bool(rows) for rows in result.json.values()] == [True, False, True]
    assert "<stdin>:2: 'zzz' is not among the" in result.stderr
    call("neighbors", work / "embeddings.npz", "zzz", code=3)


def test_words_on_standard_input_are_not_looked_up_if_there_are_no_vectors(work, tmp_path):
    call("train", work / "train.tsv", "--effort", "fast", "--lsa-components", "0", "-q", "-o", tmp_path / "m.npz")
    result = call("neighbors", tmp_path / "m.npz", "-", stdin="zzz\n", code=4)
    assert result.stderr.startswith(f"nlptx: error: {tmp_path / 'm.npz'}: all word vectors are 0\n")


@pytest.mark.parametrize(
    ("content", "says", "advice"),
    [
        (b"good\n\xff bad\n", "<stdin>:2: byte 0xff is not UTF-8\n", "Words are read as text in UTF-8, one per line"),
        (gzip.compress(b"good"), "<stdin>: this is gzip-compressed data", "Unpack it first"),
        (
            (resources.files("nlptx") / "default_model.npz").read_bytes(),
            "<stdin>: this is an nlptx artifact",
            "nlptx neighbors - WORD",
        ),
    ],
    ids=["not UTF-8", "packed", "model"],
)
def test_words_that_are_not_text_are_refused_with_advice_for_words(content, says, advice):
    message = call("neighbors", "-", stdin=content, code=3).stderr
    assert says in message
    assert advice in message
    assert "--encoding-errors" not in message


@pytest.mark.parametrize("content", ["text,label\n", "text\tlabel\n", '{"text": "good"}\n'])
def test_words_that_look_like_a_table_are_read_without_advice(content):
    assert "--input-format" not in call("neighbors", "-", stdin=content).stderr


def test_neighbors_uses_the_bundled_model_by_default():
    assert looked_up("friendly") == ["friendly"]
    assert looked_up("friendly", "terrible") == ["friendly", "terrible"]
    assert looked_up("bundled", "friendly") == ["friendly"]
    assert looked_up("-m", "bundled", "good", "friendly") == ["good", "friendly"]
    assert looked_up("--analogy", "man", "king", "woman") == ["man king woman"]


def test_the_first_argument_may_be_a_file(work):
    for name in ("embeddings.npz", "model.npz"):
        assert looked_up(work / name, "awful", "great") == ["awful", "great"]


def test_an_artifact_is_recognised_whatever_its_name(work, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "vectors").write_bytes((work / "embeddings.npz").read_bytes())
    assert looked_up("vectors", "awful") == ["awful"]
    assert "no words are given; use nlptx neighbors vectors WORD" in usage_error("neighbors", "vectors")


def test_a_word_may_have_the_name_of_a_file_or_folder(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "friendly").write_text("text\n")
    (tmp_path / "terrible").mkdir()
    assert looked_up("friendly", "terrible") == ["friendly", "terrible"]
    assert looked_up("terrible", "friendly") == ["terrible", "friendly"]


def test_with_a_model_every_argument_is_a_word(work, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "awful").write_bytes((work / "embeddings.npz").read_bytes())
    assert looked_up("-m", work / "embeddings.npz", "awful") == ["awful"]
    assert "'a.npz' is not among" in call("neighbors", "-m", work / "embeddings.npz", "a.npz", code=3).stderr


@pytest.mark.parametrize("name", ["missing.npz", "folder/missing", "missing.vec"])
def test_a_name_with_a_slash_or_a_known_suffix_is_a_file(name):
    result = call("neighbors", name, "friendly", code=None)
    assert result.code in (2, 4)
    assert f"{name}: no such file" in result.stderr


def test_the_message_about_an_unknown_word_names_the_vocabulary():
    message = call("neighbors", "embedings", "friendly", code=3).stderr
    assert f"'embedings' is not among the {len(Model.load().vocabulary):,} words" in message
    assert "bundled model were used; to use others, add -m FILE" in message


def test_the_vector_of_an_unknown_word_is_estimated():
    result = call("neighbors", "amazingest", "--json", "-n", "1")
    assert result.json["amazingest"][0]["word"] == "amazing"
    assert result.json["amazingest"][0]["estimated"]
    assert "estimated" not in call("neighbors", "amazing", "--json", "-n", "1").json["amazing"][0]
    assert "'amazingest' is unknown; its vector is estimated from words with a similar spelling: amazing, " in (
        result.stderr
    )


@pytest.mark.parametrize("words", [(), ("embeddings.npz",)])
def test_at_least_one_word_is_required(words):
    assert "WORD..." in usage_error("neighbors", *words)
