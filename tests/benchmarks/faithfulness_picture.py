"""Draws the curves of ``faithfulness.py``, with one column per data set (needs matplotlib).

python tests/benchmarks/faithfulness_picture.py build/faithfulness/faithfulness.json faithfulness.svg
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

from nlptx.plots.style import BLACK, BLUE, GREEN, GREY, ORANGE, VERMILION, picture

_STYLES = {
    "explain": (BLUE, "-"),
    "plain leave-one-out": (BLACK, ":"),
    "gradient x input": (ORANGE, "--"),
    "Shapley sampling": (GREEN, (0, (5, 1, 1, 1))),
    "attention": (VERMILION, "-."),
    "random": (GREY, (0, (1, 1))),
}
_TITLES = {"test.tsv": "bundled sentences", "cr.tsv": "customer reviews", "aclImdb_dev.tar.gz": "film reviews"}
_ROWS = {"removed": "without them", "kept": "with only them"}


def plot(report: dict[str, Any], path: Path) -> None:
    """Draw the mean probability of the predicted label, with its standard error as a band."""
    with picture(path, 4.6) as figure:
        panels = figure.subplots(len(_ROWS), len(report), sharex=True, sharey="row", squeeze=False)
        for column, (data, methods) in enumerate(report.items()):
            for row, (part, words) in enumerate(_ROWS.items()):
                axes = panels[row, column]
                for name, curve in methods.items():
                    colour, line = _STYLES[name]
                    x, y, error = (np.array(curve[key]) for key in ("fractions", part, f"{part}_error"))
                    axes.plot(x, y, color=colour, linestyle=line, label=name)
                    axes.fill_between(x, y - error, y + error, color=colour, alpha=0.2, linewidth=0)
                if not column:
                    axes.set_ylabel(f"probability (%)\n{words}")
            panels[0, column].set_title(_TITLES.get(data, data))
        figure.supxlabel("most important words (% of the text)", fontsize=9)
        handles, labels = panels[0, 0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper center", ncols=3)


if __name__ == "__main__":
    plot(json.loads(Path(sys.argv[1]).read_text()), Path(sys.argv[2]))
