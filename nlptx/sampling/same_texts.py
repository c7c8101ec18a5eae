"""Finds texts that are the same apart from Unicode form (NFKC), case and white space."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

# Length of the digests that are compared, in bytes. Two different texts have the same digest with a probability of
# 2^-128.
_DIGEST = 16


def normalized(text: str) -> str:
    r"""Return the form in which texts are compared: in NFKC, case-folded, and with single spaces.

    >>> normalized("Ｆine\u00a0 PHONE\n")
    'fine phone'
    """
    folded = text.casefold() if text.isascii() else unicodedata.normalize("NFKC", text).casefold()
    return " ".join(folded.split())


def first_same(texts: Sequence[str]) -> NDArray[np.int64]:
    """Return, for each text, the index of the first text with the same normal form, (N,).

    Empty texts are not compared; each of them has its own index.

    Args:
        texts: the N texts.
    """
    first: dict[bytes, int] = {}
    result = np.arange(len(texts))
    for row, text in enumerate(texts):
        if form := normalized(text):
            digest = blake2b(form.encode("utf-8", "surrogatepass"), digest_size=_DIGEST).digest()
            result[row] = first.setdefault(digest, row)
    return result
