"""Measure the stages beside their peers, alternating runs, and print medians and ratios.

Peers that are not installed (torch; GloVe's ``vocab_count`` and ``cooccur`` on the PATH) are left out with a line.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import nlptx
from nlptx.corpus import Corpus, ReadOptions

Work = Callable[[], Any]


def alternate(ours: Work, peer: Work | None, runs: int) -> tuple[float, float | None]:
    """Return the median seconds of both, run in turn so that a drifting machine hits both alike."""
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(runs):
        for work, kept in zip((ours, peer), times, strict=True):
            if work is not None:
                start = time.perf_counter()
                work()
                kept.append(time.perf_counter() - start)
    return statistics.median(times[0]), statistics.median(times[1]) if peer else None


def command(*arguments: str, **kwargs: Any) -> Work:
    return lambda: subprocess.run(arguments, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **kwargs)


def bench_start(runs: int) -> list[dict[str, Any]]:
    python = command(sys.executable, "-c", "pass")
    shown = {"--version": ["--version"], "--help": ["--help"]}
    return [
        {
            "stage": f"start: nlptx {name}",
            "peer": "python -c pass",
            **pair(command(sys.executable, "-m", "nlptx", *arguments), python, 5 * runs),
        }
        for name, arguments in shown.items()
    ]


def pair(ours: Work, peer: Work | None, runs: int) -> dict[str, Any]:
    seconds, other = alternate(ours, peer, runs)
    return {"seconds": seconds, "peer_seconds": other, "ratio": None if other is None else other / seconds}


def bench_cooccur(texts: list[str], folder: Path, runs: int) -> list[dict[str, Any]]:
    """Clean, space-tokenised text on one line a review, against GloVe's two programs."""
    from nlptx.text import split_words

    corpus = folder / "corpus.txt"
    corpus.write_text("\n".join(" ".join(split_words(text.lower())) for text in texts) + "\n", encoding="utf-8")
    ours = command(sys.executable, "-m", "nlptx", "cooccur", str(corpus), "--tokenizer", "spaces", "--min-count", "10",
                   "-q", "-o", str(folder / "c.npz"))  # fmt: skip
    raw = folder / "raw.txt"
    raw.write_text("\n".join(" ".join(text.split()) for text in texts) + "\n", encoding="utf-8")
    ours_raw = command(
        sys.executable, "-m", "nlptx", "cooccur", str(raw), "--min-count", "10", "-q", "-o", str(folder / "r.npz")
    )
    peer = None
    if shutil.which("vocab_count") and shutil.which("cooccur"):
        words, pairs = folder / "v.txt", folder / "glove.bin"
        count = f"cooccur -window-size 5 -vocab-file {words} < {corpus} > {pairs}"
        peer = command("sh", "-c", f"vocab_count -min-count 10 < {corpus} > {words} && {count}")
    else:
        print("GloVe's vocab_count and cooccur are not on the PATH: left out", file=sys.stderr)
    return [
        {"stage": "cooccur, clean text", "peer": "GloVe (C)", **pair(ours, peer, runs)},
        {"stage": "cooccur, raw text", "peer": "clean text", **pair(ours_raw, ours, runs)},
    ]


def bench_pca(counts: Path, runs: int) -> list[dict[str, Any]]:
    """100 components of the same implicit operator, to the same residual, against ARPACK."""
    from scipy.sparse.linalg import LinearOperator, eigsh

    from nlptx import artifacts
    from nlptx.cooccur import Cooccurrence
    from nlptx.eigen import power_iteration
    from nlptx.operators import StandardizedRows, transform
    from nlptx.settings import PcaSettings

    settings = PcaSettings(components=100)
    found = artifacts.load(str(counts), "cooccurrence", Cooccurrence.from_artifact)
    matrix = transform(found.matrix, settings.transform, settings.smoothing)
    size = matrix.shape[0]
    fast = StandardizedRows(matrix, True, np.float32, os.cpu_count() or 1)
    exact = StandardizedRows(matrix, True, np.float64, 1)
    operator = LinearOperator(
        (size, size), matvec=lambda v: exact.covariance(v.reshape(-1, 1)).ravel(), dtype=np.float64
    )

    def ours() -> None:
        power_iteration(fast.covariance, size, 100, tolerance=1e-3, rng=np.random.default_rng(1), dtype=np.float32)

    return [{"stage": f"pca, {size:,} words, {matrix.nnz:,} entries", "peer": "ARPACK eigsh",
             **pair(ours, lambda: eigsh(operator, 100, tol=1e-3), runs)}]  # fmt: skip


