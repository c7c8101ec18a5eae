"""``nlptx info``."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

import click

from nlptx.cli.charts import curve
from nlptx.cli.inputs import check_names
from nlptx.cli.options import Run, run_options
from nlptx.cli.reporter import print_json
from nlptx.training.history import loss_curve, reason_for_best

if TYPE_CHECKING:
    from nlptx.artifacts.container import Artifact


@click.command()
@click.argument("artifact", required=False, metavar="[ARTIFACT]")
@click.option(
    "--plot",
    metavar="FILE",
    help="Draw the loss curve of a model, or a map of word vectors, into a .png, .svg or .pdf (needs the plot extra).",
)
@run_options(json_help="Print one JSON object.")
def info(artifact: str | None, plot: str | None, run: Run) -> None:
    """Describe an artifact: sizes, settings, and the commands that make it again from the corpus.

    \b
    nlptx info
    nlptx info model.npz
    nlptx info embeddings.npz --plot map.png

    Without ARTIFACT it describes the model that comes with nlptx. For a model it shows the card, if it has one, and
    draws the loss curve of the training. The corpus is named by the SHA-256 of its texts;
    for a text file in UTF-8 whose lines all end in a line feed, that is what sha256sum prints.
    """
    from nlptx.artifacts import container, provenance
    from nlptx.classifier.model import Model, bundled_path

    check_names(artifact)
    artifact = bundled_path() if artifact is None else artifact
    found = container.read(artifact)
    sizes = {name: list(array.shape) for name, array in sorted(found.arrays.items()) if array.ndim}
    headers, commands = container.build(found, provenance.trace, artifact)
    if found.kind == "model":
        history = container.build(found, Model.from_artifact, artifact).history
        if plot is not None and not history:
            raise click.UsageError("this model has no history to draw.")
        if plot is not None:
            from nlptx.plots import plot_history

            plot_history(history, plot)
    elif found.kind == "embeddings" and plot is not None:
        from nlptx.embeddings.embeddings import Embeddings
        from nlptx.plots import plot_words

        plot_words(container.build(found, Embeddings.from_artifact, artifact), plot)
    elif plot is not None:
        raise click.UsageError(
            "--plot draws the training of a model or a map of word vectors; this artifact has neither."
        )
    if run.json:
        print_json({**found.header, "sizes": sizes, "commands": commands})
        return
    _draw(artifact, found, sizes, headers, commands, run)


def _draw(
    path: str,
    found: Artifact,
    sizes: dict[str, list[int]],
    headers: list[dict[str, Any]],
    commands: list[str],
    run: Run,
) -> None:
    talk = run.talk
    plain = {name: value for name, value in found.details.items() if not isinstance(value, list | dict)}
    facts = [("kind", found.kind), ("written by", f"nlptx {found.version}"), ("seed", str(found.seed)), *plain.items()]
    if found.kind == "model":
        facts.append(("labels", ", ".join(found.details["labels"])))
    facts += [(name, " x ".join(map(str, shape))) for name, shape in sizes.items() if name != "words"]
    talk.facts(path, facts)
    if found.kind == "model":
        for title, told in (("card", found.details["card"]), ("calibration", _calibration(found))):
            if told:
                talk.facts(title, _rows(told))
    talk.facts("settings", ((name, str(value)) for name, value in found.settings.items()))
    if found.kind == "model" and found.details["history"]:
        _draw_history(found.details["history"], run)
    talk.facts("made by", ((str(number), text) for number, text in enumerate(commands, start=1)))
    digests = []
    for header in headers:
        details = header["details"] if header["kind"] != "model" else header["details"].get("source", {})
        digests += [
            (f"{header['kind']} {name.removesuffix('_sha256').removesuffix('sha256') or 'data'}", value)
            for name, value in details.items()
            if name.endswith("sha256")
        ]
    if digests:
        talk.facts("from texts with SHA-256", digests)


def _calibration(found: Artifact) -> dict[str, Any]:
    """Return what the training recorded of it."""
    told = found.details["history"].get("calibration", {})
    return told if isinstance(told, dict) else {}


def _rows(told: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield a card's facts, one line each; what belongs to a name stands below it."""
    for name, value in told.items():
        if isinstance(value, dict):
            lines = [f"{part}: {fact}" for part, fact in value.items()]
        else:
            lines = list(map(str, value)) if isinstance(value, list) else [str(value)]
        yield from zip_longest([name.replace("_", " ")], lines, fillvalue="")


def _draw_history(history: dict[str, Any], run: Run) -> None:
    for warning in history.get("warnings", []):
        run.talk.facts("warning", [("", warning)])
    measures = ("valid_loss", "valid_accuracy", "loss", "accuracy")
    kept = f"kept: {reason_for_best(history)}"
    rows = [
        (
            epoch["epoch"],
            *(epoch.get(name, "") for name in measures),
            kept if epoch["epoch"] == history["best_epoch"] else "",
        )
        for epoch in history["epochs"]
    ]
    header = ("epoch", *(name.replace("_", " ") for name in measures), "")
    run.talk.table("training", header, rows)
    if history["curve"]:
        run.talk.drawing("training loss over steps", curve(loss_curve(history)))
