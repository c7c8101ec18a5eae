r"""Informal notation in ASCII text: emoticons, ratings, lengthened and shouted words, hashtags, @names and links.

Each sign is rewritten so that the tokenizer finds meaningful tokens that also occur in other texts:

=======================  ===============  ====================================================
sign                     becomes          because
=======================  ===============  ====================================================
``:-)`` ``:(`` ``<3``    🙂 🙁 ❤            an emoticon means the same as its emoji
``4/5`` ``8 out of 10``  ⑧ (tenths)       equal ratings become the same word
``sooooo``               ↔ so             the word keeps its meaning, and ↔ marks the emphasis
``BUY THIS ONE``         ⇪ BUY THIS ONE   the mark survives the conversion to lower case
``#BestDayEver``         # Best Day Ever  the words in a hashtag are more common than the hashtag
``@name``                @                names of people carry no opinion
``https://...``          🔗                links carry no opinion
``don`t``                don't            a grave accent within a word is an apostrophe
=======================  ===============  ====================================================

This module rewrites one text at a time; :mod:`nlptx.text.sign_scanner` does the same for large blocks of text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import AnyStr

from nlptx.text.emoji import TENTHS

SHOUTED, LENGTHENED, LINK = "⇪", "↔", "🔗"
_FACES = dict(zip(")]D([Pp/\\|Oo*", "🙂🙂😄🙁🙁😛😛😕😕😐😮😮😘", strict=True))
_OTHER_EMOTICONS = {"<3": "❤", "</3": "💔", "^^": "😊", "^_^": "😊"}
# English words with a double letter. A lengthened letter is shortened to two letters if the result is listed here
# ("goood" becomes "good"), and otherwise to one ("sooo" becomes "so"). The word "reallyyy" does not need the list,
# because its lengthened letter, the y, is shortened to one letter.
_DOUBLE_LETTERS = """
    been creepy deep feel free green indeed keep meet need see seen sleep speed sweet agree week weeks off stuff
    all call dull fall fell full hell hello hill ill kill killer pull really finally totally sell skill small smell
    spell still tell thrill till wall well will boo book boom cool door food fool foolish good look looking mood moon
    noob noon room school soon too tool took woo zoom happy app apps crappy sloppy boss class kiss less loss mess miss
    pass pissed stress better bitter butter pretty shitty little matter yummy hmm funny sunny annoying winner sorry
    worry horrible terrible horror fuzzy jazz dizzy pizza odd bigger egg shabby rubbish wrong
