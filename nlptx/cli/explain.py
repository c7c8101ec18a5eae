"""``nlptx explain``."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from nlptx.cli.charts import bar
from nlptx.cli.command import command, option
from nlptx.cli.inputs import check_names
from nlptx.cli.options import Run, model_option, run_options
from nlptx.cli.reporter import print_json
from nlptx.errors import DataError

if TYPE_CHECKING:
    from nlptx.classifier.explain import Explanation
    from nlptx.classifier.model import Model

# Maximum width of a bar, in characters.
_BAR = 12
# Numbers of decimal places of worth and of attention in JSON.
_WORTH_DIGITS, _ATTENTION_DIGITS = 6, 4


@command()
@click.argument("text", required=False)
@model_option
@option("--label", metavar="LABEL", show_default="the predicted one", help="Label to explain.")
@option("--attention", is_flag=True, help="With --json: add the complete attention matrices.")
@run_options(json_help="Print one JSON object.")
def explain(text: str | None, model: str | None, label: str | None, attention: bool, run: Run) -> None:
    """Show how much each word of a text contributes to its label, and how much attention the word gets.

    \b
    nlptx explain "The plot is thin, but the acting is wonderful."
    head -1 reviews.txt | nlptx explain -m model.npz --json

    The worth of a word is the decrease in the label's probability when the text is scored without it. The columns
    b1h1, b1h2, ... (block, head) show the fraction of attention that the word gets, averaged over all query words.
    Attention shows where information can flow; worth shows its effect. Words that the model does not know are marked
    "unknown". Words beyond the part of the text that the model reads are marked "not read".

    --json prints label, probability and words. Each item of words has word, known, worth and attention[block][head];
    the last two are null if the word was not read. --attention adds attention[block][head][query word][key word] for
    the words that were read, and attention_shape.
    """
    check_names(model)
    if attention and not run.json:
        raise click.UsageError("--attention prints matrices as JSON; add --json.")
    if text is None:
        if sys.stdin is None or sys.stdin.isatty():
            raise click.UsageError("nothing to explain: give a text, or pipe one in.")
        text = _decoded(sys.stdin.buffer.read())
    elif os.path.isfile(text):
        run.reporter.note(
            f"note: this explains the name {text}; to explain the contents of the file: nlptx explain < {text}"
        )
    from nlptx.classifier.explain import explain as explain_text
    from nlptx.classifier.model import Model

    classifier = Model.load(model)
    by_name = dict(zip(classifier.label_names, classifier.labels, strict=True))
    explanation = explain_text(classifier, text, None if label is None else by_name.get(label, label))
    chosen = classifier.label_names[explanation.label]
    words = _words(classifier, explanation)
    if run.json:
        report = {
            "label": chosen,
            "probability": float(explanation.probabilities[explanation.label]),
            "words": _as_json(words),
        }
        print_json(report | _matrices(explanation) if attention else report)
    else:
        _draw(f"{chosen}: {explanation.probabilities[explanation.label]:.2%}", words, run)


class _Word(NamedTuple):
    """A word of the text. Worth and attention (by block and head) are None if the model did not read the word."""

    word: str
    known: bool
    worth: float | None = None
    attention: list[list[float]] | None = None


def _words(model: Model, explanation: Explanation) -> list[_Word]:
    """Return all words of the text, including those that the model does not know."""
    words = [_Word(token, token in model.vocabulary.index) for token in explanation.tokens]
    received = [block.mean(axis=1).T.tolist() for block in explanation.attention]  # (T, H) per block
    for row, (position, worth) in enumerate(zip(explanation.positions, explanation.worth.tolist(), strict=True)):
        words[position] = words[position]._replace(worth=worth, attention=[block[row] for block in received])
    return words


def _as_json(words: list[_Word]) -> list[dict[str, Any]]:
    rows = []
    for word in words:
        row = word._asdict()
        if word.worth is not None and word.attention is not None:
            row["worth"] = round(word.worth, _WORTH_DIGITS)
            row["attention"] = [[round(value, _ATTENTION_DIGITS) for value in heads] for heads in word.attention]
        rows.append(row)
    return rows


def _matrices(explanation: Explanation) -> dict[str, Any]:
    """Return the output that --attention adds: the (H, T, T) matrices of each block, and their common shape."""
    matrices = [block.astype(float).round(_ATTENTION_DIGITS).tolist() for block in explanation.attention]
    return {
        "attention_shape": [len(matrices), *(explanation.attention[0].shape if matrices else ())],
        "attention": matrices,
    }


def _decoded(data: bytes) -> str:
    from nlptx.corpus.content import HEAD, not_text

    if found := not_text(data[:HEAD]):
        raise DataError(f"this is {found.kind}, not text", where="<stdin>", hint=found.advice)
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise DataError(f"byte 0x{data[error.start]:02x} is not UTF-8", where=f"<stdin>:{line}") from error


def _draw(title: str, words: list[_Word], run: Run) -> None:
    first = next(word.attention or [] for word in words if word.worth is not None)
    heads = [f"b{b}h{h}" for b, block in enumerate(first, start=1) for h in range(1, len(block) + 1)]
    largest = max(1e-9, *(abs(word.worth or 0) for word in words))
    rows = []
    for word in words:
        if word.worth is None:
            rows.append([word.word, "not read" if word.known else "unknown", *[""] * (1 + len(heads))])
        else:
            received = [f"{value:.3f}" for block in word.attention or [] for value in block]
            rows.append([word.word, f"{word.worth:+.4f}", bar(word.worth / largest, _BAR), *received])
    run.reporter.table(title, ("word", "worth", "", *heads), rows)
