"""The error tree. Every class knows the exit code of the command that meets it.

NlptxError                1   something failed while running
├── OutputError           1   the result could not be written
├── DivergenceError       1   training met a NaN or an infinity
├── SettingsError         2   a setting has an impossible value (a ValueError too)
├── DataError             3   the input text or its labels cannot be used (a ValueError too)
│   ├── DecodingError     3   bytes that are not UTF-8
│   ├── LabelError        3   a label is missing or not one the model knows
│   └── InputTypeError    3   an argument of a Python function has the wrong type (a TypeError too)
├── ArtifactError         4   not a file this program can trust
│   ├── WrongKindError    4   an artifact, but of another stage
│   ├── CorruptError      4   truncated, altered, or no artifact at all
│   └── NewerFormatError  4   written by a later version
└── QualityGateError      5   a demanded quality was not reached

Messages name arguments and settings as Python does, in backquotes (`epochs`, `resume=True`); the command line turns
them into its options (--epochs, --resume).
"""

from __future__ import annotations


class NlptxError(Exception):
    """Base of all errors raised on purpose.

    Args:
        message: what happened, with what was got and what was expected.
        where: the place in the input, as ``file`` or ``file:line``.
        hint: what to do next.
    """

    exit_code = 1
    # Characters shown of a message, which may quote anything that stands in the data.
    _LONGEST = 1000

    def __init__(self, message: str, *, where: str = "", hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.where = where
        self.hint = hint

    def __str__(self) -> str:
        place = f"{self.where}: " if self.where else ""
        lines = [" ".join(part.splitlines()) for part in (place + self.message, self.hint) if part]
        return "\n  ".join(line if len(line) <= self._LONGEST else line[: self._LONGEST] + " ..." for line in lines)


class OutputError(NlptxError):
    """The result could not be written."""


class DivergenceError(NlptxError):
    """Training met a NaN or an infinity."""


class SettingsError(NlptxError, ValueError):
    """A setting has an impossible value."""

    exit_code = 2


class DataError(NlptxError, ValueError):
    """The input text or its labels cannot be used."""

    exit_code = 3


class DecodingError(DataError):
    """Bytes in the input are not valid UTF-8."""


class LabelError(DataError):
    """A label is missing, or not one that can be used."""


class InputTypeError(DataError, TypeError):
    """An argument of a Python function has the wrong type, or one of its elements has."""


class ArtifactError(NlptxError):
    """A file is not an artifact this program can trust."""

    exit_code = 4


class WrongKindError(ArtifactError):
    """An artifact, but the output of another stage."""


class CorruptError(ArtifactError):
    """Truncated, altered, or not an artifact at all."""


class NewerFormatError(ArtifactError):
    """Written by a later version of nlptx."""


class QualityGateError(NlptxError):
    """A demanded quality, such as ``--min-accuracy``, was not reached."""

    exit_code = 5
