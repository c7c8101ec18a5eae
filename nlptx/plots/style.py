"""Defines the style of all pictures, and writes picture files.

All colours except grey are from Okabe & Ito (2008), "Color universal design"; colour-blind people can tell them apart.
Because pictures may be printed in grey, lines and points of different colours also differ in line style, marker or
position.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from nlptx.errors import NlptxError, SettingsError
from nlptx.io.atomic_write import atomic_output
from nlptx.io.output_path import check_writable
from nlptx.io.paths import FilePath, file_name

FORMATS = ("png", "svg", "pdf")
BLACK, ORANGE, SKY, GREEN, BLUE, VERMILION, PURPLE = (
    *("#000000", "#E69F00", "#56B4E9", "#009E73"),
    *("#0072B2", "#D55E00", "#CC79A7"),
)
GREY = "#767676"
# Colours and markers of the groups of words on a map, in order. Consecutive colours differ in brightness.
COLOURS = (BLUE, ORANGE, BLACK, SKY, VERMILION, GREEN, PURPLE, GREY)
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
# Width of a picture in inches, which is the text width on A4 or US letter paper.
WIDTH = 6.5
_DPI = 200
_STYLE: Any = {  # typed as Any, because matplotlib's type annotation accepts only literal keys
    "font.size": 9,
    "axes.titlesize": 10,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.labelsize": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#DDDDDD",
    "grid.linewidth": 0.6,
    "legend.edgecolor": "none",
    "legend.framealpha": 0.9,
    "legend.fontsize": 8,
    "lines.linewidth": 1.5,
    "lines.markersize": 5,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "svg.hashsalt": "nlptx",  # Prevents random ids in SVG files.
    "pdf.fonttype": 42,  # Makes the text in PDF files searchable.
}


def check_picture_path(path: FilePath) -> None:
    """Check that a picture can be drawn and written to a file. Call this function before any long computation.

    Raises:
        SettingsError: the file name does not end in .png, .svg or .pdf.
        NlptxError: matplotlib is not installed.
        OutputError: the file cannot be written.
    """
    if _suffix(path) not in FORMATS:
        raise SettingsError(f"{path}: the name of a picture must end in one of .{', .'.join(FORMATS)}")
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise NlptxError("drawing pictures needs matplotlib", hint="pip install 'nlptx[plot]'") from error
    check_writable(path)


@contextmanager
def picture(path: FilePath, height: float, *, width: float = WIDTH, constrained: bool = True) -> Iterator[Any]:
    """Provide an empty matplotlib figure in the common style, and write it at the end of the ``with`` block.

    The file contains neither a date nor random ids, so that identical figures produce identical bytes.

    Args:
        path: file to write, ending in .png, .svg or .pdf.
        height: height in inches.
        width: width in inches.
        constrained: whether matplotlib places the axes so that labels do not overlap.

    Raises:
        SettingsError: the file name does not end in .png, .svg or .pdf.
        NlptxError: matplotlib is not installed.
        OutputError: the file cannot be written.
    """
    check_picture_path(path)
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context(_STYLE), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing")
        figure = Figure(figsize=(width, height), layout="constrained" if constrained else None)
        yield figure
        suffix = _suffix(path)
        metadata = {"png": {"Software": None}, "svg": {"Date": None}, "pdf": {"CreationDate": None}}[suffix]
        with atomic_output(path) as file:
            figure.savefig(file, format=suffix, dpi=_DPI, metadata=metadata)


def percent_axis(axis: Any) -> None:
    """Draw only a few ticks, at whole numbers, on a percentage axis."""
    from matplotlib.ticker import MaxNLocator

    axis.set_major_locator(MaxNLocator(nbins=6, integer=True))


def _suffix(path: FilePath) -> str:
    return file_name(path).rpartition(".")[2].lower()
