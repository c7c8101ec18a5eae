"""Errors that mean a shortage of memory or threads: how to tell them, and what to say."""

from __future__ import annotations

import errno

from nlptx.runtime.allocator import address_space_limit

# What the dynamic loader says when it has no memory for a library; Python passes it on as an ImportError.
_LOADER_SAYS = ("failed to map segment", "cannot allocate memory", "cannot map")
_NO_THREAD = "can't start new thread"
# What takes less memory, by command; only options that the command has.
_ADVICE = {
    "cooccur": "Give a smaller --memory or --max-words, or --jobs 1",
    "pca": "Give fewer --components, or --jobs 1",
    "train": "Give a smaller --batch, fewer --lsa-components, fewer texts, or --jobs 1",
    "predict": "Give --jobs 1, or shorter texts",
    "evaluate": "Give --jobs 1, or fewer texts at a time",
}


def describe_shortage(error: BaseException, command: str | None) -> str | None:
    """Return what to say of a shortage of memory or threads; None if the error means something else.

    Args:
        error: the error that ended the command.
        command: the name of the command.
    """
    if isinstance(error, RuntimeError) and _NO_THREAD in str(error):
        what = "no thread can be started, for lack of memory or because the number of processes is limited"
    elif _is_memory_error(error):
        what = "out of memory"
    else:
        return None
    limit = address_space_limit()
    known = "" if limit is None else f" (ulimit -v: {limit >> 20:,} MB)"
    advice = _ADVICE.get(command or "", "Free some memory") + ("" if limit is None else ", or raise the limit")
    return f"{what}{known}\n  {advice}."


def _is_memory_error(error: BaseException | None) -> bool:
    """Tell whether an error, or what it was raised from, means that there is no memory."""
    while error is not None:
        if isinstance(error, MemoryError) or (isinstance(error, OSError) and error.errno == errno.ENOMEM):
            return True
        if isinstance(error, ImportError) and any(text in str(error).lower() for text in _LOADER_SAYS):
            return True
        error = error.__cause__ or error.__context__
    return False
