"""Checkpoints. A training run that resumes from a checkpoint produces the same bytes as an uninterrupted run."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, Self

from numpy.typing import NDArray

from nlptx.artifacts.artifact import Artifact
from nlptx.artifacts.container import build, read, write
from nlptx.errors import ArtifactError, CorruptError, OutputError
from nlptx.io.atomic_write import remove_leftovers, stem_of
from nlptx.io.checkpoint_file import path_beside, remove_checkpoints, set_aside
from nlptx.io.lock import locked
from nlptx.io.paths import FilePath, file_name
from nlptx.settings import CHECKPOINT_MINUTES
from nlptx.training.fingerprint import Fingerprint
from nlptx.training.state import State

KIND = "checkpoint"
# Minimum time between two checkpoints, as a multiple of the time that writing the last one took. With a factor of 20,
# writing takes at most 1/20 of the training time. If epochs are short, some checkpoints are skipped.
_MIN_INTERVAL = 20


class Resumable(Protocol):
    """Interface of a training phase whose state can be restored from a checkpoint."""

    @property
    def name(self) -> str:
        """Name of the phase."""

    def restore(self, arrays: dict[str, NDArray], records: dict[str, Any]) -> None:
        """Restore the state that was saved as ``arrays`` and ``records``."""


class Checkpoint:
    """The checkpoint of one output file, with a lock that prevents a second training run with the same output.

    A checkpoint is written at the end of an epoch, every few minutes within an epoch, and when training is stopped.
    Writing checkpoints takes at most a twentieth of the training time. Use this class in a ``with`` statement, which
    holds the lock, and call :meth:`remove` once the model is saved.

    Args:
        output: path of the model file; the checkpoint is in the same folder. For None, standard output, pipes and
            devices, no checkpoint is written.
        minutes: time between two checkpoints within an epoch; 0 to write them only at the ends of epochs.
        resume: whether to resume from the checkpoint if it exists.
        on_note: callback for notes.

    Raises:
        OutputError: another process is training a model with the same output path; raised at the start of the ``with``
            block.
    """

    def __init__(
        self,
        output: FilePath | None,
        minutes: float = CHECKPOINT_MINUTES,
        resume: bool = False,
        on_note: Callable[[str], None] = lambda note: None,
    ) -> None:
        self.output = None if output is None else file_name(output)
        self.path = path_beside(self.output)
        self.minutes, self.resume = minutes, resume
        self.on_note = on_note
        self.can_resume = False  # whether the file is a checkpoint of this training run
        self._fingerprint: Fingerprint | None = None
        self._found: Artifact | None = None
        self._written = time.monotonic()
        self._cost = 0.0
        self._failed = False
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        if self.path is not None:
            name = f".{stem_of(self.path)}.lock"
            taken = f"another process is training a model with the output {self.output}"
            self._stack.enter_context(locked(str(self.path.with_name(name)), taken))
            remove_leftovers(self.path)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._stack.close()

    def begin(self, fingerprint: Callable[[], Fingerprint]) -> None:
        """Look for a checkpoint to resume from.

        Args:
            fingerprint: function that returns the fingerprint of this training run; called only if checkpoints can be
                written for the output.

        Raises:
            ArtifactError: the checkpoint belongs to another training run, or is damaged.
        """
        if self.path is None:
            return
        self._fingerprint = fingerprint()
        exists = self.path.exists()
        if exists and self.resume:
            self._found = _read(self.path, self._fingerprint)
            self.can_resume = True
            where = self._found.details
            self.on_note(f"resuming from {self.path.name}: epoch {where['epoch']}, step {where['step']}")
        elif self.resume:
            self.on_note(f"there is no {self.path.name} to resume from; starting from the beginning")
        elif exists:
            self.on_note(set_aside(self.path))

    def is_beyond(self, phase: str) -> bool:
        """Return whether the checkpoint to resume from was written in a phase after ``phase``."""
        return self._found is not None and self._found.details["phase"] != phase

    def restore(self, phase: Resumable) -> None:
        """Restore the state of ``phase`` if the checkpoint to resume from was written in this phase.

        Raises:
            CorruptError: the contents of the checkpoint do not match the phase.
        """
        if self._found is None or self._found.details["phase"] != phase.name:
            return
        checkpoint, self._found = self._found, None
        with _named_with_advice(self.path):
            build(
                checkpoint, lambda artifact: phase.restore(artifact.arrays, artifact.details["records"]), str(self.path)
            )

    def save_if_due(self, state: Callable[[], State], epoch_done: bool = False) -> None:
        """If a checkpoint is due, call ``state`` and write the state that it returns."""
        if self.path is None:
            return
        since = time.monotonic() - self._written
        due = epoch_done or (self.minutes and since >= 60 * self.minutes)
        if due and since >= _MIN_INTERVAL * self._cost:
            self.save(state())

    def save(self, state: State) -> None:
        """Write a checkpoint. If writing fails, training continues, and only the first failure is reported."""
        if self.path is None or self._fingerprint is None:
            return
        start = time.monotonic()
        fingerprint = self._fingerprint
        details = {
            "phase": state.phase,
            "epoch": state.epoch,
            "step": state.step,
            "digests": fingerprint.digests,
            "records": state.records,
        }
        try:
            write(
                str(self.path),
                Artifact(
                    KIND, fingerprint.settings, state.arrays, None, details, fingerprint.seed, fingerprint.version
                ),
            )
            self.can_resume = True
        except OutputError as error:
            error.where = self.path.name
            if not self._failed:
                kept = ", and the previous checkpoint is kept" if self.can_resume else ""
                self.on_note(f"a checkpoint could not be written; training continues{kept}: {error}")
            self._failed = True
        self._written = time.monotonic()
        self._cost = self._written - start

    def discard(self) -> None:
        """Remove the checkpoint file if it belongs to this training run."""
        if self.can_resume:
            self.remove()

    def remove(self) -> None:
        """Remove the checkpoint, and that of an earlier run, which this run has renamed.

        If this fails, only a note is given, because training itself has succeeded.
        """
        if self.path is None:
            return
        self.can_resume = False
        for note in remove_checkpoints(self.path):
            self.on_note(note)


def _read(path: Path, fingerprint: Fingerprint) -> Artifact:
    with _named_with_advice(path):
        artifact = read(path, KIND)
        saved = build(artifact, _fingerprint_of, str(path))
    differences = fingerprint.differences(saved)
    if differences:
        raise ArtifactError(
            "belongs to a different training run: " + "; ".join(differences),
            where=path.name,
            hint="Use the same data and options, or leave out `resume` to start over.",
        )
    return artifact


def _fingerprint_of(artifact: Artifact) -> Fingerprint:
    details = artifact.details
    if details["phase"] not in ("pretrain", "distill", "train"):
        raise CorruptError(f"it has the unknown phase {details['phase']!r}")
    if type(details["epoch"]) is not int or type(details["step"]) is not int:
        raise CorruptError("its epoch or its step is not a number")
    return Fingerprint(artifact.settings, artifact.seed, dict(details["digests"]), artifact.version)


@contextmanager
def _named_with_advice(path: Path | None) -> Iterator[None]:
    """Add the checkpoint file name and the advice to start over to an ArtifactError raised in the ``with`` block."""
    try:
        yield
    except ArtifactError as error:
        error.where = "" if path is None else path.name
        error.hint = "Leave out `resume` to start over."
        raise
