"""``nlptx cooccur``."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import click

from nlptx.cli.command import PATH, command
from nlptx.cli.config import config_option
from nlptx.cli.inputs import check_names, inputs_or_stdin
from nlptx.cli.options import (
    Run,
    memory_options,
    output_option,
    preset_option,
    run_options,
    seed_option,
    settings_options,
)
from nlptx.cli.reading_options import reading_options
from nlptx.cli.stage_facts import count_facts, note_dropped_words
from nlptx.cli.stage_run import StageRun
from nlptx.corpus.document import ReadOptions, non_default_options
from nlptx.settings import CountSettings

SPLITS = ("train", "unsup")


@command()
@click.argument("inputs", nargs=-1, type=PATH, metavar="INPUT...")
@output_option("cooccur.npz", "Where the counts go; - for standard output.")
@config_option
@preset_option
@settings_options(CountSettings)
@seed_option
@memory_options
@reading_options(SPLITS)
@run_options()
def cooccur(
    inputs: tuple[str, ...],
    output: str,
    settings: CountSettings,
    seed: int,
    memory: int,
    tmp_dir: str | None,
    reading: ReadOptions,
    run: Run,
) -> None:
    """Count which words occur near each other.

    \b
    nlptx cooccur reviews/ -o cooccur.npz
    zcat corpus.txt.gz | nlptx cooccur - --window 10 --min-count 20 -o cooccur.npz

    INPUT is a text file (one document per line), a table (.csv, .tsv, .jsonl), a folder (one document per
    .txt file), a .tar.gz of such a folder, or - for standard input. Files may be compressed. The result is a
    sparse word-by-word matrix with its vocabulary; scipy.sparse.load_npz can read the matrix. The counts are
    exact. Counting uses no random numbers, so --seed has no effect.
    """
    inputs = inputs_or_stdin(inputs)
    check_names(*inputs)
    stage = StageRun(run, output, inputs)
    run.reporter.detail(f"settings: {settings.to_dict()}")
    from nlptx.artifacts import container
    from nlptx.cooccurrence.count import count_corpus
    from nlptx.corpus.corpus import Corpus
    from nlptx.io.spill import MemoryBudget
    from nlptx.runtime.allocator import keep_freed_memory
    from nlptx.runtime.workers import Workers

    keep_freed_memory()
    corpus = Corpus(inputs, reading, run.reporter.note)
    with MemoryBudget(memory, tmp_dir) as space:
        with run.reporter.meter("reading") as meter, Workers(run.jobs, processes=True) as workers:

            def blocks() -> Iterator[bytes]:
                for block in corpus.blocks():
                    yield block
                    meter(None, f"{corpus.documents:,} documents")

            counts = count_corpus(blocks(), settings, space, workers)
        details = {**counts.details, "documents": corpus.documents, "sha256": corpus.sha256}
        details["reading"] = non_default_options(reading, SPLITS)
        note_dropped_words(details, run.reporter.note)
        container.write(output, dataclasses.replace(counts, details=details).to_artifact())
        stage.finish("counts", count_facts(details, len(counts.vocabulary), len(counts.matrix.columns)))
