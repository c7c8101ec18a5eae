"""The commands in the README and the other guides, and the output that a guide shows below a command."""

from __future__ import annotations

import math
import os
import re
import shlex
import sys
from dataclasses import dataclass, field
from pathlib import Path

import click
from command import run
from command import shell as run_in_shell

from nlptx.cli.main import nlptx
from nlptx.cli.options.conflicts import refuse_conflicts

ROOT = Path(__file__).parent.parent.parent
README = "README.md"
# The README comes first, because some guides use the models that its commands make.
GUIDES = [README, "CONTRIBUTING.md", "SECURITY.md", "data/README.md"]
GUIDES += sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "nlptx").rglob("*.md"))
# Decimal numbers in the guides may differ from printed ones by this fraction, because results depend on the processor.
# If the variable OPENBLAS_CORETYPE names another processor, the numbers differ by at most 0.3%.
TOLERANCE = 0.01
_PART_OF_PIPELINE = re.compile(r"""(?:'[^']*'|"[^"]*"|[^'"|;&<>()])+""")
_NUMBER = re.compile(r"(?<![\w.])(\d[\d,]*(?:\.\d+)?(?:e[+-]\d+)?)(?![\w.]*\d)")


@dataclass(frozen=True)
class Command:
    """A command in a guide.

    Args:
        guide: path of the guide in the repository.
        line: line number in the guide.
        text: the command, as a user types it.
        output: lines of the output that the guide shows below the command; empty if it shows none.
    """

    guide: str
    line: int
    text: str
    output: list[str] = field(default_factory=list)

    @property
    def without_comment(self) -> str:
        return re.sub(r"\s+# .*", "", self.text)

    def __str__(self) -> str:
        return f"{self.guide}:{self.line} {self.text}"


def read_guide(guide: str) -> str:
    return (ROOT / guide).read_text(encoding="utf-8")


def commands_in(guide: str) -> list[Command]:
    """Return the commands in a guide that run nlptx, in the order of the guide.

    Commands are the lines of an ``sh`` block, the lines after a prompt in any other block, and indented lines that
    begin with ``nlptx``. Lines below a command with a prompt are its output.
    """
    commands: list[Command] = []
    language = None
    for number, line in enumerate(read_guide(guide).splitlines(), 1):
        if line.startswith("```"):
            language = line[3:] or "plain" if language is None else None
        elif language is None and line.startswith("    nlptx "):
            commands.append(Command(guide, number, line.strip()))
        elif language == "sh" and line.strip():
            commands.append(Command(guide, number, line))
        elif language is not None and line.startswith("$ "):
            commands.append(Command(guide, number, line[2:]))
        elif language not in (None, "sh") and commands and commands[-1].line + len(commands[-1].output) + 1 == number:
            commands[-1].output.append(line)
    return [command for command in commands if re.search(r"\bnlptx [a-z-]", command.text)]


COMMANDS = [command for guide in GUIDES for command in commands_in(guide)]


def in_folder(text: str, folder: Path) -> str:
    """Replace the absolute paths in a command, such as ``/shared/corpus.txt``, by paths in a folder."""
    return re.sub(r"(?<= )/(?=\w)", f"{folder}/", text)


def arguments_of(text: str) -> list[list[str]]:
    """Return the arguments of each call of nlptx in a shell command, including calls by other programs.

    Shell variables, and the ``{}`` of xargs, are replaced by 1.
    """
    calls = []
    for part in _PART_OF_PIPELINE.findall(re.sub(r"\{\}|\$[A-Z_]+", "1", text)):
        words = shlex.split(part, comments=True)
        if "nlptx" in words:
            calls.append(words[words.index("nlptx") + 1 :])
        calls += [call for word in words if word.startswith("nlptx ") for call in arguments_of(word)]
    return calls


def parse(arguments: list[str]) -> None:
    """Parse arguments of nlptx without running the command.

    Raises:
        click.ClickException: nlptx does not accept the arguments.
    """
    with nlptx.make_context("nlptx", list(arguments)) as program:
        name, command, rest = nlptx.resolve_command(program, list(arguments))
        with command.make_context(name, rest, parent=program) as context:
            refuse_conflicts(context)


def options_of(command: str) -> list[str]:
    """Return the names of all options of a command, such as ``--jobs`` and ``-j``."""
    with click.Context(nlptx) as program:
        found = nlptx.get_command(program, command)
        parameters = found.get_params(click.Context(found, parent=program))
    options = [parameter for parameter in parameters if isinstance(parameter, click.Option)]
    return [name for option in options for name in (*option.opts, *option.secondary_opts)]


def add_program(folder: Path) -> None:
    """Write a program ``bin/nlptx`` for :func:`execute`."""
    script = folder / "bin/nlptx"
    script.parent.mkdir(parents=True)
    script.write_text(f'#!/bin/sh\nexec {sys.executable} -m nlptx "$@"\n')
    script.chmod(0o755)


def execute(command: str, folder: Path) -> str:
    """Run a command in a folder; return its standard error, followed by its standard output.

    Only a command that needs a shell starts a new interpreter, because starting an interpreter takes long.
    """
    if re.fullmatch(r"nlptx [^|*<>;&]*", command):
        result = run(*shlex.split(command, comments=True)[1:], cwd=folder)
    else:
        changes = {"PATH": f"{folder}/bin:{os.environ['PATH']}", "PYTHONPATH": str(ROOT)}
        # `head` may exit before it has read everything; the program that writes to it then fails with a broken pipe.
        may_break = "set +o pipefail; " if "| head" in command else ""
        result = run_in_shell(may_break + command, cwd=folder, env=changes)
    return result.stderr + result.text


def agree(shown: list[str], printed: list[str]) -> bool:
    """Return whether the output in a guide agrees with the printed output.

    A line ``...`` in the guide stands for one or more printed lines.
    """
    if not shown:
        return not printed
    if shown[0].strip() == "...":
        return any(agree(shown[1:], printed[skipped:]) for skipped in range(1, len(printed) + 1))
    return bool(printed) and _lines_agree(shown[0], printed[0]) and agree(shown[1:], printed[1:])


def _lines_agree(shown: str, printed: str) -> bool:
    """Return whether two lines agree: they must be the same except for decimal numbers and the widths of spaces.

    Decimal numbers may differ by :data:`TOLERANCE`, or by one unit in the last place. Numbers with an exponent need to
    have only the same order of magnitude, because all such numbers in the guides are rounding errors.
    """
    first, second = (_NUMBER.split(re.sub(r"\s+", " ", line)) for line in (shown, printed))
    return len(first) == len(second) and all(
        one == other or (number % 2 == 1 and _numbers_agree(one, other))
        for number, (one, other) in enumerate(zip(first, second, strict=True))
    )


def _numbers_agree(shown: str, printed: str) -> bool:
    one, other = (float(number.replace(",", "")) for number in (shown, printed))
    if "e" in shown and "e" in printed:
        return 0.2 < one / other < 5
    if "." not in shown or "." not in printed:
        return one == other
    last_place = 10.0 ** -len(shown.partition(".")[2])
    return math.isclose(one, other, rel_tol=TOLERANCE, abs_tol=1.01 * last_place)
