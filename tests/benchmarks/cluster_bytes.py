"""Shows that counts, word vectors, models and scores have the same bytes however they are computed.

    python tests/benchmarks/cluster_bytes.py CORPUS.txt LABELLED.tsv --work build/bytes

Each stage is run with one and with two jobs, on local clusters of one to three workers, and on a cluster in which one
worker is killed. The counts are also made from eight parts, which are merged in random order. The SHA-256 of each
result is printed; the exit code is 1 if the results of a stage differ.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

NLPTX = (sys.executable, "-m", "nlptx")
WAYS = {
    "--jobs 1": ("-j", "1"),
    "--jobs 2": ("-j", "2"),
    "local:1": ("--cluster", "local:1"),
    "local:2": ("--cluster", "local:2"),
    "local:3": ("--cluster", "local:3"),
    "local:2, a worker killed": ("--cluster", "local:2"),
}


def children(process: int) -> list[int]:
    """Return the ids of all descendants of a process."""
    files = Path(f"/proc/{process}/task").glob("*/children")  # one file per thread, with the ids of its children
    direct = [int(number) for file in files for number in file.read_text().split()]
    return [*direct, *(number for child in direct for number in children(child))]


def run(words: tuple[str, ...], *, kill_after: float | None) -> bool:
    """Run a command; return whether one of its workers was killed.

    If ``kill_after`` is given, a worker is killed after this number of seconds, unless the command ends earlier.
    """
    killed = False
    with subprocess.Popen([*NLPTX, *words, "-q"]) as process:
        if kill_after is not None:
            time.sleep(kill_after)
            if process.poll() is None and (
                workers := [number for number in children(process.pid) if is_worker(number)]
            ):
                os.kill(workers[-1], signal.SIGKILL)
                killed = True
    if process.returncode:
        raise SystemExit(f"{' '.join(words)}: exit code {process.returncode}")
    return killed


def is_worker(process: int) -> bool:
    return b"spawn_main" in Path(f"/proc/{process}/cmdline").read_bytes()


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", help="plain text, one document per line")
    parser.add_argument("labelled", help="labelled texts")
    parser.add_argument("--work", type=Path, required=True, help="folder for the results")
    parser.add_argument("--kill-after", type=float, default=3.0, help="seconds until a worker is killed")
    given = parser.parse_args()
    given.work.mkdir(parents=True, exist_ok=True)
    counts, vectors = given.work / "counts.npz", given.work / "vectors.npz"
    stages = {
        "counts": (("cooccur", given.corpus, "-o"), counts),
        "vectors": (("pca", str(counts), "-o"), vectors),
        "model": (("train", given.labelled, "-e", str(vectors), "--epochs", "1", "-o"), given.work / "model.npz"),
        "scores": (("predict", given.corpus, "-o"), given.work / "scores.txt"),
    }
    different = False
    for stage, (words, path) in stages.items():
        expected = ""
        for way, options in WAYS.items():
            result = path if not expected else path.with_stem(f"{path.stem}-again")
            killed = run((*words, str(result), *options), kill_after=given.kill_after if "killed" in way else None)
            found = digest(result)
            expected = expected or found
            different |= found != expected
            note = "  (ended before)" if "killed" in way and not killed else ""
            print(f"{stage:<8} {way:<26} {found} {'' if found == expected else 'DIFFERENT'}{note}", flush=True)
        if stage == "counts":
            parts = [str(given.work / f"part-{number}.npz") for number in range(1, 9)]
            for number, part in enumerate(parts, 1):
                run(("cooccur", given.corpus, "--shard", f"{number}/8", "-o", part), kill_after=None)
            random.Random(0).shuffle(parts)
            merged = given.work / "merged.npz"
            run(("merge", *parts, "-o", str(merged)), kill_after=None)
            different |= digest(merged) != expected
            print(f"{stage:<8} {'eight parts, shuffled':<26} {digest(merged)}", flush=True)
    sys.exit(different)


if __name__ == "__main__":
    main()
