"""From text to token ids: the tokenizer and the vocabulary."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import repeat
from typing import TYPE_CHECKING, TypeVar

from nlptx.errors import CorruptError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Word = TypeVar("Word", str, bytes)

# HTML line breaks, as the IMDB reviews are full of them.
_LINE_BREAK = re.compile(r"<br\s*/?>", re.IGNORECASE)
# Contractions come apart as in the Penn Treebank (do n't, film 's): the parts recur, the whole does not.
_WORD_ENDS = r"(?![^\W_])"
_CONTRACTION = rf"(?i:n't{_WORD_ENDS}|'(?:s|m|d|re|ve|ll){_WORD_ENDS})"
# Two patterns, as ignoring case would take a tenth of the tokenizer's speed.
_NOT, _NOT_SHOUTED = re.compile("n't" + _WORD_ENDS), re.compile("N'T" + _WORD_ENDS)
_ASCII_TOKEN = re.compile(_CONTRACTION + r"|[A-Za-z0-9]+|[!-/:-@\[-`{-~]")
# Soft hyphens, joiners, marks of direction and of the form of the character before: they belong to no word.
_INVISIBLE = re.compile(
    "[\u00ad\u061c\u180b-\u180f\u200c-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\U000e0000-\U000e0fff]"
)


def split_words(text: str) -> list[str]:
    """Cut text into words, contractions and single punctuation marks.

    This says what a token is; :mod:`nlptx.tokens.scan` finds the same ones in many texts at once. HTML line breaks
    and invisible characters vanish; Unicode is composed (NFC) and curly apostrophes become straight.

    >>> split_words("I don't like it.<br />Not at all!")
    ['I', 'do', "n't", 'like', 'it', '.', 'Not', 'at', 'all', '!']
    """
    text = clean(text)
    token = _ASCII_TOKEN if text.isascii() else _unicode_token()
    return token.findall(_NOT_SHOUTED.sub(" N'T", _NOT.sub(" n't", text)))


def clean(text: str) -> str:
    """Return ``text`` without HTML line breaks and invisible characters, composed, its apostrophes straight."""
    if "<" in text:
        text = _LINE_BREAK.sub(" ", text)
    if not text.isascii():
        text = unicodedata.normalize("NFC", _INVISIBLE.sub("", text)).replace("\u2019", "'")
    return text


@cache
def _unicode_token() -> re.Pattern[str]:
    r"""Return the pattern of a token in any script; built when first needed, as that takes some milliseconds.

    `\w` leaves out combining marks, which belong to the word in Indic, Hebrew, Arabic, Thai or Burmese script.
    """
    everything = map(chr, range(0x300, 0x1F000))  # from the first mark to the end of the last script that has some
    marks = "".join(character for character in everything if unicodedata.category(character)[0] == "M")
    # Most words even of such a text are ASCII; a pattern of their own makes them several times as fast.
    ascii_word = r"[A-Za-z0-9]++(?![^\x00-\x7f])"
    word = rf"[^\W_]+(?:[{marks}]+[^\W_]*)*"
    # The zero-width space only parts words, and half of a surrogate pair, which JSON can hold, is no character.
    other = r"[^\w\s\x00-\x1f\x7f-\x9f\u200b\ud800-\udfff]|_"
    return re.compile(f"{_CONTRACTION}|{ascii_word}|{word}|{other}")


TOKENIZERS: dict[str, Callable[[str], list[str]]] = {"words": split_words, "spaces": str.split}


@dataclass(frozen=True)
class Tokenizer:
    """How a text becomes tokens; stored with every vocabulary, so that all stages agree.

    Args:
        name: ``words`` (:func:`split_words`) or ``spaces`` (text that is tokenised already).
        lowercase: fold to lower case first.
    """

    name: str = "words"
    lowercase: bool = True

    def __call__(self, text: str) -> list[str]:
        return TOKENIZERS[self.name](text.lower() if self.lowercase else text)


@dataclass(frozen=True)
class Vocabulary:
    """The words a stage knows; a word's id is its place in ``words``.

    Args:
        words: distinct words; counted ones most frequent first, ties in code-point order, then those training added.
        counts: (V,) int64, how often each was seen.
        tokenizer: how text is cut before look-up.
    """

    words: Sequence[str]
    counts: NDArray[np.int64]
    tokenizer: Tokenizer = Tokenizer()
    index: dict[str, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        index = dict(zip(self.words, range(len(self.words)), strict=True))
        if len(index) != len(self.words) or len(index) != len(self.counts):
            raise CorruptError("a vocabulary lists a word twice, or words and counts disagree")
        object.__setattr__(self, "index", index)

    def __len__(self) -> int:
        return len(self.words)

    def encode(self, text: str) -> NDArray[np.int32]:
        """Return the ids of the known words of ``text``, in order, as int32. Unknown words are left out."""
        return self.encode_tokens(self.tokenizer(text))

    def encode_tokens(self, tokens: Sequence[str]) -> NDArray[np.int32]:
        """Return the ids of the known ``tokens``, in order, as int32."""
        import numpy as np

        ids = np.fromiter(map(self.index.get, tokens, repeat(-1)), np.int32, len(tokens))
        return ids[ids >= 0]

    def to_arrays(self) -> dict[str, NDArray]:
        """Return the arrays that hold this vocabulary in an artifact."""
        import numpy as np

        return {
            "words": np.frombuffer("\n".join(self.words).encode("utf-8", "surrogatepass"), np.uint8),
            "word_counts": np.asarray(self.counts, np.int64),
        }

    @classmethod
    def from_arrays(cls, arrays: dict[str, NDArray], tokenizer: Tokenizer) -> Vocabulary:
        """Read a vocabulary back from :meth:`to_arrays`. Raises CorruptError where they disagree."""
        blob, counts = arrays["words"], arrays["word_counts"]
        try:
            text = blob.tobytes().decode("utf-8", "surrogatepass")
        except UnicodeDecodeError as error:
            raise CorruptError("the word list is not UTF-8") from error
        return cls(text.split("\n") if text else [], counts, tokenizer)


def as_text(word: bytes) -> str:
    """Return a word given as its UTF-8 bytes; half a surrogate pair, which JSON can hold, among them."""
    return word.decode("utf-8", "surrogatepass")


def rank_words(counts: dict[Word, int], min_count: int, max_words: int) -> list[Word]:
    """Return the words seen at least ``min_count`` times, most frequent first, at most ``max_words``.

    Ties are in code-point order, whether words are text or its UTF-8 bytes.
    """
    kept = sorted(word for word, count in counts.items() if count >= min_count)
    kept.sort(key=counts.__getitem__, reverse=True)  # equals stay as they are
    return kept[:max_words]
