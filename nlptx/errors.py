"""The error classes. Each class defines the exit code of a command that fails with an error of this class.

NlptxError                1   something failed while running
├── OutputError           1   the result could not be written
├── DivergenceError       1   training diverged: the loss exploded, or became NaN or infinite
├── NotFittedError        1   an estimator was used before `fit` (also a ValueError and an AttributeError)
├── SettingsError         2   a setting is invalid or contradicts another, or a file does not exist (also a ValueError)
├── DataError             3   the input text or its labels cannot be used (also a ValueError)
│   ├── DecodingError     3   the input contains bytes that are not UTF-8
│   ├── LabelError        3   a label is missing or cannot be used
│   └── InputTypeError    3   an argument of a Python function has the wrong type (also a TypeError)
├── ArtifactError         4   a file cannot be used as an artifact (also a ValueError)
│   ├── WrongKindError    4   the file is an artifact of another stage
│   ├── CorruptError      4   the file is truncated, altered, or not an artifact
│   └── NewerFormatError  4   the file was written by a later version of nlptx
└── QualityGateError      5   a required quality was not reached

Messages contain the Python names of arguments and settings, in backticks (`epochs`, `resume=True`). The command-line
tool replaces the Python names with the names of its options (--epochs, --resume).
"""

from __future__ import annotations

from collections.abc import Sequence

# Maximum number of characters of a text or label that a message quotes.
MAX_QUOTED = 60


class NlptxError(Exception):
    """Base class of all errors that nlptx raises deliberately.

    Args:
        message: description of the error, with the actual and the expected value.
        where: position in the input, as ``file`` or ``file:line``.
        hint: what the user can do next.
    """

    exit_code = 1
    # Maximum number of characters per line of a message. Longer lines are truncated, because a message may quote long
    # input.
    _MAX_LENGTH = 1000

    def __init__(self, message: str, *, where: str = "", hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.where = where
        self.hint = hint

    def __str__(self) -> str:
        prefix = f"{self.where}: " if self.where else ""
        lines = [" ".join(part.splitlines()) for part in (prefix + self.message, self.hint) if part]
        return "\n  ".join(
            line if len(line) <= self._MAX_LENGTH else line[: self._MAX_LENGTH] + " ..." for line in lines
        )


class OutputError(NlptxError):
    """The result could not be written."""


class DivergenceError(NlptxError):
    """Training diverged: the loss exploded, or became NaN or infinite."""


class NotFittedError(NlptxError, ValueError, AttributeError):
    """An estimator was used before it was fitted.

    Like scikit-learn's NotFittedError, this error is also a ValueError and an AttributeError.
    """


class SettingsError(NlptxError, ValueError):
    """A setting has an invalid value, settings contradict each other, or an input file does not exist."""

    exit_code = 2


class DataError(NlptxError, ValueError):
    """The input text or its labels cannot be used."""

    exit_code = 3


class DecodingError(DataError):
    """Bytes in the input are not valid UTF-8."""


class LabelError(DataError):
    """A label is missing or cannot be used."""


class InputTypeError(DataError, TypeError):
    """An argument of a Python function, or an element of such an argument, has the wrong type."""


class ArtifactError(NlptxError, ValueError):
    """A file cannot be used as an artifact, such as a model or word vectors."""

    exit_code = 4


class WrongKindError(ArtifactError):
    """A file is an artifact of the wrong stage, for example word vectors where a model is expected."""


class CorruptError(ArtifactError):
    """A file is truncated, altered, or not an artifact."""


class NewerFormatError(ArtifactError):
    """A file was written by a later version of nlptx."""


class QualityGateError(NlptxError):
    """A required quality, for example the accuracy given by ``--min-accuracy``, was not reached."""

    exit_code = 5


def listed(names: Sequence[str], maximum: int) -> str:
    """Join names with commas for a message; if there are more than ``maximum``, only the first ones, and "..."."""
    return ", ".join(names[:maximum]) + (", ..." if len(names) > maximum else "")


def quoted(text: str) -> str:
    """Return a text in quotation marks for a message, shortened if it is long."""
    return repr(text if len(text) <= MAX_QUOTED else text[:MAX_QUOTED] + "...")
