"""The progress of a training run as one line of text, and notes on what is kept after a run has been stopped."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nlptx.cli.terminal.reporter import Meter
from nlptx.cli.terminal.stop_signal import StopSignal
from nlptx.training.progress import EpochProgress, Progress

if TYPE_CHECKING:
    from nlptx.training.checkpoint import Checkpoint


def show(progress: Progress, meter: Meter) -> None:
    """Show the progress of a training run on the meter.

    The line at the end of each epoch stays on the screen, and fits in 80 columns. The validation loss comes before the
    accuracy and is marked as best or not best, because this loss determines which weights are kept.
    """
    if not isinstance(progress, EpochProgress):
        meter(progress.fraction, progress.detail, title=progress.title)
        return
    parts = [f"epoch {progress.epoch}/{progress.epochs}", f"loss {progress.loss:.4f}"]
    if progress.epoch_done and progress.valid_loss is not None and progress.valid_accuracy is not None:
        verdict = "best" if progress.improved else "not best"
        parts += [f"valid loss {progress.valid_loss:.4f} ({verdict})", f"accuracy {progress.valid_accuracy:.1%}"]
    else:
        parts.append(f"{progress.tokens_per_second / 1000:,.0f}k tokens/s")
    if progress.seconds_left and not progress.epoch_done:
        parts.append(f"{_duration(progress.seconds_left)} left")
    meter(progress.fraction, "  ".join(parts), keep=progress.epoch_done, title=progress.title)


def _duration(seconds: float) -> str:
    minutes, seconds = divmod(round(seconds), 60)
    return f"{minutes}:{seconds:02d}"


def what_is_kept(stop: StopSignal, checkpoint: Checkpoint | None) -> str:
    """Return a note that says what is kept after a training run was stopped without saving a model."""
    advice = resume_hint(checkpoint) if checkpoint else ""
    if stop.is_polled:
        return advice or "the progress of training is lost"
    return "nothing had been trained yet, so nothing was saved" + (f"; {advice} as before" if advice else "")


def resume_hint(checkpoint: Checkpoint) -> str:
    """Return a note that names the checkpoint for ``--resume``, or an empty string if there is none."""
    path = checkpoint.path
    # With --resume, the data is read before the checkpoint. If the run is stopped before the checkpoint is read, the
    # checkpoint file can still be used.
    exists = path and (checkpoint.can_resume or (checkpoint.resume and path.exists()))
    return f"--resume continues from {path.name}" if path and exists else ""
