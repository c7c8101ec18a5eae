"""Counting, against the C programs of GloVe."""

from __future__ import annotations

import shutil
import sys

from measure import Bench, Row, command, pair

from nlptx.corpus import Corpus, ReadOptions


def rows(bench: Bench) -> list[Row]:
    """Clean, space-tokenised text on one line a review, against GloVe's two programs."""
    from nlptx.text import split_words

    if bench.data is None:
        print("no archive of reviews: counting left out", file=sys.stderr)
        return []
    splits = ("train", "test", "unsup")
    texts = [document.text for document in Corpus([str(bench.data)], ReadOptions(splits=splits))]
    corpus = bench.folder / "corpus.txt"
    corpus.write_text("\n".join(" ".join(split_words(text.lower())) for text in texts) + "\n", encoding="utf-8")
    ours = command(sys.executable, "-m", "nlptx", "cooccur", str(corpus), "--tokenizer", "spaces", "--min-count", "10",
                   "-q", "-o", str(bench.folder / "c.npz"))  # fmt: skip
    raw = bench.folder / "raw.txt"
    raw.write_text("\n".join(" ".join(text.split()) for text in texts) + "\n", encoding="utf-8")
    ours_raw = command(
        sys.executable, "-m", "nlptx", "cooccur", str(raw), "--min-count", "10", "-q", "-o", str(bench.folder / "r.npz")
    )
    peer = None
    if shutil.which("vocab_count") and shutil.which("cooccur"):
        words, pairs = bench.folder / "v.txt", bench.folder / "glove.bin"
        count = f"cooccur -window-size 5 -vocab-file {words} < {corpus} > {pairs}"
        peer = command("sh", "-c", f"vocab_count -min-count 10 < {corpus} > {words} && {count}")
    else:
        print("GloVe's vocab_count and cooccur are not on the PATH: left out", file=sys.stderr)
    return [
        {"stage": "cooccur, clean text", "peer": "GloVe (C)", **pair(ours, peer, bench.runs)},
        {"stage": "cooccur, raw text", "peer": "clean text", **pair(ours_raw, ours, bench.runs)},
    ]
