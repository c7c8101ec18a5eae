"""Metrics computed by their definitions, for comparison."""

from itertools import product


def auc_by_pairs(scores, positive):
    """Compute the AUC: the fraction of (positive, negative) pairs whose positive scores higher; a tie counts 1/2."""
    pairs = list(product(scores[positive], scores[~positive]))
    return sum((a > b) + (a == b) / 2 for a, b in pairs) / len(pairs)


def ece_by_bins(confidence, hit, bins):
    """Compute the ECE by its definition: bins of equal width, each weighted by its fraction of the texts."""
    total = 0.0
    for number in range(bins):
        inside = (confidence * bins >= number) & ((confidence * bins < number + 1) | (number == bins - 1))
        if inside.any():
            total += inside.mean() * abs(hit[inside].mean() - confidence[inside].mean())
    return total
