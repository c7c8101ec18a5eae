"""``nlptx init``."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable
from dataclasses import replace
from importlib.util import find_spec
from itertools import islice
from typing import TYPE_CHECKING

import click

from nlptx.cli.options.command import PATH, command, option
from nlptx.cli.options.inputs import check_names
from nlptx.cli.options.reading import (
    delimiter_option,
    encoding_errors_option,
    label_map_option,
    label_separator_option,
    parse_delimiter,
    read_label_map,
    skip_bad_option,
)
from nlptx.cli.options.shared import CommonOptions, common_options
from nlptx.errors import listed, quoted
from nlptx.io.output_path import STDOUT

if TYPE_CHECKING:
    from nlptx.corpus.read_options import ReadOptions

# Maximum numbers of texts of each input that are read to check their labels, and of labels that a note lists.
_MAX_TEXTS, _MAX_LISTED = 100_000, 10


@command()
@click.argument("folder", type=PATH, metavar="FOLDER")
@click.argument("train", type=PATH, metavar="TRAIN")
@click.argument("test", type=PATH, metavar="TEST")
@option("--text-column", metavar="NAME", default="text", show_default=True, help="Table column that contains the text.")
@option(
    "--label-column", metavar="NAME", default="label", show_default=True, help="Table column that contains the label."
)
@delimiter_option
@encoding_errors_option
@skip_bad_option
@label_map_option
@label_separator_option
@common_options(json_help="Print the names of the files as one JSON object.", computes=False)
def init(
    folder: str,
    train: str,
    test: str,
    text_column: str,
    label_column: str,
    delimiter: str | None,
    encoding_errors: str,
    skip_bad: bool,
    map: tuple[str, ...],
    label_separator: str | None,
    common: CommonOptions,
) -> None:
    """Create an experiment: a folder with a Makefile and settings files.

    \b
    nlptx init experiment reviews.csv new_reviews.csv
    nlptx init experiment reviews.csv new_reviews.csv --text-column Review
    make -C experiment

    The command init writes a Makefile and two settings files into FOLDER. For each settings file, the Makefile runs a
    cross-validation on TRAIN and trains three models, one per seed. The Makefile then compares the results, and tests
    all models on TEST. Edit the settings, or add more settings files; make repeats only the steps that depend on
    changed files. The experiment needs GNU make, and its reports need the report extra: pip install 'nlptx[report]'.
    """
    from nlptx.cli.terminal.reporter import print_json
    from nlptx.corpus.read_options import ReadOptions
    from nlptx.corpus.source import is_archive
    from nlptx.experiments.new_experiment import write_experiment
    from nlptx.io.paths import is_same_file

    check_names(folder, train, test)
    if STDOUT in (folder, train, test):
        raise click.UsageError("- cannot be used here, because make reads the inputs several times; name files.")
    options = ReadOptions(
        text_column=text_column,
        label_column=label_column,
        delimiter=parse_delimiter(delimiter),
        encoding_errors=encoding_errors,
        skip_bad=skip_bad,
        label_map=read_label_map(map),
        label_separator=label_separator,
    )
    if is_same_file(train, test) and os.path.isfile(train) and not is_archive(train):
        common.reporter.note("warning: TRAIN and TEST are the same file, so the results will be too optimistic")
    _check_labels(train, test, options, common.reporter.note)
    reading = [] if text_column == ReadOptions.text_column else ["--text-column", text_column]
    reading += [] if label_column == ReadOptions.label_column else ["--label-column", label_column]
    reading += [] if encoding_errors == ReadOptions.encoding_errors else ["--encoding-errors", encoding_errors]
    reading += ["--skip-bad"] * skip_bad
    reading += [word for pair in map for word in ("--map", pair)]
    reading += [] if label_separator is None else ["--label-separator", label_separator]
    of_delimiter = [] if delimiter is None else ["--delimiter", delimiter]
    paths = [str(path) for path in write_experiment(folder, train, test, reading, of_delimiter, common.jobs)]
    if common.json:
        print_json({"output": folder, "files": paths})
        return
    common.reporter.note(f"wrote {', '.join(paths)}")
    if find_spec("jinja2") is None:
        common.reporter.note("warning: make writes reports, which need Jinja2: pip install 'nlptx[report]'")
    common.reporter.note(f"next: edit {paths[-1]}, then run make -C {shlex.quote(folder)}")


def _check_labels(train: str, test: str, options: ReadOptions, on_note: Callable[[str], None]) -> None:
    """Find wrong column names and labels before any model is trained. Raises the same errors as training.

    At most _MAX_TEXTS texts of each input are read. A missing file is reported when the experiment is written.
    """
    from nlptx.corpus.corpus import Corpus
    from nlptx.corpus.labelled import LabelledDocuments
    from nlptx.corpus.training_data import TRAINING_SPLITS
    from nlptx.errors import DataError

    labels = []
    for path, splits in ((train, TRAINING_SPLITS), (test, ("test",))):
        if not os.path.exists(path):
            return
        documents = LabelledDocuments(Corpus([path], replace(options, splits=splits)), "unsup")
        found = [document.label for document in islice(documents, _MAX_TEXTS)]
        if not found:
            raise DataError("it contains no labelled texts", where=path)
        labels.append(found)
    if len(labels[0]) < _MAX_TEXTS and options.label_separator is None:
        known, of_test = ({options.label_map.get(label, label) for label in found if label} for found in labels)
        if unknown := _unknown(sorted(of_test), sorted(known)):
            named = listed(list(map(quoted, unknown)), _MAX_LISTED)
            on_note(f"warning: the models cannot be tested, because {train} has no text with this label: {named}")


def _unknown(labels: list[str], known: list[str]) -> list[str]:
    """Return the labels that are not known, unless all labels match known ones whose spelling differs."""
    if set(labels) <= set(known):
        return []
    from nlptx.evaluation.label_spellings import match_labels  # slow to import

    if match_labels(labels, known) is not None:
        return []
    return [label for label in labels if match_labels([label], known) is None]
