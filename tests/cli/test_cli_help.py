"""What the command line says of itself: help, version, completion, and how fast it can say it."""

import re
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from command import NLPTX, refused, run, shell

from nlptx import __version__

COMMANDS = ("cooccur", "pca", "train", "predict", "evaluate", "neighbors", "explain", "info")
STAGES = ("cooccur", "pca", "train")
HEAVY = {"numpy", "scipy", "pandas", "rich", "matplotlib"}


@cache
def imported_for(*words):
    """What ``nlptx WORDS`` prints, and the modules it imports to do so."""
    result = shell(f"{sys.executable} -X importtime -m nlptx {' '.join(words)}")
    # Importtime shares standard error with the program, which should say nothing there.
    assert all(line.startswith("import time:") for line in result.stderr.splitlines())
    return result.text, {line.rpartition("|")[2].strip() for line in result.stderr.splitlines()}


def help_of(command):
    return imported_for(command, "--help")[0]


def options_of(command):
    """Option names -> what help says of each, on one line."""
    _, _, listing = help_of(command).partition("Options:\n")
    options, last = {}, None
    for line in listing.splitlines():
        # A name stands two columns in; what is said of it, or goes on, stands further right.
        if re.match(r"  -", line):
            names, _, said = line.strip().partition("  ")
            last = names
            options[last] = said.strip()
        elif last:
            options[last] += " " + line.strip()
    return options


def examples_of(command):
    return [line.strip() for line in help_of(command).splitlines() if re.match(rf"\s+(.*\| )?nlptx {command} ", line)]


def long_name(names):
    """The ``--name`` of an option, of the first form where it can be switched off."""
    return re.search(r"--[a-z-]+", names)[0]


@pytest.mark.parametrize("command", COMMANDS)
def test_help_opens_with_the_usage_and_two_examples(command):
    text = help_of(command)
    assert re.match(rf"Usage: (python -m )?nlptx {command} ", text)
    opening, _, _ = text.partition("Options:\n")
    examples = examples_of(command)
    assert len(examples) == 2
    # Before them stand the usage and one sentence.
    assert opening.index(examples[0]) < 250


@pytest.mark.parametrize("command", COMMANDS)
def test_examples_use_options_that_exist(command):
    known = set(re.findall(r"--?[a-z][a-z-]*", " ".join(options_of(command))))
    for example in examples_of(command):
        own = example[example.index(f"nlptx {command}") :].partition(" | ")[0]
        assert set(re.findall(r"(?<= )--?[a-z][a-z-]*", own)) <= known


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_has_help(command):
    for names, said in options_of(command).items():
        # Variable and default, in brackets, are not yet a help.
        assert re.search(r"[a-z]{3,}", re.sub(r"\[[^]]*\]", "", said)), f"{names}: {said!r}"


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_names_its_variable(command):
    """The variable is that of the option a user sees: NLPTX_TRAIN_LR for --lr."""
    missing = []
    for names, said in options_of(command).items():
        name = long_name(names)
        variable = f"NLPTX_{command}{name.replace('--', '_', 1)}".replace("-", "_").upper()
        # Click may break a line inside a long name.
        if name != "--help" and not re.search(rf"{variable}\b", said.replace(" ", "")):
            missing.append(name)
    assert missing == []


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
def test_talking_of_itself_imports_nothing_heavy(words):
    _, imported = imported_for(*words)
    assert "click" in imported
    assert imported & HEAVY == set()


def test_predicting_imports_only_what_it_needs(work):
    """A single line is answered at once: what trains, counts, judges and draws stays away."""
    rows, imported = imported_for("predict", "-m", str(work / "model.npz"), str(work / "test.tsv"), "--format", "text")
    assert len(rows.splitlines()) == 31
    assert "numpy" in imported
    unwanted = {"nlptx.training", "nlptx.metrics"}
    if not np.__version__.startswith("1."):  # which imports them itself
        unwanted |= {"numpy.random", "numpy.ma"}
    assert imported & (unwanted | HEAVY - {"numpy"}) == set()


def test_counting_a_small_corpus_needs_no_scipy(work, tmp_path):
    _, imported = imported_for(
        "cooccur", str(work / "test.tsv"), "--min-count", "1", "-q", "-o", str(tmp_path / "c.npz")
    )
    assert "numpy" in imported
    assert imported & {"scipy", "pandas", "matplotlib"} == set()


def test_the_list_of_commands_imports_none_of_them():
    _, imported = imported_for("--help")
    commands = {name for name in imported if name.startswith(("nlptx.cli.", "nlptx.corpus"))}
    assert commands == {"nlptx.cli.main", "nlptx.cli.reporter"}


@pytest.mark.parametrize(("name", "mark"), [("bash", "complete "), ("zsh", "#compdef"), ("fish", "complete ")])
def test_completion_script(name, mark):
    script = Path(sys.executable).with_name("nlptx")
    if not script.exists():
        pytest.skip("nlptx is not installed as a command beside this Python")
    result = shell(str(script), env={"_NLPTX_COMPLETE": f"{name}_source"})
    assert mark in result.text
    assert "nlptx" in result.text


def test_completion_offers_the_options():
    script = Path(sys.executable).with_name("nlptx")
    if not script.exists():
        pytest.skip("nlptx is not installed as a command beside this Python")
    env = {"_NLPTX_COMPLETE": "bash_complete", "COMP_WORDS": "nlptx pca --comp", "COMP_CWORD": "2"}
    assert "--components" in shell(str(script), env=env).text


@pytest.mark.parametrize("words", [("nosuch",), ("pca", "x.npz", "--nosuch"), ("--nosuch",)], ids=" ".join)
def test_what_does_not_exist_is_a_usage_error(words):
    refused(*words, code=2, says=words[-1])


def test_help_into_a_closed_pipe_is_silent():
    result = shell(f"{' '.join(NLPTX)} --help | true; exit ${{PIPESTATUS[0]}}", code=None)
    # `true` may end before or after the help is written.
    assert result.code in (0, 141)
    assert result.stderr == ""
