"""Cross-validation measures how well models predict the labels of texts that they were not trained on."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from nlptx.errors import ArtifactError, listed, quoted
from nlptx.experiments.experiment import Experiment, Recipe
from nlptx.experiments.fold import FoldResult, run_fold
from nlptx.experiments.intervals import Spread, corrected_interval
from nlptx.experiments.journal import Journal
from nlptx.experiments.measures import Measures
from nlptx.experiments.parallel_runs import parallel_runs
from nlptx.runtime.workers import SERIAL, Workers
from nlptx.settings import SEED
from nlptx.training.progress import Progress

_MAX_LISTED = 10  # number of labels listed in a note
# Function that trains and tests models. The argument of the function is a list of (seed, fold) pairs. For each pair, in
# order, the function yields the result, as returned by :meth:`FoldResult.to_record`, and the notes from the training
# run.
RunFolds = Callable[[Sequence[tuple[int, int]]], Generator[tuple[dict[str, Any], list[str]]]]


@dataclass(frozen=True)
class CrossValidation:
    """The results of all folds.

    Args:
        experiment: texts and number of folds.
        results: result of each fold of the first seed, then of each fold of the next seed, and so on.
    """

    experiment: Experiment
    results: list[FoldResult]

    def spread(self) -> dict[str, Spread]:
        """Return a dictionary from the name of each measure to its mean, 95% interval and standard deviation."""
        result = {}
        for name in Measures._fields:
            values = [getattr(fold.measures, name) for fold in self.results]
            high = np.inf if name == "log_loss" else 1.0
            result[name] = corrected_interval(values, self.experiment.folds, high)
        return result


def cross_validate(
    experiment: Experiment,
    recipe: Recipe | None = None,
    *,
    seeds: Sequence[int] = (SEED,),
    workers: Workers = SERIAL,
    run_folds: RunFolds | None = None,
    journal: Journal | None = None,
    on_fold: Callable[[FoldResult], None] = lambda fold: None,
    on_progress: Callable[[Progress], None] = lambda progress: None,
    on_note: Callable[[str], None] = lambda note: None,
) -> CrossValidation:
    """For each fold, train a model on all other folds, and test it on that fold.

    The word vectors and n-gram features of a model are computed from its own training texts, unless the recipe provides
    them (word vectors in ``vectors``, or a model in ``start``).

    Args:
        experiment: texts and number of folds.
        recipe: settings with which the models are trained; None for the defaults.
        seeds: seeds for the split into folds and for training. The cross-validation is repeated for each seed.
        workers: pool of threads or processes that runs the folds. Several folds are processed at the same time, each by
            some of the workers, because this is faster than using all workers for one fold. If there is too little
            memory, fewer folds are processed at the same time. The number of workers does not change the result.
        run_folds: function that trains and tests the models elsewhere, such as on a cluster; None to use ``workers``.
        journal: an open journal (see :class:`.Journal`), or None. The folds in the journal are not computed again.
        on_fold: called with the result of each fold, even if the result was read from the journal.
        on_progress: callback for the progress of the parts of training, such as encoding texts; not called if folds are
            processed in parallel.
        on_note: callback for notes; equal notes of several folds are reported once.

    Raises:
        ArtifactError: the journal belongs to another experiment, or is damaged.
        DataError: there are fewer texts or groups than folds.
        NlptxError: in the same cases as :func:`nlptx.fit`.

    >>> from nlptx import TrainSettings
    >>> texts = ["a good film", "a bad film", "so good", "so bad"] * 10
    >>> experiment = Experiment(texts, ["pos", "neg"] * 20, folds=2)
    >>> result = cross_validate(experiment, Recipe(TrainSettings(epochs=1)))
    >>> [len(fold.rows) for fold in result.results]
    [20, 20]
    """
    recipe = recipe or Recipe()
    journal = journal or Journal(None)
    journal.begin(experiment.fingerprint(recipe))
    if rare := experiment.rare_labels():
        named = listed(list(map(quoted, rare)), _MAX_LISTED)
        on_note(f"labels with fewer texts than there are folds are missing from some test folds: {named}")
    noted: set[str] = set()  # notes of earlier folds, without their numbers
    tasks = [(seed, fold) for seed in seeds for fold in range(experiment.folds)]
    open_tasks = [task for task in tasks if _name(*task) not in journal.records]
    if run_folds is None:
        run_folds = partial(_run_folds, experiment, recipe, workers, on_progress, on_note)
    results = []
    with closing(run_folds(open_tasks)) as computed:
        for task in tasks:
            name = _name(*task)
            if name not in journal.records:
                record, notes = next(computed)
                for note in dict.fromkeys(notes):
                    if _without_numbers(note) not in noted:
                        on_note(note)
                noted.update(map(_without_numbers, notes))
                journal.add(name, record)
            result = _stored(experiment, journal, *task)
            results.append(result)
            on_fold(result)
    return CrossValidation(experiment, results)


def _run_folds(
    experiment: Experiment,
    recipe: Recipe,
    workers: Workers,
    on_progress: Callable[[Progress], None],
    on_note: Callable[[str], None],
    tasks: Sequence[tuple[int, int]],
) -> Generator[tuple[dict[str, Any], list[str]]]:
    """Train and test models with the workers of this machine; see :data:`RunFolds`."""
    runs = parallel_runs(experiment, workers, len(tasks), on_note)
    workers_per_run = workers.at_most(workers.jobs // runs)

    def work(task: tuple[int, int]) -> tuple[dict[str, Any], list[str]]:
        # A worker process returns JSON values, because unpickling them runs no code from other modules.
        notes: list[str] = []
        # A worker process cannot show its progress.
        show = on_progress if runs == 1 else lambda progress: None
        return run_fold(experiment, recipe, *task, workers_per_run, show, notes.append).to_record(), notes

    with workers.at_most(runs) as pool:
        yield from pool.map(work, tasks, isolated=True)


def _without_numbers(note: str) -> str:
    """Return a note without its numbers: the notes of two folds are alike if they differ only in numbers of texts."""
    return re.sub(r"\d[\d,.]*", "#", note)


def _name(seed: int, fold: int) -> str:
    return f"seed {seed}, fold {fold + 1}"


def _stored(experiment: Experiment, journal: Journal, seed: int, fold: int) -> FoldResult:
    name = _name(seed, fold)
    try:
        return FoldResult.from_record(journal.records[name], experiment, seed, fold)
    except (AttributeError, KeyError, TypeError, ValueError, IndexError) as error:
        hint = "Leave out `resume` to start over."
        raise ArtifactError(f"the record of {name} is damaged: {error}", where=str(journal.path), hint=hint) from error
