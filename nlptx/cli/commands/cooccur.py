"""``nlptx cooccur``."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

import click

from nlptx.cli.options.cluster import ClusterOptions, cluster_options
from nlptx.cli.options.command import PATH, command, option
from nlptx.cli.options.config import config_option
from nlptx.cli.options.inputs import check_names, inputs_or_stdin
from nlptx.cli.options.precedence import is_default
from nlptx.cli.options.reading import reading_options
from nlptx.cli.options.reading_checks import note_repeated_inputs, note_unused_options
from nlptx.cli.options.shared import (
    CommonOptions,
    common_options,
    memory_options,
    preset_option,
    seed_option,
    settings_options,
)
from nlptx.cli.results.stage_facts import count_facts, note_dropped_words, part_facts
from nlptx.cli.steps.stage_run import StageRun, artifact_option
from nlptx.corpus.read_options import ReadOptions, non_default_options
from nlptx.corpus.training_data import TRAINING_SPLITS
from nlptx.settings import CountSettings


@command()
@click.argument("inputs", nargs=-1, type=PATH, metavar="INPUT...")
@artifact_option("cooccur.npz", "File for the counts; - for standard output.")
@config_option
@preset_option
@settings_options(CountSettings)
@seed_option
@option(
    "--shard",
    metavar="I/N",
    excludes={"cluster": "{} and {} both divide the input; use only one of them."},
    help="Count only the I-th of N parts of the input; nlptx merge adds up the counts.",
)
@option(
    "--vocabulary",
    type=PATH,
    metavar="FILE",
    help="With --shard, count only the words in this file, made by nlptx merge --words-only.",
)
@memory_options
@reading_options(TRAINING_SPLITS)
@cluster_options
@common_options()
def cooccur(
    inputs: tuple[str, ...],
    output: str,
    settings: CountSettings,
    seed: int,
    shard: str | None,
    vocabulary: str | None,
    memory: int,
    tmp_dir: str | None,
    reading: ReadOptions,
    cluster: ClusterOptions,
    common: CommonOptions,
) -> None:
    """Count which words occur near each other.

    \b
    nlptx cooccur reviews/ -o cooccur.npz
    zcat corpus.txt.gz | nlptx cooccur - --window 10 --min-count 20 -o cooccur.npz

    INPUT is a text file (one document per line), a table (.csv, .tsv, .jsonl, .parquet), a folder (one document per
    .txt file), a .tar or .tar.gz of such a folder, or - for standard input. Text files and tables, except .parquet, may
    be compressed. The result is a sparse word-by-word matrix with its vocabulary; scipy.sparse.load_npz can read the
    matrix. The counts are exact, unless a note says that rare words were dropped to save memory. Counting uses no
    random numbers, so --seed has no effect.

    With --shard I/N, only one part of the input is counted. The default output of cooccur --shard is part-I.npz, and
    nlptx merge adds up the counts of all parts; see nlptx merge --help.
    """
    inputs = inputs_or_stdin(inputs)
    check_names(*inputs, vocabulary)
    note_unused_options(common.reporter.note, inputs)
    note_repeated_inputs(common.reporter.note, inputs)
    if vocabulary is not None and shard is None:
        raise click.UsageError("--vocabulary needs --shard I/N.")
    part = None
    if shard is not None:
        from nlptx.corpus.shard import Shard

        part = Shard.parse(shard)
        output = f"part-{part.number}.npz" if is_default("output") else output
    stage = StageRun(common, output, (*inputs, vocabulary))
    common.reporter.detail(f"settings: {settings.to_dict()}")
    if cluster.address is not None:
        from nlptx.cli.cluster.cooccur import count_on_cluster

        count_on_cluster(stage, cluster, inputs, settings, reading, TRAINING_SPLITS, memory, tmp_dir)
        return
    from nlptx.artifacts import container
    from nlptx.cooccurrence.count import count_corpus
    from nlptx.cooccurrence.count_shard import count_shard, read_word_list
    from nlptx.corpus.corpus import Corpus
    from nlptx.io.memory_budget import MemoryBudget
    from nlptx.runtime.allocator import keep_freed_memory
    from nlptx.runtime.workers import Workers

    keep_freed_memory()
    corpus = Corpus(inputs, reading, common.reporter.note)
    with MemoryBudget(memory, tmp_dir) as budget:
        with common.reporter.meter("reading") as meter, Workers(common.jobs, processes=True) as workers:

            def blocks() -> Iterator[bytes]:
                for block in corpus.blocks():
                    yield block
                    meter(None, f"{corpus.documents:,} documents")

            def about_corpus() -> dict[str, Any]:
                read = non_default_options(reading, TRAINING_SPLITS)
                return {"documents": corpus.documents, "sha256": corpus.sha256, "reading": read}

            if part is not None:
                words = None if vocabulary is None else read_word_list(vocabulary, settings)
                artifact = count_shard(blocks(), part, words, settings, about_corpus, budget, workers)
                container.write(output, artifact)
                stage.finish(f"part with {artifact.kind}", part_facts(artifact))
                return
            counts = count_corpus(blocks(), settings, budget, workers)
        details = counts.details | about_corpus()
        note_dropped_words(details, common.reporter.note)
        container.write(output, dataclasses.replace(counts, details=details).to_artifact())
        stage.finish("counts", count_facts(details, len(counts.vocabulary), len(counts.matrix.columns)))