"""
_DOUBLE = {
    (double.group(1), word.replace(double.group(0), double.group(1), 1)): word
    for word in _DOUBLE_LETTERS.split()
    for double in re.finditer(r"([a-z])\1", word)
}
_ROMAN = re.compile(r"[mdclxvi]+", re.IGNORECASE)
_REPEATED_LETTER = re.compile(r"([A-Za-z])\1{2,}")
_PARTS_OF_HASHTAG = re.compile(r"_+|(?<=[a-z0-9])(?=[A-Z])")

# {high} stands for the range of non-ASCII characters. A sign never contains a line feed or two spaces in a row.
_SIGNS = r"""
    (?P<face>[:=](?P<tear>')?-?(?P<mouth>[)\](\[]+|[DPpOo*/\\|])|;-?(?P<wink>[)\]D]+))(?![A-Za-z0-9/{high}])
  | (?P<other></?3|\^_?\^)(?![0-9])
  | (?<![A-Za-z0-9{high}])(?P<laugh>[xX]D+)(?![A-Za-z0-9{high}])
  | (?<![A-Za-z0-9./$%,-])(?P<points>[0-9]{{1,2}}(?:[.,][0-9])?)(?:[ ]?/[ ]?|[ ]out[ ]of[ ])(?P<scale>5|10)
    (?![A-Za-z0-9/%{high}]|[.,][0-9]|-[0-9])
  | (?<![A-Za-z0-9{high}])(?P<link>https?://|www\.)[^\x00-\x20<>"\x7f{high}]*
  | (?<![A-Za-z0-9{high}.@/])@(?P<name>[A-Za-z_][A-Za-z0-9_]*)
  | (?<![A-Za-z0-9{high}&/#])\#(?P<tag>[A-Za-z][A-Za-z0-9_]*)
  | (?<![A-Za-z0-9{high}])(?P<long>[A-Za-z]*?(?P<letter>[A-Za-z])(?P=letter){{2}}[A-Za-z]*+)(?![0-9{high}])
  | (?<=[A-Za-z])(?P<grave>`)(?=[A-Za-z])
"""
# Words in capitals, separated by single spaces. At least one of these words must have four or more letters, because
# shorter words may be abbreviations. Before the first word of four or more letters, there may be at most MAX_BEFORE
# words of at most MAX_LETTERS letters each.
MAX_BEFORE, MAX_LETTERS = 8, 40
_SHOUT = (
    rf"(?<![A-Za-z0-9{{high}}\#@/.:'])(?:[A-Z]{{{{2,{MAX_LETTERS}}}}}[ ]){{{{0,{MAX_BEFORE}}}}}"
    r"[A-Z]{{4,}}(?![A-Za-z0-9{high}])"
    r"(?:[ ][A-Z]+(?![A-Za-z0-9{high}]))*"
)


def sign_patterns(high: str) -> tuple[str, str]:
    """Return ``re.VERBOSE`` patterns of signs and of shouted phrases; ``high`` is the range of non-ASCII characters."""
    return _SIGNS.format(high=high), _SHOUT.format(high=high)


@cache
def _patterns() -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(pattern, re.VERBOSE) for pattern in sign_patterns(r"\x80-\U0010ffff"))


def rewrite_signs(text: str) -> str:
    """Rewrite the signs of a text.

    >>> rewrite_signs("LOVED IT, sooo good :) 9/10 #BestFilm http://example.org")
    '⇪ LOVED IT, ↔ so good 🙂  ⑨  # Best Film 🔗'
    """
    signs, shout = _patterns()
    return "".join(apply_changes(text, signs.finditer(text), shout.finditer(text), str))


def apply_changes(
    text: AnyStr,
    signs: Iterable[re.Match[AnyStr]],
    shouted: Iterable[re.Match[AnyStr]],
    convert: Callable[[str], AnyStr],
) -> Iterator[AnyStr]:
    """Iterate over the pieces of the rewritten text, given the signs and shouted words found in the original."""
    changes = [(match.start(), match.end(), _replacement(match)) for match in signs]
    changes += [(match.start(), match.start(), f"{SHOUTED} ") for match in shouted]
    done = 0
    for start, end, replacement in sorted(changes):
        if start >= done:  # a match within another sign, such as a link, is skipped
            yield text[done:start]
            yield convert(replacement)
            done = end
    yield text[done:]


def _replacement(match: re.Match[str] | re.Match[bytes]) -> str:
    parts = [part if isinstance(part, str) else part.decode() for part in (match[0], *match.groupdict("").values())]
    whole, groups = parts[0], dict(zip(match.groupdict(), parts[1:], strict=True))
    if mouth := groups["mouth"]:
        return "😢" if groups["tear"] and mouth[0] in "([" else _FACES[mouth[0]]
    if groups["wink"]:
        return "😉"
    if groups["laugh"]:
        return "😄"
    if groups["points"]:
        return _rating(groups["points"], int(groups["scale"])) or whole
    if tag := groups["tag"]:
        return f"# {_PARTS_OF_HASHTAG.sub(' ', tag)}"
    if word := groups["long"]:
        return _shortened(word)
    if groups["grave"]:
        return "'"
    if groups["link"]:
        return LINK
    return "@" if groups["name"] else _OTHER_EMOTICONS[groups["other"]]


def _rating(points: str, scale: int) -> str:
    """Return the character for a rating, rounded to tenths, or an empty string if it then exceeds the scale."""
    tenths = int(10 * float(points.replace(",", ".")) / scale + 0.5)
    return f" {TENTHS[tenths]} " if tenths < len(TENTHS) else ""


def _shortened(word: str) -> str:
    """Shorten a lengthened word and put a mark before it. Roman numerals and words such as www do not change."""
    if _ROMAN.fullmatch(word) or not word.strip(word[0]):
        return word
    short = _REPEATED_LETTER.sub(r"\1", word)
    plain = short.lower()
    doubles = (_DOUBLE.get((match[1].lower(), plain)) for match in _REPEATED_LETTER.finditer(word))
    if double := next(filter(None, doubles), None):
        short = double.upper() if word.isupper() else double
    return f"{LENGTHENED} {short}"
