"""Rewrites emoji, stars and typographic characters: variants with the same meaning become the same character."""

from __future__ import annotations

import re
from functools import cache, lru_cache

# Characters that phones and word processors insert instead of an apostrophe.
APOSTROPHES = "\u2018\u2019\u201a\u201b\u2032\u02bc\u02b9\u00b4\uff07"
# Replacements of typographic variants of ASCII punctuation, including the apostrophes above.
_PLAIN = str.maketrans(
    dict.fromkeys(APOSTROPHES, "'")
    | dict.fromkeys("\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb\uff02", '"')
    | {"\u2026": "...", "\uff01": "!", "\uff1f": "?"}
    # Hearts of all colours.
    | dict.fromkeys("\u2665\u2763🧡💛💚💙💜🖤🤍🤎🩷🩵🩶💓💕💖💗💘💝💞", "❤")
)
_EMOJI = "\u203c-\u2bff\U0001f000-\U0001faff"
# Characters that select the style (text or picture) or the skin tone of an emoji.
_MODIFIERS = "\ufe0e\ufe0f\U0001f3fb-\U0001f3ff"
_FLAG_LETTERS = "\U0001f1e6-\U0001f1ff"
# One character for each rating from 0/10 to 10/10.
TENTHS = "⓪①②③④⑤⑥⑦⑧⑨⑩"


@cache
def _patterns() -> tuple[re.Pattern[str], ...]:
    """Return four patterns: characters that may be rewritten, joined emoji, stars, and flag letters."""
    emoji = f"[{_EMOJI}][{_MODIFIERS}]*"
    return (
        # This pattern has only a few wide ranges, because searching for a character class with many ranges is slow.
        re.compile("[\xab-\xbb\u02b9-\u02bc\u200d-\u2bff\ufe0e-\uff1f\U0001f000-\U0001faff]+"),
        re.compile(f"([{_EMOJI}])[{_MODIFIERS}]*(?:\u200d{emoji})*"),
        re.compile("([★⭐]{1,10})([☆✩]{0,9})"),
        re.compile(f"[{_FLAG_LETTERS}]{{1,2}}"),
    )


def simplify_emoji(text: str) -> str:
    """Rewrite emoji, stars and typographic punctuation.

    The skin tone and the style of an emoji are removed, and of several joined emoji only the first is kept. The two
    letters of a flag become a word. A sequence of five or ten stars, first filled and then empty ones, becomes a rating
    in tenths. Two to four filled stars without empty stars become a rating too, with five stars as the maximum. Hearts
    lose their colour. Curly quotes, primes and accents used as apostrophes become straight quotes.

    >>> simplify_emoji("👍🏽👩‍💻 it’s ★★☆☆☆ 💙")
    "👍👩 it's  ④  ❤"
    """
    return _patterns()[0].sub(lambda match: _simplified(match[0]), text)


@lru_cache(4096)
def _simplified(symbols: str) -> str:
    _, joined, stars, flag = _patterns()
    symbols = joined.sub(r"\1", symbols).translate(_PLAIN)
    return flag.sub(r" \g<0> ", stars.sub(_rating, symbols))


def _rating(match: re.Match[str]) -> str:
    filled, total = len(match[1]), len(match[0])
    if total in (5, 10):
        return f" {TENTHS[10 * filled // total]} "
    return f" {TENTHS[2 * filled]} " if 2 <= filled == total <= 5 else match[0]
