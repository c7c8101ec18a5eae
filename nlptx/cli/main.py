"""The entry point of the command line: finds a command, runs it, and converts its outcome to an exit code."""

from __future__ import annotations

import contextlib
import importlib
import io
import os
import shutil
import sys
import threading
from typing import Any, NoReturn

import click

from nlptx.cli.shortage import describe_shortage
from nlptx.cli.terminal.reporter import neutralised, print_error
from nlptx.cli.terminal.standard_streams import drop_stdout, name_of_cause, repair_streams
from nlptx.cli.terminal.stop_signal import SIGNALLED, StopNote, StopSignal, Terminated
from nlptx.errors import NlptxError
from nlptx.version import __version__

# Command -> help text. The module of a command is imported only if the command is used.
COMMANDS = {
    "cooccur": "Count which words occur near each other.",
    "merge": "Add up the counts of several parts of a corpus.",
    "pca": "Turn counts into word vectors.",
    "train": "Fit a classifier on labelled text.",
    "predict": "Predict the label of each text.",
    "evaluate": "Compare predictions with true labels.",
    "compare": "Test which of several models predicts best.",
    "crossvalidate": "Train and test on different parts of the data in turn.",
    "tune": "Search for better settings.",
    "check": "Find faults in labelled data.",
    "neighbors": "Show the words nearest to a word.",
    "explain": "Show how each word of a text affects its label.",
    "info": "Describe a file that nlptx wrote, and how it was made.",
    "init": "Create an experiment: a folder with a Makefile and settings.",
}
INTERRUPTED, READER_GONE = 130, 141
# Maximum number of columns of a help text.
_MAX_COLUMNS = 100


class LazyGroup(click.Group):
    """A group of commands that imports the module of a command only when the command is needed."""

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        """Return a context in which the help texts of all commands fit the screen."""
        return super().make_context(info_name, args, parent, terminal_width=_help_width(), **extra)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"nlptx.cli.commands.{cmd_name}")
        command: click.Command = getattr(module, cmd_name)
        command.short_help = COMMANDS[cmd_name]
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if name not in COMMANDS and not name.startswith("-") and not ctx.resilient_parsing:
            from difflib import get_close_matches

            nearest = get_close_matches(name, COMMANDS, 1)
            hint = f"Did you mean {nearest[0]!r}?" if nearest else f"The commands are {', '.join(COMMANDS)}."
            raise click.UsageError(f"there is no command {name!r}. {hint}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


def _help_width() -> int:
    """Return the maximum length of a line in a help text, in characters."""
    columns = shutil.get_terminal_size((0, 0)).columns  # 0: COLUMNS is not set, and standard output is not a terminal
    if not columns:
        # In `nlptx --help | less`, standard error is still the terminal.
        with contextlib.suppress(OSError):
            columns = os.get_terminal_size(2).columns
    return max(min(columns or _MAX_COLUMNS, _MAX_COLUMNS) - 2, 50)


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "auto_envvar_prefix": "NLPTX"},
)
@click.version_option(__version__, "--version", message="nlptx %(version)s", allow_from_autoenv=False)
def nlptx() -> None:
    """Train transformers to classify text. NumPy and SciPy do all the numerical work.

    \b
    nlptx cooccur reviews/ -o cooccur.npz                       count which words occur together
    nlptx pca cooccur.npz -o embeddings.npz                     turn the counts into word vectors
    nlptx train labelled.tsv -e embeddings.npz -o model.npz     fit a classifier on labelled text
    nlptx predict -m model.npz reviews.txt > scores.tsv         predict the label of each text

    Each stage reads files (or - for standard input) and writes one file. For help on a command, run nlptx COMMAND
    --help. Each option of a command has an environment variable, such as NLPTX_TRAIN_EPOCHS for nlptx train --epochs.
    """


def main() -> NoReturn:
    """Run the command line and exit with its exit code."""
    stop = StopSignal()
    stop.install()
    closed = repair_streams()
    code = 0
    try:
        _complete_if_requested()
        code = run_command(sys.argv[1:], stop)
        sys.stdout.flush()
    except BrokenPipeError:
        drop_stdout()
        code = READER_GONE
    except OSError as error:
        _show_traceback()
        drop_stdout()
        # If the exit code is not 0, the command has already printed an error, and this OSError may have the same cause.
        if code == 0:
            where = name_of_cause(error, closed)
            print_error(f"error: {where}: {error.strerror}" if where else f"error: {error.strerror or error}")
            code = 1
    _leave(code)


