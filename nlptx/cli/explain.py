"""``nlptx explain``."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from nlptx.cli.charts import bar
from nlptx.cli.inputs import check_names
from nlptx.cli.options import Run, run_options
from nlptx.cli.predict import model_option
from nlptx.cli.reporter import print_json
from nlptx.errors import DataError

if TYPE_CHECKING:
    from nlptx.classifier.explain import Explanation

_BAR = 12


@click.command()
@click.argument("text", required=False)
@model_option
@click.option("--label", metavar="LABEL", help="Explain this label, not the predicted one.")
@run_options(json_help="Print one JSON object, with the whole attention matrices.")
def explain(text: str | None, model: str | None, label: str | None, run: Run) -> None:
    """Show what each word of a text is worth to its label, beside what the attention heads look at.

    \b
    nlptx explain -m model.npz "The plot is thin, but the acting is wonderful."
    head -1 reviews.txt | nlptx explain -m model.npz --json

    The worth of a word is how much the label's probability falls when the text is scored without it. The
    columns b1h1, b1h2, ... (block, head) show the share of attention the word gets, averaged over the words
    that look. Attention shows where information can flow, worth what came of it.
    """
    check_names(model)
    if text is None:
        if sys.stdin is None or sys.stdin.isatty():
            raise click.UsageError("nothing to explain: give a text, or pipe one in.")
        text = _decoded(sys.stdin.buffer.read())
    from nlptx.classifier.explain import explain as look_inside
    from nlptx.classifier.model import Model

    classifier = Model.load(model)
    by_name = dict(zip(classifier.label_names, classifier.labels, strict=True))
    seen = look_inside(classifier, text, None if label is None else by_name.get(label, label))
    if run.json:
        print_json(
            {
                "label": classifier.label_names[seen.label],
                "probability": float(seen.probabilities[seen.label]),
                "words": seen.words,
                "worth": seen.worth.round(6).tolist(),
                "attention": [block.round(6).tolist() for block in seen.attention],
            }
        )
        return
    _draw(classifier.label_names[seen.label], seen, run)


def _decoded(data: bytes) -> str:
    from nlptx.corpus.content import HEAD, not_text

    if found := not_text(data[:HEAD]):
        raise DataError(f"this is {found.kind}, not text", where="<stdin>", hint=found.advice)
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise DataError(f"byte 0x{data[error.start]:02x} is not UTF-8", where=f"<stdin>:{line}") from error


def _draw(label: str, seen: Explanation, run: Run) -> None:
    heads = [(f"b{b}h{h}", weights.mean(axis=0)) for b, block in enumerate(seen.attention, start=1)
             for h, weights in enumerate(block, start=1)]  # fmt: skip
    largest = max(abs(seen.worth).max(), 1e-9)
    rows = [
        (
            word,
            f"{worth:+.4f}",
            bar(worth / largest, _BAR),
            *(f"{received[place]:.3f}" for _, received in heads),
        )
        for place, (word, worth) in enumerate(zip(seen.words, seen.worth.tolist(), strict=True))
    ]
    title = f"{label}: {seen.probabilities[seen.label]:.2%}"
    run.talk.table(title, ("word", "worth", "", *(name for name, _ in heads)), rows)
