"""Times scoring by nlptx, by the same network in PyTorch, and by an encoder of DistilBERT's size."""

from __future__ import annotations

import statistics
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
from measure import Bench, Row, Work, command, pair, watched

from nlptx.classifier.model import Model
from nlptx.corpus.corpus import Corpus
from nlptx.corpus.read_options import ReadOptions
from nlptx.text.negation import is_marked

_SHORT_LINES = (10_000, 100_000, 1_000_000)
_DISTILBERT_TOKENS = 256


def rows(bench: Bench) -> list[Row]:
    """Time the bundled model on a file of reviews, and measure how time and memory grow with the number of lines."""
    return [*_reviews(bench), *_growth(bench.folder)]


def _reviews(bench: Bench) -> list[Row]:
    if bench.data is None:
        print("no archive of reviews: the scoring of reviews is skipped", file=sys.stderr)
        return []
    corpus = Corpus([str(bench.data)], ReadOptions(splits=("train", "test")))
    texts = [" ".join(document.text.split()) for document in corpus]
    path, out = bench.folder / "reviews.txt", bench.folder / "scores.txt"
    path.write_text("\n".join(texts) + "\n", encoding="utf-8")
    # The PyTorch version has no region filters, so nlptx runs without them too.
    model = replace(Model.load(), regions=None)
    model.save(bench.folder / "network.npz")
    ours = _predict(path, out, "-m", str(bench.folder / "network.npz"))
    stage = f"predict, {len(texts):,} reviews"
    result: list[Row] = []
    try:
        from torch_scorer import TorchScorer, encoder_like_distilbert  # in this folder
    except ImportError:
        print("torch is not installed: skipped", file=sys.stderr)
        result.append({"stage": stage, "peer": "PyTorch", **pair(ours, None, bench.runs)})
    else:
        scorer = TorchScorer(model)
        difference = np.abs(scorer.probabilities(texts[:500]) - model.predict_proba(texts[:500])).max()
        if difference > 1e-4:
            raise SystemExit(f"PyTorch's probabilities differ by {difference}: not the same network")

        def peer() -> None:
            reviews = path.read_text(encoding="utf-8").splitlines()
            rows = scorer.probabilities(reviews).tolist()
            lines = (f"{p[1] - p[0]:.4f}\t{text}\n" for p, text in zip(rows, reviews, strict=True))
            out.write_text("".join(lines), encoding="utf-8")

        result.append({"stage": stage, "peer": "PyTorch", **pair(ours, peer, bench.runs)})
        lengths = sorted(min(len(model.encode(text)), _DISTILBERT_TOKENS) for text in texts[:: len(texts) // 64][:64])
        batches = [encoder_like_distilbert(lengths[start : start + 16]) for start in range(0, len(lengths), 16)]
        slow = statistics.median(_seconds(batches) for _ in range(2)) / len(lengths) * len(texts)
        ratio = slow / result[0]["seconds"]
        size = {"peer_seconds": slow, "ratio": ratio, "seconds": result[0]["seconds"]}
        result.append({"stage": stage, "peer": "an encoder of DistilBERT's size (extrapolated)", **size})
    both = _predict(path, out), _predict(path, out, "--jobs", "1")
    result.append({"stage": f"{stage}, all cores", "peer": "--jobs 1", **pair(*both, bench.runs)})
    return result


def _growth(folder: Path) -> list[Row]:
    """Measure whether scoring ten times as many lines takes ten times as long and the same amount of memory."""
    rng = np.random.default_rng(0)
    vocabulary = [word for word in Model.load().vocabulary.words if not is_marked(word)][:5000]
    result: list[Row] = []
    per_line: float | None = None
    for count in _SHORT_LINES:
        path = folder / "lines.txt"
        with open(path, "w", encoding="utf-8") as file:
            for _ in range(count // 1000):
                chosen = rng.integers(0, len(vocabulary), (1000, 10))
                file.writelines(" ".join(vocabulary[word] for word in row) + "\n" for row in chosen)
        seconds, megabytes = watched(_predicting(path, folder / "scores.txt"))
        smaller = None if per_line is None else per_line * count
        ratio = None if smaller is None else smaller / seconds
        stage = f"predict, {count:,} short lines, {megabytes} MB"
        result.append({"stage": stage, "peer": "as the step before", "seconds": seconds, "peer_seconds": smaller,
                       "ratio": ratio, "peak_memory_mb": megabytes})  # fmt: skip
        per_line = seconds / count
    return result


def _predict(path: Path, out: Path, *more: str) -> Work:
    return command(*_predicting(path, out), *more)


def _predicting(path: Path, out: Path) -> list[str]:
    return [sys.executable, "-m", "nlptx", "predict", "-q", str(path), "-o", str(out)]


def _seconds(batches: list[Work]) -> float:
    start = time.perf_counter()
    for run in batches:
        run()
    return time.perf_counter() - start
