"""The file beside an output in which an unfinished run keeps its state: its name, and what happens to it afterwards."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from nlptx.errors import OutputError
from nlptx.io.atomic_write import stem_of
from nlptx.io.output_path import STDOUT

_SUFFIX = ".checkpoint"


def path_beside(output: str | None) -> Path | None:
    """Return the checkpoint path for an output file; None if the output is a stream or a device."""
    if output in (None, STDOUT) or (os.path.exists(output) and not os.path.isfile(output)):
        return None
    target = Path(os.path.realpath(output))
    return target.with_name(stem_of(target) + _SUFFIX)


def set_aside(path: Path) -> str:
    """Rename the checkpoint of an earlier run, so that it is not overwritten. Return a note about this.

    Raises:
        OutputError: the checkpoint cannot be renamed.
    """
    kept = _set_aside_path(path)
    try:
        path.replace(kept)
    except OSError as error:
        raise OutputError(f"cannot be renamed to {kept.name}: {error.strerror}", where=str(path)) from error
    return (
        f"starting over; the earlier checkpoint is now {kept.name}; to continue from it instead, rename it to"
        f" {path.name}, and use `resume=True`"
    )


def remove_checkpoints(path: Path) -> Iterator[str]:
    """Remove a checkpoint, and the earlier one that was set aside. Yield a note for each that cannot be removed."""
    for file in filter(Path.exists, (path, _set_aside_path(path))):
        try:
            file.unlink(missing_ok=True)
        except OSError as error:
            yield f"{file.name} is no longer needed, but cannot be removed: {error.strerror}"


def _set_aside_path(path: Path) -> Path:
    return path.with_name(f"{path.name}.old")
