"""The output of one stage and the input of the next, in memory; :mod:`nlptx.artifacts.container` is its file format."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from nlptx.artifacts.header import FORMAT
from nlptx.settings import SEED
from nlptx.version import __version__


@dataclass(frozen=True)
class Artifact:
    """The output of one stage and the input of the next.

    Args:
        kind: a key of :data:`nlptx.artifacts.kinds.KINDS`.
        settings: value of every setting of the stage, by name.
        arrays: arrays by name. Arrays that were read from a file are read-only. An array may also be a
            :class:`GrowingArray` or a :class:`StoredArray`.
        made_from: header of the artifact from which this artifact was made, or None.
        details: further JSON values, such as digests, labels or history, depending on ``kind``.
        seed: random seed of the stage.
        version: nlptx version that wrote the artifact.
    """

    kind: str
    settings: dict[str, Any]
    arrays: dict[str, Any]
    made_from: dict[str, Any] | None
    details: dict[str, Any]
    seed: int = SEED
    version: str = __version__

    def __repr__(self) -> str:
        return f"<Artifact: {self.kind}, {len(self.arrays)} arrays, written by nlptx {self.version}>"

    @property
    def header(self) -> dict[str, Any]:
        """The JSON header, as it is stored in the file."""
        return {
            "format": FORMAT,
            "kind": self.kind,
            "nlptx": self.version,
            "seed": self.seed,
            "settings": self.settings,
            "details": self.details,
            "arrays": sorted(self.arrays),
            "made_from": self.made_from,
        }
