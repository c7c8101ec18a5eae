"""The type of file paths (str or pathlib.Path), and their conversion to str."""

from __future__ import annotations

import os

FilePath = str | os.PathLike[str]


def file_name(path: FilePath) -> str:
    """Return a path as a str. Raises TypeError if it is not a path.

    >>> from pathlib import Path
    >>> file_name(Path("models") / "model.npz")
    'models/model.npz'
    """
    return os.fsdecode(path)
