"""The only module that formats and prints notes, errors, progress and tables for the user."""

from __future__ import annotations

import os
import re
import shutil
import sys
import textwrap
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from typing import TYPE_CHECKING, Any, Literal, Protocol

if TYPE_CHECKING:
    from rich.console import Console

# Characters that can control a terminal: C0 and C1 controls except tab, and marks that change the text direction.
_CONTROLS = re.compile("[\x00-\x08\x0a-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
# Without a terminal: width of tables in characters, and seconds between progress lines.
_WIDTH, _LINE_EVERY = 120, 10.0


def neutralised(text: str) -> str:
    """Replace characters that could control a terminal."""
    return _CONTROLS.sub("\N{REPLACEMENT CHARACTER}", text)


def print_error(text: str) -> None:
    """Print an error message on standard error, preceded by the name of the program."""
    print_note("nlptx: " + text)


def print_note(text: str) -> None:
    """Print a note on standard error, with control characters replaced. Ignore failures such as a full disk.

    Commands use their :class:`Reporter` instead, because it respects ``--quiet``.
    """
    with suppress(OSError, ValueError):
        wrapped = _wrapped if sys.stderr.isatty() else str
        print("\n".join(wrapped(neutralised(line)) for line in text.splitlines()), file=sys.stderr, flush=True)


def _wrapped(line: str) -> str:
    """Break a line at spaces so that it fits on the terminal, which would otherwise break it within a word."""
    width = shutil.get_terminal_size((0, 0)).columns or len(line)  # 0 columns: stdout is not a terminal
    indent = line[: len(line) - len(line.lstrip())]
    wrapper = textwrap.TextWrapper(width, subsequent_indent=indent, expand_tabs=False, replace_whitespace=False)
    wrapper.break_long_words = wrapper.break_on_hyphens = False
    return wrapper.fill(line) if line else ""


class Meter(Protocol):
    """Progress display of a task.

    Call the meter with the completed fraction (0 to 1, None if unknown) and a line about the state. With ``keep``, the
    line stays on the screen. ``title`` is the name of the current step, if the task has several steps.
    """

    def __call__(self, fraction: float | None, state: str, keep: bool = False, title: str = "") -> None: ...


class Reporter:
    """Prints the messages of a command, and the tables, curves and lists of its result.

    Args:
        quiet: whether to print only errors and the result.
        verbose: whether to print more details.
        color: whether to use colours on terminals, unless the environment variable NO_COLOR is set.
    """

    def __init__(self, quiet: bool = False, verbose: bool = False, color: bool = True) -> None:
        self.quiet = quiet
        self.verbose = verbose
        self.color = color and not os.environ.get("NO_COLOR")

    def _console(self, stderr: bool = True) -> Console:
        """Return a Rich console for standard error or standard output."""
        from rich.console import Console

        class PipeErrorConsole(Console):
            def on_broken_pipe(self) -> None:
                raise  # Rich calls this method in an exception handler; the inherited method would exit with code 1

        console = PipeErrorConsole(stderr=stderr, no_color=not self.color, highlight=False)
        if not console.is_terminal:
            console.width = _WIDTH
        return console

    def note(self, text: str) -> None:
        """Print a note, unless the command is quiet."""
        from nlptx.cli.terminal.option_names import as_options  # late import: --help does not need the settings

        if not self.quiet:
            print_note(as_options(text))

    def detail(self, text: str) -> None:
        """Print a note only if ``--verbose`` is given."""
        if self.verbose:
            self.note(text)

    def summary(self, title: str, rows: Iterable[tuple[str, Any]]) -> None:
        """Draw a small table of the results of a stage on standard error, unless the command is quiet."""
        if not self.quiet:
            self.facts(title, rows, stderr=True)

    def facts(self, title: str, rows: Iterable[tuple[str, Any]], stderr: bool = False) -> None:
        """Draw a table of names and values."""
        from rich.table import Table
        from rich.text import Text

        table = Table(show_header=False, box=None)
        table.add_column(style="dim", no_wrap=True)
        table.add_column(overflow="fold")
        for name, value in rows:
            table.add_row(Text(neutralised(name)), Text(neutralised(_plain(value))))
        self._print(stderr, Text(neutralised(title), style="bold"), table)

    def table(
        self, title: str, header: Sequence[str], rows: Iterable[Sequence[Any]], stderr: bool = False, keys: int = 1
    ) -> None:
        """Draw a table, in blocks of columns if it is too wide; each block begins with the first ``keys`` columns."""
        from rich.table import Table
        from rich.text import Text

        from nlptx.cli.terminal.table_blocks import split_into_blocks

        rows = [list(row) for row in rows]
        cells = [[neutralised(_plain(value)) for value in row] for row in rows]
        parts: list[Table | str] = []
        for block in split_into_blocks(header, cells, self._console(stderr).width, keys):
            table = Table(box=None, header_style="dim")
            for index in block.columns:
                numeric = all(isinstance(row[index], int | float) for row in rows) and rows
                justify: Literal["right", "left"] = "right" if numeric else "left"
                unbroken = index in block.unbroken
                table.add_column(Text(neutralised(header[index])), justify=justify, overflow="fold", no_wrap=unbroken)
            for row in cells:
                table.add_row(*(Text(row[index]) for index in block.columns))
            parts += ["", table] if parts else [table]
        self._print(stderr, Text(neutralised(title), style="bold"), *parts)

    @property
    def width(self) -> int:
        """Number of characters in a line of standard output."""
        return self._console(False).width

    def lines(self, title: str, lines: Sequence[str], *, records: bool = False) -> None:
        """Print a title, followed by lines of text.

        Args:
            title: the title.
            lines: the lines of text.
            records: whether each line is a record. Records are wrapped only on a terminal, and other lines everywhere.
        """
        from rich.text import Text

        parts = [Text(neutralised(title), style="bold"), *([Text("\n".join(lines))] if lines else [])]
        self._print(False, *parts, records=records)

    def _print(self, stderr: bool, *parts: Any, records: bool = False) -> None:
        # A failure to print on standard error (a summary) is ignored; on standard output (a result), it is an error.
        with suppress(OSError) if stderr else nullcontext():
            console = self._console(stderr)
            if console.is_terminal:
                console.print(*parts, sep="\n")
                return
            with console.capture() as caught:
                console.print(*parts, sep="\n", soft_wrap=records)
            # Strip the spaces that pad the last column of a table.
            console.file.writelines(f"{line.rstrip()}\n" for line in caught.get().removesuffix("\n").split("\n"))
            console.file.flush()

    @contextmanager
    def meter(self, what: str) -> Iterator[Meter]:
        """Show progress: a bar on a terminal or in a notebook, otherwise a plain line from time to time.

        A terminal without cursor control (TERM=dumb), such as the shell in Emacs, gets plain lines too.
        """
        if self.quiet:
            yield lambda fraction, state, keep=False, title="": None
        elif (sys.stderr.isatty() and not self._console().is_dumb_terminal) or _in_notebook():
            with _bar(self._console(), what) as meter:
                yield meter
        else:
            yield _lines(what)


def _in_notebook() -> bool:
    """Return whether this process is the kernel of a notebook in which Rich can draw (Rich needs ipywidgets)."""
    from importlib.util import find_spec

    return "ipykernel" in sys.modules and find_spec("ipywidgets") is not None


def _plain(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4g}" if abs(value) < 1000 else f"{value:,.0f}"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def _lines(what: str) -> Meter:
    last = time.monotonic()

    def meter(fraction: float | None, state: str, keep: bool = False, title: str = "") -> None:
        nonlocal last
        if keep or time.monotonic() - last >= _LINE_EVERY:
            last = time.monotonic()
            done = "" if fraction is None or keep else f" {fraction:4.0%}"
            print_note(f"{title or what}{done}  {state}".rstrip())

    return meter


@contextmanager
def _bar(console: Console, what: str) -> Iterator[Meter]:
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn
    from rich.text import Text

    from nlptx.runtime.processes import harmless_threads
    from nlptx.runtime.signals import signals_held

    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(16), TextColumn("{task.fields[state]}"))
    progress = Progress(*columns, console=console, transient=True)
    # A thread started in this block receives no signals, so none can reach it while a fork is in progress.
    with signals_held(), harmless_threads():
        progress.start()
    console.show_cursor(True)  # a hidden cursor would stay hidden in the shell after Ctrl-Z or kill -9
    try:
        task = progress.add_task(what, total=None, state="")

        def meter(fraction: float | None, state: str, keep: bool = False, title: str = "") -> None:
            title = title or what
            total = None if fraction is None else 1.0
            progress.update(task, description=title, total=total, completed=fraction, state=state)
            if keep:
                progress.console.print(Text(f"{title}  {state}"))

        yield meter
    finally:
        progress.stop()


def print_json(value: dict[str, Any]) -> None:
    """Print one JSON object on standard output."""
    import json

    import click

    click.echo(json.dumps(value, ensure_ascii=True, allow_nan=False))
