"""The type of file paths (str or pathlib.Path), their conversion to str, and their comparison."""

from __future__ import annotations

import os

from nlptx.errors import InputTypeError

FilePath = str | os.PathLike[str]


def file_name(path: FilePath, name: str = "path") -> str:
    """Return a path as a str. Raise InputTypeError unless the argument, which is called ``name``, is a path.

    >>> from pathlib import Path
    >>> file_name(Path("models") / "model.npz")
    'models/model.npz'
    """
    try:
        return os.fsdecode(path)
    except TypeError:
        raise InputTypeError(f"`{name}` has the type {type(path).__name__}; expected a str or a path") from None


def is_same_file(first: FilePath, second: FilePath) -> bool:
    """Return whether two paths lead to the same existing file, such as ``a.npz`` and ``./a.npz`` or a link to it."""
    return os.path.exists(first) and os.path.exists(second) and os.path.samefile(first, second)
