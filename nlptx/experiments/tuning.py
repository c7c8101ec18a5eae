"""``tune``: search for better settings, within limits of time and rounds, by successive halving over folds.

The search consists of rounds. The candidates of the first round are the starting settings with combinations of changes
that often help; those of later rounds are the best settings so far with random changes. A round has up to three tests:
all candidates are tested on one fold, the best third on two more folds, and the best candidate of this third on the
remaining folds. After each test, a candidate continues only if it is better than the best settings so far on the same
folds. A candidate that passes all tests replaces the best settings so far. Because candidates are compared on the same
folds, the differences between folds cancel out. Each round begins with a different fold.

A run trains and tests one model. Several runs of a round take place at the same time. N-gram features are computed once
for all candidates that share them; see :class:`nlptx.training.feature_cache.FeatureCache`.

The first candidate of each later round has random changes. The changes of each other candidate are selected from many
random changes by an additive model of the results so far; see :class:`nlptx.experiments.search_space.AdditiveModel`.
The additive model only selects candidates; it does not affect how they are tested.

Source for successive halving: Li et al., "Hyperband: a novel bandit-based approach to hyperparameter optimization",
JMLR 18, 2018.
"""

from __future__ import annotations

import math
import tempfile
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass

from nlptx.errors import SettingsError
from nlptx.experiments.experiment import Experiment, Recipe
from nlptx.experiments.halving import MEASURES, OutOfTimeError, PerformRuns, Search, Trial
from nlptx.experiments.journal import Journal
from nlptx.experiments.same_effect import effects_of
from nlptx.experiments.search_space import SearchSpace, values_of
from nlptx.io.temporary_folder import temporary_folder
from nlptx.runtime.workers import SERIAL, Workers
from nlptx.settings import SEED
from nlptx.training.feature_cache import FeatureCache
from nlptx.training.fingerprint import Fingerprint

# Advice if there is no room for the n-gram features that the candidates share.
_HINT = "Set the environment variable TMPDIR to a folder with free space."


@dataclass(frozen=True)
class Tuning:
    """The result of a search.

    Args:
        measure: measure that was optimised.
        best: settings with the best mean over all folds; the starting settings if no others are better.
        trials: all candidates that were tested, in order, beginning with the starting settings.
        rounds: number of completed rounds.
        seconds: time used, including the time before the interruption if the search was resumed.
        exhausted: whether the search ended because no untried settings were left.
    """

    measure: str
    best: Trial
    trials: list[Trial]
    rounds: int
    seconds: float
    exhausted: bool = False

    @property
    def start(self) -> Trial:
        """The starting settings."""
        return self.trials[0]

    @property
    def compared(self) -> bool:
        """Whether the time was long enough to test any settings other than the starting settings."""
        return any(trial.folds for trial in self.trials[1:])

    def change(self, trial: Trial) -> float:
        """Return the mean of the optimised measure, minus that of the starting settings on the same folds."""
        return trial.mean(self.measure) - self.start.mean(self.measure, trial.folds)


def tune(
    experiment: Experiment,
    recipe: Recipe | None = None,
    *,
    seconds: float = math.inf,
    rounds: int | None = None,
    measure: str = "log_loss",
    fixed: Collection[str] = (),
    seed: int = SEED,
    workers: Workers = SERIAL,
    perform_runs: PerformRuns | None = None,
    journal: Journal | None = None,
    on_run: Callable[[str, float], None] = lambda state, fraction: None,
    on_best: Callable[[Trial], None] = lambda trial: None,
    clock: Callable[[], float] = time.monotonic,
) -> Tuning:
    """Search for settings that give better out-of-fold predictions.

    The candidates depend only on the seed and on the results, not on the time. With more time, the search tries the
    same candidates and then further ones. Without a time limit, the result is therefore reproducible.

    Args:
        experiment: texts and folds.
        recipe: settings to start from; the defaults if None.
        seconds: time limit. The search may exceed the time limit, but by less than the time of one run, which trains
            and tests one model.
        rounds: maximum number of rounds; None for no maximum.
        measure: measure to optimise, ``log_loss`` or ``accuracy``.
        fixed: names of settings that must not change, as ``stage.setting``.
        seed: seed for the folds, for training and for the candidates.
        workers: pool of threads or processes that performs the runs. Several runs take place at the same time, each
            on some of the workers. The number of workers affects only how many runs can be done within the time limit.
        perform_runs: function that performs the runs elsewhere, such as on a cluster; None to use ``workers``.
        journal: an open journal (see :class:`.Journal`) of finished runs, which are not repeated; new runs are added to
            it. None for no journal.
        on_run: called before each run and, if only one run takes place at a time, during it too, with the description
            of the run and the completed fraction of the search: the used fraction of the time limit or the completed
            fraction of the rounds, whichever is larger.
        on_best: called with the starting settings, and then with each candidate that becomes the best.
        clock: function that returns the time in seconds.

    Raises:
        ArtifactError: the journal belongs to another search, or is damaged.
        NlptxError: no model can be trained with the settings to start from; see :func:`nlptx.fit`.
    """
    if measure not in MEASURES:
        raise SettingsError(f"`measure` is {measure!r}; expected one of {', '.join(MEASURES)}")
    recipe = recipe or Recipe()
    journal = journal or Journal(None)
    fingerprint = experiment.fingerprint(recipe)
    more = {"measure": measure, "fixed": sorted(fixed)}
    journal.begin(Fingerprint(fingerprint.settings | more, seed, fingerprint.digests))
    space = SearchSpace.of(recipe, fixed, effects_of(experiment, recipe))
    completed, exhausted = 0, False

    def show(state: str, fraction: float) -> None:
        on_run(state, max(fraction, completed / rounds if rounds else 0.0))

    with temporary_folder(tempfile.gettempdir(), _HINT) as folder:
        cache = FeatureCache(folder)
        search = Search(experiment, recipe, seconds, measure, seed, workers, journal, show, clock, cache, perform_runs)
        best = search.add_trial(values_of(recipe))
        try:
            search.evaluate([best], range(experiment.folds))
            on_best(best)
            while completed != rounds:
                winner = search.run_round(space, best, completed)
                if winner is None:
                    exhausted = True
                    break
                completed += 1
                if winner is not best:
                    best = winner
                    on_best(best)
        except OutOfTimeError:
            pass
    tried = [trial for trial in search.trials if trial.folds or trial.failure or trial is search.trials[0]]
    return Tuning(measure, best, tried, completed, search.spent, exhausted)
