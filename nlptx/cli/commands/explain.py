"""``nlptx explain``."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from typing import TYPE_CHECKING

import click

from nlptx.cli.options.command import PATH, command, option
from nlptx.cli.options.conflicts import Conflict
from nlptx.cli.options.inputs import check_names, check_not_an_input
from nlptx.cli.options.number_types import CountRange
from nlptx.cli.options.precedence import is_on_command_line, with_origin
from nlptx.cli.options.prediction_format import format_options
from nlptx.cli.options.reading import reading_options
from nlptx.cli.options.reading_checks import note_unused_options
from nlptx.cli.options.shared import CommonOptions, common_options, model_option
from nlptx.cli.results.explanation_writer import FORMATS, ExplanationWriter, choose_format, format_of_name, open_writer
from nlptx.corpus.read_options import ReadOptions
from nlptx.errors import DataError, LabelError, SettingsError

if TYPE_CHECKING:
    from nlptx.classifier.label_types import Label
    from nlptx.classifier.model import Model
    from nlptx.cli.results.explanation_rows import ExplainedText

# Maximum number of --input texts that a worker process gets at once.
_BATCH = 16
_NEEDS_JSON = "{} needs JSON output, but {} asks for another format."


@command()
@click.argument("words", nargs=-1, metavar="[TEXT]")
@option(
    "--input",
    type=PATH,
    multiple=True,
    metavar="FILE",
    excludes={"words": "use either a text or {}, not both."},
    help="Explain each text of FILE.",
)
@model_option
@format_options(
    FORMATS,
    format_of_name,
    "File for the explanations; its suffix selects the format.",
    "Format of the explanations; auto: chosen by the suffix of the output.",
)
@option(
    "--label",
    metavar="LABEL",
    show_default="the predicted label",
    help="Label to explain; by default, of several predicted labels, the one furthest above its threshold.",
)
@option("--top", type=CountRange(1), show_default="all", help="Show only the N words with the largest effects.")
@option("--pairs", type=CountRange(0), default=3, show_default=True, help="Number of pairs of words to show.")
@option(
    "--attention-weights",
    is_flag=True,
    excludes={
        "format": Conflict(_NEEDS_JSON, lambda _, format: format not in ("auto", "jsonl")),
        "output": Conflict(_NEEDS_JSON, lambda _, output: format_of_name(output) not in ("jsonl", None)),
    },
    help="Add all attention weights to the JSON output.",
)
@reading_options(("test",), skip_bad=True)
@common_options(json_help="The same as --format jsonl.")
def explain(
    words: tuple[str, ...],
    input: tuple[str, ...],
    model: str | None,
    output: str,
    format: str,
    label: str | None,
    top: int | None,
    pairs: int,
    attention_weights: bool,
    reading: ReadOptions,
    common: CommonOptions,
) -> None:
    """Show how much each word of a text contributes to its label, and how much attention the word gets.

    \b
    nlptx explain "The plot is thin, but the acting is wonderful."
    nlptx explain --input reviews.tsv -m model.npz -o reviews.html

    The column "effect" shows the effect of each word: the decrease in the label's probability when the text is scored
    without the word. When the word that is left out is a negation, the words after it count as not negated. The columns
    b1h1, b1h2, ... (block, head) show the fraction of attention that each word gets, averaged over all query words.
    Attention shows which words the network combines; the effect of a word shows how much the word changes the
    probability. A word that the model does not know is read as a known form of it if there is one, as "pleasantly" is
    read as "pleasant"; otherwise, it is marked "unknown", or "unknown when negated". If the model reads only the first
    part of a text, the words after this part are marked "not read".

    The tokenizer replaces some parts of a text by signs: a link, for example, by 🔗. ⇪ stands before words in capitals.

    The second table shows pairs of words that depend on each other, such as "not good". It gives the effect of the
    second word twice: with the first word in the text, and without it. Here, an effect is the decrease in the log-odds
    of the label, ln(p / (1 - p)), when the word is left out. The interaction of a pair is the amount by which the first
    word changes the effect of the second word. Only pairs that contain one of the most important words are measured.

    Without --input, one text is explained: the arguments, or (without arguments, or with -) all of standard input.
    With --input FILE, each text of FILE is explained, in bounded memory. FILE may have any format that nlptx
    predict reads; - is standard input.

    The JSON output has one object per text, with the keys "where" (only with --input), "label", "probability", "tokens"
    (their number), "words" and "pairs"; "label" and "probability" are null if the model knows no word of the text. Each
    item of "words" has the keys "word", "position", "known", "negated", "read_as" (the known form of an unknown word,
    or null), "effect" and "attention" (by block and head); "effect" and "attention" are null if the model did not read
    the word. Each item of "pairs" has the keys "words", "positions", "effect_with", "effect_without" and "interaction".
    The option --attention-weights adds the attention weights of all pairs of words that were read: "attention" (by
    block, head, query word and key word) and "attention_shape".
    """
    text = " ".join(words) if words not in ((), ("-",)) else None
    check_names(*input, model)
    check_not_an_input(output, (*input, model))
    output_format = choose_format(format, common.json, output)
    if attention_weights and output_format != "jsonl":
        name = with_origin(click.get_current_context(), "attention_weights")
        raise click.UsageError(f"{name} needs JSON output; add --json.")
    if input:
        note_unused_options(common.reporter.note, input)
    else:
        _check_no_reading_options("all of standard input is one text" if text is None else "the arguments are the text")
    if text is None and not input:
        text = _standard_input(reading.encoding_errors)
    elif text is not None and os.path.isfile(text):
        command = f"nlptx explain --input {shlex.quote(text)}"
        common.reporter.note(f"{text} is explained as a text; to explain the contents of the file, run {command}")
    from nlptx.classifier.model import Model

    classifier = Model.load(model)
    by_name = dict(zip(classifier.label_names, classifier.labels, strict=True))
    chosen = None if label is None else by_name.get(label, label)
    if chosen is not None:
        _check_label(chosen, classifier)
    work = partial(_explain_text, classifier, label=chosen, top=top, pairs=pairs, attention=attention_weights)
    if text is not None:
        explained = work("", text)
        with open_writer(output, output_format, common.reporter) as writer:
            writer.write(explained)
        return
    with open_writer(output, output_format, common.reporter) as writer:
        _explain_all(work, input, reading, writer, common)


def _check_label(label: Label, model: Model) -> None:
    """Raise SettingsError if the label given on the command line is not a label of the model."""
    from nlptx.classifier.label_types import find_label

    try:
        find_label(label, model.labels)
    except LabelError as error:
        raise SettingsError(error.message) from None


def _explain_text(
    model: Model,
    where: str,
    text: str,
    *,
    label: Label | None,
    top: int | None,
    pairs: int,
    attention: bool,
) -> ExplainedText:
    """Explain one text.

    If no word of the text is known, the result for a text from a file (``where`` is not empty) has no label; for any
    other text, DataError is raised.
    """
    from nlptx.classifier.explain import explain
    from nlptx.classifier.word_pairs import strongest_pairs
    from nlptx.cli.results.explanation_rows import explained_text

    explained = partial(explained_text, model, text, where=where, top=top, attention=attention)
    try:
        explanation = explain(model, text, label, attention=attention)
    except DataError:
        if not where:
            raise
        return explained(None, [])
    return explained(explanation, strongest_pairs(model, explanation, pairs))


def _explain_all(
    work: partial[ExplainedText],
    inputs: tuple[str, ...],
    reading: ReadOptions,
    writer: ExplanationWriter,
    common: CommonOptions,
) -> None:
    """Explain all texts of the inputs, in order and in bounded memory."""
    from nlptx.corpus.corpus import Corpus
    from nlptx.corpus.labelled import documents_with_text
    from nlptx.runtime.prefetch import prefetch
    from nlptx.runtime.workers import Pause, Workers

    corpus = Corpus(inputs, reading, common.reporter.note)
    pairs = ((document.where, document.text) for document in documents_with_text(corpus))

    def explain_group(group: list[tuple[str, str]]) -> list[ExplainedText]:
        return [work(where, text) for where, text in group]

    with Workers(common.jobs, processes=True) as workers, closing(prefetch(pairs, _BATCH)) as groups:
        items: Iterator[tuple[None, list[tuple[str, str]]] | Pause] = (
            group if isinstance(group, Pause) else (None, list(zip(*group, strict=True))) for group in groups
        )
        for _, explained in workers.map_pairs(explain_group, items, isolated=True):
            for one in explained:
                writer.write(one)
    corpus.note_left_out()


def _check_no_reading_options(reason: str) -> None:
    """If an option that applies only to files is on the command line, raise click.UsageError with the given reason."""
    for name in ("input_format", "delimiter", "text_column", "label_column", "split", "skip_bad"):
        if is_on_command_line(name):
            raise click.UsageError(
                f"--{name.replace('_', '-')} has no effect, because {reason}; to explain each text of a file, or of"
                " standard input (-), add --input FILE."
            )


def _standard_input(encoding_errors: str) -> str:
    """Return all of standard input as one text; for the argument, see :class:`ReadOptions`."""
    if sys.stdin is None or sys.stdin.isatty():
        raise click.UsageError("nothing to explain: pass a text, or pipe one in.")
    from nlptx.corpus.content import HEAD, not_text
    from nlptx.corpus.lines import BOM, NOT_UTF8_HINT

    data = sys.stdin.buffer.read()
    if content := not_text(data[:HEAD]):
        raise DataError(f"this is {content.kind}; expected text in UTF-8", where="<stdin>", hint=content.advice)
    try:
        return data.removeprefix(BOM).decode("utf-8", encoding_errors)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise DataError(
            f"byte 0x{data[error.start]:02x} is not UTF-8", where=f"<stdin>:{line}", hint=NOT_UTF8_HINT
        ) from error
