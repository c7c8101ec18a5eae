"""Messages of the library contain Python argument names, which the command line replaces with option names."""

import ast
import re
from dataclasses import fields
from functools import cache
from pathlib import Path

import click
import pytest

import nlptx
from nlptx.cli.main import COMMANDS
from nlptx.cli.main import nlptx as command_line
from nlptx.cli.terminal.option_names import _NAMES, as_options
from nlptx.settings import CountSettings, PcaSettings, TrainSettings

PACKAGE = Path(nlptx.__file__).parent
# provenance.py builds command lines for users to copy, so it contains names of options.
COMMAND_LINES = PACKAGE / "artifacts/provenance.py"
LIBRARY = [path for path in sorted(PACKAGE.rglob("*.py")) if "cli" not in path.parts and path != COMMAND_LINES]


@cache
def strings(path):
    """Return the string constants in a file except docstrings."""
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


@cache
def options():
    """Return all options of all commands."""
    context = click.Context(command_line)
    commands = [command_line.get_command(context, name) for name in COMMANDS]
    return {option for command in commands for item in command.params for option in (*item.opts, *item.secondary_opts)}


@pytest.mark.parametrize("path", LIBRARY, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_library_messages_contain_no_options(path):
    named = [text for text in strings(path) if re.search(r"(?<![\w-])--[a-z]", text)]
    commands = ("pip install ", *(f"{name} " for name in COMMANDS))  # complete commands may contain options
    assert [text for text in named if not text.startswith(commands)] == []


@pytest.mark.parametrize("path", LIBRARY, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_argument_names_in_library_messages_correspond_to_options(path):
    named = {name for text in strings(path) for name in re.findall(r"`[a-z_0-9]+(?:=[^`\s]+)?`", text)}
    shown = {re.sub(r"[ =].*", "", as_options(name)) for name in named}
    only_in_python = {"`texts`", "`model`", "`cooccur`", "`pca`", "`sample_weight`", "`frame`", "`y`"}
    assert {name for name in shown if not name.startswith("--")} <= only_in_python
    assert {name for name in shown if name.startswith("--")} <= options()


def test_every_renamed_argument_corresponds_to_an_option():
    assert {as_options(f"`{name}`") for name in _NAMES} <= options()


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        ("`lr` is 0; give `new_word_min_count=1`", "--lr is 0; give --new-word-min-count 1"),
        ("`calibrate=False`, `resume=True`", "--no-calibrate, --resume"),
        ("`splits=()`, `splits`, `format`", "--split all, --split, --input-format"),
        ("`label_map=a b=c`, `delimiter=;`", "--map 'a b=c', --delimiter ';'"),
        ("`texts[3]` is `x`, ``lr``", "`texts[3]` is `x`, `--lr`"),
        ("Lower `cooccur.min_count`", "Lower min-count in the section [cooccur] of --config FILE"),
    ],
)
def test_argument_names_become_options(message, shown):
    assert as_options(message) == shown


IMPOSSIBLE = {
    "cooccur": (CountSettings, {"window": 0, "max_words": 0, "min_count": 0}),
    "pca": (PcaSettings, {"smoothing": 2.0, "max_products": 0}),
    "train": (TrainSettings, {"epochs": -2, "embedding_lr": -1.0, "lr": float("nan"), "valid_share": 0.95}),
}


@pytest.mark.parametrize(
    ("stage", "name", "value"),
    [(stage, name, value) for stage, (_, values) in IMPOSSIBLE.items() for name, value in values.items()],
)
def test_the_same_check_names_an_argument_or_an_option(stage, name, value, tmp_path, capsys):
    from nlptx.cli.main import run_command

    with pytest.raises(ValueError, match=f"^`{name}` is {value}; expected") as caught:
        IMPOSSIBLE[stage][0](**{name: value})
    option = "--" + name.replace("_", "-")
    more = ["-e", "none.npz"] if stage == "train" else []
    assert run_command([stage, "none.npz", *more, option, str(value), "-o", str(tmp_path / "o.npz")]) == 2
    message = capsys.readouterr().err
    assert message == f"nlptx: error: {caught.value}\n".replace(f"`{name}`", option)


def test_help_contains_option_names():
    context = click.Context(command_line)
    for name in COMMANDS:
        command = command_line.get_command(context, name)
        assert "`" not in "".join(item.help or "" for item in command.params if isinstance(item, click.Option))
    assert any("`" in item.metadata["help"] for item in fields(TrainSettings))
