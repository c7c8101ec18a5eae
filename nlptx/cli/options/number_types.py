"""Types of options whose values are numbers."""

from __future__ import annotations

import math
import re
from typing import Any

import click

_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
# Larger sizes are reduced to this number of bytes, so that sums of sizes fit in 64 bits.
_MAX_SIZE = 1 << 60


class CountRange(click.IntRange):
    """A range of integers. Messages say "whole number" instead of "integer range"."""

    name = "whole number"


class NumberRange(click.FloatRange):
    """A range of numbers. Unlike click.FloatRange, it does not accept NaN."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        number = super().convert(value, param, ctx)
        if math.isnan(number):
            self.fail("nan is not a number.", param, ctx)
        return number


class Size(click.ParamType):
    """A number of bytes, such as 512M or 1.5G."""

    name = "size"

    def convert(self, value: Any, parameter: click.Parameter | None, context: click.Context | None) -> int:
        if isinstance(value, int):
            return value
        match = re.fullmatch(r"(\d+(?:\.\d+)?) ?([KMGT]?)(?:i?B)?", value.strip(), re.IGNORECASE)
        if match is None:
            self.fail(f"{value!r} is not a size; expected a number of bytes such as 512M or 2G.", parameter, context)
        return int(min(float(match[1]) * _UNITS[match[2].upper()], _MAX_SIZE))
