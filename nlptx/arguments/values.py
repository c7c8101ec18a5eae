"""Checks of single values: numbers, strings, settings, and results of earlier stages."""

from __future__ import annotations

import math
import reprlib
from numbers import Integral, Real
from typing import Any

from nlptx.errors import InputTypeError, SettingsError


def check_type(value: Any, expected: type, name: str) -> None:
    """Raise InputTypeError unless the argument named ``name`` is an instance of ``expected``."""
    if not isinstance(value, expected):
        raise InputTypeError(
            f"`{name}` is {with_type(value)}; expected an instance of {expected.__name__}",
            hint="Pass its attribute model_." if isinstance(getattr(value, "model_", None), expected) else "",
        )


def check_settings(settings: Any, expected: type) -> None:
    """Raise InputTypeError unless ``settings`` is None or an instance of ``expected``."""
    if settings is not None:
        check_type(settings, expected, "settings")


def check_seed(seed: Any) -> None:
    """Raise InputTypeError or SettingsError unless ``seed`` is a non-negative integer."""
    check_natural(seed, "seed")


def check_natural(value: Any, name: str) -> None:
    """Raise InputTypeError or SettingsError unless the argument named ``name`` is a non-negative integer."""
    check_int(value, name)
    if value < 0:
        raise SettingsError(f"`{name}` is {value}; expected at least 0")


def check_int(value: Any, name: str) -> None:
    """Raise InputTypeError unless the argument named ``name`` is an integer."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise InputTypeError(f"`{name}` is {with_type(value)}; expected an int")


def check_real(value: Any, name: str) -> None:
    """Raise InputTypeError unless the argument named ``name`` is a number."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise InputTypeError(f"`{name}` is {with_type(value)}; expected a number")


def is_finite(value: Real) -> bool:
    """Return whether a number is finite as a float."""
    try:
        return math.isfinite(value)
    except OverflowError:  # an int that is too large for a float
        return False


def check_text(value: Any, name: str) -> None:
    """Raise InputTypeError unless the argument named ``name`` is a str."""
    if not isinstance(value, str):
        raise InputTypeError(f"`{name}` is {with_type(value)}; expected a str")


def is_missing(value: Any) -> bool:
    """Return whether a value is missing: None, a masked value, or the NaN, NaT or NA of pandas and NumPy."""
    is_nan = isinstance(value, Real) and value != value
    return value is None or type(value).__name__ in ("NAType", "NaTType", "MaskedConstant") or is_nan


def with_type(value: Any) -> str:
    """Describe a value and its type in a few words. The values of arrays and data frames are left out.

    >>> with_type(3), with_type(None), with_type("a" * 100)
    ('3 (int)', 'None', "'aaaaaaaaaaaa...aaaaaaaaaaaaa' (str)")
    """
    if value is None:
        return "None"
    if dimensions(value):
        return f"a {type_name(value)}"
    return f"{reprlib.repr(value)} ({type_name(value)})".replace("\n", " ")


def dimensions(value: Any) -> int:
    """Return the number of dimensions of an array, a column or a table; 0 for any other value."""
    count, shape = getattr(value, "ndim", None), getattr(value, "shape", None)
    if isinstance(count, int):
        return count
    return len(shape) if isinstance(shape, tuple) else 0  # tables of polars and pyarrow have no attribute `ndim`


def type_name(value: Any) -> str:
    """Return the name of the type of a value, preceded by the name of the package that defines the type."""
    kind = type(value)
    module = "" if kind.__module__ in ("builtins", "__main__") else f"{kind.__module__.split('.')[0]}."
    return module + kind.__name__
