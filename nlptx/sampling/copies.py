"""Finds copies of texts, so that all copies of a text can be put in the same part of a split.

If one copy of a text were in the training part and another one in the held-out part, a model would seem better than it
is. Texts that occur very often are an exception: short answers such as "yes" will occur again in new data, and if all
of them were in one part, the other parts would lack them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

# A text occurs very often if its copies make up more than the fraction _OFTEN of all texts. In a small corpus, even a
# few copies exceed this fraction, for example if the corpus contains a file several times. A text with up to
# _FEW_COPIES copies is therefore not considered to occur very often, unless the copies make up more than the fraction
# _OFTEN_IF_FEW of all texts.
_OFTEN, _FEW_COPIES, _OFTEN_IF_FEW = 0.001, 10, 0.1


def first_copies(texts: Iterable[bytes | NDArray], ignored: int | None = None) -> NDArray[np.int64]:
    """Return, for each text, the index of the first text equal to it, (texts,).

    Each text is given as bytes or as word ids. Two texts that differ only in the word with the id ``ignored`` count as
    equal; this is the sign that stands before words in capitals (see :attr:`.Vocabulary.capitals_sign`).

    Empty texts, and texts that occur very often, are not treated as copies: each of them gets its own index.

    >>> first_copies([b"a", b"b", b"a", b"", b"", *(bytes([number]) for number in range(20))])[:5]
    array([0, 1, 0, 3, 4])
    """
    if ignored is not None:
        texts = (text[text != ignored] for text in texts if isinstance(text, np.ndarray))
    # The digest of an empty text is replaced with 0, so that empty texts can be told apart from the others.
    digests = (int.from_bytes(blake2b(bytes(text), digest_size=8).digest()) if len(text) else 0 for text in texts)
    keys: NDArray[np.uint64] = np.fromiter(digests, np.uint64)
    order = np.argsort(keys, kind="stable")  # np.unique would need about twice as much memory
    keys = keys[order]
    starts = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]])) if len(keys) else order
    counts = np.diff(starts, append=len(keys))
    max_copies = max(_OFTEN * len(keys), min(_FEW_COPIES, _OFTEN_IF_FEW * len(keys)))
    follow = (keys[starts] != 0) & (counts <= max_copies)
    leader = np.repeat(np.where(follow, order[starts], -1), counts)
    first = np.empty(len(keys), np.int64)
    first[order] = np.where(leader >= 0, leader, order)
    return first


def folds_with_copies(
    first: NDArray[np.int64], folds: int, assign: Callable[[NDArray[np.intp]], NDArray[np.int64]]
) -> NDArray[np.int64]:
    """Return the fold of each text, (texts,); equal texts are in the same fold.

    If there are fewer different texts than folds, equal texts may be in different folds, because otherwise a fold would
    be empty.

    Args:
        first: (texts,) result of :func:`first_copies`.
        folds: number of folds.
        assign: function that returns the folds of the texts with the given indices.
    """
    rows = np.arange(len(first))
    distinct = np.flatnonzero(first == rows)
    return assign(distinct)[np.searchsorted(distinct, first)] if len(distinct) >= folds else assign(rows)
