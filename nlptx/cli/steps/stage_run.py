"""Code shared by the commands that write an artifact."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable
from typing import Any

import click

from nlptx.cli.options.conflicts import Conflict
from nlptx.cli.options.inputs import check_not_an_input
from nlptx.cli.options.shared import CommonOptions, Function, output_option
from nlptx.cli.terminal.reporter import print_json
from nlptx.cli.terminal.shown_names import with_shown_names
from nlptx.io.output_path import STDOUT, check_writable
from nlptx.runtime.resources import cost

# Suffixes of file names that an artifact must not have, because they belong to other formats. The suffixes of the
# word2vec text format are allowed only for word vectors.
_OTHER_FORMATS = (".csv", ".tsv", ".jsonl", ".gz", ".bz2", ".xz")
# Maximum number of labels that are listed in a summary.
_MAX_LABELS = 20


def artifact_option(default: str, help: str) -> Callable[[Function], Function]:
    """Add ``-o/--output``, the path of an artifact. With ``--json``, the artifact cannot go to standard output."""
    message = "{1} and {0} both write to standard output; use -o FILE."
    return output_option(default, help, {"json": Conflict(message, lambda output, _: output == STDOUT)})


class StageRun:
    """Checks the output path before a stage, measures the time of the stage, and prints a summary at the end.

    Args:
        common: options shared by all commands.
        output: path of the artifact, or ``-`` for standard output.
        inputs: paths of the inputs; None for an input that was not given.
        text_allowed: whether the stage can also write the word2vec text format.

    Raises:
        click.UsageError: the artifact would be written to a terminal; or the output has the suffix of another format,
            or is one of the inputs.
        OutputError: the output cannot be written.
    """

    def __init__(
        self, common: CommonOptions, output: str, inputs: Iterable[str | None], *, text_allowed: bool = False
    ) -> None:
        from nlptx.embeddings.word2vec_format import TEXT_SUFFIXES

        if output == STDOUT and sys.stdout.isatty():
            raise click.UsageError(
                "an artifact is not written to a terminal; use -o FILE, or pipe it to another command."
            )
        check_not_an_input(output, inputs)
        if output.lower().endswith(_OTHER_FORMATS if text_allowed else (*_OTHER_FORMATS, *TEXT_SUFFIXES)):
            text = "; or, for the word2vec text format, *.txt or *.vec" if text_allowed else ""
            raise click.UsageError(f"{output} would contain an artifact, which is an .npz file; name it *.npz{text}.")
        check_writable(output)
        self.common = common
        self.output = output
        self.started = time.perf_counter()

    def finish(self, title: str, facts: dict[str, Any]) -> None:
        """Print a summary: as JSON on standard output, or as a table on standard error."""
        facts = {**facts, **cost(time.perf_counter() - self.started)}
        if self.common.json:
            print_json({"output": self.output, **facts})
        else:
            facts = {name: _shortened(value) if name == "labels" else value for name, value in facts.items()}
            shown = {name: value for name, value in facts.items() if not isinstance(value, list | dict)}
            self.common.reporter.summary(f"{title} -> {self.output}", with_shown_names(shown).items())


def _shortened(labels: list[str]) -> str:
    """Return labels as one line of text; if there are many, only the first ones and the total number."""
    more = f", ... ({len(labels):,} in all)" if len(labels) > _MAX_LABELS else ""
    return ", ".join(labels[:_MAX_LABELS]) + more
