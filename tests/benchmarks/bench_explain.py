"""Measures how the time of ``nlptx.explain`` grows with the length of a text, compared with plain leave-one-out.

    python tests/benchmarks/bench_explain.py

The texts consist of words of the bundled model, drawn at random according to their frequencies. The printed table shows
the CPU seconds on one core, and the slope of log(time) over log(length): a slope of 1 means linear growth, and a slope
of 2 means quadratic growth.
"""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import TypeVar

import numpy as np
from faithfulness import Text, plain_leave_one_out

import nlptx
from nlptx.classifier.word_pairs import strongest_pairs
from nlptx.runtime.workers import Workers
from nlptx.text.negation import is_marked

T = TypeVar("T")
LENGTHS = (400, 800, 1600, 3200, 12800, 51200)
MAX_PLAIN_WORDS = 3200


def timed(work: Callable[[], T]) -> tuple[float, T]:
    """Return the CPU seconds that the work takes, and its result."""
    started = time.process_time()
    result = work()
    return time.process_time() - started, result


def slope(times: list[float]) -> float:
    lengths = LENGTHS[: len(times)]
    return float(np.polyfit(np.log(lengths), np.log(times), 1)[0])


def main() -> None:
    model = nlptx.Model.load()
    rng = np.random.default_rng(1)
    words = np.array([word for word in model.vocabulary.words if not is_marked(word)])
    counts = np.array([model.vocabulary.counts[model.vocabulary.index[word]] for word in words.tolist()])
    found: dict[str, list[float]] = {"explain": [], "its pairs of words": [], "plain leave-one-out": []}
    for length in LENGTHS:
        text = " ".join(rng.choice(words, length, p=counts / counts.sum()))
        with Workers(1):
            taken, seen = timed(partial(nlptx.explain, model, text, attention=False))
            found["explain"].append(taken)
            found["its pairs of words"].append(timed(partial(strongest_pairs, model, seen))[0])
            if length <= MAX_PLAIN_WORDS:
                one = Text(model, text, rng)
                found["plain leave-one-out"].append(timed(partial(plain_leave_one_out, one))[0])
        print(length, {name: times[-1] for name, times in found.items()}, file=sys.stderr, flush=True)
    print(f"| words | {' | '.join(f'{length:,}' for length in LENGTHS)} | slope |")
    print("|---" * (len(LENGTHS) + 2) + "|")
    for name, times in found.items():
        cells = [f"{value:.2f} s" for value in times] + [""] * (len(LENGTHS) - len(times))
        print(f"| {name} | {' | '.join(cells)} | {slope(times):.2f} |")
    print(f"peak memory: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024} MB")


if __name__ == "__main__":
    main()
