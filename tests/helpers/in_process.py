"""Runs a command in the process of the tests, which is faster, for tests that do not need a new process."""

import inspect

from click.testing import CliRunner

from nlptx.cli.main import nlptx
from nlptx.cli.option_names import as_options
from nlptx.errors import NlptxError

# Before click 8.2, standard output and standard error are mixed unless this option is given.
_APART = {"mix_stderr": False} if "mix_stderr" in inspect.signature(CliRunner).parameters else {}


def call(*words, stdin=None):
    """Run a command with one worker; return its result, with ``stdout`` and ``stderr``."""
    result = CliRunner(**_APART).invoke(nlptx, [*map(str, words), "-j", "1"], input=stdin)
    if result.exception is not None:
        raise result.exception
    return result


def exit_code(*words, **options):
    """Run a command that fails; return its exit code and its message."""
    try:
        call(*words, **options)
    except NlptxError as error:
        return error.exit_code, as_options(str(error))
    raise AssertionError("the command did not fail")
