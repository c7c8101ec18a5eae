"""Tests of the progress display on terminals."""

import io
import sys

from nlptx.cli.terminal import reporter


class Terminal(io.StringIO):
    def isatty(self):
        return True


def drawn(monkeypatch, kind):
    """Return what is on the terminal while a task is in progress."""
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr(reporter, "_LINE_EVERY", 0.0)
    monkeypatch.setenv("TERM", kind)
    with reporter.Reporter().meter("training") as meter:
        meter(0.25, "epoch 1/2")
        return screen.getvalue()


def test_a_terminal_without_cursor_control_shows_progress_as_lines(monkeypatch):
    assert drawn(monkeypatch, "dumb") == "training  25%  epoch 1/2\n"


def test_notes_and_errors_are_broken_at_spaces_on_a_terminal(monkeypatch):
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("COLUMNS", "24")
    reporter.print_error("a.csv:3: the label is missing\n  Fill it in, or use --skip-bad.")
    reporter.Reporter().note("averyveryverylongwordthatcannotbebroken 2  spaces")
    assert screen.getvalue().splitlines() == [
        *("nlptx: a.csv:3: the", "label is missing", "  Fill it in, or use", "  --skip-bad."),
        *("averyveryverylongwordthatcannotbebroken", "2  spaces"),
    ]


def test_the_cursor_is_not_hidden_while_a_bar_is_shown(monkeypatch):
    """A hidden cursor would stay hidden in the shell after Ctrl-Z or kill -9."""
    screen = drawn(monkeypatch, "xterm")
    assert "training" in screen
    assert screen.rfind("\x1b[?25l") < screen.rfind("\x1b[?25h")
