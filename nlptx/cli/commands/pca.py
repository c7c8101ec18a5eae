"""``nlptx pca``."""

from __future__ import annotations

import click

from nlptx.cli.options.cluster import ClusterOptions, cluster_options, path_for_workers
from nlptx.cli.options.command import PATH, command
from nlptx.cli.options.config import config_option
from nlptx.cli.options.inputs import check_names
from nlptx.cli.options.precedence import is_on_command_line
from nlptx.cli.options.shared import (
    CommonOptions,
    common_options,
    memory_options,
    preset_option,
    seed_option,
    settings_options,
)
from nlptx.cli.results.stage_facts import pca_facts
from nlptx.cli.steps.stage_run import StageRun, artifact_option
from nlptx.settings import PcaSettings

# Maximum number of rows in the table of components.
_SHOWN = 8


@command()
@click.argument("counts", type=PATH, metavar="COOCCUR")
@artifact_option(
    "embeddings.npz", "File for the word vectors; - for standard output, *.txt for the word2vec text format."
)
@config_option
@preset_option
@settings_options(PcaSettings)
@seed_option
@memory_options
@cluster_options
@common_options()
def pca(
    counts: str,
    output: str,
    settings: PcaSettings,
    seed: int,
    memory: int,
    tmp_dir: str | None,
    cluster: ClusterOptions,
    common: CommonOptions,
) -> None:
    """Turn co-occurrence counts into word vectors, with PCA by power iteration and deflation.

    \b
    nlptx pca cooccur.npz -o embeddings.npz
    nlptx pca cooccur.npz --components 50 --transform none --block 1 --degree 1 -o textbook.npz

    COOCCUR is the output of nlptx cooccur, or - for standard input. The matrix of counts may be larger than memory: it
    is read in parts, and if it does not fit within --memory, it is kept in a temporary file. The vectors that power
    iteration multiplies always stay in memory; by default, they take up to 56 bytes per word and component, in addition
    to about 100 MB for the program. The table of the principal components shows the first ones and the last one. The
    residual of an eigenvector v with eigenvalue l is |Av - lv| / l, where A = X'X / n and X is the n by n matrix of
    transformed counts. The columns of X are not centred, so the word vectors are those of a truncated singular value
    decomposition of X, up to their scale. --block 1 --degree 1 is the textbook form of power iteration.
    """
    check_names(counts)
    stage = StageRun(common, output, [counts], text_allowed=True)
    common.reporter.detail(f"settings: {settings.to_dict()}")
    if cluster.address is not None:
        path_for_workers(counts)
    if cluster.dry_run:
        from nlptx.cli.cluster.pca import print_pca_plan

        print_pca_plan(cluster, counts, settings, common)
        return
    with common.reporter.meter("components") as meter:

        def on_round(converged: int, residual: float) -> None:
            state = f"{converged} of {settings.components}, largest residual {residual:.1e}"
            meter(converged / settings.components, state, title="components")

        def on_step(step: str, done: int, total: int) -> None:
            meter(done / total, f"{done:,} of {total:,} tasks", title=step)

        if cluster.address is None:
            from nlptx.pca.fit import fit_pca

            embeddings = fit_pca(
                counts,
                settings,
                seed=seed,
                jobs=common.jobs,
                memory=memory,
                tmp_dir=tmp_dir,
                on_round=on_round,
                on_note=common.reporter.note,
            )
        else:
            from nlptx.cluster.pca import fit_on

            with cluster.workers(output, [counts], common, tmp_dir=tmp_dir) as workers:
                note = common.reporter.note
                if is_on_command_line("memory"):
                    note("--memory has no effect with --cluster, because the counts stay in their file")
                embeddings = fit_on(workers, counts, settings, seed, on_step=on_step, on_round=on_round, on_note=note)
    embeddings.save(output)
    rows = list(
        zip(embeddings.eigenvalues.tolist(), embeddings.explained.tolist(), embeddings.residuals.tolist(), strict=True)
    )
    if not stage.common.json and not common.reporter.quiet:
        shown = [(number, *row) for number, row in enumerate(rows, start=1)]
        shown = shown if len(shown) <= _SHOWN else [*shown[: _SHOWN - 1], shown[-1]]
        common.reporter.table(
            "principal components", ("component", "eigenvalue", "explained", "residual"), shown, stderr=True
        )
    stage.finish(
        "word vectors",
        {**pca_facts(embeddings), "eigenvalues": [round(value, 6) for value, _, _ in rows]},
    )
