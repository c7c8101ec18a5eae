"""nlptx accepts each command in the guides and in the README; almost all run, and print the output that is shown."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import click
import pandas as pd
import pytest
from guides import (
    COMMANDS,
    GUIDES,
    README,
    ROOT,
    add_program,
    agree,
    arguments_of,
    execute,
    in_folder,
    options_of,
    parse,
    read_guide,
)

from nlptx.cli.main import COMMANDS as NAMES

TRAIN, TEST = (pd.read_csv(ROOT / f"data/{name}.tsv", sep="\t", quoting=3) for name in ("train", "test"))
# Guides whose commands are only parsed: they work on three machines, or count a corpus in a hundred parts.
ONLY_PARSED = {"nlptx/cluster/README.md", "nlptx/cooccurrence/README.md"}
# Options of Python programs in tests/benchmarks.
OPTIONS_OF_OTHER_PROGRAMS = {"--points"}
RUN = [command for command in COMMANDS if command.guide not in ONLY_PARSED]


class Folders:
    """One folder per guide; the commands of a guide run in its folder, in the order of the guide.

    Attributes:
        top: folder that contains the folders of all guides.
    """

    def __init__(self, top: Path) -> None:
        self.top = top
        self._printed: dict[str, list[str]] = {}

    def printed(self, command) -> str:
        """Return what a command prints, after running all earlier commands of the same guide that have not run yet."""
        folder = self._of(command.guide)
        commands, printed = [each for each in RUN if each.guide == command.guide], self._printed[command.guide]
        while len(printed) <= commands.index(command):
            following = commands[len(printed)]
            BEFORE.get(following.without_comment, lambda folder: None)(folder)
            printed.append(execute(in_folder(following.text, folder), folder))
        return printed[commands.index(command)]

    def copy_models(self, folder: Path) -> None:
        """Copy the models that the commands of the README make."""
        self.printed([command for command in RUN if command.guide == README][-1])
        shutil.copy(self._of(README) / "model.npz", folder)
        shutil.copytree(self._of(README) / "build/demo", folder / "build/demo")

    def _of(self, guide: str) -> Path:
        folder = self.top / str(GUIDES.index(guide))
        if guide not in self._printed:
            add_program(folder)
            if guide == README:
                shutil.copytree(ROOT / "data", folder / "data")
                (folder / "build/demo").mkdir(parents=True)
            else:
                write(TRAIN[::12], folder / "data/train.tsv")
                write(TEST, folder / "data/test.tsv")
                FILES.get(guide, lambda folder, folders: None)(folder, self)
            self._printed[guide] = []
        return folder


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    return Folders(tmp_path_factory.mktemp("guides"))


def write(table, path, **columns):
    """Write a table, or some of its columns under other names, in the format of the file name."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if columns:
        table = table[list(columns)].rename(columns=columns)
    if path.suffix == ".tsv":
        table.to_csv(path, sep="\t", quoting=3, index=False)
    elif path.suffix == ".csv":
        table.to_csv(path, index=False)
    elif path.suffix == ".jsonl":
        table.to_json(path, orient="records", lines=True)
    else:
        path.write_text("".join(f"{text}\n" for text in table["text"]))


def write_folder(table, path):
    """Write a folder with a sub-folder per label and a file per text."""
    for number, (text, label) in enumerate(zip(table["text"], table["label"], strict=True)):
        (path / label).mkdir(parents=True, exist_ok=True)
        (path / label / f"{number}.txt").write_text(text)


def files_of_formats(folder, folders):
    TEST[::9].rename(columns={"text": "Review"}).to_csv(folder / "reviews.csv", sep="|", index=False)
    write_folder(TEST[::9], folder / "reviews")


def files_of_data_quality(folder, folders):
    write(TRAIN[::6], folder / "reviews.csv")
    write(TEST[::6], folder / "test.csv")
    write(TRAIN[1::6], folder / "more.txt")


def files_of_evaluation(folder, folders):
    folders.copy_models(folder)
    shutil.copy(folder / "model.npz", folder / "old.npz")
    shutil.copy(folder / "build/demo/model.npz", folder / "new.npz")
    write(TEST, folder / "test.tsv")
    write(TEST.assign(predicted="pos"), folder / "llm.jsonl")
    (program,) = re.findall(r"^```python\n(.*?to_csv.*?)^```", read_guide("nlptx/evaluation/README.md"), re.M | re.S)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        exec(program, {})


def files_of_training(folder, folders):
    folders.copy_models(folder)
    write_folder(TRAIN[::12], folder / "DATA")
    write(TRAIN[1::12], folder / "UNLABELLED")
    write(TRAIN[::12].assign(label=TRAIN["label"] + "; " + TRAIN["domain"]), folder / "articles.csv")
    write(TEST[::9], folder / "new.csv")
    write(TEST, folder / "reviews.txt")
    write(TEST, folder / "test.tsv")
    for number, name in enumerate(("labelled", "more", "tweets")):
        write(TRAIN[number::12], folder / f"{name}.tsv")
    (folder / "scratch").mkdir()


def write_reviews(folder, folders):
    write(TRAIN[::60], folder / "reviews.tsv")


