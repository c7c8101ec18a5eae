"""Notes on inputs given twice, table options without a table, and --split without a folder or an archive."""

import tarfile

import pytest
from calling import call

ROWS = [("a good film", "pos"), ("so good", "pos"), ("a bad film", "neg"), ("so bad", "neg")] * 3
# The arguments of each command after the input.
COMMANDS = {
    "cooccur": ("--min-count", "1", "-o", "c.npz"),
    "predict": (),
    "evaluate": (),
    "check": (),
    "train": ("--epochs", "0", "-o", "m.npz"),
    "crossvalidate": ("--epochs", "0", "--folds", "2"),
}
NOTE = "has no effect, because"


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    """A working folder with the same texts as plain text, as a table, in a folder and in an archive."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "plain.txt").write_text("".join(f"{text}\n" for text, _ in ROWS))
    (tmp_path / "table.tsv").write_text("text\tlabel\n" + "".join(f"{text}\t{label}\n" for text, label in ROWS))
    for number, (text, label) in enumerate(ROWS):
        (tmp_path / "texts" / label).mkdir(parents=True, exist_ok=True)
        (tmp_path / "texts" / label / f"{number}.txt").write_text(text)
    with tarfile.open("texts.tar", "w") as archive:
        archive.add("texts")
    return tmp_path


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(
    ("name", "option", "reason"),
    [
        ("plain.txt", "--text-column", "is plain text, not a table; to read a table, add --input-format csv, tsv or"),
        ("plain.txt", "--label-column", "is plain text, not a table; to read a table, add --input-format csv, tsv or"),
        ("plain.txt", "--split", "is plain text, not a folder or an archive\n"),
        ("table.tsv", "--split", "is a table, not a folder or an archive\n"),
    ],
)
def test_options_that_do_not_apply_are_noted(command, name, option, reason):
    value = "all" if option == "--split" else "name"
    result = call(command, name, *COMMANDS[command], option, value, code=None)
    assert f"{option} {NOTE} {name} {reason}" in result.stderr


@pytest.mark.parametrize("command", COMMANDS)
def test_options_that_apply_are_not_noted(command):
    words = (command, "table.tsv", *COMMANDS[command])
    assert NOTE not in call(*words, "--text-column", "text", "--label-column", "label").stderr
    for name in ("texts", "texts.tar"):
        options = ("--split", "all", "--text-column", "name", "--label-column", "name")
        assert NOTE not in call(command, name, *COMMANDS[command], *options).stderr


@pytest.mark.parametrize("command", COMMANDS)
def test_inputs_given_twice_are_noted(command):
    result = call(command, "table.tsv", "./table.tsv", *COMMANDS[command])
    noted = "table.tsv is given 2 times, so each of its texts counts 2 times" in result.stderr
    assert noted == (command != "predict")
    assert "is given" not in call(command, "table.tsv", *COMMANDS[command]).stderr


def test_the_output_is_the_same_with_such_an_option():
    words = ("predict", "plain.txt")
    assert call(*words, "--text-column", "Review").stdout == call(*words).stdout


def test_the_advice_depends_on_the_format():
    words = ("predict", "--text-column", "Review")
    advised = call(*words, stdin="good\n").stderr
    assert f"{NOTE} <stdin> is plain text, not a table; to read a table, add --input-format csv, tsv or" in advised
    given = call(*words, "--input-format", "text", "table.tsv").stderr
    assert f"{NOTE} table.tsv is plain text, not a table\n" in given
    assert NOTE not in call("predict", "--text-column", "text", "--input-format", "tsv", stdin="text\ngood\n").stderr


def test_one_input_of_another_kind_is_enough():
    words = ("cooccur", "plain.txt", "table.tsv", "--text-column", "text", "--min-count", "1", "-o", "c.npz")
    assert NOTE not in call(*words).stderr
    words = ("train", "texts", "--unlabelled", "table.tsv", "--text-column", "text", "--epochs", "0", "-o", "m.npz")
    assert NOTE not in call(*words).stderr
    # --split applies to DATA, and not to --unlabelled.
    words = ("train", "table.tsv", "--unlabelled", "texts", "--split", "train", "--epochs", "0", "-o", "m.npz")
    assert "table.tsv is a table, not a folder or an archive" in call(*words).stderr


def test_several_inputs_of_other_kinds():
    words = ("--text-column", "text", "--min-count", "1", "-o", "c.npz")
    assert NOTE not in call("cooccur", "plain.txt", "texts", *words).stderr
    result = call("cooccur", "plain.txt", "-", *words, stdin="good\n")
    assert "none of the inputs is a table; to read a table, add --input-format" in result.stderr
    split = call("cooccur", "plain.txt", "table.tsv", "--split", "all", *words).stderr
    assert f"--split {NOTE} none of the inputs is a folder or an archive\n" in split
    assert "none.csv: no such file" in call("cooccur", "none.csv", "--split", "all", code=None).stderr


def test_options_from_variables_and_settings_files_are_not_noted(here, monkeypatch):
    (here / "c.toml").write_text('[cooccur]\nsplit = "test"\n')
    words = ("cooccur", "plain.txt", "--min-count", "1", "-o", "c.npz", "--config", "c.toml")
    assert NOTE not in call(*words).stderr
    monkeypatch.setenv("NLPTX_PREDICT_TEXT_COLUMN", "Review")
    assert NOTE not in call("predict", stdin="I loved it\n").stderr


def test_a_file_that_is_refused_because_it_is_not_text_gets_no_advice_to_read_it_as_a_table(here):
    (here / "table.tsv.zst").write_bytes(b"\x28\xb5\x2f\xfd" + bytes(range(100)))
    result = call("predict", "table.tsv.zst", "--text-column", "text", code=3)
    assert NOTE not in result.stderr
    assert "Zstandard" in result.stderr
