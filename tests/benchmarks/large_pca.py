"""Measures the time and memory of ``pca`` for a matrix that is larger than the memory limit.

    python tests/benchmarks/large_pca.py --work build/large_pca

A corpus of synthetic texts with up to 400,000 distinct words is counted, and 100 components are computed with several
memory limits. The vectors must have the same bytes for every limit. Each text has one of a hundred topics; a topic
determines which words are frequent, so that the leading eigenvalues are separated as in real text.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
from pathlib import Path

import numpy as np
from measure import watched

NLPTX = (sys.executable, "-m", "nlptx")
TOPICS, TEXT_WORDS = 100, 200
# Number of words that are equally frequent in all topics.
COMMON = 200


def write_texts(path: Path, words: int, tokens: int) -> None:
    """Write texts whose words have a Zipf distribution; the topic of a text determines the ranks of the words."""
    rng = np.random.default_rng(0)
    cumulative = np.cumsum(1 / np.arange(1, words + 1))
    orders = [np.concatenate([np.arange(COMMON), COMMON + rng.permutation(words - COMMON)]) for _ in range(TOPICS)]
    with path.open("w") as file:
        for _ in range(tokens // TEXT_WORDS):
            ranks = np.searchsorted(cumulative, rng.random(TEXT_WORDS) * cumulative[-1])
            file.write(" ".join(f"w{word}" for word in orders[rng.integers(TOPICS)][ranks]) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=Path, required=True, help="folder for the corpus and the artifacts")
    parser.add_argument("--words", type=int, default=400_000)
    parser.add_argument("--tokens", type=int, default=40_000_000)
    parser.add_argument("--components", type=int, default=100)
    parser.add_argument("--memory", nargs="+", default=["8G", "3G", "1G"])
    given = parser.parse_args()
    given.work.mkdir(parents=True, exist_ok=True)
    corpus, counts, vectors = (given.work / name for name in ("corpus.txt", "cooccur.npz", "vectors.npz"))
    if not corpus.exists():
        write_texts(corpus, given.words, given.tokens)
    if not counts.exists():
        options = ["--min-count", "1", "--max-words", str(given.words), "--tokenizer", "spaces", "--memory", "2G"]
        seconds, peak = watched([*NLPTX, "cooccur", str(corpus), *options, "-q", "-o", str(counts)])
        print(f"cooccur: {seconds:.0f} s, {peak:,} MB; the file has {counts.stat().st_size / 1e6:,.0f} MB")
    for memory in given.memory:
        options = ["--components", str(given.components), "--memory", memory, "--tmp-dir", str(given.work)]
        seconds, peak = watched([*NLPTX, "pca", str(counts), *options, "-q", "-o", str(vectors)])
        digest = hashlib.sha256(vectors.read_bytes()).hexdigest()
        print(f"pca --memory {memory}: {seconds:.0f} s, {peak:,} MB, SHA-256 {digest[:16]}", flush=True)


if __name__ == "__main__":
    main()
