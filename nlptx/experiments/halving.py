"""The rounds of a search for settings: successive halving over cross-validation folds, within a time limit."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from nlptx.errors import ArtifactError
from nlptx.experiments.experiment import Experiment, Recipe
from nlptx.experiments.journal import Journal
from nlptx.experiments.measures import Measures
from nlptx.experiments.parallel_runs import parallel_runs
from nlptx.experiments.run import Run, run_name, train_and_test
from nlptx.experiments.search_space import SearchSpace, Values, differences, name_of
from nlptx.runtime.workers import Workers
from nlptx.training.feature_cache import FeatureCache
from nlptx.training.progress import Progress

# Number of new candidates per round.
_CANDIDATES = 6
# Measures that can be optimised -> whether larger values are better.
MEASURES = {"log_loss": False, "accuracy": True}
# Function that performs runs, each of which trains and tests one model. The arguments of the function are an iterator
# over the runs and the maximum number of runs. The function must take the runs from the iterator one at a time, because
# the iterator ends when there is too little time for the next run. For each run, in order, the function yields a record
# of the results, or None if there was no time for the run.
PerformRuns = Callable[[Iterator[Run], int], Generator[dict[str, Any] | None]]


@dataclass
class Trial:
    """A candidate: settings to test, with their results.

    Args:
        values: all settings, as ``stage.setting`` -> value.
        changes: settings that differ from the starting settings of the search.
        folds: index of each test fold (from 0) -> measures.
        seconds: total time of training and testing, in seconds.
        failure: reason why no model can be trained with the settings, or an empty string.
    """

    values: Values
    changes: Values
    folds: dict[int, Measures] = field(default_factory=dict)
    seconds: float = 0.0
    failure: str = ""

    def mean(self, measure: str, folds: Iterable[int] | None = None) -> float:
        """Return the mean of a measure over ``folds``, by default over all tested folds; NaN if there are none."""
        values = [getattr(self.folds[fold], measure) for fold in (self.folds if folds is None else folds)]
        return float(np.mean(values)) if values else float("nan")


class OutOfTimeError(Exception):
    """The next run would probably exceed the time limit."""


class Search:
    """The state of a search. Arguments that are not listed here are those of :func:`nlptx.experiments.tuning.tune`.

    Args:
        feature_cache: n-gram features that the candidates share.
        perform_runs: function that performs runs elsewhere, such as on a cluster; None to use ``workers``.
    """

    def __init__(
        self,
        experiment: Experiment,
        recipe: Recipe,
        seconds: float,
        measure: str,
        seed: int,
        workers: Workers,
        journal: Journal,
        on_run: Callable[[str, float], None],
        clock: Callable[[], float],
        feature_cache: FeatureCache,
        perform_runs: PerformRuns | None,
    ) -> None:
        self.experiment, self.recipe, self.seconds = experiment, recipe, seconds
        self.measure, self.seed, self.workers = measure, seed, workers
        self.journal, self.on_run, self.clock = journal, on_run, clock
        self.feature_cache = feature_cache
        self.perform_runs = perform_runs or self._perform_runs
        self.trials: list[Trial] = []
        self._seconds_before = self._read_seconds_before()
        self._started = clock()

    @property
    def spent(self) -> float:
        """Time used so far, in seconds."""
        return self._seconds_before + self.clock() - self._started

    def add_trial(self, values: Values) -> Trial:
        """Add settings to the list of candidates, and return the candidate."""
        changes = differences(values, self.trials[0].values) if self.trials else {}
        self.trials.append(Trial(values, changes))
        return self.trials[-1]

    def run_round(self, space: SearchSpace, best: Trial, number: int) -> Trial | None:
        """Try changes to the best settings. Return the best settings so far, or None if no untried changes are left.

        Each round begins with a different fold; otherwise, settings that suit the first fold by chance would win.

        Raises:
            OutOfTimeError: the remaining time is probably too short for the next run.
        """
        rng = np.random.default_rng([self.seed, number])
        observed = [(trial.values, self._difference(trial, self.trials[0])) for trial in self.trials if trial.folds]
        tried = {name_of(trial.values) for trial in self.trials}
        proposed = space.helpful(best.values, tried) if number == 0 else []
        proposed = proposed or space.neighbours(best.values, tried, observed, rng, _CANDIDATES)
        candidates = [self.add_trial(values) for values in proposed]
        if not candidates:
            return None
        for folds, kept in zip(rungs(self.experiment.folds, number), (len(candidates) // 3, 1, 1), strict=False):
            self.evaluate(candidates, folds)
            gains = [(self._difference(trial, best), trial) for trial in candidates if not trial.failure]
            better = sorted((gain for gain in gains if gain[0] < 0), key=lambda gain: gain[0])
            candidates = [trial for _, trial in better[: max(1, kept)]]
        return candidates[0] if candidates else best

    def evaluate(self, trials: Sequence[Trial], folds: Sequence[int]) -> None:
        """Evaluate candidates on the given folds. Each run trains and tests one model; several runs are done at a time.

        Raises:
            OutOfTimeError: the remaining time is probably too short for the next run.
        """
        tasks = [(trial, fold) for fold in folds for trial in trials]
        open_tasks = [each for each in tasks if run_name(each[0].values, each[1]) not in self.journal.records]
        stopped = False

        def announced() -> Iterator[Run]:
            for trial, fold in open_tasks:
                run = Run(trial.values, fold, trial.values == self.trials[0].values, self._expected(trial))
                if stopped or not self._in_time(run):
                    return
                self._show(run, Progress("training", 0.0))
                yield run

        with closing(self.perform_runs(announced(), len(open_tasks))) as computed:
            for trial, fold in tasks:
                name = run_name(trial.values, fold)
                if name not in self.journal.records:
                    record = next(computed, None)
                    if record is None:
                        stopped = True
                        continue
                    self.journal.add(name, {**record, "spent": round(self.spent, 3)})
                self._read(trial, fold)
        if stopped:
            raise OutOfTimeError

    def _perform_runs(self, runs: Iterator[Run], count: int) -> Generator[dict[str, Any] | None]:
        """Perform runs with the workers of this machine; see :data:`PerformRuns`."""
        at_once = parallel_runs(self.experiment, self.workers, count)
        workers_per_run = self.workers.at_most(self.workers.jobs // at_once)

        def work(plain: tuple[Any, ...]) -> dict[str, Any] | None:
            run = Run(*plain)
            # A run may have to wait for a worker, so the remaining time is checked again when the run starts.
            if not self._in_time(run):
                return None
            # A worker process cannot show its progress.
            show = partial(self._show, run) if at_once == 1 else lambda progress: None
            return train_and_test(
                self.experiment, self.recipe, self.seed, run, workers_per_run, self.feature_cache, show, self.clock
            )

        with self.workers.at_most(at_once) as pool:
            # A worker process receives plain values, because unpickling them runs no code from other modules.
            plain = ((run.values, run.fold, run.required, run.expected) for run in runs)
            yield from pool.map(work, plain, isolated=True)

    def _in_time(self, run: Run) -> bool:
        return self.spent < self.seconds and self.spent + run.expected <= self.seconds

    def _read(self, trial: Trial, fold: int) -> None:
        try:
            record = self.journal.records[run_name(trial.values, fold)]
            trial.seconds += float(record["seconds"])
            trial.failure = trial.failure or str(record["failure"])
            if not record["failure"]:
                trial.folds[fold] = Measures.from_record(record["measures"])
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise self._damaged(error) from error

    def _read_seconds_before(self) -> float:
        """Return the time that a resumed search had used before it was interrupted, in seconds."""
        try:
            return max((float(record.get("spent", 0.0)) for record in self.journal.records.values()), default=0.0)
        except (TypeError, ValueError) as error:
            raise self._damaged(error) from error

    def _damaged(self, error: Exception) -> ArtifactError:
        hint = "Leave out `resume` to start over."
        return ArtifactError(f"a record is damaged: {error}", where=str(self.journal.path), hint=hint)

    def _show(self, run: Run, progress: Progress) -> None:
        number = next(number for number, trial in enumerate(self.trials, 1) if trial.values == run.values)
        title = f"settings {number}, fold {run.fold + 1} of {self.experiment.folds}"
        self.on_run(f"{title}  {progress.title}", self.spent / self.seconds if self.seconds > 0 else 1.0)

    def _expected(self, trial: Trial) -> float:
        """Return the expected time of the next run of ``trial``, in seconds.

        The expected time is the mean time of the finished runs of ``trial`` or, if there are none yet, of all finished
        runs.
        """
        for trials in ([trial], self.trials):
            if runs := sum(len(each.folds) for each in trials):
                return sum(each.seconds for each in trials) / runs
        return 0.0

    def _difference(self, trial: Trial, other: Trial) -> float:
        """Return by how much the mean measure of ``trial`` is worse than that of ``other``.

        The means are over the folds on which ``trial`` was tested. The result is negative if ``trial`` is better.
        """
        difference = trial.mean(self.measure) - other.mean(self.measure, trial.folds)
        return -difference if MEASURES[self.measure] else difference


def rungs(folds: int, first: int = 0) -> list[list[int]]:
    """Return up to three groups of folds, used one after the other: fold ``first``, the next two, and all others."""
    order = [(first + number) % folds for number in range(folds)]
    return [part for part in (order[:1], order[1:3], order[3:]) if part]
