"""The commands of the README run, in order, in a folder with the bundled data; all options that it names exist."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from calling import call
from command import run

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```console\n(.*?)^```", README, re.MULTILINE | re.DOTALL)
COMMANDS = [line[2:] for block in BLOCKS for line in block.splitlines() if line.startswith("$ ")]
STAGES = ("cooccur", "pca", "train", "predict", "evaluate", "crossvalidate", "tune", "neighbors", "explain", "info")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder like a clone of the repository after ``make demo``, with ``nlptx`` on the PATH.

    It contains only a sixth of the training texts, so that training is fast.
    """
    path = tmp_path_factory.mktemp("clone")
    shutil.copytree(ROOT / "data", path / "data")
    header, *rows = (ROOT / "data/train.tsv").read_text().splitlines(keepends=True)
    (path / "data/train.tsv").write_text(header + "".join(rows[::6]))
    (path / "build/demo").mkdir(parents=True)
    script = path / "bin/nlptx"
    script.parent.mkdir()
    script.write_text(f'#!/bin/sh\nexec {sys.executable} -m nlptx "$@"\n')
    script.chmod(0o755)
    return path


def shell(command: str, folder: Path) -> subprocess.CompletedProcess:
    environment = {**os.environ, "PATH": f"{folder}/bin:{os.environ['PATH']}", "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        ["bash", "-c", command], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


def test_the_readme_shows_all_commands():
    shown = {word for command in COMMANDS for word in re.findall(r"nlptx (\w+)", command)}
    assert shown >= {"cooccur", "pca", "train", "predict", "evaluate", "neighbors", "explain", "info"}


@pytest.fixture(scope="module")
def outcome(folder):
    """A function that returns the outcome of a README command, and runs earlier commands first if necessary."""
    done: list[tuple[int, str]] = []

    def outcome_of(number: int) -> tuple[int, str]:
        while len(done) <= number:
            done.append(execute(COMMANDS[len(done)], folder))
        return done[number]

    return outcome_of


def execute(command: str, folder: Path) -> tuple[int, str]:
    """Run a command of the README; return its exit code and what it prints to standard error.

    A new interpreter is started only if the command needs a shell, because this takes long.
    """
    if re.fullmatch(r"nlptx [^|*<>;&]*", command):
        result = run(*shlex.split(command, comments=True)[1:], cwd=folder, code=None)
        return result.code, result.stderr
    done = shell(command, folder)
    return done.returncode, done.stderr


@pytest.mark.parametrize("number", range(len(COMMANDS)), ids=COMMANDS)
def test_every_command_runs(number, outcome):
    code, message = outcome(number)
    assert code == 0, message
    assert "Traceback" not in message


def test_the_demo_of_the_makefile_runs_the_same_commands():
    recipe = (ROOT / "Makefile").read_text(encoding="utf-8").split("\ndemo:")[1].split("\n\n")[0]
    demo = [line.strip() for line in recipe.splitlines() if line.strip().startswith("nlptx")]
    assert [command for command in demo if command not in COMMANDS] == []


def test_every_mentioned_option_exists():
    mentioned = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", README)) - {"--help"}
    help_texts = "".join(call(*stage, "--help").text for stage in ((), *((stage,) for stage in STAGES)))
    help_texts = re.sub(r"--\[no-\](\S+)", r"--\1 --no-\1", help_texts)
    assert {option for option in mentioned if not re.search(rf"{option}\b", help_texts)} == set()


def test_every_linked_file_exists():
    links = [link for link in re.findall(r"\]\(([^)#]+)\)", README) if "://" not in link]
    assert all((ROOT / link).exists() for link in links)


def test_the_python_example_runs():
    import nlptx

    (example,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    data = nlptx.read_training_data(ROOT / "data/train.tsv")
    texts, labels = data.texts[::5], data.labels[::5]
    scope = {"nlptx": nlptx, "texts": texts, "labels": labels, "frame": pd.DataFrame({"text": texts[:3]})}
    lines = [line.split("#")[0].rstrip() for line in example.splitlines()]
    scope["__name__"] = "example"
    exec(re.sub(r"(?m)^.*model\.npz.*$", "", "\n".join(lines)), scope)
    texts = ["a good film", "a dull book"]
    assert scope["model"].predict(texts) == scope["classifier"].predict(texts).tolist()
