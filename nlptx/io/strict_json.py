"""JSON as its standard has it, from a source nobody vouches for."""

from __future__ import annotations

import json
import math
from typing import Any, NoReturn

# Far more than any table or header needs, and far less than what a later recursion over the value could bear.
_DEEPEST = 100


def loads(text: str) -> Any:
    """Return the value of one JSON text.

    Python's own reader takes NaN and infinities, keeps the last of two equal keys, and turns numbers that are
    too large into infinities; here all of these are errors, and so is deep nesting.

    Raises:
        ValueError: it is not JSON, or one of the above.
    """
    try:
        value = json.loads(text, parse_constant=_refuse_constant, parse_float=_finite, object_pairs_hook=_unique_keys)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    # Every level costs a bracket, so nearly all texts need no closer look.
    if text.count("[") + text.count("{") > _DEEPEST and _depth(value) > _DEEPEST:
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
        raise ValueError("a key stands twice")
    return fields


def _depth(value: Any) -> int:
    depth, level = 0, [value]
    while level := [item for item in level if isinstance(item, dict | list)]:
        level = [part for item in level for part in (item.values() if isinstance(item, dict) else item)]
        depth += 1
    return depth
