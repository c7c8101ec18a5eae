"""The code that runs on the workers of a cluster: checks before the first task, and the tasks themselves."""

from __future__ import annotations

import hashlib
import os
import platform
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeVar

from nlptx.errors import NlptxError, SettingsError
from nlptx.version import __version__

T = TypeVar("T")
R = TypeVar("R")

# Number of bytes that are compared at the start of each file.
_HEAD = 1 << 16


class UnsuitableWorkerError(NlptxError):
    """A worker cannot be used: its software versions differ from those of the caller, or it cannot access the files."""


@dataclass(frozen=True)
class RequiredFile:
    """A file or folder to which every worker must have access.

    Args:
        path: absolute path.
        size: number of bytes; -1 for a folder.
        head: SHA-256 of the first bytes; empty for a folder.
    """

    path: str
    size: int
    head: str

    @classmethod
    def at(cls, path: str) -> RequiredFile:
        """Describe a file or folder. Raise OSError if the file or folder cannot be read."""
        path = os.path.abspath(path)
        if os.path.isdir(path):
            os.listdir(path)
            return cls(path, -1, "")
        with open(path, "rb") as file:
            return cls(path, os.path.getsize(path), hashlib.sha256(file.read(_HEAD)).hexdigest())


@dataclass(frozen=True)
class Requirements:
    """Properties that a worker must share with the machine that starts the work.

    Args:
        versions: names and versions of the software that determines the result.
        files: input files, and the folder for results.
    """

    versions: tuple[tuple[str, str], ...]
    files: tuple[RequiredFile, ...]

    @classmethod
    def of(cls, paths: Sequence[str]) -> Requirements:
        """Return the requirements for work on the files and folders at the given paths.

        Raises:
            SettingsError: a file or folder does not exist.
            OSError: a file or folder cannot be read.
        """
        for path in paths:
            if not os.path.exists(path):
                raise SettingsError(f"{path}: no such file or folder")
        return cls(versions(), tuple(RequiredFile.at(path) for path in paths))

    def check(self) -> None:
        """Raise UnsuitableWorkerError, which names this machine, if the machine does not meet the requirements."""
        host = platform.node()
        for (name, expected), (_, installed) in zip(self.versions, versions(), strict=True):
            if installed != expected:
                raise UnsuitableWorkerError(
                    f"the worker on {host} has {name} {installed}; expected {expected}",
                    hint="Install the same versions of nlptx, Python, NumPy and SciPy on all machines.",
                )
        for file in self.files:
            try:
                seen = RequiredFile.at(file.path)
            except OSError as error:
                raise UnsuitableWorkerError(
                    f"the worker on {host} cannot read it: {(error.strerror or str(error)).lower()}",
                    where=file.path,
                    hint="All workers must be able to access the inputs and the output folder at the same paths.",
                ) from None
            if seen != file:
                raise UnsuitableWorkerError(
                    f"the worker on {host} sees a different file here ({seen.size:,} bytes; expected {file.size:,})",
                    where=file.path,
                    hint="All workers must see the same files at the same paths.",
                )


def versions() -> tuple[tuple[str, str], ...]:
    """Return the versions of all software that determines the bytes of a result, except for the BLAS."""
    import numpy
    import scipy

    python = ".".join(platform.python_version_tuple()[:2])
    return (("nlptx", __version__), ("Python", python), ("NumPy", numpy.__version__), ("SciPy", scipy.__version__))


def blas() -> str:
    """Return the BLAS libraries of NumPy and SciPy, and the processor type that each library detects.

    The BLAS and the processor type determine the last digits of matrix products.
    """
    # threadpool_info() lists only loaded libraries. Importing NumPy and SciPy loads their BLAS, so the result does not
    # depend on what this process has done before.
    import numpy  # noqa: F401
    import scipy.linalg  # noqa: F401
    from threadpoolctl import threadpool_info

    libraries = {
        (each["internal_api"], each.get("version"), each.get("architecture"))
        for each in threadpool_info()
        if each["user_api"] == "blas"
    }
    return ", ".join(" ".join(str(part) for part in each if part) for each in sorted(libraries, key=str))


@lru_cache(maxsize=16)
def _checked(requirements: Requirements) -> None:
    """Check the requirements once per process. A failure is not cached, because the cause may be fixed later."""
    from nlptx.runtime.blas import use_one_blas_thread

    use_one_blas_thread()
    requirements.check()


def run(requirements: Requirements, work: Callable[[T], R], item: T) -> R:
    """Perform a task on a worker. Exceptions that the task raises are passed on.

    Raises:
        UnsuitableWorkerError: the worker does not meet the requirements.
    """
    from nlptx.runtime.allocator import keep_freed_memory, return_freed_memory
    from nlptx.runtime.workers import Workers

    _checked(requirements)
    # The environment of a worker tells the C library to return freed memory to the system immediately. During a task,
    # this would take as long as the task itself, so freed memory is kept until the task ends.
    keep_freed_memory()
    try:
        with Workers(1):  # limits every BLAS to one thread
            return work(item)
    finally:
        return_freed_memory()


def inspect_worker(requirements: Requirements) -> tuple[UnsuitableWorkerError | None, str]:
    """Return (None, BLAS libraries) if this worker is suitable, otherwise (reason why it is unsuitable, "")."""
    try:
        _checked(requirements)
    except UnsuitableWorkerError as error:
        return error, ""
    return None, blas()
