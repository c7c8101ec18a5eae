"""Training, against the same network in PyTorch."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from measure import Bench, Row, Work, pair


def rows(bench: Bench) -> list[Row]:
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
    result = []
    for name, (settings, width, tokens) in shapes.items():
        ours = our_step(settings, width, tokens)
        steps = 5 if tokens > 100 else 100

        def repeated(step: Work, steps: int = steps) -> Work:
            return lambda: [step() for _ in range(steps)]

        peer = torch_step(settings, width, tokens)
        row = {
            "stage": name,
            "peer": "PyTorch eager",
            **pair(repeated(ours), repeated(peer) if peer else None, bench.runs),
        }
        result.append({**row, "tokens_per_second": 32 * tokens * steps / row["seconds"]})
    return result


def our_step(settings: Any, width: int, tokens: int, words: int = 20_000) -> Work:
    from concurrent.futures import ThreadPoolExecutor

    from threadpoolctl import threadpool_limits

    from nlptx.model import Model
    from nlptx.text import Vocabulary
    from nlptx.training import Checkpoint
    from nlptx.training.control import Control
    from nlptx.training.loop import Training
    from nlptx.training.prepare import Examples

    rng = np.random.default_rng(0)
    vocabulary = Vocabulary([str(number) for number in range(words)], np.ones(words, np.int64))
    table = rng.standard_normal((words, width)).astype(np.float32)
    model = Model.fresh(vocabulary, table, ["neg", "pos"], None, np.full(2, 0.5), settings, 1)
    examples = Examples([rng.integers(0, words, tokens, np.int32) for _ in range(32)], rng.integers(0, 2, 32))
    pool = ThreadPoolExecutor(os.cpu_count())
    control = Control(1, pool, lambda _: None, lambda: False, Checkpoint(None))
    training = Training(model, examples, Examples([], np.empty(0, np.int64)), control)
    training.steps = 1_000_000
    threadpool_limits(1)
    return lambda: training.take_step(np.arange(32))
