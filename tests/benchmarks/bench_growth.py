"""Measures how time and memory grow with the input: counting with a memory limit, and training with longer texts."""

from __future__ import annotations

import os
import shutil
import sys
from contextlib import ExitStack
from typing import IO

import numpy as np
from bench_cooccur import counting, write_corpora
from bench_train import SAME, our_epoch
from measure import Bench, Row, alternate, watched

from nlptx.settings import TrainSettings

MEMORY = "1G"
TOKENS, WORDS = 8192, 20_000


def rows(bench: Bench) -> list[Row]:
    return [*growth_of_counting(bench), *growth_of_training(bench)]


def growth_of_counting(bench: Bench) -> list[Row]:
    """Count the corpus, and the corpus repeated four and sixteen times, with the same memory limit."""
    if bench.data is None:
        print("no archive of reviews: the growth of counting is skipped", file=sys.stderr)
        return []
    corpus, _ = write_corpora(bench)
    options = ["--tokenizer", "spaces", "--memory", MEMORY, "--tmp-dir", str(bench.folder)]
    result = []
    for times in (1, 4, 16):

        def feed(pipe: IO[bytes], times: int = times) -> None:
            for _ in range(times):
                with corpus.open("rb") as file:
                    shutil.copyfileobj(file, pipe)

        seconds, megabytes = watched(counting("-", bench, *options), feed)
        stage = f"cooccur, corpus x {times}, --memory {MEMORY}"
        result.append({"stage": stage, "seconds": seconds, "peak_memory_mb": megabytes})
    return beside_first(result, "once")


def beside_first(result: list[Row], peer: str) -> list[Row]:
    """Compare the time of each row with that of the first row."""
    for row in result:
        row |= {"peer": peer, "peer_seconds": result[0]["seconds"], "ratio": result[0]["seconds"] / row["seconds"]}
    return result


def growth_of_training(bench: Bench) -> list[Row]:
    """Time training steps with texts of 64 to 1,024 tokens. The texts of a step always have 8,192 tokens in total."""
    result: list[Row] = []
    rng = np.random.default_rng(0)
    for tokens in (64, 128, 256, 512, 1024):
        texts = [rng.integers(0, WORDS, tokens, np.int32) for _ in range(TOKENS // tokens)]
        settings = TrainSettings(attention_window=tokens, batch=len(texts), **SAME)
        with ExitStack() as stack:
            step = our_epoch(settings, 128, WORDS, texts, rng.integers(0, 2, len(texts)), os.cpu_count() or 1, stack)
            seconds, _ = alternate(step, None, bench.runs)
        result.append({"stage": f"train step, {TOKENS:,} tokens in texts of {tokens}", "seconds": seconds})
    return beside_first(result, "texts of 64")
