"""Help and version: their content is complete, and they import no slow module."""

import errno
import os
import re
import sys
from functools import cache
from importlib import import_module

import click
import numpy as np
import pytest
from calling import call
from click.core import ParameterSource
from command import NLPTX, refused, run, shell

from nlptx import __version__
from nlptx.cli.main import nlptx
from nlptx.cli.options.command import Option
from nlptx.settings import GROUPS

COMMANDS = (
    *("cooccur", "merge", "pca", "train", "predict", "evaluate", "compare", "crossvalidate", "tune", "check"),
    *("neighbors", "explain", "info", "init"),
)
STAGES = ("cooccur", "pca", "train")
HEAVY = {"numpy", "scipy", "pandas", "rich", "matplotlib"}


@cache
def imported_for(*words):
    """Return the output of ``nlptx WORDS`` and the modules that it imports."""
    result = shell(f"{sys.executable} -X importtime -m nlptx {' '.join(words)}")
    # The import times are on standard error, where the program itself should write nothing.
    assert all(line.startswith("import time:") for line in result.stderr.splitlines())
    return result.text, {line.rpartition("|")[2].strip() for line in result.stderr.splitlines()}


def help_of(*command):
    return call(*command, "--help").text


def parameters_of(command):
    """Return the click options of a command."""
    definition = getattr(import_module(f"nlptx.cli.commands.{command}"), command)
    return [parameter for parameter in definition.params if isinstance(parameter, click.Option)]


def sections_of(command):
    """Return the description of each option, on one line: heading -> option names -> description."""
    sections, last = {}, None
    for line in help_of(command).splitlines():
        if heading := re.fullmatch(r"(\S.*):", line):
            section = sections.setdefault(heading[1], {})
        # Option names are indented by two columns, descriptions and their continuation lines by more.
        elif re.match(r"  -", line) and sections:
            last, _, description = line.strip().partition("  ")
            section[last] = description.strip()
        elif line.startswith("    ") and last:
            section[last] += " " + line.strip()
    return sections


def options_of(command):
    """Return the description of each option, on one line: option names -> description."""
    return {name: description for section in sections_of(command).values() for name, description in section.items()}


def examples_of(command):
    return [line.strip() for line in help_of(command).splitlines() if re.match(rf"\s+(.*\| )?nlptx {command} ", line)]


@pytest.fixture(autouse=True)
def screen(monkeypatch):
    """A terminal of 100 columns."""
    monkeypatch.setenv("COLUMNS", "100")


@pytest.mark.parametrize("command", COMMANDS)
def test_help_begins_with_the_usage_and_two_examples(command):
    text = help_of(command)
    assert re.match(rf"Usage: (python -m )?nlptx {command} ", text)
    opening, _, _ = text.partition("Options:\n")
    examples = examples_of(command)
    assert len(examples) == 2
    # Only the usage and one sentence precede the examples.
    assert opening.index(examples[0]) < 250


@pytest.mark.parametrize("command", COMMANDS)
def test_examples_use_options_that_exist(command):
    known = set(re.findall(r"--?[a-z][a-z-]*", " ".join(options_of(command))))
    for example in examples_of(command):
        arguments = example[example.index(f"nlptx {command}") :].partition(" | ")[0]
        assert set(re.findall(r"(?<= )--?[a-z][a-z-]*", arguments)) <= known


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_has_help(command):
    for names, description in options_of(command).items():
        # A default value in brackets is not enough as a description.
        assert re.search(r"[a-z]{3,}", re.sub(r"\[[^]]*\]", "", description)), f"{names}: {description!r}"


@pytest.mark.parametrize("command", COMMANDS)
def test_help_fits_two_screens_of_fifty_lines(command):
    lines = help_of(command).splitlines()
    assert len(lines) <= 100
    assert max(map(len, lines)) <= 100


@pytest.mark.parametrize(("terminals", "width"), [({}, 100), ({2: 80}, 80), ({1: 90, 2: 80}, 90), ({1: 200}, 100)])
def test_help_fits_the_terminal_of_the_output_or_of_the_messages(terminals, width, monkeypatch):
    """Without a terminal, the help is 100 columns wide."""

    def size(descriptor):
        if descriptor not in terminals:
            raise OSError(errno.ENOTTY, "not a terminal")
        return os.terminal_size((terminals[descriptor], 24))

    monkeypatch.delenv("COLUMNS")
    monkeypatch.setattr(os, "get_terminal_size", size)
    assert width - 5 < max(map(len, help_of("train").splitlines())) <= width


