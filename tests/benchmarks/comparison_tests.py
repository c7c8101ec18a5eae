"""Checks the intervals and tests of ``nlptx compare`` by simulation.

python tests/benchmarks/comparison_tests.py [--runs 1000] [--texts 400]

The predictions of two programs are simulated many times. The 95% interval should contain the true difference in 95%
of the runs. If the accuracies of the programs are equal, the test should reject equality in at most 5% of the runs. In
rows marked "grouped", the texts come in groups of 10; in each group, the accuracy of each program is 0.15 above or
below its overall accuracy. In rows marked "power", the number of texts is the result of ``texts_needed``, so the test
should reject equal accuracy in about 80% of the runs.
"""

from __future__ import annotations

import argparse

import numpy as np
from numpy.typing import NDArray

from nlptx.corpus.document import Document
from nlptx.evaluation.comparison import compare_predictions
from nlptx.evaluation.labelled_predictions import LabelledPredictions
from nlptx.evaluation.significance import mcnemar, texts_needed

_GROUP = 10


def simulate(
    rng: np.random.Generator, texts: int, accuracies: tuple[float, float], grouped: bool
) -> tuple[list[LabelledPredictions], NDArray[np.int64]]:
    """Return predictions of two programs, and the group of each text."""
    groups = np.arange(texts) // _GROUP
    # In each group, the accuracy of each program is shifted separately; the mean of the shifts is 0.
    shifts = rng.choice([-0.15, 0.15], (groups.max() + 1, 2))[groups] if grouped else np.zeros((texts, 2))
    targets = rng.integers(0, 2, texts)
    documents = [Document("")] * texts
    result = []
    for place, accuracy in enumerate(accuracies):
        right = rng.random(texts) < accuracy + shifts[:, place]
        predicted = np.where(right, targets, 1 - targets)
        result.append(LabelledPredictions("AB"[place], ["neg", "pos"], True, documents, targets, predicted, None, None))
    return result, groups


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--texts", type=int, default=400)
    options = parser.parse_args()
    print(f"{options.runs} runs, {options.texts} texts, 2000 resamples, seed 1")
    print("accuracies  texts    test     coverage accuracy  coverage macro-F1  rejected")
    for accuracies in ((0.8, 0.8), (0.95, 0.95), (0.8, 0.85)):
        for grouped, use_groups in ((False, False), (True, False), (True, True)):
            if grouped and max(accuracies) > 0.9:
                continue  # adding the shift of 0.15 would give an accuracy above 1
            rng, covered, rejected = np.random.default_rng(1), np.zeros(2), 0
            for _ in range(options.runs):
                predictions, groups = simulate(rng, options.texts, accuracies, grouped)
                pair = compare_predictions(predictions, groups if use_groups else None, resamples=2000).pairs[0]
                true = accuracies[1] - accuracies[0]
                covered += [each.low - 1e-12 <= true <= each.high + 1e-12 for each in (pair.accuracy, pair.macro_f1)]
                rejected += pair.differs
            kind, test = ("grouped" if grouped else "single"), ("groups" if use_groups else "McNemar")
            shares = covered / options.runs
            print(
                f"{accuracies[0]:.2f} {accuracies[1]:.2f}   {kind:8} {test:8} {shares[0]:17.3f} {shares[1]:18.3f}"
                f" {rejected / options.runs:9.3f}",
                flush=True,
            )
    rng = np.random.default_rng(1)
    for only_first, only_second in ((0.05, 0.10), (0.04, 0.06), (0.10, 0.12)):
        texts = texts_needed(only_first + only_second, only_second - only_first) or 0
        counts = rng.multinomial(texts, [only_first, only_second, 1 - only_first - only_second], options.runs)
        power = np.mean([mcnemar(int(a), int(b)) < 0.05 for a, b, _ in counts])
        print(f"power: only A {only_first:.2f}, only B {only_second:.2f}: {texts:,} texts, rejected {power:.3f}")


if __name__ == "__main__":
    main()
