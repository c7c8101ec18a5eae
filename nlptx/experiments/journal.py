"""Keeps the finished parts of an experiment (folds or runs) in a file, so that an interruption does not lose them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, Self

from nlptx.errors import ArtifactError, OutputError
from nlptx.io import strict_json
from nlptx.io.atomic_write import atomic_output, remove_leftovers, stem_of
from nlptx.io.checkpoint_file import path_beside, remove_checkpoints, set_aside
from nlptx.io.lock import locked
from nlptx.training.fingerprint import Fingerprint


class Journal:
    """Named records of the finished parts of an experiment, in a file that is replaced atomically after each part.

    Use a journal in a ``with`` statement, which locks the file, and call :meth:`remove` once the result is saved.

    Args:
        output: path of the result, or None to write no records. The records are written to a file beside the result,
            with the suffix ``.checkpoint``.
        resume: whether to continue from the file if it exists. Otherwise, an existing file is set aside.
        on_note: callback for notes.
        parts: name of the parts in notes.

    Raises:
        OutputError: another process is using the file. The error is raised at the start of the ``with`` block.
    """

    def __init__(
        self,
        output: str | None,
        resume: bool = False,
        on_note: Callable[[str], None] = lambda note: None,
        *,
        parts: str = "parts",
    ) -> None:
        self.path = path_beside(output)
        self.resume, self.on_note, self.parts = resume, on_note, parts
        self.records: dict[str, dict[str, Any]] = {}
        self._fingerprint: Fingerprint | None = None
        self._failed = False
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        if self.path is not None:
            lock = self.path.with_name(f".{stem_of(self.path)}.lock")
            self._stack.enter_context(locked(str(lock), f"another process is writing {self.path.name}"))
            remove_leftovers(self.path)
        return self

    def __exit__(self, *raised: object) -> None:
        self._stack.close()

    def begin(self, fingerprint: Fingerprint) -> None:
        """Read the records to continue from.

        Args:
            fingerprint: fingerprint of everything that determines the records and is the same for all of them. What
                differs between the records, such as the fold, is in their names.

        Raises:
            ArtifactError: the file belongs to another experiment, or is damaged.
        """
        self._fingerprint = fingerprint
        if self.path is None:
            return
        exists = self.path.exists()
        if exists and self.resume:
            self.records = self._read(fingerprint)
            self.on_note(f"resuming from {self.path.name}; finished {self.parts}: {len(self.records):,}")
        elif self.resume:
            self.on_note(f"there is no {self.path.name} to resume from; starting from the beginning")
        elif exists:
            self.on_note(set_aside(self.path))

    def add(self, name: str, record: dict[str, Any]) -> None:
        """Store the record of a finished part. If the file cannot be written, report this once and continue."""
        self.records[name] = record
        if self.path is None or self._fingerprint is None:
            return
        content = {"fingerprint": vars(self._fingerprint), "records": self.records}
        try:
            with atomic_output(self.path) as file:
                file.write(json.dumps(content).encode())
        except OutputError as error:
            error.where = self.path.name
            if not self._failed:
                self.on_note(f"finished {self.parts} cannot be saved, so `resume=True` will repeat them: {error}")
            self._failed = True

    @contextmanager
    def advice_on_failure(self) -> Iterator[None]:
        """A block that writes the result. An OutputError raised in the block gets the advice to resume."""
        try:
            yield
        except OutputError as error:
            if self.can_resume and self.path is not None and not self._failed:
                kept = f"The finished {self.parts} are in {self.path.name}; `resume=True` does not repeat them."
                error.hint = " ".join(part for part in (error.hint, kept) if part)
            raise

    @property
    def can_resume(self) -> bool:
        """Whether there is a file to resume from."""
        return self.path is not None and self.path.exists() and bool(self.records or self.resume)

    def remove(self) -> None:
        """Remove the file, and the file of an earlier run that was set aside.

        If a file cannot be removed, this is reported in a note instead of an error, because the experiment has
        succeeded.
        """
        for note in remove_checkpoints(self.path) if self.path else ():
            self.on_note(note)

    def _read(self, fingerprint: Fingerprint) -> dict[str, dict[str, Any]]:
        assert self.path is not None
        advice = "Leave out `resume` to start over."
        try:
            content = strict_json.loads(self.path.read_text(encoding="utf-8"))
            saved, records = Fingerprint(**content["fingerprint"]), dict(content["records"])
            differences = fingerprint.differences(saved)
            if not all(isinstance(record, dict) for record in records.values()):
                raise ValueError("a record is not a JSON object")
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise ArtifactError(f"cannot be read: {error}", where=self.path.name, hint=advice) from error
        if differences:
            raise ArtifactError(
                "belongs to a different experiment: " + "; ".join(differences),
                where=self.path.name,
                hint="Use the same data and options, or leave out `resume` to start over.",
            )
        return records
