"""``nlptx merge``."""

from __future__ import annotations

import click

from nlptx.cli.options.command import PATH, command, option
from nlptx.cli.options.inputs import check_names
from nlptx.cli.options.precedence import is_default
from nlptx.cli.options.shared import CommonOptions, common_options, memory_options
from nlptx.cli.results.stage_facts import count_facts
from nlptx.cli.steps.stage_run import StageRun, artifact_option


@command()
@click.argument("parts", nargs=-1, type=PATH, metavar="PART...", required=True)
@artifact_option("cooccur.npz", "File for the counts; - for standard output.")
@option("--words-only", is_flag=True, help="Write only the word list of all parts, for nlptx cooccur --vocabulary.")
@memory_options
@common_options()
def merge(
    parts: tuple[str, ...], output: str, words_only: bool, memory: int, tmp_dir: str | None, common: CommonOptions
) -> None:
    """Compute the counts of a whole corpus from the parts that nlptx cooccur --shard made.

    \b
    nlptx merge part-*.npz -o cooccur.npz
    nlptx merge part-*.npz --words-only -o words.npz

    The merged file has the same bytes as the output of nlptx cooccur without --shard, whatever the number and order of
    the parts. With --shard and merge, a corpus can be counted on any number of machines, with any batch system. For
    example, this shell command makes eight parts: seq 8 | xargs -P8 -I{} nlptx cooccur reviews/ --shard {}/8 -o
    part-{}.npz

    Parts made without --vocabulary contain only the words of the documents, and nlptx merge counts the pairs of words.
    For a very large corpus, the pairs can be counted in parts too: make a word list with --words-only, make each part
    again with nlptx cooccur --shard I/N --vocabulary WORDS, and merge the new parts without --words-only.
    """
    check_names(*parts)
    if words_only and is_default("output"):
        output = "words.npz"
    stage = StageRun(common, output, parts)
    from nlptx.artifacts import container
    from nlptx.cooccurrence.merge_parts import merge_parts, merge_words
    from nlptx.io.memory_budget import MemoryBudget
    from nlptx.runtime.allocator import keep_freed_memory
    from nlptx.runtime.workers import Workers

    keep_freed_memory()
    with MemoryBudget(memory, tmp_dir) as budget:
        with common.reporter.meter("merging") as meter, Workers(common.jobs, processes=True) as workers:

            def show(number: int) -> None:
                meter(number / len(parts), f"{number:,} of {len(parts):,} parts")

            if words_only:
                words, settings = merge_words(parts, budget, show)
                container.write(output, words.to_artifact(settings))
                facts = count_facts(words.details, len(words.vocabulary), None)
            else:
                counts = merge_parts(parts, budget, workers, show)
                container.write(output, counts.to_artifact())
                facts = count_facts(counts.details, len(counts.vocabulary), len(counts.matrix.columns))
        stage.finish("words" if words_only else "counts", facts)
