"""How long a command takes to start, above Python itself."""

from __future__ import annotations

import sys

from measure import Bench, Row, command, pair


def rows(bench: Bench) -> list[Row]:
    python = command(sys.executable, "-c", "pass")
    shown = {"--version": ["--version"], "--help": ["--help"]}
    return [
        {
            "stage": f"start: nlptx {name}",
            "peer": "python -c pass",
            **pair(command(sys.executable, "-m", "nlptx", *arguments), python, 5 * bench.runs),
        }
        for name, arguments in shown.items()
    ]
