"""``nlptx predict``."""

from __future__ import annotations

import os
import shlex
import sys
from typing import TYPE_CHECKING

import click

from nlptx.cli.options.abstention import Abstention, abstention_options, coverage_note
from nlptx.cli.options.cluster import ClusterOptions, cluster_options
from nlptx.cli.options.command import PATH, command, option
from nlptx.cli.options.inputs import check_names, check_not_an_input, inputs_or_stdin
from nlptx.cli.options.prediction_format import FORMATS, choose_format, format_of_name, format_options
from nlptx.cli.options.reading import reading_options
from nlptx.cli.options.reading_checks import note_unused_options
from nlptx.cli.options.shared import CommonOptions, common_options, model_option
from nlptx.corpus.read_options import ReadOptions
from nlptx.corpus.source import input_format
from nlptx.errors import SettingsError
from nlptx.io.output_path import STDOUT

if TYPE_CHECKING:
    from nlptx.classifier.model import Model
    from nlptx.cli.results.prediction_writer import WriterOptions
    from nlptx.cli.steps.scoring_run import ScoredTexts

# Maximum length of a text that is quoted in a hint, in characters.
_MAX_QUOTED_LENGTH = 60
_PRIOR_AND_MAX_ERROR = (
    "{0} and {1} cannot be used together: --max-error limits the errors only among texts with a known word, but --prior"
    " also labels the other texts. Use --abstain P instead of --max-error."
)


@command()
@click.argument("inputs", nargs=-1, type=PATH, metavar="[INPUT...]")
@model_option
@format_options(
    FORMATS,
    format_of_name,
    "File for the scores; its suffix selects the format.",
    "Format of the scores; auto: chosen by the suffix of the output or, failing that, by the format of the input.",
)
@abstention_options
@option(
    "--prior",
    is_flag=True,
    excludes={"max_error": _PRIOR_AND_MAX_ERROR},
    help="Give a text without a known word the most frequent training label instead of ?.",
)
@option("--details", is_flag=True, help="Add n_tokens, known_words, truncated, surprise and unusual (see above).")
@option(
    "--csv-safe",
    is_flag=True,
    group="Output",
    help="Insert a ' before text that a spreadsheet would run as a formula: text that starts with = + - @, tab or CR.",
)
@reading_options(("test",), skip_bad=True)
@cluster_options
@common_options(json_help="The same as --format jsonl.")
def predict(
    inputs: tuple[str, ...],
    model: str | None,
    output: str,
    format: str,
    prior: bool,
    details: bool,
    csv_safe: bool,
    abstention: Abstention,
    reading: ReadOptions,
    cluster: ClusterOptions,
    common: CommonOptions,
) -> None:
    """Predict the label of each text, with a confidence and, if the labels have an order, a score from -1 to 1.

    \b
    nlptx predict -m model.npz reviews.txt > scores.tsv
    cut -f3 reviews.tsv | nlptx predict | sort -t$'\\t' -k2,2nr | head

    For plain text (one text per line), each output line contains label, score and text. If the labels have no
    order, each output line contains the confidence instead of the score. For a folder or archive (one document per
    file), each output line contains the path instead of the text. For a table, the output is a table in the same format
    (CSV if the input is Parquet), with all columns of the input and the added columns label, confidence, score and
    prob_<label>; if the input already has one of these columns, the added column is called predicted_label, for
    example. The suffix of the output file (.csv, .tsv, .jsonl or .txt) selects its format; a further suffix .gz,
    .bz2 or .xz compresses the output.

    --details adds the columns n_tokens, known_words, truncated, surprise and unusual; in plain text, these five columns
    precede the last column. The surprise measures how rare the words of a text are in the training texts; its unit is
    the standard deviation among texts of the same length. A text is unusual if its surprise exceeds that of 99.5% of
    the training texts, or if the model knows none of its words. An unusual text is probably in another language or
    about another subject. A note is printed if many texts are unusual. For a text without words, surprise and unusual
    are empty.

    Input is scored as it arrives, in bounded memory. A text without a known word gets the label ?, and its
    probabilities are the label frequencies in the training data. With --prior, a text without a known word gets the
    most frequent label, with the frequency of this label as the confidence. With --abstain P, texts with a confidence
    below P get the label ?; their probabilities and scores are unchanged. --max-error E chooses P from the errors on
    the held-out texts of the model, so that, on similar texts, at most a fraction E of the predicted labels is wrong.
    This limit holds at a confidence level of 95%. Every input row has an output row, unless --skip-bad leaves out
    empty texts and rows that cannot be read.

    For a multi-label model (train --label-separator), the labels that reach their thresholds are printed. If no label
    reaches its threshold, the label is written as - in plain text, as an empty cell in a table, and as an empty list in
    JSON (which has null instead of the label ?). With --prior, a text without a known word gets the labels whose
    frequencies reach their thresholds. The confidence of a multi-label model is the probability that exactly the
    predicted labels are correct.
    """
    inputs = inputs_or_stdin(inputs)
    check_names(*inputs, model)
    check_names(output)
    _check_exist(inputs)
    note_unused_options(common.reporter.note, inputs)
    output_format = choose_format(format, common.json, output)
    # If a table is the only input, the output may overwrite it, because the output contains all rows and columns of the
    # table, unless an option leaves out rows or changes cells, or the table is written in another format.
    changes_rows = reading.skip_bad or csv_safe or reading.encoding_errors != "strict"
    same_format = output_format in ("csv", "tsv", "jsonl") and output_format == input_format(inputs[0], reading)
    replaces_itself = len(inputs) == 1 and same_format and not changes_rows
    check_not_an_input(output, (model, *(() if replaces_itself else inputs)))
    from nlptx.classifier.model import Model
    from nlptx.cli.results.prediction_writer import WriterOptions
    from nlptx.runtime.allocator import keep_freed_memory

    keep_freed_memory()
    classifier = Model.load(model)
    threshold = abstention.threshold(classifier, common.reporter.note)
    writing = WriterOptions(details, csv_safe, threshold, prior)
    scored: ScoredTexts | None
    if cluster.address is None:
        scored = _score(inputs, output, output_format, classifier, reading, writing, common)
    else:
        from nlptx.cli.cluster.predict import predict_on_cluster

        scored = predict_on_cluster(cluster, inputs, output, output_format, model, reading, writing, common)
    if scored is None:
        return
    for name, new_name in scored.renamed.items():
        common.reporter.note(f"the input already has a column {name!r}, so the prediction is written to {new_name!r}")
    if left_out := scored.left_out.note():
        common.reporter.note(left_out)
    frequencies = "the label frequencies in the training data"
    labelled = prior and _prior_confidence(classifier) >= threshold
    consequence = (
        f"labelled according to {frequencies}" if labelled else f"labelled ?, with {frequencies} as probabilities"
    )
    for note in scored.known_words.notes(consequence):
        common.reporter.note(note)
    if abstention.is_given:
        common.reporter.note(coverage_note(scored.answered, scored.texts, threshold))


