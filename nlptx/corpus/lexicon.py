"""Reads a lexicon: words and phrases, each with a value, such as the strength of the opinion that a word expresses."""

from __future__ import annotations

import math
import os

from nlptx.corpus.cells import read_number
from nlptx.errors import DataError, SettingsError
from nlptx.io.paths import FilePath, file_name


def read_lexicon(path: FilePath) -> dict[str, float]:
    """Read a lexicon: a tab-separated UTF-8 table with a word or phrase and its value in the first two columns.

    The first line is a header if its second column is not a number. A decimal comma, "nan" and "inf" in the second
    column are errors, even in the first line. Empty lines and further columns are ignored. If a word occurs more than
    once, its last value is used.

    Raises:
        DataError: a line has no second column or its value is not a finite number, or the lexicon has no entries.
        OSError: the file cannot be read.
        SettingsError: there is no such file.
    """
    entries: dict[str, float] = {}
    if not os.path.exists(path):
        raise SettingsError(f"{file_name(path)}: no such file")
    with open(path, encoding="utf-8-sig", errors="strict") as file:
        try:
            for number, line in enumerate(file, 1):
                word, *columns = line.rstrip("\r\n").split("\t")
                if not line.strip():
                    continue
                value = _number(columns[0]) if columns else None
                if value is not None and math.isfinite(value) and word.strip():
                    entries[word.strip()] = value
                elif number > 1 or not any(columns) or _number(columns[0].replace(",", ".")) is not None:
                    raise DataError(
                        f"{line.strip()[:60]!r} is not an entry in a lexicon; expected a word, a tab and a number",
                        where=f"{file_name(path)}:{number}",
                    )
        except UnicodeDecodeError as error:
            raise DataError("the lexicon is not UTF-8", where=file_name(path)) from error
    if not entries:
        raise DataError("the lexicon has no entries", where=file_name(path))
    return entries


def _number(text: str) -> float | None:
    try:
        return read_number(text)
    except ValueError:
        return None