def bench_train(runs: int) -> list[dict[str, Any]]:
    """Steps of two shapes against PyTorch eager, the same network, both on two threads."""
    from torch_peer import torch_step  # beside this file

    from nlptx.settings import TrainSettings

    shapes = {
        "train step, d 128, 2 blocks, 32 x 256": (
            TrainSettings(width=0, blocks=2, window=256, ngrams=0, dropout=0.0),
            128,
            256,
        ),
        "train step, d 50, 2 blocks, 32 x 12": (
            TrainSettings(width=0, blocks=2, heads=5, hidden=400, window=12, ngrams=0, dropout=0.0),
            50,
            12,
        ),
    }
    rows = []
    for name, (settings, width, tokens) in shapes.items():
        ours = our_step(settings, width, tokens)
        steps = 5 if tokens > 100 else 100

        def repeated(step: Work, steps: int = steps) -> Work:
            return lambda: [step() for _ in range(steps)]

        peer = torch_step(settings, width, tokens)
        row = {"stage": name, "peer": "PyTorch eager", **pair(repeated(ours), repeated(peer) if peer else None, runs)}
        rows.append({**row, "tokens_per_second": 32 * tokens * steps / row["seconds"]})
    return rows


def our_step(settings: Any, width: int, tokens: int, words: int = 20_000) -> Work:
    from concurrent.futures import ThreadPoolExecutor

    from threadpoolctl import threadpool_limits

    from nlptx.model import Model
    from nlptx.text import Vocabulary
    from nlptx.training.loop import Training
    from nlptx.training.prepare import Examples

    rng = np.random.default_rng(0)
    vocabulary = Vocabulary([str(number) for number in range(words)], np.ones(words, np.int64))
    table = rng.standard_normal((words, width)).astype(np.float32)
    model = Model.fresh(vocabulary, table, ["neg", "pos"], None, np.full(2, 0.5), settings, 1)
    examples = Examples([rng.integers(0, words, tokens, np.int32) for _ in range(32)], rng.integers(0, 2, 32))
    pool = ThreadPoolExecutor(os.cpu_count())
    training = Training(model, examples, Examples([], np.empty(0, np.int64)), 1, pool, lambda _: None, lambda: False)
    training.steps = 1_000_000
    threadpool_limits(1)
    return lambda: training._step(np.arange(32), rng)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", required=True, help="an aclImdb archive")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--runs", type=int, default=3)
    arguments = parser.parse_args()
    rows = bench_start(arguments.runs)
    if Path(arguments.data).exists():
        texts = [document.text for document in Corpus([arguments.data], ReadOptions(splits=("train", "unsup")))]
        with tempfile.TemporaryDirectory() as name:
            rows += bench_cooccur(texts, Path(name), arguments.runs)
            rows += bench_pca(Path(name) / "c.npz", arguments.runs)
    else:
        print(f"{arguments.data} is absent: counting and PCA left out", file=sys.stderr)
    rows += bench_train(arguments.runs)
    result = {
        "nlptx": nlptx.__version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "cores": os.cpu_count(),
        "runs": arguments.runs,
        "rows": rows,
    }
    print(", ".join(f"{name} {result[name]}" for name in ("nlptx", "python", "numpy", "cores", "runs")))
    for row in rows:
        peer = (
            "peer absent"
            if row["ratio"] is None
            else f"{row['peer']} {row['peer_seconds']:.3f} s, ratio {row['ratio']:.2f}"
        )
        speed = f"  {row['tokens_per_second']:,.0f} tokens/s" if "tokens_per_second" in row else ""
        print(f"  {row['stage']:<45} {row['seconds']:.3f} s   ({peer}){speed}")
    if arguments.json:
        arguments.json.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
