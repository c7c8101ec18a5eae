"""Messages of the library name arguments as Python does, and the command line names them as its options."""

import ast
import re
from dataclasses import fields
from pathlib import Path

import click
import pytest

import nlptx
from nlptx.cli.main import COMMANDS
from nlptx.cli.main import nlptx as command_line
from nlptx.cli.option_names import _NAMES, as_options
from nlptx.settings import CountSettings, PcaSettings, TrainSettings

PACKAGE = Path(nlptx.__file__).parent
# Commands are built from options there, for people to copy.
COMMAND_LINES = PACKAGE / "artifacts/provenance.py"
LIBRARY = [path for path in sorted(PACKAGE.rglob("*.py")) if "cli" not in path.parts and path != COMMAND_LINES]


def strings(path):
    """The pieces of text in a file that are no docstrings."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    return [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings
    ]


def options():
    """Every option of every command."""
    context = click.Context(command_line)
    commands = [command_line.get_command(context, name) for name in COMMANDS]
    return {option for command in commands for item in command.params for option in (*item.opts, *item.secondary_opts)}


@pytest.mark.parametrize("path", LIBRARY, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_no_message_of_the_library_names_an_option(path):
    named = [text for text in strings(path) if re.search(r"(?<![\w-])--[a-z]", text)]
    assert [text for text in named if not text.startswith("pip install")] == []


@pytest.mark.parametrize("path", LIBRARY, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_what_the_library_names_is_an_option_of_the_command_line(path):
    named = {name for text in strings(path) for name in re.findall(r"`[a-z_0-9]+(?:=[^`\s]+)?`", text)}
    shown = {re.sub(r"[ =].*", "", as_options(name)) for name in named}
    only_in_python = {"`texts`", "`model`", "`cooccur`", "`pca`", "`sample_weight`"}
    assert {name for name in shown if not name.startswith("--")} <= only_in_python
    assert {name for name in shown if name.startswith("--")} <= options()


def test_every_name_is_that_of_an_option():
    assert {as_options(f"`{name}`") for name in _NAMES} <= options()


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("`lr` is 0; give `new_word_min_count=1`", "--lr is 0; give --new-word-min-count 1"),
        ("`calibrate=False`, `resume=True`", "--no-calibrate, --resume"),
        ("`splits=()`, `splits`, `format`", "--split all, --split, --input-format"),
        ("`label_map=a b=c`, `delimiter=;`", "--map 'a b=c', --delimiter ';'"),
        ("`texts[3]` is `x`, ``lr``", "`texts[3]` is `x`, `--lr`"),
        ("Lower `cooccur.min_count`", "Lower min-count in the section [cooccur] of --config FILE"),
    ],
)
def test_names_become_options(said, shown):
    assert as_options(said) == shown


IMPOSSIBLE = {
    "cooccur": (CountSettings, {"window": 0, "max_words": 0, "min_count": 0}),
    "pca": (PcaSettings, {"smoothing": 2.0, "max_products": 0}),
    "train": (TrainSettings, {"epochs": 0, "embedding_lr": -1.0, "lr": float("nan"), "valid_share": 0.95}),
}


@pytest.mark.parametrize(
    ("stage", "name", "value"),
    [(stage, name, value) for stage, (_, values) in IMPOSSIBLE.items() for name, value in values.items()],
)
def test_the_same_check_names_the_argument_to_one_and_the_option_to_the_other(stage, name, value, tmp_path, capsys):
    from nlptx.cli.main import run_command

    with pytest.raises(ValueError, match=f"^`{name}` is {value}; expected") as caught:
        IMPOSSIBLE[stage][0](**{name: value})
    option = "--" + name.replace("_", "-")
    more = ["-e", "none.npz"] if stage == "train" else []
    assert run_command([stage, "none.npz", *more, option, str(value), "-o", str(tmp_path / "o.npz")]) == 2
    told = capsys.readouterr().err
    assert told == f"nlptx: error: {caught.value}\n".replace(f"`{name}`", option)


def test_help_names_options():
    context = click.Context(command_line)
    for name in COMMANDS:
        command = command_line.get_command(context, name)
        assert "`" not in "".join(item.help or "" for item in command.params if isinstance(item, click.Option))
    assert any("`" in item.metadata["help"] for item in fields(TrainSettings))
