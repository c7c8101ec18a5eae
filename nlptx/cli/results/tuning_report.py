"""The result of ``nlptx tune``, as a table, as JSON values and as comments in the settings file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nlptx.cli.terminal.reporter import Reporter

if TYPE_CHECKING:
    from nlptx.experiments.halving import Trial
    from nlptx.experiments.tuning import Tuning

# Maximum number of rows in the table of tested settings.
_MAX_ROWS = 20


def _changes(trial: Trial) -> str:
    """Return the changed settings as text."""
    shown = {True: "on", False: "off"}
    changes = (
        f"{name.partition('.')[2].replace('_', '-')} {shown[value] if isinstance(value, bool) else value}"
        for name, value in trial.changes.items()
    )
    return ", ".join(changes) or "starting settings"


def _title(measure: str) -> str:
    """Return the name of a measure as it is shown to users."""
    return measure.replace("_", "-")


def describe(trial: Trial, measure: str) -> str:
    """Return the value of a measure and the changed settings as text."""
    return f"{_title(measure)} {trial.mean(measure):.4f}: {_changes(trial)}"


def file_comments(result: Tuning) -> list[str]:
    """Return the comments at the top of the settings file: how good the settings are, and which ones were changed."""
    if not result.compared:
        return ["written by nlptx tune; the time was too short to compare any other settings with these"]
    title = _title(result.measure)
    if not result.best.changes:
        score = f"{result.start.mean(result.measure):.4f}"
        return [f"written by nlptx tune; no other settings were better than these; mean out-of-fold {title}: {score}"]
    return [
        f"written by nlptx tune; mean out-of-fold {title}: {result.best.mean(result.measure):.4f} with these settings,"
        f" {result.start.mean(result.measure):.4f} with the starting settings",
        f"changed: {_changes(result.best)}",
    ]


def tuning_as_json(result: Tuning) -> dict[str, Any]:
    """Return the result of a search as JSON values."""
    trials = [
        {
            "changes": trial.changes,
            "folds": [{"fold": fold + 1, **measures._asdict()} for fold, measures in trial.folds.items()],
            "change": result.change(trial) if trial.folds else None,
            "seconds": round(trial.seconds, 3),
            "failure": trial.failure or None,
            "best": trial is result.best,
        }
        for trial in result.trials
    ]
    return {"measure": result.measure, "rounds": result.rounds, "settings": result.best.values, "trials": trials}


def draw_tuning(result: Tuning, output: str, reporter: Reporter) -> None:
    """Print a table of the best settings. The starting settings are shown even if they are not among the best.

    Settings that were tested on more folds come first. Settings tested on equally many folds, which may be different
    ones, are ranked by their difference from the starting settings on the same folds.
    """
    from nlptx.experiments.halving import MEASURES

    sign = -1 if MEASURES[result.measure] else 1
    tested = [trial for trial in result.trials if trial.folds]
    order = sorted(tested, key=lambda trial: (-len(trial.folds), sign * result.change(trial)))
    shown = order[:_MAX_ROWS]
    if result.start not in shown:
        shown[-1] = result.start
    changes = [result.change(trial) for trial in shown]
    rows = [
        (
            len(trial.folds),
            f"{trial.mean('accuracy'):.2%}",
            f"{trial.mean('log_loss'):.4f}",
            f"{change:+.2%}" if result.measure == "accuracy" else f"{change:+.4f}",
            _changes(trial),
        )
        for trial, change in zip(shown, changes, strict=True)
    ]
    header = ("folds", "accuracy", "log-loss", "change", "changed settings")
    reporter.table(f"best of {len(tested)} settings -> {output}", header, rows)
    reporter.note(f"change: difference in {_title(result.measure)} from the starting settings on the same folds")
