"""Draws accuracy against time, from results of ``efforts.py``: one picture with a part for each file.

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

_NAMES = {"tfidf": "TF-IDF", "nblr": "NB-LR", "fasttext": "fastText"}
_HEIGHT = 2.6


def draw(axes: Any, results: dict[str, list[dict[str, float]]], title: str) -> None:
    """Draw one part: the mean accuracies with their standard deviations, at the median times."""
    from matplotlib.ticker import LogLocator

    for names, colour, marker, line, offset in (
        (EFFORTS, BLUE, "o", "-", 7),
        (tuple(_NAMES), VERMILION, "s", "none", -13),
    ):
        points = [(name, results[name]) for name in names if results.get(name)]
        seconds = [median(run["seconds"] for run in runs) for _, runs in points]
        accuracies = [[100 * run["accuracy"] for run in runs] for _, runs in points]
        means = [mean(each) for each in accuracies]
        spreads = [stdev(each) if len(each) > 1 else 0.0 for each in accuracies]
        axes.errorbar(seconds, means, spreads, color=colour, marker=marker, linestyle=line, capsize=2, linewidth=1.2)
        for (name, _), x, y in zip(points, seconds, means, strict=True):
            text = _NAMES.get(name, name)
            place = {"xytext": (0, offset), "textcoords": "offset points", "ha": "center"}
            axes.annotate(text, (x, y), color=colour, fontsize=8, **place)
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(LogLocator(subs=(1, 3)))
    axes.xaxis.set_major_formatter("{x:g}")
    axes.minorticks_off()
    axes.margins(x=0.15, y=0.2)
    axes.set_title(title)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", nargs="+", type=Path, help="files that efforts.py --json has written")
    parser.add_argument("--titles", nargs="+", help="title of each part; by default the name of the file")
    parser.add_argument("-o", "--output", required=True, help="file for the picture: .svg, .png or .pdf")
    arguments = parser.parse_args()
    titles = arguments.titles or [path.stem for path in arguments.results]
    columns = min(2, len(titles))
    rows = -(-len(titles) // columns)
    with picture(arguments.output, _HEIGHT * rows) as figure:
        parts = figure.subplots(rows, columns, squeeze=False).flat
        for axes, path, title in zip(parts, arguments.results, titles, strict=False):
            draw(axes, json.loads(path.read_text()), title)
        for axes in list(figure.axes)[len(titles) :]:
            axes.remove()
        figure.supxlabel("seconds from the raw data to the evaluated model", fontsize=9)
        figure.supylabel("accuracy, %", fontsize=9)


if __name__ == "__main__":
    main()
