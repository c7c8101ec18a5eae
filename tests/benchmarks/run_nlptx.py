"""Runs an nlptx command for the benchmarks."""

from __future__ import annotations

import json
import subprocess
import sys


def nlptx(*arguments: str) -> dict:
    """Run a command and return the JSON it prints."""
    done = subprocess.run(
        [sys.executable, "-m", "nlptx", *arguments, "--json", "-q"], stdout=subprocess.PIPE, check=True
    )
    return json.loads(done.stdout)
