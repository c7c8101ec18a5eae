"""The base class of all settings, and functions that declare options and check their values."""

from __future__ import annotations

import dataclasses
import reprlib
from dataclasses import dataclass, field, fields
from textwrap import shorten
from typing import Any, TypeVar

from nlptx.arguments.values import is_finite
from nlptx.errors import CorruptError, SettingsError

T = TypeVar("T")

# Maximum length of the list of non-default settings in a repr, in characters.
_MAX_REPR_LENGTH = 90

# Sections of the help text, in order. The first section contains the most important options.
GROUPS = (
    *("Options", "Data", "Start", "Counting", "Transform", "Power iteration"),
    *("Network", "N-grams", "Training", "Cluster", "Output"),
)
MAIN = GROUPS[0]


def setting(
    default: T,
    help: str,
    group: str,
    *,
    choices: tuple[str, ...] | None = None,
    metavar: str | None = None,
    minimum: float | None = None,
    maximum: float | None = None,
    legacy_value: T | None = None,
) -> T:
    """Declare an option: a dataclass field with its help text, its section of the help and its range (inclusive).

    The help shows ``metavar``, if it is given, in place of a long list of choices; ``help`` must then list the choices.
    ``legacy_value`` is the value that applies to artifacts made before the option existed; by default, it equals
    ``default``.
    """
    metadata = {
        "help": help,
        "group": group,
        "choices": choices,
        "metavar": metavar,
        "minimum": minimum,
        "maximum": maximum,
    }
    return field(default=default, metadata={**metadata, "legacy_value": legacy_value})


def stored_value(item: dataclasses.Field[Any], stored: dict[str, Any]) -> Any:
    """Return the value of a setting, given the settings stored in an artifact, which may be older than this setting."""
    legacy_value = item.metadata["legacy_value"]
    return stored.get(item.name, item.default if legacy_value is None else legacy_value)


@dataclass(frozen=True)
class Settings:
    """Base class of all settings: checks every field against its declared range."""

    def __post_init__(self) -> None:
        for item in fields(self):
            value = getattr(self, item.name)
            value = value.item() if getattr(value, "ndim", None) == 0 else value  # a NumPy scalar
            check_value(item, value)
            # An artifact stores 0.0, not 0, if the setting is a float.
            object.__setattr__(self, item.name, float(value) if type(item.default) is float else value)

    def __repr__(self) -> str:
        values = ((item.name, getattr(self, item.name), item.default) for item in fields(self))
        changed = ", ".join(f"{name}={value!r}" for name, value, default in values if value != default)
        return f"{type(self).__name__}({shorten(changed, _MAX_REPR_LENGTH, placeholder=' ...')})"

    def to_dict(self) -> dict[str, Any]:
        return dataclasses.asdict(self)

    @classmethod
    def from_dict(cls: type[S], values: dict[str, Any]) -> S:
        """Return the settings whose values are stored in an artifact.

        Raises:
            CorruptError: a name is unknown or a value is invalid.
        """
        unknown = sorted(set(values) - {item.name for item in fields(cls)})
        if unknown:
            raise CorruptError(f"it stores the setting {unknown[0]!r}, which this version of nlptx does not have")
        try:
            return cls(**values)
        except SettingsError as error:
            raise CorruptError(f"a stored setting is invalid: {error.message}") from error


S = TypeVar("S", bound=Settings)


def check_value(item: dataclasses.Field[Any], value: Any) -> None:
    """Raise SettingsError unless ``value`` has the type and range declared for ``item``."""
    name, expected = f"`{item.name}`", type(item.default)
    int_for_float = expected is float and type(value) is int
    choices, minimum, maximum = (item.metadata[key] for key in ("choices", "minimum", "maximum"))
    if type(value) is not expected and not int_for_float and choices is None:
        raise SettingsError(f"{name} is {value!r}; expected {expected.__name__}")
    if choices is not None and (type(value) is not expected or value not in choices):
        raise SettingsError(f"{name} is {value!r}; expected one of {', '.join(choices)}")
    if expected is float and not is_finite(value):
        raise SettingsError(f"{name} is {reprlib.repr(value)}; expected a finite number")
    if (minimum is not None and not value >= minimum) or (maximum is not None and not value <= maximum):
        bounds = f"at least {minimum}" if maximum is None else f"from {minimum} to {maximum}"
        raise SettingsError(f"{name} is {value}; expected {bounds}")
