"""The options for reading documents."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from nlptx.arguments.values import check_text, check_type
from nlptx.errors import SettingsError

SPLITS = ("train", "test", "unsup")
FORMATS = ("auto", "text", "csv", "tsv", "jsonl")
ENCODING_ERRORS = ("strict", "replace")
# Reading options that are not recorded in artifacts.
_NOT_RECORDED = ("format", "delimiter", "exclude", "guess_text", "use_labels")
# Characters that cannot be delimiters, because they have another meaning in CSV.
_NO_DELIMITERS = '"\r\n\0'


@dataclass(frozen=True)
class ReadOptions:
    """Options for reading inputs.

    If a table has no column with the exact name that an option gives, a column whose name differs only in case or in
    surrounding spaces is used.

    Args:
        text_column: name of the table column that contains the text.
        label_column: name of the column that contains the label; a table without labels need not have this column.
        format: one of FORMATS; with ``auto``, the file name determines the format, and standard input is plain text.
        splits: which of the folders ``train``, ``test`` and ``unsup`` of a corpus are read; if empty, all of them.
        encoding_errors: what to do with bytes that are not UTF-8: ``strict`` (raise an error) or ``replace``.
        skip_bad: whether to leave out rows that cannot be read, and rows that lack a text or a label.
        delimiter: character between the columns of CSV tables; if None, it is detected from the header.
        label_map: old label -> new label; labels that are not in the map are kept. If the new label is empty, rows with
            the old label are left out of labelled data.
        weight_column: name of the column that contains the row weights, or None.
        label_separator: text between the labels in a cell of the label column, or None if every text has exactly one
            label.
        exclude: path of a table that lists the rows to leave out of labelled data, or None; see
            :class:`nlptx.corpus.exclusion.Exclusion`.
        guess_text: whether the only column of a table is read as the text even if its name is not ``text_column``.
            Ignored unless ``text_column`` has its default value.
        use_labels: whether the labels are used. If not, a cell of the label column that cannot be a label, such as a
            list, is treated as empty instead of causing an error.

    Raises:
        InputTypeError: an option has the wrong type.
        SettingsError: an option has an invalid value, or two options contradict each other.
    """

    text_column: str = "text"
    label_column: str = "label"
    format: str = "auto"
    splits: tuple[str, ...] = ()
    encoding_errors: str = "strict"
    skip_bad: bool = False
    delimiter: str | None = None
    label_map: Mapping[str, str] = field(default_factory=dict)
    weight_column: str | None = None
    label_separator: str | None = None
    exclude: str | None = None
    guess_text: bool = True
    use_labels: bool = True

    def __post_init__(self) -> None:
        self._check_types()
        if self.format not in FORMATS:
            raise SettingsError(f"input format is {self.format!r}; expected one of {', '.join(FORMATS)}")
        if self.encoding_errors not in ENCODING_ERRORS:
            raise SettingsError(
                f"`encoding_errors` is {self.encoding_errors!r}; expected {' or '.join(ENCODING_ERRORS)}"
            )
        if unknown := set(self.splits) - set(SPLITS):
            raise SettingsError(f"split is {min(unknown)!r}; expected {', '.join(SPLITS[:-1])} or {SPLITS[-1]}")
        if self.delimiter is not None and (len(self.delimiter) != 1 or self.delimiter in _NO_DELIMITERS):
            raise SettingsError(
                f"`delimiter` is {self.delimiter!r}; expected one character other than a quote or a line break"
            )
        if self.label_separator is not None:
            check_separator(self.label_separator)
            if "" in self.label_map.values():
                raise SettingsError(
                    "`label_map=OLD=` leaves out the rows with the label OLD, but with `label_separator`, a text can"
                    " have other labels too",
                    hint="Rename the label with `label_map=OLD=NEW`, or remove it from the data.",
                )

    def _check_types(self) -> None:
        """Raise InputTypeError if an option has the wrong type."""
        for name in ("text_column", "label_column", "format", "encoding_errors"):
            check_text(getattr(self, name), name)
        for name in ("delimiter", "weight_column", "label_separator", "exclude"):
            if getattr(self, name) is not None:
                check_text(getattr(self, name), name)
        for name in ("skip_bad", "guess_text", "use_labels"):
            check_type(getattr(self, name), bool, name)
        check_type(self.splits, tuple, "splits")
        for split in self.splits:
            check_text(split, "splits")
        check_type(self.label_map, Mapping, "label_map")
        for label in [*self.label_map.keys(), *self.label_map.values()]:
            check_text(label, "label_map")


def check_separator(separator: str) -> None:
    """Raise SettingsError if ``separator`` is empty or has surrounding white space; a single space is valid."""
    if not separator or separator != (separator.strip() or " "):
        raise SettingsError(
            f"`label_separator` is {separator!r}; expected a separator such as ';', without surrounding white space"
        )


def non_default_options(reading: ReadOptions, splits: tuple[str, ...]) -> dict[str, Any]:
    """Return the reading options to record in an artifact: those that differ from the defaults of a command.

    The options ``exclude``, ``guess_text`` and ``use_labels`` are not recorded. The format and the delimiter are not
    recorded either, because they do not change the texts. Therefore, the same options are recorded for a file, whose
    name implies the format, and for a pipe, whose format must be set.

    Args:
        reading: the reading options that were used.
        splits: the splits that the command reads by default.
    """
    defaults = ReadOptions(splits=splits)
    kept = {name: value for name, value in vars(reading).items() if name not in _NOT_RECORDED}
    return {name: value for name, value in kept.items() if value != getattr(defaults, name)}
