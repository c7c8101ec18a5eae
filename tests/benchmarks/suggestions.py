"""Measures whether labelling the texts that ``nlptx check --suggest`` chooses helps more than labelling random texts.

The texts of DATA are split into a test part and a pool whose labels are hidden. At first, a random part of the pool is
labelled. Then further texts are chosen in batches: at random, or by the function behind --suggest, given the n-gram
model that was trained on the texts labelled so far. After each batch, the model is trained again and tested. The table
gives the gain of --suggest over random choice with the same number of labels, and the standard error of the gain over
the seeds. For each seed, both methods start with the same split and the same labelled texts. The last column is the
number of labels with which --suggest reaches the final accuracy of random choice.
"""

from __future__ import annotations

import argparse

import numpy as np
from numpy.typing import NDArray

from nlptx.classifier.decision import SingleLabelDecision
from nlptx.corpus.read_options import ReadOptions
from nlptx.data_quality.labelled_rows import LabelledRows
from nlptx.data_quality.out_of_fold import fit_probabilities, ngram_rows
from nlptx.data_quality.rows import read_rows
from nlptx.data_quality.uncertainty_sampling import choose, margins
from nlptx.data_quality.words import FOR_MODELS, find_words
from nlptx.metrics import log_loss
from nlptx.runtime.workers import Workers

FIRST, BATCH, LAST = 100, 100, 1000
TEST, POOL = 2000, 6000
SIZES = range(FIRST, LAST + 1, BATCH)
SHOWN = (200, 500, 1000)


def curves(path: str, seed: int, splits: tuple[str, ...]) -> NDArray[np.float64]:
    """Return accuracy and log-loss after each batch, for random choice and --suggest, (2 methods, batches, 2)."""
    rows = read_rows([path], ReadOptions(splits=splits))
    labelled = LabelledRows.of(rows)
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(labelled.indices))[: TEST + POOL]
    test_size = min(TEST, len(order) // 4)
    with Workers() as workers:
        words = find_words([rows.texts[row] for row in labelled.indices[order]], workers, tokenizer=FOR_MODELS)
    ngrams, targets = ngram_rows(words), labelled.targets[order]
    classes = len(labelled.label_names)
    decision = SingleLabelDecision(np.bincount(targets) / len(targets), balanced=False)
    test, pool = np.arange(test_size), np.arange(test_size, len(order))
    result = np.zeros((2, len(SIZES), 2))
    for method in range(2):
        known = pool[:FIRST]
        for step in range(len(SIZES)):
            rest = np.setdiff1d(pool, known)
            p = fit_probabilities(ngrams[known], targets[known], classes, ngrams[np.concatenate([test, rest])])
            of_test = p[: len(test)]
            result[method, step] = (of_test.argmax(axis=1) == targets[test]).mean(), log_loss(of_test, targets[test])
            if method == 0:
                known = pool[: FIRST + (step + 1) * BATCH]
            else:
                known = np.append(known, rest[choose(margins(p[len(test) :], decision), ngrams[rest], BATCH)])
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="+")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--split", default="train", help="split of an archive")
    options = parser.parse_args()
    heads = [f"random, {size} | gain, points | gain, log-loss" for size in SHOWN]
    print(f"| data | {' | '.join(heads)} | labels instead of {LAST} |")
    print("|---" * (2 + 3 * len(SHOWN)) + "|")
    for path in options.data:
        found = np.array([curves(path, seed, (options.split,)) for seed in range(options.seeds)])
        cells = []
        for size in SHOWN:
            step = SIZES.index(size)
            chance = found[:, 0, step]
            gain = (found[:, 1, step] - chance) * (100, -1)
            error = gain.std(axis=0, ddof=1) / np.sqrt(len(gain))
            cells += [
                f"{100 * chance[:, 0].mean():.1f}%",
                f"{gain[:, 0].mean():+.1f} ± {error[0]:.1f}",
                f"{gain[:, 1].mean():+.3f} ± {error[1]:.3f}",
            ]
        mean = found.mean(axis=0)[:, :, 0]
        reached = np.flatnonzero(mean[1] >= mean[0, -1])
        print(f"| {path} | {' | '.join(cells)} | {SIZES[reached[0]] if len(reached) else 'more'} |", flush=True)


if __name__ == "__main__":
    main()
