"""The only place that draws: notes, errors, progress and tables, all on standard error or for a person."""

from __future__ import annotations

import os
import re
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from rich.console import Console

# Everything a terminal might obey: C0 and C1 controls (but tab), and the marks that reverse text.
_CONTROLS = re.compile("[\x00-\x08\x0a-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
# Columns of a table where no terminal sets them.
_WIDTH = 120
# Seconds between progress lines where nobody watches a bar.
_LINE_EVERY = 10.0


def neutralised(text: str) -> str:
    """Replace what could command a terminal."""
    return _CONTROLS.sub("\N{REPLACEMENT CHARACTER}", text)


def print_error(text: str) -> None:
    """Print an error."""
    _say("nlptx: " + text)


def print_note(text: str) -> None:
    """Print a note; commands do it through their :class:`Reporter`, which knows whether they are quiet."""
    _say(text)


def _say(text: str) -> None:
    """Print on standard error, safely; that nobody can listen (a full disk, a closed pipe) stops no work."""
    with suppress(OSError, ValueError):
        print("\n".join(neutralised(line) for line in text.splitlines()), file=sys.stderr, flush=True)


class Meter(Protocol):
    """Progress of a piece of work.

    Call it with the completed fraction (0 to 1, None if unknown) and a line about the state; ``keep`` leaves the line
    on the screen, and ``title`` names the step, if the work has several.
    """

    def __call__(self, share: float | None, state: str, keep: bool = False, title: str = "") -> None: ...


class Reporter:
    """What a command says beside its result.

    Args:
        quiet: only errors.
        verbose: more than usual.
        color: False for none; by default terminals get it, unless NO_COLOR is set.
    """

    def __init__(self, quiet: bool = False, verbose: bool = False, color: bool = True) -> None:
        self.quiet = quiet
        self.verbose = verbose
        self.color = color and not os.environ.get("NO_COLOR")

    def console(self, stderr: bool = True) -> Console:
        """Return a Rich console."""
        from rich.console import Console

        class Loud(Console):
            def on_broken_pipe(self) -> None:
                raise  # inside Rich's handler; its own answer would be exit code 1

        console = Loud(stderr=stderr, no_color=not self.color, highlight=False)
        if not console.is_terminal:
            console.width = _WIDTH
        return console

    def note(self, text: str) -> None:
        """Say something worth knowing."""
        from nlptx.cli.option_names import as_options  # with the settings, which --help does without

        if not self.quiet:
            _say(as_options(text))

    def detail(self, text: str) -> None:
        """Say something only ``--verbose`` asks for."""
        if self.verbose:
            self.note(text)

    def summary(self, title: str, rows: Iterable[tuple[str, Any]]) -> None:
        """Draw a small table of what a stage did."""
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
            table.add_row(Text(name), Text(neutralised(_plain(value))))
        self._print(stderr, Text(neutralised(title), style="bold"), table)

    def table(self, title: str, header: Sequence[str], rows: Iterable[Sequence[Any]], stderr: bool = False) -> None:
        """Draw a table; numbers stand right."""
        from rich.table import Table
        from rich.text import Text

        rows = [list(row) for row in rows]
        table = Table(box=None, header_style="dim")
        for place, name in enumerate(header):
            numeric = all(isinstance(row[place], int | float) for row in rows) and rows
            table.add_column(Text(name), justify="right" if numeric else "left", overflow="fold")
        for row in rows:
            table.add_row(*(Text(neutralised(_plain(value))) for value in row))
        self._print(stderr, Text(neutralised(title), style="bold"), table)

    def drawing(self, title: str, lines: Iterable[str]) -> None:
        """Print lines as they are."""
        from rich.text import Text

        self._print(False, Text(title, style="bold"), Text("\n".join(lines)))

    def _print(self, stderr: bool, *parts: Any) -> None:
        # A summary that cannot be shown is no reason to fail; a result that cannot be is.
        with suppress(OSError) if stderr else nullcontext():
            console = self.console(stderr)
            if console.is_terminal:
                console.print(*parts, sep="\n")
                return
            with console.capture() as caught:
                console.print(*parts, sep="\n")
            # Without the blanks that fill a table's last column.
            console.file.writelines(f"{line.rstrip()}\n" for line in caught.get().removesuffix("\n").split("\n"))
            console.file.flush()

    @contextmanager
    def meter(self, what: str) -> Iterator[Meter]:
        """Show progress: a bar on a terminal, else a plain line now and then."""
        if self.quiet:
            yield lambda share, state, keep=False, title="": None
        elif sys.stderr.isatty():
            with _bar(self.console(), what) as meter:
                yield meter
        else:
            yield _lines(what)


def _plain(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4g}" if abs(value) < 1000 else f"{value:,.0f}"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def _lines(what: str) -> Meter:
    last = time.monotonic()

    def meter(share: float | None, state: str, keep: bool = False, title: str = "") -> None:
        nonlocal last
        if keep or time.monotonic() - last >= _LINE_EVERY:
            last = time.monotonic()
            done = "" if share is None or keep else f" {share:4.0%}"
            _say(f"{title or what}{done}  {state}".rstrip())

    return meter


@contextmanager
def _bar(console: Console, what: str) -> Iterator[Meter]:
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn
    from rich.text import Text

    from nlptx.runtime.processes import signals_held

    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(16), TextColumn("{task.fields[state]}"))
    progress = Progress(*columns, console=console, transient=True)
    with signals_held():  # for good in the thread that draws: during a fork it would let in what is held here
        progress.start()
    try:
        task = progress.add_task(what, total=None, state="")

        def meter(share: float | None, state: str, keep: bool = False, title: str = "") -> None:
            title = title or what
            total = None if share is None else 1.0
            progress.update(task, description=title, total=total, completed=share, state=state)
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
