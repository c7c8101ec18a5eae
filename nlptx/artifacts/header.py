"""Reads the JSON header of an artifact, and checks its format version and the types of its fields."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nlptx.artifacts.kinds import KINDS
from nlptx.errors import CorruptError, NewerFormatError
from nlptx.io import strict_json

FORMAT = 1
_MAX_HEADER_BYTES = 64 << 20


def parse_header(blob: NDArray) -> dict[str, Any]:
    """Return the header in ``blob``, after checking it and the headers nested in it.

    The nested headers are those of the artifacts from which the artifact was made.

    Raises:
        CorruptError, NewerFormatError: the header is damaged, or was written by a later nlptx version.
    """
    if blob.dtype != np.uint8 or blob.size > _MAX_HEADER_BYTES:
        raise CorruptError("the header is not text")
    header = strict_json.loads(blob.tobytes().decode("utf-8", "surrogatepass"))
    _check_header(header)
    ancestor = header
    while ancestor.get("made_from") is not None:
        ancestor = ancestor["made_from"]
        _check_header(ancestor)
    return header


def _check_header(header: Any) -> None:
    expected = {"kind": str, "nlptx": str, "seed": int, "settings": dict, "details": dict, "arrays": list}
    if not isinstance(header, dict) or type(header.get("format")) is not int:
        raise CorruptError("not an nlptx artifact: its header has no format number")
    if header["format"] > FORMAT:
        raise NewerFormatError(
            f"written in format {header['format']} by nlptx {header.get('nlptx')};"
            f" this version reads formats up to {FORMAT}",
            hint="pip install --upgrade nlptx",
        )
    if any(type(header.get(key)) is not kind for key, kind in expected.items()) or header["kind"] not in KINDS:
        raise CorruptError("the header is incomplete")
    if not all(isinstance(name, str) for name in header["arrays"]):
        raise CorruptError("the header's list of arrays is damaged")
