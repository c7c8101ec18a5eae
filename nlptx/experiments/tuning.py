"""``tune``: search for better settings within a time limit, by successive halving over paired folds.

The search goes in rounds. In each round, random changes of the best settings so far are judged on the first fold; the
better half is judged on the second fold, and so on. From the second fold on, a candidate continues only if it is better
than the best settings so far on the same folds. A candidate that completes all folds and is better than the best
settings replaces them. Losing candidates therefore cost one or two folds. All candidates are judged on the same folds,
so that the differences between folds cancel.

Except for one candidate per round, the changes are chosen by an additive model of the results on the first fold; see
:class:`nlptx.experiments.search_space.AdditiveModel`. This model changes nothing about how candidates are judged.

Source of successive halving: Li et al., "Hyperband: a novel bandit-based approach to hyperparameter optimization",
JMLR 18, 2018.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from dataclasses import dataclass, field

import numpy as np

from nlptx.errors import ArtifactError, DataError, DivergenceError, SettingsError
from nlptx.experiments.experiment import Experiment, Recipe
from nlptx.experiments.fold import run_fold
from nlptx.experiments.journal import Journal
from nlptx.experiments.measures import Measures
from nlptx.experiments.search_space import SearchSpace, Values, differences, name_of, values_of, with_values
from nlptx.runtime.workers import SERIAL, Workers
from nlptx.settings import SEED
from nlptx.training.fingerprint import Fingerprint
from nlptx.training.labels import order_labels
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


@dataclass(frozen=True)
class Tuning:
    """The result of a search.

    Args:
        measure: measure that was optimised.
        best: settings with the best mean over all folds; those that the search started from if none is better.
        trials: all settings that were tried, in order; the first are those that the search started from.
        rounds: number of completed rounds.
        seconds: time used, including that of earlier runs from which the search was resumed.
    """

    measure: str
    best: Trial
    trials: list[Trial]
    rounds: int
    seconds: float

    @property
    def default(self) -> Trial:
        """The settings that the search started from."""
        return self.trials[0]


class _OutOfTimeError(Exception):
    """The next step would probably not end within the time limit."""


def tune(
    experiment: Experiment,
    recipe: Recipe | None = None,
    *,
    seconds: float,
    measure: str = "log_loss",
    fixed: Collection[str] = (),
    seed: int = SEED,
    workers: Workers = SERIAL,
    journal: Journal | None = None,
    on_step: Callable[[str, float], None] = lambda state, fraction: None,
    on_best: Callable[[Trial], None] = lambda trial: None,
    clock: Callable[[], float] = time.monotonic,
) -> Tuning:
    """Search for settings that give better predictions out of fold.

    The candidates depend only on the seed and on the results, not on the time. With more time, the search tries the
    same candidates and then further ones.

    Args:
        experiment: texts and folds.
        recipe: settings to start from; the defaults if None.
        seconds: time limit. It is exceeded by less than the time of one step, which trains and tests one model.
        measure: measure to optimise, a key of MEASURES.
        fixed: names of settings that must not change, as ``stage.setting``.
        seed: seed of the folds, of training and of the candidates.
        workers: threads or processes; they do not change the result of a step.
        journal: journal of an open ``with`` block, from which finished steps are read; none by default.
        on_step: called before and during each step, with its description and the used fraction of the time.
        on_best: called with settings that are better than all before.
        clock: function that returns the time in seconds.

    Raises:
        ArtifactError: the journal belongs to another search, or is damaged.
        NlptxError: as for :func:`nlptx.fit`, if the settings to start from cannot be used.
    """
    if measure not in MEASURES:
        raise SettingsError(f"`measure` is {measure!r}; expected one of {', '.join(MEASURES)}")
    recipe = recipe or Recipe()
    journal = journal or Journal(None)
    fingerprint = experiment.fingerprint(recipe)
    more = {"measure": measure, "fixed": sorted(fixed)}
    journal.begin(Fingerprint(fingerprint.settings | more, seed, fingerprint.digests))
    search = _Search(experiment, recipe, seconds, measure, seed, workers, journal, on_step, clock)
    scale = order_labels(experiment.label_names)[1] is not None and len(experiment.label_names) > 2
    space = SearchSpace.of(recipe, fixed, scale and experiment.separator is None)
    best = search.trial(values_of(recipe))
    rounds = 0
    try:
        while len(best.folds) < experiment.folds:
            search.step(best)
        on_best(best)
        while (winner := search.round(space, best, rounds)) is not None:
            rounds += 1
            if winner is not best:
                best = winner
                on_best(best)
    except _OutOfTimeError:
        pass
    return Tuning(measure, best, search.trials, rounds, search.spent)


class _Search:
    """The state of a search; the arguments are those of :func:`tune`."""

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
        self._before = sum(float(record["seconds"]) for record in journal.records.values())
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
            _OutOfTimeError: the time is used up.
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
            _OutOfTimeError: the time that is left is probably too short.
        """
        fold = len(trial.folds)
        name = f"fold {fold + 1}: {name_of(trial.values)}"
        if name not in self.journal.records:
            if self.spent >= self.seconds or self.spent + self._expected(trial) > self.seconds:
                raise _OutOfTimeError
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

    def _run(self, trial: Trial, fold: int) -> dict[str, object]:
        started = self.clock()
        number, folds = len(self.trials), self.experiment.folds
        title = f"{number} tried, fold {fold + 1} of {folds}"

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
