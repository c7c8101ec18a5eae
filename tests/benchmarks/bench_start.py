"""Measures how long short nlptx commands take, compared with ``python -c pass``."""

from __future__ import annotations

import sys

from measure import Bench, Row, command, pair


def rows(bench: Bench) -> list[Row]:
    python = command(sys.executable, "-c", "pass")
    line = bench.folder / "line.txt"
    line.write_text("good\n", encoding="utf-8")
    return [
        {
            "stage": f"start: nlptx {arguments[0]}",
            "peer": "python -c pass",
            **pair(command(sys.executable, "-m", "nlptx", *arguments), python, 5 * bench.runs),
        }
        for arguments in (["--version"], ["--help"], ["predict", str(line)])
    ]
