"""A strict JSON parser for untrusted input."""

from __future__ import annotations

import json
import math
from typing import Any, NoReturn

# Maximum number of nested levels: far more than tables and headers need, but few enough that recursive functions can
# process the value.
_MAX_DEPTH = 100


def loads(text: str) -> Any:
    """Parse a JSON text.

    NaN, infinities, duplicate keys, numbers with a point or an exponent that are too large for a float, and more than
    _MAX_DEPTH nested levels cause an error. (Python's json module accepts NaN and infinities, keeps the last value of a
    duplicate key, and turns such numbers into infinities.) Whole numbers may be larger than any float.

    Raises:
        ValueError: the text is not JSON, or contains a duplicate key, a number that is too large, or too many nested
            levels.
    """
    try:
        value = json.loads(text, parse_constant=_refuse_constant, parse_float=_finite, object_pairs_hook=_unique_keys)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    # Each level of nesting has an opening bracket, so the depth is computed only for a text with many brackets.
    if text.count("[") + text.count("{") > _MAX_DEPTH and _depth(value) > _MAX_DEPTH:
        raise ValueError("nested too deeply")
    return value


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _finite(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        raise ValueError(f"{digits} is too large")
    return number


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise ValueError("duplicate key")
    return fields


def _depth(value: Any) -> int:
    depth, level = 0, [value]
    while level := [item for item in level if isinstance(item, dict | list)]:
        level = [part for item in level for part in (item.values() if isinstance(item, dict) else item)]
        depth += 1
    return depth