def test_help_of_train_has_ten_options_and_then_groups():
    sections = sections_of("train")
    assert list(sections) == ["Options", "Data", "Start", "Network", "N-grams", "Training", "Output"]
    assert 8 <= len(sections["Options"]) <= 10
    assert {"--epochs N", "-e, --embeddings FILE", "-o, --output FILE"} <= set(sections["Options"])
    assert "--[no-]causal" in sections["Network"]
    assert "-h, --help" in sections["Output"]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_is_in_a_group(command):
    plain = [option.name for option in parameters_of(command) if not isinstance(option, Option)]
    assert plain == [], "declare them with nlptx.cli.options.command.option"
    assert {option.group for option in parameters_of(command)} <= set(GROUPS)


def test_the_rule_for_environment_variables_appears_once():
    text = " ".join(help_of().split())
    variable, command, option = re.search(r"environment variable, such as (\w+) for nlptx (\w+) --(\w+)", text).groups()
    assert variable == f"NLPTX_{command}_{option}".upper()
    assert any(re.search(rf"--{option}\b", names) for names in options_of(command))
    assert not any("NLPTX_" in help_of(name) for name in COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_has_its_variable(command, monkeypatch):
    """The environment variable is named after the visible option: NLPTX_TRAIN_LR for --lr."""
    options = parameters_of(command)
    for option in options:
        monkeypatch.setenv(f"NLPTX_{command}{option.opts[-1].replace('-', '_')[1:]}".upper(), "1")
    with nlptx.make_context("nlptx", [command], resilient_parsing=True) as group:
        _, definition, _ = nlptx.resolve_command(group, [command])
        context = definition.make_context(command, [], parent=group, resilient_parsing=True)
    unset = {option.name for option in options if option.expose_value} - {
        name for name in context.params if context.get_parameter_source(name) is ParameterSource.ENVIRONMENT
    }
    assert unset == set()


@pytest.mark.parametrize("stage", STAGES)
def test_every_stage_has_the_shared_options(stage):
    names = " ".join(options_of(stage)).replace(",", "").split()
    expected = {"-o", "--output", "-q", "--quiet", "-v", "--verbose", "--seed", "-j", "--jobs", "--no-color", "-h"}
    assert expected - set(names) == set()


def test_short_help_option():
    assert run("pca", "-h").text == help_of("pca")


def test_help_lists_every_command():
    text, _ = imported_for("--help")
    listed = re.findall(r"^  (\w+)  ", text.partition("Commands:\n")[2], re.MULTILINE)
    assert tuple(listed) == COMMANDS


def test_version():
    assert imported_for("--version")[0] == f"nlptx {__version__}\n"


@pytest.mark.parametrize("words", [("--help",), ("--version",), *((name, "--help") for name in COMMANDS)], ids=" ".join)
def test_help_and_version_import_nothing_heavy(words):
    _, imported = imported_for(*words)
    assert "click" in imported
    assert imported & HEAVY == set()


def test_predict_imports_only_what_it_needs(work):
    """A single line is scored quickly because modules for training, counting, evaluation and plots are not imported."""
    rows, imported = imported_for("predict", "-m", str(work / "model.npz"), str(work / "test.tsv"), "--format", "text")
    assert len(rows.splitlines()) == 31
    assert any(name.startswith("numpy.") for name in imported)
    unwanted = {"nlptx.training", "nlptx.metrics"}
    if not np.__version__.startswith("1."):  # NumPy 1 itself imports these modules
        unwanted |= {"numpy.random", "numpy.ma"}
    assert imported & (unwanted | HEAVY - {"numpy"}) == set()


def test_counting_a_small_corpus_does_not_import_scipy(work, tmp_path):
    _, imported = imported_for(
        "cooccur", str(work / "test.tsv"), "--min-count", "1", "-q", "-o", str(tmp_path / "c.npz")
    )
    assert any(name.startswith("numpy.") for name in imported)
    assert imported & {"scipy", "pandas", "matplotlib"} == set()


def test_listing_the_commands_imports_none_of_them():
    _, imported = imported_for("--help")
    assert not imported & {f"nlptx.cli.commands.{name}" for name in COMMANDS}
    assert not any(name.startswith("nlptx.corpus") for name in imported)


@pytest.mark.parametrize("words", [("nosuch",), ("pca", "x.npz", "--nosuch"), ("--nosuch",)], ids=" ".join)
def test_an_unknown_command_or_option_is_a_usage_error(words):
    refused(*words, code=2, says=words[-1])


def test_help_into_a_closed_pipe_is_silent():
    result = shell(f"{' '.join(NLPTX)} --help | true; exit ${{PIPESTATUS[0]}}", code=None)
    # The program `true` does not read its input, and may close the pipe before or after the help is written.
    assert result.code in (0, 141)
    assert result.stderr == ""


def test_info_says_which_reading_options_its_commands_lack():
    help_text = call("info", "--help").text
    assert "--input-format and --delimiter are not" in " ".join(help_text.split())
