"""A document, and the options that say how documents are read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from nlptx.errors import SettingsError

SPLITS = ("train", "test", "unsup")
FORMATS = ("auto", "text", "csv", "tsv", "jsonl")


class Document(NamedTuple):
    """One text, its label where it has one, and its place in the input.

    Args:
        text: the text, without its line end.
        label: the label, or None.
        source: the file, as the user named it; ``archive:member`` inside an archive.
        line: its first line in that file, from 1; 0 where the file is one document.
        fields: all columns of its row, for tables; None for plain text.
        split: part of a corpus laid out as ``train/ test/ unsup/`` that it lies in, or None.
        format: of the input it came from: text, document, csv, tsv, jsonl or parquet.
    """

    text: str
    label: str | None = None
    source: str = ""
    line: int = 0
    fields: dict[str, Any] | None = None
    format: str = "text"
    split: str | None = None

    @property
    def where(self) -> str:
        """Where it stands, as ``file:line`` or ``file``."""
        return f"{self.source}:{self.line}" if self.line else self.source


@dataclass(frozen=True)
class ReadOptions:
    """How inputs are read.

    Args:
        text_column: column of a table that holds the text.
        label_column: column that holds the label; it may be absent.
        format: one of FORMATS; ``auto`` goes by the file name, and reads standard input as text.
        splits: of folders laid out as ``train/ test/ unsup/``, the parts to read; empty for all.
        encoding_errors: ``strict`` or ``replace``.
        skip_bad: leave out rows without text or label where labels are needed.
    """

    text_column: str = "text"
    label_column: str = "label"
    format: str = "auto"
    splits: tuple[str, ...] = ()
    encoding_errors: str = "strict"
    skip_bad: bool = False

    def __post_init__(self) -> None:
        if self.format not in FORMATS:
            raise SettingsError(f"input format is {self.format!r}; expected one of {', '.join(FORMATS)}")
        if unknown := set(self.splits) - set(SPLITS):
            raise SettingsError(f"split is {min(unknown)!r}; expected some of {', '.join(SPLITS)}")


def non_default_options(reading: ReadOptions, splits: tuple[str, ...]) -> dict[str, Any]:
    """Return the reading options that are not at a command's default, to be kept with what was read.

    The format is left out, as it says how the texts arrived and not what they are: a corpus gives the same artifact
    as a file of any format, and through a pipe, whose format must be told.
    """
    usual = ReadOptions(splits=splits)
    kept = {name: value for name, value in vars(reading).items() if name != "format"}
    return {name: value for name, value in kept.items() if value != getattr(usual, name)}
