"""A run of a search for settings: a model is trained on all folds except one, and tested on that fold."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from nlptx.errors import DataError, DivergenceError, SettingsError
from nlptx.experiments.experiment import Experiment, Recipe
from nlptx.experiments.fold import run_fold
from nlptx.experiments.search_space import Values, name_of, with_values
from nlptx.runtime.workers import Workers
from nlptx.training.feature_cache import FeatureCache
from nlptx.training.progress import Progress


@dataclass(frozen=True)
class Run:
    """The settings and the fold of a run.

    Args:
        values: all settings.
        fold: number of the fold, from 0.
        required: whether an error is raised if no model can be trained with the settings. If False, the result records
            the failure.
        expected: expected time of the run, in seconds.
    """

    values: Values
    fold: int
    required: bool
    expected: float

    def __str__(self) -> str:
        return run_name(self.values, self.fold)


def run_name(values: Values, fold: int) -> str:
    """Return the name of a run, which identifies its settings and its fold in the journal."""
    return f"fold {fold + 1}: {name_of(values)}"


def train_and_test(
    experiment: Experiment,
    recipe: Recipe,
    seed: int,
    run: Run,
    workers: Workers,
    feature_cache: FeatureCache,
    on_progress: Callable[[Progress], None] = lambda progress: None,
    clock: Callable[[], float] = time.monotonic,
) -> dict[str, Any]:
    """Perform a run. Return the measures, the error message (empty if none) and the time in seconds, as JSON values.

    Args:
        experiment: texts and folds.
        recipe: starting settings of the search.
        seed: seed for the folds and for training.
        run: the settings and the fold.
        workers: pool of threads or processes, used for training and testing. The number of workers does not change the
            result.
        feature_cache: cache of n-gram features that several runs share.
        on_progress: callback for the progress of training.
        clock: function that returns the time in seconds.

    Raises:
        DataError, DivergenceError, SettingsError: a model cannot be trained with the settings of a required run.
    """
    started = clock()
    measures, failure = {}, ""
    try:
        used = with_values(recipe, run.values)
        measures = run_fold(
            experiment, used, seed, run.fold, workers, on_progress, feature_cache=feature_cache
        ).measures._asdict()
    except (DataError, DivergenceError, SettingsError) as error:
        if run.required:
            raise
        failure = error.message
    return {"measures": measures, "failure": failure, "seconds": round(clock() - started, 3)}
