"""Each command in the guide to experiments succeeds."""

import re
import shlex
from pathlib import Path

from calling import call

ROOT = Path(__file__).parent.parent.parent
GUIDE = (ROOT / "nlptx/experiments/README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```console\n(.*?)^```", GUIDE, re.MULTILINE | re.DOTALL)
COMMANDS = [line[2:] for block in BLOCKS for line in block.splitlines() if line.startswith("$ ")]


def test_every_command_runs(tmp_path, monkeypatch):
    """The order matters, because some commands read files that earlier ones wrote."""
    (tmp_path / "data").mkdir()
    header, *rows = (ROOT / "data/train.tsv").read_text().splitlines(keepends=True)
    (tmp_path / "data/train.tsv").write_text(header + "".join(rows[::12]))  # to save time
    monkeypatch.chdir(tmp_path)
    for command in COMMANDS:
        name, *words = shlex.split(command)
        assert name == "nlptx"
        call(*words)
