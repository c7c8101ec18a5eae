"""Cleans text before tokenization: decodes HTML, converts to lower case, removes invisible characters, applies NFC."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from nlptx.text.emoji import simplify_emoji

# HTML character references. They must end with a semicolon, because otherwise `&copy=2` in a link would become `©=2`.
_REFERENCE = r"&(?:#[0-9]{1,7}|#[xX][0-9A-Fa-f]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});"
_TEXT_REFERENCE, _BYTES_REFERENCE = re.compile(_REFERENCE), re.compile(_REFERENCE.encode())
# HTML line breaks, which are very common in IMDB reviews.
_LINE_BREAK = re.compile(r"<br\s*/?>", re.IGNORECASE)
# The character that replaces a line break. It is not white space: with a space, `<br<br>/>` would become `<br />`,
# which is another line break.
SEPARATOR = "\x01"
# Soft hyphens, joiners, direction marks and variation selectors, which are not part of any word.
_INVISIBLE = re.compile(
    "[\u00ad\u061c\u180b-\u180f\u200c-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\U000e0000-\U000e0fff]"
)
# The lower case of the Turkish capital İ, as Unicode defines it: an i with a redundant combining dot.
_DOTTED_I = "i\u0307"
_BEYOND_ASCII = re.compile("[\x80-\U0010ffff]+")


def decode_references(text: str) -> str:
    """Replace HTML character references, such as ``&amp;`` and ``&#39;``. A replacement is not decoded again."""
    return _TEXT_REFERENCE.sub(lambda match: _decode(match[0].encode()).decode(), text) if "&" in text else text


def decode_references_in_bytes(lines: bytes) -> bytes:
    """Replace HTML character references in lines of UTF-8; the number of lines stays the same."""
    return _BYTES_REFERENCE.sub(lambda match: _decode(match[0]), lines) if b"&" in lines else lines


@lru_cache
def _decode(reference: bytes) -> bytes:
    from html import unescape
    from html.entities import html5

    code = reference.decode()
    text = unescape(code) if code[1] == "#" else html5.get(code[1:], code)
    return text.replace("\n", " ").encode()


def lower(text: str) -> str:
    """Return ``text`` in lower case; İ becomes a plain i."""
    return text.lower() if text.isascii() else text.lower().replace(_DOTTED_I, "i")


def clean(text: str) -> str:
    """Replace HTML line breaks, remove invisible characters, normalise to NFC, and straighten curly apostrophes."""
    if not text.isascii():
        text = unicodedata.normalize("NFC", _INVISIBLE.sub("", text)).replace("\u2019", "'")
    return replace_line_breaks(text)


def clean_expressively(text: str, lowercase: bool) -> str:
    """Clean non-ASCII text in the same way as :func:`clean`, and also simplify emoji.

    If ``lowercase`` is true, non-ASCII letters are converted to lower case. ASCII letters stay unchanged, because ASCII
    capitals are needed later to recognise shouted words.
    """
    text = _INVISIBLE.sub("", simplify_emoji(unicodedata.normalize("NFC", text)))
    if lowercase and not text.isascii():
        text = _BEYOND_ASCII.sub(lambda part: part[0].lower(), text).replace(_DOTTED_I, "i")
    return replace_line_breaks(unicodedata.normalize("NFC", text))


def replace_line_breaks(text: str) -> str:
    """Replace HTML line breaks with ``SEPARATOR``."""
    return _LINE_BREAK.sub(SEPARATOR, text) if "<" in text else text
