"""Computes the Spearman correlation between cosines of word vectors and human ratings, on MEN and WordSim-353.

Pairs with a word that the embeddings do not contain are left out. Pairs with rare words are often harder, so compare
two sets of embeddings only if the number of remaining pairs is the same for both.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.stats import spearmanr

from nlptx.embeddings.embeddings import Embeddings, load_embeddings

SETS = {"MEN": "EN-MEN-TR-3k.txt", "WordSim-353 relatedness": "EN-WS-353-REL.txt"}


def read_pairs(path: Path) -> list[tuple[str, str, float]]:
    """Return the pairs of words and their scores from a file with two words and a number per line, tab-separated."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return [(first, second, float(score)) for first, second, score in (line.split("\t") for line in lines)]


def cosines(embeddings: Embeddings, pairs: list[tuple[int, int]]) -> NDArray:
    """Return the cosine of each pair of vectors; 0 if one of the vectors is 0."""
    first, second = (embeddings.vectors[list(places)].astype(np.float64) for places in zip(*pairs, strict=True))
    lengths = np.linalg.norm(first, axis=1) * np.linalg.norm(second, axis=1)
    return np.einsum("pr,pr->p", first, second) / np.where(lengths > 0, lengths, 1)


def correlation(embeddings: Embeddings, pairs: list[tuple[str, str, float]]) -> tuple[float, int]:
    """Return the Spearman correlation (NaN for fewer than two pairs), and the number of pairs used."""
    vocabulary = embeddings.vocabulary
    known: list[tuple[int, int]] = []
    scores: list[float] = []
    for *words, score in pairs:
        if vocabulary.tokenizer.lowercase:
            words = [word.lower() for word in words]
        first, second = map(vocabulary.index.get, words)
        if first is not None and second is not None:
            known.append((first, second))
            scores.append(score)
    if len(known) < 2:
        return float("nan"), len(known)
    return float(spearmanr(cosines(embeddings, known), scores).statistic), len(known)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("embeddings", nargs="+", help="output of nlptx pca, or word2vec text")
    shared = Path(os.environ.get("NLPTX_SHARED_DATA", "../shared/data"))
    parser.add_argument("--data", type=Path, default=shared / "wordsim", help=f"folder of {', '.join(SETS.values())}")
    arguments = parser.parse_args()
    for path in arguments.embeddings:
        embeddings = load_embeddings(path)
        print(f"{path}: {len(embeddings.vocabulary):,} words, {embeddings.vectors.shape[1]} components")
        for name, file in SETS.items():
            pairs = read_pairs(arguments.data / file)
            value, used = correlation(embeddings, pairs)
            print(f"  {name:<24} {value:.3f}  {used:,} of {len(pairs):,} pairs")


if __name__ == "__main__":
    main()
