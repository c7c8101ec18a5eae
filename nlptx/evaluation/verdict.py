"""Describes the result of a comparison in words."""

from __future__ import annotations

from nlptx.evaluation.pair import Pair
from nlptx.evaluation.significance import LEVEL


def _two_digits(number: int) -> int:
    """Round an estimate to two significant digits."""
    return int(float(f"{number:.2g}"))


def verdict(pair: Pair) -> str:
    """Return sentences that say whether one of two models is better."""
    gain = pair.accuracy
    bounds = f"{100 * gain.low:+z.2f} to {100 * gain.high:+z.2f}"
    size = f"its accuracy is {100 * abs(gain.value):.2f} points higher"
    none = f"No difference can be shown between {pair.first} and {pair.second}"
    p_value = f"p = {pair.corrected_p_value:.2g}"
    if pair.corrected_p_value != pair.p_value:
        p_value += ", corrected for the number of comparisons; the interval is not corrected"
    if pair.differs:
        better, other = (pair.second, pair.first) if gain.value > 0 else (pair.first, pair.second)
        interval = bounds if gain.value > 0 else f"{-100 * gain.high:+z.2f} to {-100 * gain.low:+z.2f}"
        sentence = f"{better} is better than {other}: {size} (95% interval of the difference {interval}, {p_value})."
    elif not gain.value:
        sentence = f"{none}: both are correct equally often."
    else:
        sentence = f"{none}: the difference is {100 * gain.value:+z.2f} points (95% interval {bounds}, {p_value})."
        if (gain.low > 0 or gain.high < 0) and pair.corrected_p_value == pair.p_value:
            sentence += " The interval does not contain 0, but the verdict follows the p-value."
        if pair.texts_needed is not None:
            sentence += (
                f" To show a difference of this size, about {_two_digits(pair.texts_needed):,} texts are needed."
            )
    loss = pair.log_loss
    is_lower = pair.log_loss_p_value is not None and pair.log_loss_p_value < LEVEL
    if loss is not None and is_lower and round(loss.value, 4):
        lower = pair.second if loss.value < 0 else pair.first
        sentence += f" The log-loss of {lower} is lower, by {abs(loss.value):.4f} nats."
    return sentence
