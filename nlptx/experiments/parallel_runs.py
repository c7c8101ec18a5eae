"""Determines how many models are trained at the same time."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from nlptx.experiments.experiment import Experiment
from nlptx.regions.stored_regions import MAX_BYTES
from nlptx.runtime.resources import available_memory
from nlptx.runtime.workers import Workers

# Estimated memory of one training run, in bytes: an amount for the program and the model, and an amount per character
# of the texts. In measurements on reviews and on sentences, without region filters, the peak memory was at most 3/4 of
# this estimate.
_BASE = 250 << 20
_PER_CHARACTER = 40
# Memory of the stored regions with 256 filters, in bytes per character of the labelled texts.
_REGIONS_PER_CHARACTER = 60


def parallel_runs(
    experiment: Experiment,
    workers: Workers,
    tasks: int,
    on_note: Callable[[str], None] = lambda note: None,
) -> int:
    """Return how many models to train at the same time: one per worker, if there is enough memory.

    Args:
        experiment: experiment whose texts determine the estimated memory of a run.
        workers: workers to divide among the runs.
        tasks: number of training runs that remain.
        on_note: called with a note if there is too little memory for one run per worker.
    """
    wanted = max(1, min(workers.jobs, tasks))
    available = available_memory()
    if wanted == 1 or available is None:
        return wanted
    of_run = memory_of_run(experiment.texts, experiment.unlabelled)
    possible = max(1, min(wanted, available // of_run))
    if possible < wanted:
        on_note(
            f"training {possible} instead of {wanted} models at a time: each may need {of_run / 1e9:.1f} GB of memory,"
            f" and {available / 1e9:.1f} GB is available"
        )
    return possible


def memory_of_run(texts: Iterable[str], unlabelled: Iterable[str]) -> int:
    """Return the estimated memory, in bytes, that a training run with these texts needs."""
    labelled = sum(map(len, texts))
    characters = labelled + sum(map(len, unlabelled))
    return _BASE + _PER_CHARACTER * characters + min(MAX_BYTES, _REGIONS_PER_CHARACTER * labelled)
