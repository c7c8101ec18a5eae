"""Finds pairs of words, such as "not good", in which the effect of one word depends on the other word.

Let L be the log-odds of a label. The interaction of two words a and b of a text x is

    L(x) - L(x without a) - L(x without b) + L(x without both)

The interaction is the effect of b in the presence of a, L(x) - L(x without b), minus the effect of b in the absence of
a, L(x without a) - L(x without both). The interaction is symmetric in a and b, and 0 if the words contribute
independently. Log-odds are used because the probability of an almost certain label hardly changes when any single word
is left out. With probabilities instead of log-odds, all words would therefore seem to depend on each other.

Source: Friedman & Popescu (2008), "Predictive learning via rule ensembles", who define interactions by differences of
this form.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nlptx.classifier.explain import Explanation
from nlptx.classifier.model import Model
from nlptx.classifier.remaining_words import RemainingWords
from nlptx.runtime.workers import Workers

# Pairs that are measured: the _WORDS words with the largest absolute effects are paired with each other and with words
# at most _REACH positions away.
_WORDS, _REACH = 8, 3
# Maximum total length, in words, of the shortened versions of a text that are scored to measure its pairs. At least
# _MIN_PAIRS pairs are always measured.
_MAX_SCORED, _MIN_PAIRS = 1 << 19, 8
# Minimum distance of probabilities from 0 and 1, so that log-odds are finite.
_MARGIN = 1e-12
# Minimum absolute interaction that is reported: an interaction that changes a probability of one half by one percentage
# point.
_MIN_EFFECT = 0.04


class PairEffect(NamedTuple):
    """Interaction of two words in the log-odds of the explained label.

    Args:
        first: index of the first word of the pair in ``Explanation.words``.
        second: index of the second word of the pair.
        with_first: effect of the second word in the complete text, in log-odds.
        without_first: effect of the second word if the first word is left out, in log-odds.
    """

    first: int
    second: int
    with_first: float
    without_first: float

    @property
    def interaction(self) -> float:
        """The interaction: ``with_first`` minus ``without_first``."""
        return self.with_first - self.without_first


def strongest_pairs(model: Model, explanation: Explanation, count: int = 3) -> list[PairEffect]:
    """Return the word pairs with the strongest interactions, strongest first.

    Each pair contains at least one word with a large effect.

    Args:
        model: the classifier.
        explanation: explanation of a text by this model.
        count: maximum number of pairs.

    Raises:
        ArtifactError: the model's weights are so large that an output is not finite.
    """
    length = len(explanation.words)
    pairs = _candidates(explanation.effects)
    pairs = pairs[: max(_MIN_PAIRS, _MAX_SCORED // length)]
    if not pairs or count < 1:
        return []
    singles = sorted({index for pair in pairs for index in pair})
    removals: list[tuple[int, ...]] = [(), *((index,) for index in singles), *pairs]
    values = dict(zip(removals, _log_odds(model, explanation, removals), strict=True))
    effects = [PairEffect(a, b, values[()] - values[b,], values[a,] - values[a, b]) for a, b in pairs]
    effects = [pair for pair in effects if abs(pair.interaction) >= _MIN_EFFECT]
    return sorted(effects, key=lambda pair: -abs(pair.interaction))[:count]


def _candidates(effects: NDArray[np.float64]) -> list[tuple[int, int]]:
    """Return the pairs (earlier, later) of word indices to measure, given the effects (T,) of the T words.

    Pairs of words with large effects come first.
    """
    important = np.argsort(-np.abs(effects), kind="stable")[:_WORDS].tolist()
    pairs = {(min(a, b), max(a, b)) for a, b in combinations(important, 2)}
    for middle in important:
        near = range(max(middle - _REACH, 0), min(middle + _REACH + 1, len(effects)))
        pairs |= {(min(middle, other), max(middle, other)) for other in near if other != middle}
    size = np.abs(effects)
    return sorted(pairs, key=lambda pair: (-size[pair[0]] * size[pair[1]], pair))


def _log_odds(model: Model, explanation: Explanation, removals: Sequence[tuple[int, ...]]) -> NDArray[np.float64]:
    """Return the log-odds of the label, (removals,), after each removal of words from the original text."""
    length, label, limit = len(explanation.words), explanation.label, model.settings.max_tokens
    words = RemainingWords(model.vocabulary, explanation.tokens)
    step = max(_MAX_SCORED // 16 // length, 1)
    model = model.overflow_safe()
    with Workers(1):
        parts = []
        for start in range(0, len(removals), step):
            texts = [words.without(removed)[:limit] for removed in removals[start : start + step]]
            parts.append(model.probabilities(texts)[:, label])
    p = np.clip(np.concatenate(parts), _MARGIN, 1 - _MARGIN)
    result: NDArray[np.float64] = np.log(p) - np.log1p(-p)
    return result
