"""Draws a map of words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nlptx.embeddings.word_map import plane_positions, word_groups
from nlptx.io.paths import FilePath
from nlptx.plots.style import COLOURS, MARKERS, picture

if TYPE_CHECKING:
    from nlptx.embeddings.embeddings import Embeddings

# Size of the map in inches, for landscape A4 or US letter paper.
_WIDTH, _HEIGHT = 9.5, 6.5
# Number of words that name a group in the legend.
_NAMED = 3
# Maximum number of characters in a line of the legend; longer names of groups have one line per word.
_MAX_NAME = 28
# Possible positions of a word beside its marker, each a shift in points and an alignment, in the order in which they
# are tried.
_LABEL_POSITIONS = (
    *((5, 0, "left", "center"), (-5, 0, "right", "center")),
    *((0, 5, "center", "bottom"), (0, -5, "center", "top")),
    *((4, 5, "left", "bottom"), (-4, 5, "right", "bottom"), (4, -5, "left", "top"), (-4, -5, "right", "top")),
)


def plot_words(embeddings: Embeddings, path: FilePath) -> None:
    """Draw a map of words, in which words that are used in similar contexts are close together.

    Each group of similar words has a colour and a marker; in the legend, a group is named by its most central words. If
    there is no room for a word, only its marker is drawn.

    Args:
        embeddings: the word vectors.
        path: file to write, ending in .png, .svg or .pdf.

    Raises:
        SettingsError, NlptxError, OutputError: as for :func:`nlptx.plots.history.plot_history`.
    """
    with picture(path, _HEIGHT, width=_WIDTH, constrained=False) as figure:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.transforms import Bbox

        groups = word_groups(embeddings, len(COLOURS))
        words = embeddings.vocabulary.words
        group_of = {word: number for number, group in enumerate(groups) for word in group}
        ids = list(group_of)
        positions = dict(zip(ids, plane_positions(embeddings, ids), strict=True))
        axes = figure.add_axes((0.03, 0.03, 0.74, 0.89))
        axes.set_axis_off()
        axes.set_title("Word map: words in similar contexts are close together")
        for number, group in enumerate(groups):
            x, y = np.array([positions[word] for word in group]).T
            name = ", ".join(words[word] for word in group[:_NAMED])
            name = name if len(name) <= _MAX_NAME else name.replace(", ", ",\n")
            axes.scatter(x, y, s=16, color=COLOURS[number], marker=MARKERS[number], linewidths=0, label=name)
        axes.margins(0.04)
        axes.autoscale_view()  # otherwise, the positions of the words would be computed with old limits of the axes
        figure.legend(loc="center left", bbox_to_anchor=(0.78, 0.5), title="groups, by central words", alignment="left")
        canvas: Any = FigureCanvasAgg(figure)  # typed as Any, because matplotlib's renderer has no type hints
        renderer = canvas.get_renderer()
        radius = 3 / 72 * figure.dpi
        centres = axes.transData.transform(list(positions.values()))
        taken = [Bbox([centre - radius, centre + radius]) for centre in centres]
        for word in sorted(ids):  # frequent words are placed first
            _write_word(axes, renderer, words[word], positions[word], taken)


def _write_word(axes: Any, renderer: Any, word: str, position: NDArray[np.float64], taken: list[Any]) -> None:
    """Write a word at the first position beside its marker where it overlaps nothing, or else leave it out."""
    for right, up, side, height in _LABEL_POSITIONS:
        text = axes.annotate(word, position, (right, up), textcoords="offset points", size=8, ha=side, va=height)
        box = text.get_window_extent(renderer).expanded(0.98, 0.8)
        inside = axes.bbox.x0 <= box.x0 and box.x1 <= axes.bbox.x1  # the word must not reach the legend on the right
        if inside and not any(box.overlaps(other) for other in taken):
            taken.append(box)
            return
        text.remove()
