"""Measure the stages beside their peers, alternating runs, and print medians and ratios.

Peers that are not installed (torch; GloVe's ``vocab_count`` and ``cooccur`` on the PATH) are left out with a line.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import tempfile
from pathlib import Path

import bench_cooccur
import bench_pca
import bench_predict
import bench_start
import bench_train
import numpy as np
from measure import Bench

import nlptx

PARTS = {
    "start": bench_start,
    "cooccur": bench_cooccur,
    "pca": bench_pca,
    "train": bench_train,
    "predict": bench_predict,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="an aclImdb archive")
    parser.add_argument("--json", type=Path, help="where the figures go")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--only", choices=PARTS, action="append", help="measure this part alone; may be repeated")
    arguments = parser.parse_args()
    if not arguments.data.exists():
        print(f"{arguments.data} is absent: what needs it is left out", file=sys.stderr)
    rows = []
    with tempfile.TemporaryDirectory() as name:
        bench = Bench(arguments.data if arguments.data.exists() else None, Path(name), arguments.runs)
        for part in arguments.only or PARTS:
            rows += PARTS[part].rows(bench)
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
        share = f", {row['share_of_sgemm']:.0%} of sgemm" if "share_of_sgemm" in row else ""
        print(f"  {row['stage']:<45} {row['seconds']:.3f} s   ({peer}){speed}{share}")
    if arguments.json:
        arguments.json.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
