"""The rounds of a search for settings: successive halving over paired folds, within a time limit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from nlptx.errors import ArtifactError, DataError, DivergenceError, SettingsError
from nlptx.experiments.experiment import Experiment, Recipe
from nlptx.experiments.fold import run_fold
from nlptx.experiments.journal import Journal
from nlptx.experiments.measures import Measures
from nlptx.experiments.search_space import SearchSpace, Values, differences, name_of, with_values
from nlptx.runtime.workers import Workers
from nlptx.training.progress import Progress

# Number of new candidates per round.
_CANDIDATES = 6
# Measures that can be optimised -> whether larger values are better.
MEASURES = {"log_loss": False, "accuracy": True}


@dataclass
class Trial:
    """Settings that were tried.

    Args:
        values: all settings, as ``stage.setting`` -> value.
        changes: settings that differ from those that the search started from.
        folds: measures of the folds that were tested, in order.
        seconds: time for training and testing.
        failure: why the settings cannot be used; empty if they can.
    """

    values: Values
    changes: Values
    folds: list[Measures] = field(default_factory=list)
    seconds: float = 0.0
    failure: str = ""

    def mean(self, measure: str, folds: int | None = None) -> float:
        """Return the mean of a measure over the first folds, by default over all that were tested; NaN without any."""
        values = [getattr(fold, measure) for fold in self.folds[:folds]]
        return float(np.mean(values)) if values else float("nan")


class OutOfTimeError(Exception):
    """The next step would probably not end within the time limit."""


class Search:
    """The state of a search; the arguments are those of :func:`nlptx.experiments.tuning.tune`."""

    def __init__(
        self,
        experiment: Experiment,
        recipe: Recipe,
        seconds: float,
        measure: str,
        seed: int,
        workers: Workers,
        journal: Journal,
        on_step: Callable[[str, float], None],
        clock: Callable[[], float],
    ) -> None:
        self.experiment, self.recipe, self.seconds = experiment, recipe, seconds
        self.measure, self.seed, self.workers = measure, seed, workers
        self.journal, self.on_step, self.clock = journal, on_step, clock
        self.trials: list[Trial] = []
        self._before = sum(record.get("seconds", 0.0) for record in journal.records.values())
        self._started = clock()
        self._names: set[str] = set()

    @property
    def spent(self) -> float:
        """Time used so far, in seconds."""
        return self._before + self.clock() - self._started

    def trial(self, values: Values) -> Trial:
        """Add settings to try."""
        self._names.add(name_of(values))
        changes = differences(values, self.trials[0].values) if self.trials else {}
        self.trials.append(Trial(values, changes))
        return self.trials[-1]

    def round(self, space: SearchSpace, best: Trial, number: int) -> Trial | None:
        """Try random changes of the best settings; return the best settings afterwards, None if nothing is left to try.

        Raises:
            OutOfTimeError: the time is used up.
        """
        rng = np.random.default_rng([self.seed, number])
        observed = [(trial.values, self._loss(trial, 1)) for trial in self.trials if trial.folds]
        found = space.neighbours(best.values, self._names, observed, rng, _CANDIDATES)
        candidates = [self.trial(values) for values in found]
        if not candidates:
            return None
        kept = len(candidates)
        for fold in range(self.experiment.folds):
            for trial in candidates:
                self.step(trial)
            candidates = [trial for trial in candidates if not trial.failure]
            if fold:
                candidates = [trial for trial in candidates if self._is_better(trial, best, fold + 1)]
            kept = max(1, kept // 2)
            candidates = sorted(candidates, key=lambda trial: self._loss(trial, len(trial.folds)))[:kept]
        return min([best, *candidates], key=lambda trial: self._loss(trial, self.experiment.folds))

    def step(self, trial: Trial) -> None:
        """Judge settings on the next fold.

        Raises:
            OutOfTimeError: the time that is left is probably too short.
        """
        fold = len(trial.folds)
        name = f"fold {fold + 1}: {name_of(trial.values)}"
        if name not in self.journal.records:
            if self.spent >= self.seconds or self.spent + self._expected(trial) > self.seconds:
                raise OutOfTimeError
            self.journal.add(name, self._run(trial, fold))
        try:
            record = self.journal.records[name]
            trial.seconds += float(record["seconds"])
            trial.failure = str(record["failure"])
            if not trial.failure:
                trial.folds.append(Measures(**record["measures"]))
        except (KeyError, TypeError, ValueError) as error:
            hint = "Leave out `resume` to start over."
            raise ArtifactError(f"a record is damaged: {error}", where=str(self.journal.path), hint=hint) from error

    def _run(self, trial: Trial, fold: int) -> dict[str, Any]:
        started = self.clock()
        number = next(number for number, each in enumerate(self.trials, 1) if each is trial)
        title = f"settings {number}, fold {fold + 1} of {self.experiment.folds}"

        def show(progress: Progress) -> None:
            self.on_step(f"{title}  {progress.title}", self.spent / self.seconds)

        show(Progress("training", 0.0))
        measures, failure = {}, ""
        try:
            recipe = with_values(self.recipe, trial.values)
            result = run_fold(self.experiment, recipe, self.seed, fold, self.workers, show)
            measures = result.measures._asdict()
        except (DataError, DivergenceError, SettingsError) as error:
            if trial is self.trials[0]:
                raise
            failure = error.message
        return {"measures": measures, "failure": failure, "seconds": round(self.clock() - started, 3)}

    def _expected(self, trial: Trial) -> float:
        """Return the expected time of the next step: that of these settings so far, or else of all settings so far."""
        for trials in ([trial], self.trials):
            if steps := sum(len(each.folds) for each in trials):
                return sum(each.seconds for each in trials) / steps
        return 0.0

    def _loss(self, trial: Trial, folds: int) -> float:
        value = trial.mean(self.measure, folds)
        return -value if MEASURES[self.measure] else value

    def _is_better(self, trial: Trial, best: Trial, folds: int) -> bool:
        return self._loss(trial, folds) < self._loss(best, folds)
