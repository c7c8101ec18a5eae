"""``nlptx train``."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING, Any

import click

from nlptx.cli import INTERRUPTED, inputs_or_stdin, one_standard_input
from nlptx.cli.console import Meter
from nlptx.cli.options import (
    Run,
    output_option,
    preset_option,
    reading_options,
    run_options,
    seed_option,
    settings_options,
    special_reading,
)
from nlptx.cli.stage import Stage
from nlptx.corpus.document import ReadOptions
from nlptx.settings import TrainSettings

if TYPE_CHECKING:
    from nlptx.training import Progress

SPLITS = ("train",)


@click.command(short_help="Fit a transformer on labelled text.")
@click.argument("data", nargs=-1, metavar="DATA...")
@click.option(
    "-e",
    "--embeddings",
    required=True,
    metavar="FILE",
    help="Word vectors: the output of nlptx pca, word2vec text (*.txt, *.vec), or - for standard input.",
)
@click.option("--valid", multiple=True, metavar="FILE", help="Validate on this file, not on a part of DATA.")
@output_option("model.npz", "Where the model goes; - for standard output.")
@preset_option
@settings_options(TrainSettings)
@seed_option
@reading_options(SPLITS)
@run_options()
def train(
    data: tuple[str, ...],
    embeddings: str,
    valid: tuple[str, ...],
    output: str,
    settings: TrainSettings,
    seed: int,
    reading: ReadOptions,
    run: Run,
) -> None:
    """Fit an encoder transformer on labelled text, starting from word vectors.

    \b
    nlptx train labelled.tsv -e embeddings.npz -o model.npz
    nlptx train aclImdb.tar.gz -e embeddings.npz --blocks 2 --epochs 3 --lr 5e-4 -o model.npz

    DATA is a table with the columns text and label, or a folder or archive with a sub-folder per label.
    Training stops early when held-out texts no longer gain, and keeps the best weights; Ctrl-C keeps the
    best so far.
    """
    data = inputs_or_stdin(data)
    one_standard_input(*data, embeddings, *valid)
    stage = Stage(run, output)
    run.talk.detail(f"settings: {settings.to_dict()}")
    from nlptx.corpus import Corpus
    from nlptx.embeddings import load_embeddings
    from nlptx.training import fit

    vectors = load_embeddings(embeddings)
    corpus = Corpus(data, reading)
    texts, labels = _columns(corpus)
    source: dict[str, Any] = {"documents": corpus.documents, "sha256": corpus.sha256}
    source["reading"] = special_reading(reading, SPLITS)
    held_out = None
    if valid:
        valid_corpus = Corpus(valid, reading)
        held_out = _columns(valid_corpus)
        source["valid_documents"], source["valid_sha256"] = valid_corpus.documents, valid_corpus.sha256
    with run.talk.meter("training") as meter, _interrupt() as stop:
        model = fit(
            texts,
            labels,
            vectors,
            settings,
            valid=held_out,
            seed=seed,
            jobs=run.jobs,
            on_progress=lambda progress: show(progress, meter),
            stop=stop,
        )
    model.source = source
    best = model.history["best_epoch"]
    if not best:
        raise KeyboardInterrupt
    model.save(output)
    chosen = model.history["epochs"][best - 1]
    stage.finish(
        "model",
        {
            "texts": len(texts),
            "labels": ", ".join(model.labels),
            "words": len(model.vocabulary),
            "parameters": model.parameters,
            "steps": model.history["steps"],
            "best_epoch": best,
            **{name: chosen[name] for name in ("loss", "accuracy", "valid_loss", "valid_accuracy") if name in chosen},
        },
    )
    if model.history["interrupted"]:
        run.talk.note(
            f"interrupted in epoch {len(model.history['epochs'])}: {output} holds the best model so far (epoch {best})"
        )
        sys.exit(INTERRUPTED)


def _columns(corpus: Any) -> tuple[list[str], list[str]]:
    from nlptx.corpus import labelled

    texts, labels = [], []
    for document in labelled(corpus, corpus.options.label_column):
        texts.append(document.text)
        labels.append(document.label or "")
    return texts, labels


def show(progress: Progress, meter: Meter) -> None:
    """Write one state of the training into the meter."""
    parts = [
        f"epoch {progress.epoch}/{progress.epochs}",
        f"step {progress.step}/{progress.steps}",
        f"loss {progress.loss:.4f}",
    ]
    if progress.valid_accuracy is not None:
        parts.append(f"valid {progress.valid_accuracy:.2%}")
    if progress.tokens_per_second:
        parts.append(f"{progress.tokens_per_second:,.0f} tokens/s")
    if progress.epoch_done:
        parts.append("best so far" if progress.improved else "no better")
    elif progress.seconds_left:
        parts.append(f"{_duration(progress.seconds_left)} left")
    if progress.phase == "pretrain":
        parts.insert(0, "pre-training")
    meter(progress.step / progress.steps, "  ".join(parts), keep=progress.epoch_done)


def _duration(seconds: float) -> str:
    minutes, seconds = divmod(round(seconds), 60)
    return f"{minutes}:{seconds:02d}"


@contextmanager
def _interrupt() -> Iterator[Callable[[], bool]]:
    """Turn the first Ctrl-C into a wish to stop; a second one stops at once."""
    wished = False

    def note(number: int, frame: FrameType | None) -> None:
        nonlocal wished
        if wished:
            raise KeyboardInterrupt
        wished = True

    before = signal.signal(signal.SIGINT, note)
    try:
        yield lambda: wished
    finally:
        signal.signal(signal.SIGINT, before)
