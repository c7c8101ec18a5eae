"""Times training, compared with the same network in PyTorch, with nlptx on one core, and with plain matrix products."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence
from contextlib import ExitStack
from itertools import islice
from typing import Any

import numpy as np
from measure import Bench, Row, Work, alternate, pair
from numpy.typing import NDArray

BATCH = 32
REVIEWS = 1_000
# No dropout, no weight averaging and no crops, so that nlptx and PyTorch do the same work.
SAME: dict[str, Any] = {
    "width": 0,
    "blocks": 2,
    "loss": "cross-entropy",
    "ngrams": 0,
    "dropout": 0.0,
    "word_dropout": 0.0,
    "weight_averaging": 0.0,
    "crop": 0,
}


def rows(bench: Bench) -> list[Row]:
    """Measure how long training steps and an epoch on reviews take: nlptx, nlptx on one core, and eager PyTorch."""
    from torch_peer import torch_epoch  # in this folder

    from nlptx.settings import TrainSettings

    rng = np.random.default_rng(0)
    large = TrainSettings(attention_window=256, **SAME)
    small = TrainSettings(attention_window=12, heads=5, hidden=400, **SAME)
    cases = [
        ("train step, d 128, 2 blocks, 32 x 256", large, 128, 20_000, 5, full_texts(256, rng)),
        ("train step, d 50, 2 blocks, 32 x 12", small, 50, 20_000, 100, full_texts(12, rng)),
    ]
    if bench.data is None:
        print("no archive of reviews: the epoch is skipped", file=sys.stderr)
    else:
        reviews = TrainSettings(attention_window=400, long_texts="head", **SAME)
        words, texts = real_texts(bench, 400)
        cases.append((f"train epoch, {REVIEWS:,} reviews of 1-400 tokens", reviews, 128, words, 1, texts))
    rate = sgemm_rate()
    result = []
    for name, settings, width, words, repeats, texts in cases:
        targets = rng.integers(0, 2, len(texts))
        lengths = np.array([len(ids) for ids in texts])
        with ExitStack() as stack:
            case = (settings, width, words, texts, targets)
            ours, one_job = (our_epoch(*case, jobs, stack) for jobs in (os.cpu_count() or 1, 1))
            peer = torch_epoch(*case)
            timed = pair(repeat(ours, repeats), repeat(peer, repeats) if peer else None, bench.runs)
            row = {"stage": name, "peer": "PyTorch eager", **timed}
            row["tokens_per_second"] = int(lengths.sum()) * repeats / row["seconds"]
            row["share_of_sgemm"] = flops(settings, width, lengths) * repeats / row["seconds"] / rate
            result.append(row)
            both, one = alternate(repeat(ours, repeats), repeat(one_job, repeats), bench.runs)
        ratio = None if one is None else one / both
        result.append({"stage": name, "peer": "1 job", "seconds": both, "peer_seconds": one, "ratio": ratio})
    return result


def repeat(work: Work, times: int) -> Work:
    return lambda: [work() for _ in range(times)]


def full_texts(tokens: int, rng: np.random.Generator, words: int = 20_000) -> list[NDArray[np.int32]]:
    return [rng.integers(0, words, tokens, np.int32) for _ in range(BATCH)]


def real_texts(bench: Bench, max_words: int) -> tuple[int, list[NDArray[np.int32]]]:
    """Return the vocabulary size, and the ids of the first ``max_words`` words of each of REVIEWS training reviews."""
    from nlptx.corpus.corpus import Corpus
    from nlptx.corpus.read_options import ReadOptions
    from nlptx.text.tokenizer import Tokenizer

    corpus = Corpus([str(bench.data)], ReadOptions(splits=("train",)))
    read = (document.text for document in corpus)
    tokens = [words for text in islice(read, REVIEWS) if (words := Tokenizer()(text))]
    ids: dict[str, int] = {}
    texts = [np.array([ids.setdefault(word, len(ids)) for word in words[:max_words]], np.int32) for words in tokens]
    return len(ids), texts


def sgemm_rate(size: int = 2048, runs: int = 5) -> float:
    """Return the highest rate of square float32 matrix products on all cores, in operations per second."""
    a, b = (np.random.default_rng(seed).standard_normal((size, size), np.float32) for seed in (1, 2))
    seconds = []
    for _ in range(runs + 1):
        start = time.perf_counter()
        a @ b
        seconds.append(time.perf_counter() - start)
    return 2 * size**3 / min(seconds)


def flops(settings: Any, width: int, lengths: NDArray[np.int64]) -> float:
    """Return the number of operations in all matrix products of a forward and a backward pass; each text is one window.

    With T tokens per text, width D and hidden width F, a forward pass takes, per token and block, one multiplication
    and one addition for each of the 4 D^2 weights of attention, the 2 D F weights of the feed-forward network, and the
    2 T D entries that enter the scores and weighted means. A backward pass takes twice as many operations as a
    forward pass.
    """
    weights = 4 * width**2 + 2 * width * (settings.hidden or 4 * width)
    return float(3 * settings.blocks * 2 * (lengths * weights + 2 * lengths**2 * width).sum())


def our_epoch(
    settings: Any,
    width: int,
    words: int,
    texts: Sequence[NDArray[np.int32]],
    targets: NDArray[np.int64],
    jobs: int,
    stack: ExitStack,
) -> Work:
    """Return a function that trains for one epoch, in a new random order at each call.

    The workers stay alive until ``stack`` is closed.
    """
    from nlptx.io.ragged_array import RaggedArray
    from nlptx.runtime.workers import Workers
    from nlptx.text.vocabulary import Vocabulary
    from nlptx.training.batching import shuffled_batches
    from nlptx.training.checkpoint import Checkpoint
    from nlptx.training.context import TrainingContext
    from nlptx.training.dataset import Examples
    from nlptx.training.initialization import initial_model
    from nlptx.training.supervised import SupervisedTrainer

    rng = np.random.default_rng(0)
    vocabulary = Vocabulary([str(number) for number in range(words)], np.ones(words, np.int64))
    table = rng.standard_normal((words, width)).astype(np.float32)
    model = initial_model(vocabulary, table, ["neg", "pos"], None, np.full(2, 0.5), settings, 1)
    examples = Examples(RaggedArray.of(texts, np.int32), targets)
    nothing = Examples(RaggedArray.of([], np.int32), np.empty(0, np.int64))
    workers = stack.enter_context(Workers(jobs, processes=True))
    context = TrainingContext(1, workers, lambda _: None, lambda: False, Checkpoint(None))
    training = SupervisedTrainer(model, examples, nothing, context, [], [])
    training.steps = 1_000_000
    stack.enter_context(training.stepping())

    def epoch() -> None:
        for chosen in shuffled_batches(len(texts), BATCH, rng):
            training.take_step(chosen)

    return epoch
