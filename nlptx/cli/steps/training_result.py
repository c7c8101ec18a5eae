"""Saves the model that ``nlptx train`` made, and reports the outcome."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nlptx.cli.steps.stage_run import StageRun
from nlptx.cli.terminal.training_progress import resume_hint
from nlptx.corpus.training_data import TrainingTexts
from nlptx.errors import OutputError
from nlptx.training.history import best_measures, has_epochs, reason_for_best

if TYPE_CHECKING:
    from nlptx.classifier.model import Model
    from nlptx.training.checkpoint import Checkpoint

# The summary shows these measures of the best epoch; those of the held-out texts include region filters and a subword
# model, which are added after the last epoch. If texts are held out, valid_loss determines which epoch is the
# best; otherwise, the last epoch is the best.
_MEASURES = ("valid_loss", "valid_accuracy", "loss", "accuracy")


def save_model(
    model: Model,
    training_data: TrainingTexts,
    stage: StageRun,
    checkpoint: Checkpoint,
    earlier: dict[str, dict[str, Any]],
) -> None:
    """Save the model and report the outcome.

    If training on the labels was interrupted before its first step, nothing is saved.

    ``earlier`` contains the summaries of the preceding stages, by command name.
    """
    history, weights = model.history, training_data.weights
    best = history["best_epoch"]
    advice = resume_hint(checkpoint)
    if best:
        try:
            model.save(stage.output)
        except OutputError as error:
            error.hint = advice or error.hint
            raise
    if not history["interrupted"]:
        checkpoint.remove()
    if best:
        chosen = best_measures(history)
        stage.finish(
            "model",
            {
                **earlier,
                "texts": len(training_data.texts) if weights is None else sum(weight > 0 for weight in weights),
                **({"unlabelled": len(training_data.unlabelled)} if training_data.unlabelled else {}),
                "labels": model.label_names,
                "words": len(model.vocabulary),
                "parameters": model.parameters,
                "steps": history["steps"],
                **({"best_epoch": best, "best_by": reason_for_best(history)} if has_epochs(history) else {}),
                **{name: chosen[name] for name in _MEASURES if name in chosen},
                **({"warnings": history["warnings"]} if "warnings" in history else {}),
            },
        )
    if history["interrupted"]:
        stage.common.reporter.note(_interruption(history, stage.output) + (f"; {advice}" if advice else ""))


def _interruption(history: dict[str, Any], output: str) -> str:
    """Return a note that says when training was interrupted, and what the output file contains."""
    best = history["best_epoch"]
    if not best:
        return "interrupted before the first epoch: there is no model yet"
    if not has_epochs(history):
        return f"interrupted: {output} holds the linear models"
    return f"interrupted in epoch {len(history['epochs'])}: {output} holds the best model so far (epoch {best})"
