"""Plots accuracy against time, with one panel for each results file written by ``efforts.py``.

python tests/benchmarks/efforts_picture.py imdb.json sst2.json --titles IMDB SST-2 -o efforts.svg
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from statistics import mean, median, stdev
from typing import Any

from efforts import EFFORTS

from nlptx.plots.style import BLUE, VERMILION, picture

# Name and marker of each method that is compared with nlptx.
_PEERS = {"tfidf": ("TF-IDF", "s"), "nblr": ("NB-LR", "D"), "fasttext": ("fastText", "^")}
_HEIGHT = 2.6


def draw(axes: Any, results: dict[str, list[dict[str, float]]], title: str) -> None:
    """Draw one panel: mean accuracies, with their standard deviations, against median times."""
    from matplotlib.ticker import LogLocator

    def points(*names: str) -> tuple[list[float], list[float], list[float]]:
        seconds = [median(run["seconds"] for run in results[name]) for name in names]
        accuracies = [[100 * run["accuracy"] for run in results[name]] for name in names]
        return seconds, [mean(each) for each in accuracies], [stdev(each) if each[1:] else 0.0 for each in accuracies]

    efforts = [name for name in EFFORTS if results.get(name)]
    seconds, means, spreads = points(*efforts)
    axes.errorbar(seconds, means, spreads, color=BLUE, marker="o", capsize=2, linewidth=1.2)
    for name, x, y, spread in zip(efforts, seconds, means, spreads, strict=True):
        above = {"xytext": (0, 5), "textcoords": "offset points", "ha": "center"}
        axes.annotate(name, (x, y + spread), color=BLUE, fontsize=8, **above)
    for name, (label, marker) in _PEERS.items():
        if results.get(name):
            axes.errorbar(*points(name), color=VERMILION, marker=marker, linestyle="none", capsize=2, label=label)
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(LogLocator(subs=(1, 3)))
    axes.xaxis.set_major_formatter("{x:g}")
    axes.minorticks_off()
    axes.margins(x=0.15, y=0.2)
    axes.set_title(title)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", nargs="+", type=Path, help="files that efforts.py --json has written")
    parser.add_argument("--titles", nargs="+", help="title of each panel; by default the name of the file")
    parser.add_argument("-o", "--output", required=True, help="file for the picture: .svg, .png or .pdf")
    arguments = parser.parse_args()
    titles = arguments.titles or [path.stem for path in arguments.results]
    columns = min(2, len(titles))
    rows = -(-len(titles) // columns)
    with picture(arguments.output, _HEIGHT * rows) as figure:
        parts = figure.subplots(rows, columns, squeeze=False).flat
        for axes, path, title in zip(parts, arguments.results, titles, strict=False):
            draw(axes, json.loads(path.read_text()), title)
        figure.axes[0].legend(loc="lower right")
        for axes in list(figure.axes)[len(titles) :]:
            axes.remove()
        figure.supxlabel("seconds from the raw data to the evaluated model", fontsize=9)
        figure.supylabel("accuracy, %", fontsize=9)


if __name__ == "__main__":
    main()
