"""Vocabularies: the words of co-occurrence counts, of word vectors or of a model, and the ids of these words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import repeat
from typing import TYPE_CHECKING, TypeVar

from nlptx.errors import CorruptError
from nlptx.runtime.pickling import PickledWithoutCache
from nlptx.text.signs import SHOUTED
from nlptx.text.tokenizer import Tokenizer
from nlptx.text.word_forms import WordForms

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Word = TypeVar("Word", str, bytes)


@dataclass(frozen=True)
class Vocabulary(PickledWithoutCache):
    """A list of known words; the id of a word is its index in ``words``.

    Args:
        words: distinct words. The counted words come first, sorted by decreasing frequency, with ties in code-point
            order. Words of word vectors from a text file are in the order of the file. The words added by training come
            last.
        counts: (V,) int64 number of occurrences of each word; all 0 for word vectors from a text file.
        tokenizer: tokenizer that splits texts into these words.
    """

    words: Sequence[str]
    counts: NDArray[np.int64]
    tokenizer: Tokenizer = Tokenizer()
    index: dict[str, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        index = dict(zip(self.words, range(len(self.words)), strict=True))
        if len(index) != len(self.words) or len(index) != len(self.counts):
            raise CorruptError("a vocabulary lists a word twice, or has more or fewer counts than words")
        object.__setattr__(self, "index", index)

    @cached_property
    def ids_of_bytes(self) -> IdsOfBytes:
        """Mapping from each word in UTF-8 to its id; -1 for words outside the vocabulary."""
        return IdsOfBytes(self.index)

    @cached_property
    def forms(self) -> WordForms:
        """The known forms of unknown words."""
        return WordForms(self.index)

    @property
    def capitals_sign(self) -> int | None:
        """Id of the sign that stands before words in capitals; None if the vocabulary lacks this sign."""
        return self.index.get(SHOUTED)

    def __repr__(self) -> str:
        return f"<Vocabulary: {len(self):,} words, tokenizer {self.tokenizer.name!r}>"

    def __len__(self) -> int:
        return len(self.words)

    def encode(self, text: str) -> NDArray[np.int32]:
        """Return the ids of the words of ``text``, in order, as int32. Words outside the vocabulary are left out."""
        return self.encode_tokens(self.tokenizer(text))

    def encode_tokens(self, tokens: Sequence[str]) -> NDArray[np.int32]:
        """Return the ids of ``tokens``, in order, as int32. Words outside the vocabulary are left out."""
        import numpy as np

        ids = np.fromiter(map(self.index.get, tokens, repeat(-1)), np.int32, len(tokens))
        return ids[ids >= 0]

    def ids_read(self, tokens: Sequence[str]) -> NDArray[np.int32]:
        """Return the id that a model reads for each token, (N,) int32.

        This is the id of the token or, if the token is unknown, that of a known form; -1 if there is no known form.
        """
        import numpy as np

        ids = np.fromiter(map(self.index.get, tokens, repeat(-1)), np.int32, len(tokens))
        unknown = np.flatnonzero(ids < 0).tolist()
        ids[unknown] = [self.forms.id_of_form(tokens[position]) for position in unknown]
        return ids

    def to_arrays(self) -> dict[str, NDArray]:
        """Return the arrays that represent this vocabulary in an artifact."""
        import numpy as np

        return {
            "words": np.frombuffer("\n".join(self.words).encode("utf-8", "surrogatepass"), np.uint8),
            "word_counts": np.asarray(self.counts, np.int64),
        }

    @classmethod
    def from_arrays(cls, arrays: dict[str, NDArray], tokenizer: Tokenizer) -> Vocabulary:
        """Restore a vocabulary from the result of :meth:`to_arrays`. Raises CorruptError if an array is invalid."""
        blob, counts = arrays["words"], arrays["word_counts"]
        try:
            text = blob.tobytes().decode("utf-8", "surrogatepass")
        except UnicodeDecodeError as error:
            raise CorruptError("the word list is not UTF-8") from error
        return cls(text.split("\n") if text else [], counts, tokenizer)


class IdsOfBytes(dict[bytes, int]):
    """Maps UTF-8 words to their ids, and unknown words to -1. A known word is decoded only when it is first looked up.

    Args:
        index: word -> id.
    """

    def __init__(self, index: dict[str, int]) -> None:
        super().__init__()
        self._index = index

    def __missing__(self, word: bytes) -> int:
        word_id = self._index.get(as_text(word), -1)
        if word_id >= 0:  # unknown words are not cached, because there is no limit to their number
            self[word] = word_id
        return word_id


def as_text(word: bytes) -> str:
    """Decode a word from UTF-8; lone surrogates, which JSON can contain, are allowed."""
    return word.decode("utf-8", "surrogatepass")


def rank_words(counts: dict[Word, int], min_count: int, max_words: int) -> list[Word]:
    """Return up to ``max_words`` words that occur at least ``min_count`` times, the most frequent first.

    Ties are in code-point order, both for str and for UTF-8 bytes.
    """
    kept = sorted(word for word, count in counts.items() if count >= min_count)
    kept.sort(key=counts.__getitem__, reverse=True)  # the sort is stable even with reverse=True
    return kept[:max_words]