def write_long_reviews(folder, folders):
    """Write a few long texts, in which enough words occur at least fifty times, as a preset requires."""
    texts = [TRAIN["text"][TRAIN["label"] == label] for label in ("neg", "pos")]
    rows = [(" ".join(texts[number % 2][number // 2 :: 75]), ("neg", "pos")[number % 2]) for number in range(150)]
    write(pd.DataFrame(rows, columns=["text", "label"]), folder / "reviews.tsv")


def copy_models(folder, folders):
    folders.copy_models(folder)


def copy_bundled(folder):
    shutil.copy(ROOT / "nlptx/default_model.npz", folder / "model.npz")


def fill_in_labels(folder):
    table = pd.read_csv(folder / "next.csv")
    assert table["label"].isna().all()
    table.assign(label=["neg", "pos"] * (len(table) // 2)).to_csv(folder / "next.csv", index=False)


# Guide -> function that writes the files which the guide assumes.
FILES = {
    "nlptx/cli/README.md": write_reviews,
    "nlptx/corpus/README.md": files_of_formats,
    "nlptx/data_quality/README.md": files_of_data_quality,
    "nlptx/evaluation/README.md": files_of_evaluation,
    "nlptx/nn/README.md": write_long_reviews,
    "nlptx/report/README.md": copy_models,
    "nlptx/training/README.md": files_of_training,
}
# Command, without its comment -> function that does what the reader of the guide does before the command.
BEFORE = {
    "nlptx predict -m model.npz reviews.txt --abstain 0.9": copy_bundled,
    "nlptx train reviews.csv next.csv -o model.npz": fill_in_labels,
}


@pytest.mark.parametrize("command", COMMANDS, ids=str)
def test_nlptx_accepts_every_command(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "scratch").mkdir()
    (tmp_path / "tuned.toml").touch()
    calls = arguments_of(in_folder(command.text, tmp_path))
    assert calls
    for arguments in calls:
        parse(arguments)


@pytest.mark.parametrize("command", RUN, ids=str)
def test_every_command_runs_and_prints_the_output_shown(command, folders):
    missing = [name for name in re.findall(r"\| (\w+)", command.text) if name != "nlptx" and not shutil.which(name)]
    if missing:
        pytest.skip(f"needs {missing[0]}")
    printed = folders.printed(command).splitlines()
    if command.output:
        assert agree(command.output, printed), "\n".join(["shown:", *command.output, "printed:", *printed])


@pytest.mark.parametrize("guide", GUIDES)
def test_every_option_in_the_prose_exists(guide):
    """If inline code also names a command, such as `train --epochs`, the command must have the option."""
    options = {name: set(options_of(name)) for name in NAMES}
    known = set().union(*options.values(), OPTIONS_OF_OTHER_PROGRAMS)
    prose = re.sub(r"^```.*?^```", "", read_guide(guide), flags=re.MULTILINE | re.DOTALL)
    assert set(re.findall(r"(?<![\w-])--[a-z][a-z-]*\w(?![\w-])", prose)) - known == set()
    for code in re.findall(r"`([^`]+)`", prose):
        name = code.removeprefix("nlptx ").split()[0]
        if name in options:
            assert set(re.findall(r"(?<![\w-])--?[a-z][a-z-]*", code)) <= options[name], code


def test_the_lists_name_commands_that_exist():
    guides = {command.guide for command in COMMANDS}
    assert ONLY_PARSED | FILES.keys() <= guides
    assert BEFORE.keys() <= {command.without_comment for command in COMMANDS}


@pytest.mark.parametrize(
    "text",
    [
        "nlptx trane reviews.csv",
        "nlptx train reviews.csv --epoks 3",
        "nlptx train reviews.csv --epochs many",
        "nlptx train reviews.csv --preset bloem --effort fast",
        "seq 8 | xargs -I{} nlptx cooccur reviews.csv --min-count {}.5",
        "sbatch --wrap 'nlptx merge part-*.npz --word-only -o words.npz'",
        "cat reviews.txt | nlptx predict --delimiter '|' --form jsonl | tail -1    # the last text",
    ],
)
def test_a_wrong_command_is_found(text):
    (arguments,) = arguments_of(text)
    with pytest.raises(click.ClickException):
        parse(arguments)


SHOWN = ["accuracy  82.70%", " ...", " words  28,211", " residual  4.683e-07", " b1h1  0.012"]
PRINTED = ["accuracy 82.40%", "a", "b", " words 28,211", " residual  3.253e-07", " b1h1  0.013"]


def test_outputs_agree_if_only_last_digits_differ():
    assert agree(SHOWN, PRINTED)
    assert agree([*SHOWN, " ..."], [*PRINTED, "c"])


@pytest.mark.parametrize(
    ("line", "other"),
    [
        (0, "accuracy 81.70%"),
        (0, "Accuracy 82.70%"),
        (3, " words 28,212"),
        (4, " residual 4.683e-06"),
        (5, " b1h2 0.012"),
        (5, " b1h1 0.014"),
        (5, " b1h1 -0.012"),
    ],
)
def test_outputs_do_not_agree_if_a_line_differs(line, other):
    assert not agree(SHOWN, [other if number == line else each for number, each in enumerate(PRINTED)])


@pytest.mark.parametrize("printed", [PRINTED[:-1], [*PRINTED, "c"], [PRINTED[0], *PRINTED[3:]], ["c", *PRINTED]])
def test_outputs_do_not_agree_if_lines_are_missing(printed):
    assert not agree(SHOWN, printed)
