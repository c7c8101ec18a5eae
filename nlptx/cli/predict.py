"""``nlptx predict``."""

from __future__ import annotations

import click

from nlptx.cli.inputs import check_names, inputs_or_stdin
from nlptx.cli.options import Function, Run, output_option, reading_options, run_options
from nlptx.corpus.document import ReadOptions


def model_option(function: Function) -> Function:
    """Add ``-m/--model``."""
    text = "The model: the output of nlptx train.  [default: one of film reviews that comes with nlptx]"
    return click.option("-m", "--model", metavar="FILE", help=text)(function)


@click.command()
@click.argument("inputs", nargs=-1, metavar="[INPUT...]")
@model_option
@output_option("-", "Where the scores go; - for standard output.")
@click.option("--format", type=click.Choice(["auto", "text", "csv", "tsv", "jsonl"]), default="auto",
              show_default=True, help="Format of the scores; auto is that of the input.")  # fmt: skip
@click.option("--details", is_flag=True, help="Tables: also n_tokens, known_words, and whether the text was truncated.")
@click.option(
    "--csv-safe",
    is_flag=True,
    help="CSV and TSV: a ' before text that a spreadsheet would run (at the start: = + - @ tab CR).",
)
@reading_options(("test",))
@run_options(json_help="The same as --format jsonl.")
def predict(
    inputs: tuple[str, ...],
    model: str | None,
    output: str,
    format: str,
    details: bool,
    csv_safe: bool,
    reading: ReadOptions,
    run: Run,
) -> None:
    """Score text: a label, how sure the model is, and a score from -1 to 1 where labels have an order.

    \b
    nlptx predict -m model.npz reviews.txt > scores.tsv
    cut -f3 reviews.tsv | nlptx predict | sort -t$'\\t' -k2,2nr | head

    A text a line gives lines of label, score and text (confidence in place of score for labels without an
    order). Tables keep their format and columns and gain label, confidence, score and prob_<label>. Input
    is scored as it arrives, in bounded memory. Texts without a known word get the label ? and, as their
    probabilities, the share of each label in the training data.
    """
    inputs = inputs_or_stdin(inputs)
    check_names(*inputs, model)
    from nlptx.classifier.model import Model
    from nlptx.classifier.scoring import score
    from nlptx.cli.known_words import KnownWords
    from nlptx.cli.prediction_writer import open_writer
    from nlptx.corpus.corpus import Corpus
    from nlptx.runtime.allocator import keep_freed_memory
    from nlptx.runtime.workers import Workers

    keep_freed_memory()
    classifier = Model.load(model)
    corpus = Corpus(inputs, reading, run.talk.note)
    pairs = ((document, document.text) for document in corpus)
    known_words = KnownWords()
    layout = "jsonl" if run.json else format
    with (
        open_writer(output, layout, classifier, details=details, guard=csv_safe) as rows,
        Workers(run.jobs, processes=True) as workers,
    ):
        for batch in score(classifier, pairs, workers):
            for document, scored in batch:
                known_words.add(document.where, scored)
                rows.write(document, scored)
            rows.flush()
        if not corpus.documents and corpus.source is not None:
            rows.write_header(corpus.source)
    for name, free in rows.renamed.items():
        run.talk.note(f"note: the input has a column {name!r}; the prediction is in {free!r}")
    for note in known_words.notes("labelled ?, with the share of each label in the training data"):
        run.talk.note(note)
