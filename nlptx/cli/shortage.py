"""Recognises errors that are caused by a shortage of memory or threads, and describes them."""

from __future__ import annotations

import errno

from nlptx.runtime.allocator import address_space_limit

# Lower-case parts of ImportError messages that mean that there is not enough memory to load a library.
_LOADER_MESSAGES = ("failed to map segment", "cannot allocate memory", "cannot map")
# This text in a SystemError means that C code failed without setting an exception, as it may when memory runs out.
_NO_EXCEPTION = "without exception set"
_NO_THREAD = "can't start new thread"
# Command -> advice on how to use less memory. The advice names only options that the command has.
_ADVICE = {
    "cooccur": "Use a smaller --memory or --max-words, or --jobs 1",
    "pca": "Use fewer --components, or --jobs 1",
    "train": "Use a smaller --batch, fewer --lsa-components, fewer texts, or --jobs 1",
    "predict": "Use --jobs 1, or shorter texts",
    "evaluate": "Use --jobs 1, or fewer texts at a time",
}


def describe_shortage(error: BaseException, command: str | None) -> str | None:
    """Return a message about a shortage of memory or threads, or None if the error has another cause.

    Args:
        error: the exception that ended the command.
        command: name of the command, or None if the error occurred before the command was known.
    """
    if isinstance(error, RuntimeError) and _NO_THREAD in str(error):
        what = "no thread can be started, because memory is short or the number of processes is limited"
    elif _is_memory_error(error):
        what = "out of memory"
    else:
        return None
    limit = address_space_limit()
    known = "" if limit is None else f" (ulimit -v: {limit >> 20:,} MB)"
    advice = _ADVICE.get(command or "", "Free some memory") + ("" if limit is None else ", or raise the limit")
    return f"{what}{known}\n  {advice}."


def _is_memory_error(error: BaseException | None) -> bool:
    """Return whether an error or one of its causes means that memory ran out."""
    while error is not None:
        if isinstance(error, MemoryError) or (isinstance(error, OSError) and error.errno == errno.ENOMEM):
            return True
        if isinstance(error, ImportError) and any(text in str(error).lower() for text in _LOADER_MESSAGES):
            return True
        if isinstance(error, SystemError) and _NO_EXCEPTION in str(error) and address_space_limit() is not None:
            return True
        error = error.__cause__ or error.__context__
    return False
