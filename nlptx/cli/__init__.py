"""The command line: one file per command, each a thin wrap around one library call."""

from __future__ import annotations

import contextlib
import importlib
import os
import signal
import sys
from types import FrameType
from typing import Any, NoReturn

import click

from nlptx import __version__
from nlptx.cli.console import print_error
from nlptx.errors import NlptxError

COMMANDS = ("cooccur", "pca", "train", "predict", "evaluate", "neighbors", "explain", "info")
INTERRUPTED, READER_GONE, TERMINATED = 130, 141, 143


class LazyGroup(click.Group):
    """Imports a command's module only when it is needed."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"nlptx.cli.{cmd_name}")
        command: click.Command = getattr(module, cmd_name)
        return command


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "auto_envvar_prefix": "NLPTX", "max_content_width": 100},
)
@click.version_option(__version__, "--version", message="nlptx %(version)s")
def nlptx() -> None:
    """Text classification from raw text to a trained transformer, in NumPy and SciPy alone.

    \b
    nlptx cooccur reviews/ -o cooccur.npz                       count which words occur together
    nlptx pca cooccur.npz -o embeddings.npz                     turn the counts into word vectors
    nlptx train labelled.tsv -e embeddings.npz -o model.npz     fit a transformer on them
    nlptx predict -m model.npz reviews.txt > scores.tsv         score text

    Each stage reads files (or - for standard input) and writes one file.
    """


def main() -> NoReturn:
    """Run the command line and exit with the code the outcome calls for."""
    signal.signal(signal.SIGTERM, _terminate)
    try:
        code = _run(sys.argv[1:])
        if sys.stdout is not None:
            sys.stdout.flush()
    except BrokenPipeError:
        _drop_stdout()
        code = READER_GONE
    except OSError as error:
        if os.environ.get("NLPTX_DEBUG"):
            raise
        _drop_stdout()
        name = f"{error.filename}: " if error.filename else ""
        print_error(f"error: {name}{error.strerror or error}")
        code = 1
    sys.exit(code)


def _run(arguments: list[str]) -> int:
    try:
        with nlptx.make_context("nlptx", arguments) as context:
            nlptx.invoke(context)
        return 0
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except click.ClickException as error:
        with contextlib.suppress(BrokenPipeError):
            error.show()
        return error.exit_code
    except NlptxError as error:
        if os.environ.get("NLPTX_DEBUG"):
            raise
        print_error(f"error: {error}")
        return error.exit_code
    except (KeyboardInterrupt, click.Abort):
        print_error("interrupted")
        return INTERRUPTED
    except MemoryError:
        if os.environ.get("NLPTX_DEBUG"):
            raise
        print_error("error: out of memory\n  Give less text at a time, or fewer words (--max-words).")
        return 1


def _terminate(number: int, frame: FrameType | None) -> None:
    """Turn SIGTERM into an exception, so that temporary files are removed on the way out."""
    sys.exit(TERMINATED)


def _drop_stdout() -> None:
    """Point standard output nowhere, so that the interpreter's last flush does not fail too."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def inputs_or_stdin(inputs: tuple[str, ...]) -> tuple[str, ...]:
    """Return the inputs; standard input if there are none and something is piped in.

    Raises:
        click.UsageError: no inputs at a terminal.
    """
    if inputs:
        return inputs
    if sys.stdin is None or sys.stdin.closed or sys.stdin.isatty():
        raise click.UsageError("nothing to read: name a file, or pipe text in.")
    return ("-",)


def print_json(value: dict[str, Any]) -> None:
    """Print one JSON object on standard output."""
    import json

    click.echo(json.dumps(value, ensure_ascii=True, allow_nan=False))
