"""The commands of the guide to experiments run."""

import re
import shlex
from pathlib import Path

import pytest
from calling import call

ROOT = Path(__file__).parent.parent.parent
GUIDE = (ROOT / "nlptx/experiments/README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```console\n(.*?)^```", GUIDE, re.MULTILINE | re.DOTALL)
COMMANDS = [line[2:] for block in BLOCKS for line in block.splitlines() if line.startswith("$ ")]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a sixth of the bundled training texts."""
    path = tmp_path_factory.mktemp("guide")
    (path / "data").mkdir()
    header, *rows = (ROOT / "data/train.tsv").read_text().splitlines(keepends=True)
    (path / "data/train.tsv").write_text(header + "".join(rows[::6]))
    return path


# One xdist worker runs all commands, because some need the files of earlier ones.
@pytest.mark.xdist_group("experiments guide")
@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_runs(command, folder, monkeypatch):
    monkeypatch.chdir(folder)
    name, *words = shlex.split(command)
    assert name == "nlptx"
    call(*words)
