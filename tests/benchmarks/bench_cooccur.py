"""Times counting, compared with GloVe's C programs."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from measure import Bench, Row, command, pair

from nlptx.corpus.corpus import Corpus
from nlptx.corpus.read_options import ReadOptions
from nlptx.text.tokenizer import split_words

WINDOW, MIN_COUNT = 5, 10


def write_corpora(bench: Bench) -> tuple[Path, Path]:
    """Write all reviews of the archive, one per line, to two files: one tokenized and in lower case, the other raw."""
    clean, raw = bench.folder / "corpus.txt", bench.folder / "raw.txt"
    if not raw.exists():
        splits = ("train", "test", "unsup")
        texts = [document.text for document in Corpus([str(bench.data)], ReadOptions(splits=splits))]
        lines = (" ".join(split_words(text.lower())) for text in texts)
        clean.write_text("\n".join(lines) + "\n", encoding="utf-8")
        raw.write_text("\n".join(" ".join(text.split()) for text in texts) + "\n", encoding="utf-8")
    return clean, raw


def counting(corpus: Path | str, bench: Bench, *options: str) -> list[str]:
    """Return the command that counts ``corpus`` with the same settings as GloVe's programs."""
    same = ("--window", str(WINDOW), "--min-count", str(MIN_COUNT), "-q", "-o", str(output_of(bench)))
    return [sys.executable, "-m", "nlptx", "cooccur", str(corpus), *same, *options]


def output_of(bench: Bench) -> Path:
    return bench.folder / "counts.npz"


def rows(bench: Bench) -> list[Row]:
    """Time counting, one review per line: tokenized text with nlptx and GloVe's programs, and raw text with nlptx."""
    if bench.data is None:
        print("no archive of reviews: counting is skipped", file=sys.stderr)
        return []
    corpus, raw = write_corpora(bench)
    clean = counting(corpus, bench, "--tokenizer", "spaces")
    ours, one_job, ours_raw = command(*clean), command(*clean, "--jobs", "1"), command(*counting(raw, bench))
    words, pairs = bench.folder / "v.txt", bench.folder / "glove.bin"
    outputs = output_of(bench), words, pairs
    peer = None
    if shutil.which("vocab_count") and shutil.which("cooccur"):
        count = f"cooccur -window-size {WINDOW} -vocab-file {words} < {corpus} > {pairs}"
        peer = command("sh", "-c", f"vocab_count -min-count {MIN_COUNT} < {corpus} > {words} && {count}")
    else:
        print("GloVe's vocab_count and cooccur are not on the PATH: skipped", file=sys.stderr)
    return [
        {"stage": "cooccur, clean text", "peer": "GloVe (C)", **pair(ours, peer, bench.runs, outputs)},
        {"stage": "cooccur, clean text", "peer": "one job", **pair(ours, one_job, bench.runs, outputs)},
        {"stage": "cooccur, raw text", "peer": "clean text", **pair(ours_raw, ours, bench.runs, outputs)},
    ]
