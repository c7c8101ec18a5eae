"""Time the stages of nlptx and comparable programs (peers) in alternating runs, and print medians and ratios.

Peers that are not installed are skipped with a message. GloVe's ``vocab_count`` and ``cooccur`` must be on the PATH.
The ``bench`` extra installs all other peers.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import bench_cooccur
import bench_growth
import bench_pca
import bench_predict
import bench_start
import bench_train
import numpy as np
from measure import Bench, Row
from threadpoolctl import threadpool_info

import nlptx

PARTS = {
    "start": bench_start,
    "cooccur": bench_cooccur,
    "pca": bench_pca,
    "train": bench_train,
    "predict": bench_predict,
    "growth": bench_growth,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="an aclImdb archive")
    parser.add_argument("--json", type=Path, help="JSON file to write the results to")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--only", choices=PARTS, action="append", help="measure only this part; may be repeated")
    arguments = parser.parse_args()
    if not arguments.data.exists():
        print(f"{arguments.data} does not exist: the benchmarks that need it are skipped", file=sys.stderr)
    result = {
        "nlptx": nlptx.__version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "blas": ", ".join(
            f"{library['internal_api']} {library['version']} {library.get('architecture', '')}".rstrip()
            for library in threadpool_info()
            if library["user_api"] == "blas"
        ),
        "cores": os.cpu_count(),
        "runs": arguments.runs,
    }
    print(", ".join(f"{name} {value}" for name, value in result.items()))
    rows = []
    with tempfile.TemporaryDirectory() as name:
        bench = Bench(arguments.data if arguments.data.exists() else None, Path(name), arguments.runs)
        for part in arguments.only or PARTS:
            for row in PARTS[part].rows(bench):
                rows.append(row)
                print(f"  {row['stage']:<45} {row['seconds']:8.3f} s   {'; '.join(remarks(row))}", flush=True)
    if arguments.json:
        arguments.json.write_text(json.dumps({**result, "rows": rows}, indent=1) + "\n")


def remarks(row: Row) -> Iterator[str]:
    """Yield the measurements of a row, except for its time, as text."""
    if row.get("ratio") is None:
        yield f"{row['peer']} absent"
    else:
        yield f"{row['peer']} {row['peer_seconds']:.3f} s, ratio {row['ratio']:.2f}"
    if "tokens_per_second" in row:
        yield f"{row['tokens_per_second']:,.0f} tokens/s"
    if "share_of_sgemm" in row:
        yield f"{row['share_of_sgemm']:.0%} of sgemm"
    residuals = [f"{row[name]:.1e}" for name in ("residual", "peer_residual") if row.get(name) is not None]
    if residuals:
        yield f"residual {', peer '.join(residuals)}"
    if "peak_memory_mb" in row:
        yield f"{row['peak_memory_mb']:,} MB"


if __name__ == "__main__":
    main()
