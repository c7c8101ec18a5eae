"""Delimiters: the characters between the columns of CSV tables."""

from __future__ import annotations

import re

# Delimiters that are recognised if the header contains no comma.
_OTHERS = ";|\t"
# A quoted field begins at the start of a line or after a delimiter, and may continue on the next line.
_QUOTED = re.compile(rf'(?:^|(?<=[,{_OTHERS}]))"(?:[^"]++|"")*+"?')


def detect_delimiter(header: str) -> str:
    r"""Detect the delimiter of a CSV table from its first line.

    If the line contains no comma outside quotes, and only one of the characters ``;``, ``|`` and tab occurs in it, that
    character is the delimiter; otherwise the delimiter is a comma.

    >>> detect_delimiter("Review;Stars"), detect_delimiter('"a;b",c'), detect_delimiter("a;b|c")
    (';', ',', ',')
    """
    outside = _QUOTED.sub("", header)
    candidates = [character for character in _OTHERS if character in outside]
    return candidates[0] if len(candidates) == 1 and "," not in outside else ","


def named_delimiter(line: str) -> str | None:
    r"""Return the delimiter declared by a line such as ``sep=;`` at the start of a CSV file, or None for other lines.

    >>> named_delimiter("sep=;\r\n"), named_delimiter("sep=;,text")
    (';', None)
    """
    match = re.fullmatch(r"sep=(.)\r?\n?", line, re.IGNORECASE)
    return None if match is None else match[1]


def looks_unsplit(name: str) -> bool:
    """Return whether a column name contains a delimiter. Such a name is probably a header that was not split."""
    return any(character in name for character in ("," + _OTHERS))


def delimiter_name(delimiter: str) -> str:
    r"""Return a delimiter as it is written on a command line.

    >>> delimiter_name("\t"), delimiter_name(";")
    ('tab', ';')
    """
    return "tab" if delimiter == "\t" else delimiter