def _leave(code: int) -> NoReturn:
    """Exit without waiting for a thread that may still be reading standard input.

    If Ctrl-C raised an exception, os._exit() is always used, so that the exit code is 130. (If ``train`` returns a
    model after Ctrl-C, it calls sys.exit(), and does not get here.) On a normal exit, CPython would kill itself
    with SIGINT if Ctrl-C arrived inside the built-in exec() (which the dataclasses module calls), even though
    KeyboardInterrupt was caught.
    """
    if code == INTERRUPTED or any(thread.daemon for thread in threading.enumerate()):
        with contextlib.suppress(OSError, ValueError):
            sys.stderr.flush()
        os._exit(code)
    sys.exit(code)


def _complete_if_requested() -> None:
    """If the shell requests completions, print them and exit."""
    instruction = os.environ.get("_NLPTX_COMPLETE")
    if not instruction:
        return
    from nlptx.cli.completion import complete

    sys.stdout.flush()
    _leave(complete(nlptx, instruction))


def run_command(arguments: list[str], stop: StopSignal | None = None) -> int:
    """Run a command with its arguments, print an error message if it fails, and return the exit code."""
    context: click.Context | None = None
    try:
        with nlptx.make_context("nlptx", arguments, obj=stop) as context:
            nlptx.invoke(context)
        return 0
    except click.exceptions.Exit as end:
        return end.exit_code
    except click.ClickException as error:
        shown = io.StringIO()  # the message may contain control characters, for example in a file name
        _with_origin(error).show(shown)
        with contextlib.suppress(BrokenPipeError):
            click.echo("\n".join(map(neutralised, shown.getvalue().splitlines())), err=True)
        return error.exit_code
    except NlptxError as error:
        _show_traceback()
        from nlptx.cli.terminal.option_names import as_options  # late import: --help does not need the settings

        print_error(f"error: {as_options(str(error))}")
        return error.exit_code
    except (KeyboardInterrupt, click.Abort, Terminated) as error:
        return _report_stop(error)
    except Exception as error:
        # In Python 3.11, an exception that a signal handler raises during __set_name__, while a class is created,
        # becomes the cause of a RuntimeError.
        if isinstance(error.__cause__, KeyboardInterrupt | Terminated):
            return _report_stop(error.__cause__)
        shortage = describe_shortage(error, context.invoked_subcommand if context else None)
        # System errors that are not a shortage, for example a closed pipe, are handled by main().
        if isinstance(error, OSError) and not shortage:
            raise
        _show_traceback()
        unexpected = f"unexpected {type(error).__name__}: {error}\n  Set NLPTX_DEBUG=1 to see the traceback."
        print_error(f"error: {shortage or unexpected}")
        return 1


def _show_traceback() -> None:
    """Print the traceback of the current exception, if the environment variable NLPTX_DEBUG asks for it."""
    if os.environ.get("NLPTX_DEBUG", "0") not in ("", "0"):
        import traceback

        traceback.print_exc()


def _report_stop(error: BaseException) -> int:
    """Print which signal stopped the command, and return the exit code for that signal."""
    if isinstance(error, Terminated):
        print_error(_with_notes(str(error), error))
        return SIGNALLED + error.number
    print_error(_with_notes("interrupted", error))
    return INTERRUPTED


def _with_notes(text: str, error: BaseException) -> str:
    """Append each :class:`StopNote` of an exception to a text, on the same line."""
    return ": ".join([text, *(note for note in getattr(error, "__notes__", ()) if isinstance(note, StopNote))])


def _with_origin(error: click.ClickException) -> click.ClickException:
    """If an invalid value came from an environment variable or a file, name the variable or file in the message."""
    if not isinstance(error, click.BadParameter) or error.ctx is None or error.param is None or not error.param.name:
        return error
    from nlptx.cli.options.precedence import origin_of  # late import: --help does not need the settings

    origin = origin_of(error.ctx, error.param.name)
    if origin is None:
        return error
    return click.BadParameter(f"{error.message.rstrip('.')} (from {origin}).", error.ctx, error.param)
