"""Protects spreadsheets from texts that look like formulas."""

from __future__ import annotations

import re

_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")
_NUMBER = re.compile(r"[-+]?\d+(\.\d+)?")


def escape_formula(text: str) -> str:
    """Put a single quote before a text that a spreadsheet would treat as a formula (OWASP, "CSV Injection").

    A number such as -1 is no formula, so it is not changed.
    """
    return "'" + text if text.startswith(_FORMULA_STARTS) and not _NUMBER.fullmatch(text) else text
