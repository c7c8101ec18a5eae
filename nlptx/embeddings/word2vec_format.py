"""Word vectors in the text formats of word2vec and GloVe, for exchange with other programs."""

from __future__ import annotations

import codecs
import hashlib
import re
from collections.abc import Sequence
from typing import BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nlptx.errors import DataError, OutputError, SettingsError
from nlptx.io.atomic_write import atomic_output
from nlptx.io.paths import FilePath, file_name
from nlptx.io.truncation import open_detecting_truncation
from nlptx.text.negation import is_marked, without_mark
from nlptx.text.tokenizer import Tokenizer
from nlptx.text.vocabulary import Vocabulary

TEXT_SUFFIXES = (".txt", ".vec")
# Characters that a word in this format must not contain. Of these characters, the tokenizers produce only lone
# surrogates, and only the tokenizer ``spaces`` does. Word vectors from another program may contain any of them.
_UNWRITABLE = re.compile("[ \n\ud800-\udfff]")
_NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?")
# In a file from another program, words can begin with the mark of negated words by chance. Therefore, no word is
# treated as negated if at most this fraction of all words begins with the mark and also occurs without it.
_FEW_NEGATED = 0.01
_HEADER = re.compile(rb"\d{1,18} \d{1,18} *\r?\n?")


def is_text_file(name: str) -> bool:
    """Return whether a file name has a suffix of the word2vec text format (.txt or .vec)."""
    return name.lower().endswith(TEXT_SUFFIXES)


class WordVectors(NamedTuple):
    """The content of a file of word vectors: (V, R) float32 vectors, the V words, and the SHA-256 of the file."""

    vectors: NDArray[np.float32]
    vocabulary: Vocabulary
    sha256: str


def write_word2vec(path: FilePath, words: Sequence[str], vectors: NDArray[np.float32]) -> None:
    """Write a word2vec text file: a line with the number of words and the number of components, then one line per word.

    Raises:
        OutputError: the file cannot be written, or the format cannot represent a word.
    """
    with atomic_output(path) as file:
        file.write(f"{len(words)} {vectors.shape[1]}\n".encode())
        for word, vector in zip(words, vectors, strict=True):
            if not word or _UNWRITABLE.search(word):
                raise OutputError(f"the word {word!r} cannot be written as word2vec text", where=file_name(path))
            file.write(f"{word} {' '.join(f'{value:.9g}' for value in vector.tolist())}\n".encode())


def read_word2vec(path: FilePath) -> WordVectors:
    """Read a word2vec or GloVe text file.

    Raises:
        SettingsError: the file does not exist, or is a folder.
        DataError: a line is not a word followed by finite numbers, a word is repeated, the number of words is not the
            stated one, the file holds no vectors, or the file cannot be read.
    """
    path = file_name(path)
    try:
        with open_detecting_truncation(path) as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
            file.seek(0)
            return _parse_word2vec(file, path, digest)
    except FileNotFoundError:
        raise SettingsError(f"{path}: no such file") from None
    except IsADirectoryError:
        raise SettingsError(f"{path}: is a folder; expected a file of word vectors") from None
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror or error}", where=path) from error


# A number beyond the float32 range becomes infinite, which causes an error below, so NumPy's warning is turned off.
@np.errstate(over="ignore")
def _parse_word2vec(file: BinaryIO, path: str, digest: str) -> WordVectors:
    words: list[str] = []
    rows: list[NDArray[np.float32]] = []
    seen: set[str] = set()
    expected = width = None  # numbers of words and components, as stated in the first line of word2vec text
    for number, line in enumerate(file, start=1):
        where = f"{path}:{number}"
        line = line.removeprefix(codecs.BOM_UTF8) if number == 1 else line
        try:
            # If the number of components is known, a word may contain spaces, as some words in GloVe files do.
            text = line.decode("utf-8").rstrip("\r\n").rstrip(" ")
            word, *numbers = text.rsplit(" ", width) if width else text.split(" ")
            if _NUMBER.fullmatch(word.rpartition(" ")[2]) and " " in word:
                raise ValueError(f"found more than {width} numbers")
            if number == 1 and _HEADER.fullmatch(line):
                expected, width = int(word), int(numbers[0])
                continue
            row = np.array([float(value) for value in numbers], np.float32)
        except UnicodeDecodeError as error:
            raise DataError("this is not UTF-8 text; expected a word followed by numbers", where=where) from error
        except ValueError as error:
            raise DataError(f"expected a word followed by numbers ({error})", where=where) from error
        width = len(row) if width is None else width
        if not len(row) or len(row) != width:
            numbers_found = "1 number" if len(row) == 1 else f"{len(row)} numbers"
            raise DataError(f"found {numbers_found}; expected {width or 'at least 1'}", where=where)
        if not np.isfinite(row).all():
            raise DataError("a number is not finite", where=where)
        if not word or word in seen:
            raise DataError(f"duplicate word {word!r}" if word else "the line does not begin with a word", where=where)
        seen.add(word)
        words.append(word)
        rows.append(row)
    if not rows:
        raise DataError("the file holds no vectors", where=path)
    if expected is not None and expected != len(rows):
        raise DataError(
            f"found {len(rows)} words; the first line states {expected}", where=path, hint="Download the file again."
        )
    # The formats contain no word counts, so the counts are 0. The words are expected to be ordered by frequency.
    negated = sum(is_marked(word) and without_mark(word) in seen for word in words)
    name = "negation" if negated > _FEW_NEGATED * len(words) else "words"
    tokenizer = Tokenizer(name, lowercase=words == [word.lower() for word in words])
    vocabulary = Vocabulary(words, np.zeros(len(words), np.int64), tokenizer)
    return WordVectors(np.stack(rows), vocabulary, digest)
