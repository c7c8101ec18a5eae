"""Clean text before its tokens are found: HTML, letter case, invisible characters, composed Unicode."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

# With the semicolon: without one, `&copy=2` in a link would become a sign.
_REFERENCE = r"&(?:#[0-9]{1,7}|#[xX][0-9A-Fa-f]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});"
_TEXT_REFERENCE, _BYTES_REFERENCE = re.compile(_REFERENCE), re.compile(_REFERENCE.encode())
# HTML line breaks, as the IMDB reviews are full of them.
_LINE_BREAK = re.compile(r"<br\s*/?>", re.IGNORECASE)
# Replaces them. It is not white space, so the text around a line break never forms another one.
SEPARATOR = "\x01"
# Soft hyphens, joiners, marks of direction and of the form of the character before: they belong to no word.
_INVISIBLE = re.compile(
    "[\u00ad\u061c\u180b-\u180f\u200c-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\U000e0000-\U000e0fff]"
)
# The lower case of the Turkish capital İ by Unicode's rules; a small i has its dot already.
_DOTTED_I = "i\u0307"


def decode_references(text: str) -> str:
    """Replace HTML character references: ``&amp;`` by ``&``, ``&#39;`` by ``'``. Results are not decoded again."""
    return _TEXT_REFERENCE.sub(lambda found: _decode(found[0].encode()).decode(), text) if "&" in text else text


def decode_references_in_bytes(lines: bytes) -> bytes:
    """Replace HTML character references in lines of UTF-8; the number of lines stays the same."""
    return _BYTES_REFERENCE.sub(lambda found: _decode(found[0]), lines) if b"&" in lines else lines


@lru_cache
def _decode(reference: bytes) -> bytes:
    from html import unescape
    from html.entities import html5

    code = reference.decode()
    text = unescape(code) if code[1] == "#" else html5.get(code[1:], code)
    return text.replace("\n", " ").encode()


def lower(text: str) -> str:
    """Return ``text`` in lower case, in which İ is i."""
    return text.lower() if text.isascii() else text.lower().replace(_DOTTED_I, "i")


def clean(text: str) -> str:
    """Return ``text`` without HTML line breaks and invisible characters, composed (NFC), its apostrophes straight."""
    if not text.isascii():
        text = unicodedata.normalize("NFC", _INVISIBLE.sub("", text)).replace("\u2019", "'")
    return _LINE_BREAK.sub(SEPARATOR, text) if "<" in text else text
