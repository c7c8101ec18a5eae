"""Cuts inputs into partitions."""

from __future__ import annotations

import os
from collections.abc import Sequence

from nlptx.corpus.compression import is_packed
from nlptx.corpus.partition import Partition
from nlptx.corpus.sources import format_by_name, is_archive
from nlptx.errors import SettingsError

# Number of bytes of a partition. A task then takes a few seconds and fits in the memory of any worker, and there are
# few enough tasks for the scheduler.
PARTITION = 256 << 20
# Formats in which every line can be read independently of the preceding lines.
_CUT_FORMATS = ("text", "jsonl")


def cut_inputs(inputs: Sequence[str], format: str, size: int) -> list[Partition]:
    """Cut inputs into partitions.

    Args:
        inputs: files, folders and archives.
        format: input format, as in :class:`nlptx.corpus.document.ReadOptions`.
        size: number of bytes of a partition. Only the last partition of a file may be smaller.

    Raises:
        SettingsError: an input does not exist, or is standard input.
    """
    result = []
    for name in inputs:
        if name == "-":
            raise SettingsError("the workers of a cluster cannot read standard input", hint="Give files or folders.")
        if not os.path.exists(name):
            raise SettingsError(f"{name}: no such file or folder")
        path = os.path.abspath(name)
        kind = format_by_name(name) if format == "auto" else format
        if not os.path.isfile(path) or is_packed(name) or is_archive(name) or kind not in _CUT_FORMATS:
            result.append(Partition(name, path))
            continue
        total = os.path.getsize(path)
        starts = range(0, max(total, 1), size)
        result += [Partition(name, path, start, min(start + size, total)) for start in starts]
    return result