def _prior_confidence(model: Model) -> float:
    """Return the confidence of the label that ``--prior`` gives to a text without a known word."""
    priors = model.priors[None]
    return float(model.decision.confidence(priors, model.decision.choose(priors))[0])


def _score(
    inputs: tuple[str, ...],
    output: str,
    output_format: str,
    model: Model,
    reading: ReadOptions,
    writing: WriterOptions,
    common: CommonOptions,
) -> ScoredTexts:
    """Score the texts on this machine."""
    from nlptx.cli.results.output_file import open_output
    from nlptx.cli.results.prediction_writer import PredictionWriter
    from nlptx.cli.steps.scoring_run import score_corpus
    from nlptx.corpus.corpus import Corpus
    from nlptx.runtime.workers import Workers

    live = output == STDOUT
    with open_output(output) as file, Workers(common.jobs, processes=True) as workers:
        rows = PredictionWriter(file, output_format, model, writing, live=live, terminal=live and sys.stdout.isatty())
        return score_corpus(Corpus(inputs, reading, common.reporter.note), model, rows, workers)


def _check_exist(inputs: tuple[str, ...]) -> None:
    """Raise SettingsError if an input does not exist, with a hint on how to score a text that is not in a file."""
    for name in inputs:
        if name != "-" and not os.path.exists(name):
            text = shlex.quote(name) if " " in name and len(name) <= _MAX_QUOTED_LENGTH else '"I love it"'
            raise SettingsError(
                f"{name}: no such file or folder", hint=f"To score a text, pipe it in: echo {text} | nlptx predict"
            )
