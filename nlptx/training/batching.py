"""Training texts -> random batches, each cut into shares of about equal work."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nlptx.ngrams import TextEvidence

# Sums go lane by lane, see :mod:`nlptx.training.gradients`; so shares are a multiple of the lanes, or fewer than them.
LANES = 4
# About the tokens of a share: enough to fill a matrix product, few enough for the caches.
_SHARE_TOKENS = 1024
# Of fewer than these, a half would not be worth another core's while.
_WORTH_SHARING = 128


@dataclass(frozen=True)
class Share:
    """Some texts of a batch, shortest first.

    Args:
        ids: (N,) int32, the texts one after the other.
        lengths: (B,) tokens of each.
        targets: (B,) class of each, or (B, C) soft labels.
        places: (N, order E) evidence of each place, or None.
        whole: (B, M E) evidence of each text, or None.
    """

    ids: NDArray[np.int32]
    lengths: NDArray[np.int64]
    targets: NDArray
    places: NDArray[np.float32] | None = None
    whole: NDArray[np.float32] | None = None


def random_order(count: int, batch: int, rng: np.random.Generator) -> Iterator[NDArray[np.int64]]:
    """Yield the indices of each batch of a shuffled epoch."""
    order = rng.permutation(count)
    for start in range(0, count, batch):
        yield order[start : start + batch]


def drop_words(
    texts: list[NDArray[np.int32]],
    evidence: list[TextEvidence] | None,
    share: float,
    rng: np.random.Generator,
) -> tuple[list[NDArray[np.int32]], list[TextEvidence] | None]:
    """Leave out each word, with its evidence, with probability ``share``."""
    kept = [_kept_words(len(ids), share, rng) for ids in texts]
    if evidence is not None:
        known = zip(evidence, kept, strict=True)
        evidence = [TextEvidence(of_text.places[places], of_text.whole) for of_text, places in known]
    return [ids[places] for ids, places in zip(texts, kept, strict=True)], evidence


def cut_shares(
    texts: list[NDArray[np.int32]], targets: NDArray, evidence: list[TextEvidence] | None = None
) -> list[Share]:
    """Cut a batch into shares."""
    lengths = np.array([len(ids) for ids in texts])
    order = np.argsort(lengths, kind="stable")
    shares = min(_count_shares(int(lengths.sum())), len(texts))
    result = []
    for share in range(shares):
        chosen = order[share::shares]
        ids = np.concatenate([texts[i] for i in chosen])
        places = None if evidence is None else np.concatenate([evidence[i].places for i in chosen])
        whole = None if evidence is None else np.stack([evidence[i].whole for i in chosen])
        result.append(Share(ids, lengths[chosen], targets[chosen], places, whole))
    return result


def _count_shares(tokens: int) -> int:
    """Return how many shares a batch makes. Only its size decides, so that no sum depends on the jobs."""
    if tokens < LANES * _SHARE_TOKENS // 2:
        return 1 if tokens < _WORTH_SHARING else max(2, 2 * tokens // _SHARE_TOKENS)
    return LANES * max(1, round(tokens / (LANES * _SHARE_TOKENS)))


def _kept_words(length: int, share: float, rng: np.random.Generator) -> NDArray[np.intp]:
    """Return the places of the words that stay, at least one."""
    kept = np.flatnonzero(rng.random(length, np.float32) >= share)
    return kept if len(kept) else np.zeros(1, np.intp)
