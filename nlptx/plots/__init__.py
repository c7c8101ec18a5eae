"""Draws pictures as PNG, SVG or PDF with matplotlib (the ``plot`` extra).

All pictures share the style in :mod:`nlptx.plots.style`. The same data always gives a file with the same bytes.
"""

from nlptx.plots.evaluation import plot_evaluation
from nlptx.plots.history import plot_history
from nlptx.plots.style import FORMATS, check_picture_path
from nlptx.plots.words import plot_words

__all__ = ["FORMATS", "check_picture_path", "plot_evaluation", "plot_history", "plot_words"]
