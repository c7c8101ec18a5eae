"""``nlptx info``."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

import click

from nlptx.cli.options.abstention import attainable_errors
from nlptx.cli.options.command import PATH, command, option
from nlptx.cli.options.inputs import check_names
from nlptx.cli.options.shared import BUNDLED, CommonOptions, common_options
from nlptx.cli.terminal.charts import curve
from nlptx.cli.terminal.reporter import print_json
from nlptx.cli.terminal.shown_names import shown_name, with_shown_names
from nlptx.settings import AUTOMATIC
from nlptx.training.history import best_measures, has_epochs, loss_curve, reason_for_best

if TYPE_CHECKING:
    from nlptx.artifacts.artifact import Artifact

# Model card entries that are shown first.
_FIRST = ("purpose", "accuracy", "labels")
# Maximum number of labels that are listed in the description of a model's purpose.
_NAMED = 6
# Maximum number of labels whose thresholds are shown.
_MAX_THRESHOLDS = 20


@command()
@click.argument("artifact", required=False, type=PATH, metavar="[ARTIFACT]")
@option(
    "--plot",
    type=PATH,
    metavar="FILE",
    help="Draw the loss curve of a model, or a map of word vectors, as .png, .svg or .pdf (needs nlptx[plot]).",
)
@common_options(json_help="Print one JSON object.")
def info(artifact: str | None, plot: str | None, common: CommonOptions) -> None:
    """Describe a file that nlptx wrote: its settings, its contents, and the commands that reproduce it.

    \b
    nlptx info
    nlptx info model.npz
    nlptx info embeddings.npz --plot map.png

    If no ARTIFACT is given, the bundled model is described. For a model, the output includes its purpose, accuracy,
    labels and training loss curve, and its model card if it has one. The corpus is identified by the SHA-256 of its
    texts and their labels, if any. If the corpus was a UTF-8 text file without a byte order mark whose lines all end in
    a line feed without a carriage return, sha256sum FILE prints the digest that nlptx info shows.

    In the commands that nlptx info prints, words in capitals and vectors.txt stand for your files. The options
    --input-format and --delimiter are not recorded, because they depend on how a file stores its texts; add these
    options to the commands if your files need them.
    """
    from nlptx.artifacts import container, provenance
    from nlptx.classifier.model import Model
    from nlptx.classifier.model_file import bundled_path
    from nlptx.embeddings.word2vec_format import is_text_file

    check_names(artifact)
    if artifact is not None and is_text_file(artifact):
        raise click.UsageError(f"{artifact}: a text file of word vectors holds no settings; expected an .npz file.")
    artifact = bundled_path() if artifact in (None, BUNDLED) else artifact
    loaded = container.read(artifact)
    sizes = {name: list(array.shape) for name, array in sorted(loaded.arrays.items()) if array.ndim}
    headers, commands = container.build(loaded, provenance.trace, artifact)
    if loaded.kind == "model":
        history = container.build(loaded, Model.from_artifact, artifact).history
        if plot is not None and not history:
            raise click.UsageError("this model contains no training history, so there is nothing to draw.")
        if plot is not None and not has_epochs(history):
            raise click.UsageError("no network was trained for this model, so there is no loss curve to draw.")
        if plot is not None:
            from nlptx.plots import plot_history

            plot_history(history, plot)
    elif loaded.kind == "embeddings" and plot is not None:
        from nlptx.embeddings.embeddings import Embeddings
        from nlptx.plots import plot_words

        plot_words(container.build(loaded, Embeddings.from_artifact, artifact), plot)
    elif plot is not None:
        raise click.UsageError(
            "--plot draws the loss curve of a model or a map of word vectors; this artifact contains neither."
        )
    if common.json:
        print_json({**loaded.header, "details": _details_as_json(loaded), "sizes": sizes, "commands": commands})
        return
    _draw(artifact, loaded, sizes, headers, commands, common)


def _draw(
    path: str,
    artifact: Artifact,
    sizes: dict[str, list[int]],
    headers: list[dict[str, Any]],
    commands: list[str],
    common: CommonOptions,
) -> None:
    from nlptx.classifier.abstention import ErrorCurve

    reporter = common.reporter
    plain = {name: value for name, value in artifact.details.items() if not isinstance(value, list | dict | None)}
    words = [("words", sizes["word_counts"][0])] if "word_counts" in sizes else []
    facts = [("kind", artifact.kind), *words, *plain.items(), ("seed", str(artifact.seed))]
    facts.append(("written by", f"nlptx {artifact.version}"))
    if artifact.kind == "model":
        card = {name: value for name, value in artifact.details["card"].items() if name not in _FIRST}
        reporter.facts(path, [*_rows(_purpose(artifact.details)), *facts])
        for title, entries in (
            ("card", card),
            ("region filters", _fusion_weights(artifact) | with_shown_names(_history_entry(artifact, "regions"))),
            ("subword model", with_shown_names(_history_entry(artifact, "subwords"))),
            ("calibration", with_shown_names(_calibration(artifact))),
        ):
            if entries:
                reporter.facts(title, _rows(entries))
        if 0 < len(artifact.details.get("thresholds", ())) <= _MAX_THRESHOLDS:
            chosen = zip(artifact.details["labels"], artifact.details["thresholds"], strict=True)
            reporter.facts("threshold of each label", ((label, f"{value:.4f}") for label, value in chosen))
        if "held_out" in artifact.details:
            held_out = ErrorCurve.from_dict(artifact.details["held_out"])
            reporter.facts(
                f"error rates attainable with predict --max-error (95% confidence, {held_out.texts:,} held-out texts)",
                attainable_errors(held_out),
            )
    else:
        reporter.facts(path, facts)
    reporter.facts("settings", ((name, _setting(value)) for name, value in artifact.settings.items()))
    if artifact.kind == "model" and artifact.details["history"]:
        _draw_history(artifact.details["history"], common)
    reporter.facts("made by", ((str(number), text) for number, text in enumerate(commands, start=1)))
    digests = []
    for header in headers:
        details = header["details"] if header["kind"] != "model" else header["details"].get("source", {})
        digests += [
            (f"{header['kind']} {name.removesuffix('_sha256').removesuffix('sha256') or 'data'}", value)
            for name, value in details.items()
            if name.endswith("sha256")
        ]
    if digests:
        reporter.facts("SHA-256 of the inputs", digests)
    reporter.facts("arrays", ((name, " x ".join(map(str, shape))) for name, shape in sizes.items() if name != "words"))


def _purpose(details: dict[str, Any]) -> dict[str, Any]:
    """Return the purpose, accuracy and labels of a model.

    An entry that is not in the model card is derived from the labels and the training history.
    """
    labels = [str(label) for label in details["labels"]]
    several = f"{', '.join(labels[:-1])} and {labels[-1]}" if len(labels) <= _NAMED else f"{len(labels):,} labels"
    sets = "label_separator" in details
    entries = {
        "purpose": f"Find out which of {several} apply." if sets else f"Distinguish {several}.",
        "accuracy": "Not measured: no texts were held out.",
        "labels": ", ".join(labels),
    }
    history = details["history"]
    measures = best_measures(history)
    if "valid_accuracy" in measures:
        texts = history.get("valid_texts")
        held_out = f"{texts:,} held-out texts" if type(texts) is int else "held-out texts"
        all_labels = " have exactly the predicted labels" if sets else ""
        source = details.get("source", {})
        # The accuracy on the texts of --valid is never weighted, because these texts have no weights.
        weighted = " (weighted)" if "weights_sha256" in source and "valid_sha256" not in source else ""
        entries["accuracy"] = f"{measures['valid_accuracy']:.2%} of {held_out}{all_labels}{weighted}"
    return {name: details["card"].get(name, value) for name, value in entries.items()}


def _history_entry(artifact: Artifact, name: str) -> dict[str, Any]:
    """Return the results of one part of training, such as "calibration", from the training history."""
    entries = artifact.details["history"].get(name, {})
    return entries if isinstance(entries, dict) else {}


def _details_as_json(artifact: Artifact) -> dict[str, Any]:
    """Return the details of an artifact. For a model without a trained network, the best epoch is left out."""
    if artifact.kind != "model" or has_epochs(artifact.details["history"]):
        return artifact.details
    history = {name: value for name, value in artifact.details["history"].items() if name != "best_epoch"}
    if calibration := _calibration(artifact):
        history["calibration"] = calibration
    return {**artifact.details, "history": history}


def _calibration(artifact: Artifact) -> dict[str, Any]:
    """Return the results of the calibration. If no network was trained, the text ``measured_on`` mentions no epoch."""
    entries = _history_entry(artifact, "calibration")
    if "measured_on" in entries and not has_epochs(artifact.details["history"]):
        entries = {**entries, "measured_on": str(entries["measured_on"]).replace("the epoch and ", "")}
    return entries


def _fusion_weights(artifact: Artifact) -> dict[str, str]:
    """Return the weights of the network and of the region filters in the weighted sum of their outputs."""
    names = ("weight_of_the_network", "weight_of_the_filters")
    return {
        name: f"{weight:.4f}" for name, weight in zip(names, artifact.details.get("region_fusion", ()), strict=False)
    }


def _rows(entries: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the lines of a card as (name, value). If an entry takes several lines, only the first one has a name."""
    for name, value in entries.items():
        if isinstance(value, dict):
            lines = [f"{part}: {fact}" for part, fact in value.items()]
        else:
            lines = list(map(str, value)) if isinstance(value, list) else [str(value)]
        yield from zip_longest([name.replace("_", " ")], lines, fillvalue="")


def _setting(value: Any) -> str:
    return "automatic" if value == AUTOMATIC and type(value) is int else str(value)


def _draw_history(history: dict[str, Any], common: CommonOptions) -> None:
    for warning in history.get("warnings", []):
        common.reporter.facts("warning", [("", warning)])
    measures = ("valid_loss", "valid_accuracy", "loss", "accuracy")
    if not has_epochs(history):
        best = best_measures(history)
        shown = [name for name in measures if name in best]
        if shown:
            common.reporter.table("results", list(map(shown_name, shown)), [[best[name] for name in shown]])
        return
    kept = f"kept: {reason_for_best(history)}"
    rows = [
        (
            epoch["epoch"],
            *(epoch.get(name, "") for name in measures),
            kept if epoch["epoch"] == history["best_epoch"] else "",
        )
        for epoch in history["epochs"]
    ]
    header = ("epoch", *map(shown_name, measures), "")
    common.reporter.table("training", header, rows)
    if history["curve"]:
        common.reporter.lines("training loss over steps", curve(loss_curve(history), common.reporter.width))
