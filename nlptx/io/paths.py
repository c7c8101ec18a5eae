"""Paths of files, given as str or pathlib.Path."""

from __future__ import annotations

import os

FilePath = str | os.PathLike[str]


def file_name(path: FilePath) -> str:
    """Return a path as a str. Raises TypeError for any other type.

    >>> from pathlib import Path
    >>> file_name(Path("models") / "model.npz")
    'models/model.npz'
    """
    return os.fsdecode(path)
