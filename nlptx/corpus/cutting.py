"""Cuts inputs into partitions."""

from __future__ import annotations

import os
from collections.abc import Sequence

from nlptx.corpus.compression import is_packed
from nlptx.corpus.partition import Partition
from nlptx.corpus.sources import format_by_name, is_archive
from nlptx.errors import SettingsError

# Limits of the number of bytes in a partition. A task for the largest partition takes half a minute and fits in the
# memory of any worker, and the number of tasks stays small enough for a scheduler. Between the limits, the inputs are
# cut into _PARTITIONS partitions, so that the workers finish at about the same time and their counts are added in one
# step.
_MAX_PARTITION, _MIN_PARTITION = 256 << 20, 32 << 20
_PARTITIONS = 8
# Formats in which every line can be read independently of the preceding lines.
_CUT_FORMATS = ("text", "jsonl")


def partition_size(inputs: Sequence[str]) -> int:
    """Return the partition size for counting, in bytes. It depends only on the total size of the inputs."""
    total = sum(os.path.getsize(name) for name in inputs if os.path.isfile(name))
    return min(max(-(-total // _PARTITIONS), _MIN_PARTITION), _MAX_PARTITION)


def cut_inputs(inputs: Sequence[str], format: str, size: int) -> list[Partition]:
    """Cut inputs into partitions.

    Args:
        inputs: files, folders and archives.
        format: input format, as in :class:`nlptx.corpus.document.ReadOptions`.
        size: number of bytes in a partition. Only the last partition of a file may be smaller.

    Raises:
        SettingsError: an input does not exist, or is standard input.
    """
    result = []
    for name in inputs:
        if name == "-":
            raise SettingsError("the workers of a cluster cannot read standard input", hint="Pass files or folders.")
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
