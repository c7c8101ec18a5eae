"""Measures how well ``nlptx check`` and cleanlab rank labels that were made wrong on purpose.

A fraction of the labels of DATA is replaced by other labels, drawn at random. The precision at x % is the fraction of
replaced labels among the first x % of the ranking; for a random ranking, its expected value is the fraction of replaced
labels. Labels of the original data that are wrong are treated as correct, so a perfect ranking would not reach 100%.
cleanlab ranks the texts by the same out-of-fold probabilities. With --model, the texts are also ranked by the
probabilities of this model, and by the mean of these and the out-of-fold probabilities.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from nlptx.classifier.model import Model
from nlptx.corpus.read_options import ReadOptions
from nlptx.data_quality.label_errors import likely_wrong
from nlptx.data_quality.labelled_rows import LabelledRows
from nlptx.data_quality.out_of_fold import out_of_fold_probabilities
from nlptx.data_quality.rows import read_rows
from nlptx.data_quality.words import FOR_MODELS, find_words
from nlptx.runtime.workers import Workers
from nlptx.sampling.rng_streams import Stream, generator
from nlptx.settings import SEED

DEPTHS = (0.01, 0.02, 0.05, 0.1, 0.2)
# A ranking is a function that sorts N texts, given their labels (N,) and their probabilities (N, C).
Ranking = Callable[[NDArray[np.int64], NDArray[np.float64]], NDArray[np.int64]]


def by_check(given: NDArray[np.int64], probabilities: NDArray[np.float64]) -> NDArray[np.int64]:
    """Rank as ``nlptx check`` does; the texts that ``check`` does not list come last."""
    names = [str(label) for label in range(probabilities.shape[1])]
    listed = likely_wrong(given, probabilities, names, np.arange(len(given))).rows
    return followed_by_the_rest(listed, probabilities[np.arange(len(given)), given])


def followed_by_the_rest(listed: NDArray[np.int64], own: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the texts in ``listed``, then all others, sorted by the probability ``own`` (N,) of their labels."""
    rest = np.argsort(own, kind="stable")
    return np.concatenate([listed, rest[~np.isin(rest, listed)]])


def rankings() -> dict[str, Ranking]:
    """Return the rankings to compare, by name."""
    found: dict[str, Ranking] = {"nlptx check": by_check}
    try:
        from cleanlab.filter import find_label_issues
        from cleanlab.rank import get_label_quality_scores
    except ImportError:
        print("cleanlab is not installed (pip install cleanlab)")
        return found

    def by_quality(method: str) -> Ranking:
        return lambda given, p: np.argsort(get_label_quality_scores(given, p, method=method), kind="stable")

    def by_filter(given: NDArray[np.int64], p: NDArray[np.float64]) -> NDArray[np.int64]:
        listed = find_label_issues(given, p, return_indices_ranked_by="self_confidence", n_jobs=1)
        return followed_by_the_rest(np.asarray(listed), p[np.arange(len(given)), given])

    for method in ("self_confidence", "normalized_margin", "confidence_weighted_entropy"):
        found[f"cleanlab {method}"] = by_quality(method)
    found["cleanlab find_label_issues"] = by_filter
    return found


def flipped(
    targets: NDArray[np.int64], classes: int, fraction: float, rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Replace a fraction of the labels; return the labels, and whether each was replaced."""
    chosen = rng.choice(len(targets), round(fraction * len(targets)), replace=False)
    given, wrong = targets.copy(), np.zeros(len(targets), bool)
    given[chosen] = (given[chosen] + rng.integers(1, classes, len(chosen))) % classes
    wrong[chosen] = True
    return given, wrong


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", nargs="+")
    parser.add_argument("--fraction", type=float, default=0.05)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--model", help="model that was not trained on the data, or bundled")
    options = parser.parse_args()
    for path in options.data:
        print(
            f"\n{path}, {options.fraction:.0%} of the labels replaced, {options.seeds} seeds: precision in % ± s.d.\n"
        )
        print(
            "| ranking | "
            + " | ".join(f"first {depth:.0%}" for depth in DEPTHS)
            + " |\n|---" * 1
            + "|---" * len(DEPTHS)
            + "|"
        )
        for name, values in measure(path, options).items():
            cells = zip(100 * np.mean(values, axis=0), 100 * np.std(values, axis=0, ddof=1), strict=True)
            print(f"| {name} | " + " | ".join(f"{mean:.1f} ± {spread:.1f}" for mean, spread in cells) + " |")


def measure(path: str, options: argparse.Namespace) -> dict[str, list[list[float]]]:
    """Return the precision at each depth, for each ranking and seed."""
    rows = read_rows([path], ReadOptions())
    labelled = LabelledRows.of(rows)
    texts = [rows.texts[row] for row in labelled.indices]
    classes = len(labelled.label_names)
    of_model = None
    if options.model:
        model = Model.load(None if options.model == "bundled" else options.model)
        assert model.label_names == labelled.label_names
        of_model = np.asarray(model.predict_proba(texts), np.float64)
    result: dict[str, list[list[float]]] = {}
    with Workers() as workers:
        words = find_words(texts, workers, tokenizer=FOR_MODELS)
        for seed in range(options.seeds):
            given, wrong = flipped(labelled.targets, classes, options.fraction, np.random.default_rng(seed))
            p = out_of_fold_probabilities(words, given, classes, generator(SEED, Stream.FOLDS), workers)
            named = [(name, ranking(given, p)) for name, ranking in rankings().items()]
            if of_model is not None:
                mean = np.exp((np.log(p + 1e-9) + np.log(of_model + 1e-9)) / 2)
                named.append(("the model alone", by_check(given, of_model)))
                named.append(("nlptx check -m", by_check(given, mean / mean.sum(axis=1, keepdims=True))))
            for name, order in named:
                depths = [wrong[order[: round(depth * len(order))]].mean() for depth in DEPTHS]
                result.setdefault(name, []).append(depths)
    return result


if __name__ == "__main__":
    main()
