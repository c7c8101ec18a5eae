"""The data and scales of charts. The template ``charts.html`` draws charts as SVG, in the colours of the page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

# Size of a chart, and its margins for the axis labels, in SVG units.
WIDTH, HEIGHT = 360, 270
LEFT, RIGHT, TOP, BOTTOM = 60, 16, 10, 42


@dataclass(frozen=True)
class Axis:
    """An axis from ``low`` to ``high``, with a label. Each tick is a pair: its value and its text."""

    low: float
    high: float
    ticks: Sequence[tuple[float, str]]
    label: str


@dataclass(frozen=True)
class Series:
    """Points (x, y) that are drawn in one colour.

    Args:
        name: text in the legend; if it is empty, the series is not in the legend.
        points: positions of the points, in the units of the axes.
        color: number of the colour, from 1 to 6.
        kind: ``line``, ``dots``, ``dotted-line`` (a line with a dot at each point) or ``bars``.
        intervals: (low, high) interval of y for each point, drawn as a vertical line.
        width: width of a bar, in units of x.
    """

    name: str
    points: Sequence[tuple[float, float]]
    color: int = 1
    kind: str = "line"
    intervals: Sequence[tuple[float, float]] = ()
    width: float = 0.0


@dataclass(frozen=True)
class Chart:
    """A chart with a caption that says how to read it.

    Args:
        name: identifier of the chart on the page.
        title: title above the chart.
        caption: a few sentences that say how to read the chart.
        x, y: the axes.
        series: the data, drawn in this order.
        diagonal: whether to draw the line y = x for comparison.
        level: y value of a horizontal line for comparison, or None.
        height: height in SVG units.
        marker: whether to draw a marker that the user can move with a control on the page.
    """

    name: str
    title: str
    caption: str
    x: Axis
    y: Axis
    series: Sequence[Series]
    diagonal: bool = False
    level: float | None = None
    height: int = HEIGHT
    marker: bool = False
    width: int = field(default=WIDTH, init=False)
    left: int = field(default=LEFT, init=False)
    top: int = field(default=TOP, init=False)

    @property
    def right(self) -> int:
        """X coordinate of the right end of the plot area."""
        return WIDTH - RIGHT

    @property
    def bottom(self) -> int:
        """Y coordinate of the lower end of the plot area."""
        return self.height - BOTTOM

    def to_x(self, value: float) -> float:
        """Return the x coordinate of a value. A value outside the axis gets the coordinate of the nearer end."""
        share = (value - self.x.low) / ((self.x.high - self.x.low) or 1)
        return round(self.left + min(max(share, 0), 1) * (self.right - self.left), 1)

    def to_y(self, value: float) -> float:
        """Return the y coordinate of a value. A value outside the axis gets the coordinate of the nearer end."""
        share = (value - self.y.low) / ((self.y.high - self.y.low) or 1)
        return round(self.bottom - min(max(share, 0), 1) * (self.bottom - self.top), 1)

    def path(self, series: Series) -> str:
        """Return the path of a line through the points of a series."""
        return "M" + "L".join(f"{self.to_x(x):g} {self.to_y(y):g}" for x, y in series.points)

    @property
    def legend(self) -> list[Series]:
        """The series in the legend: all series with a name, or no series if only one has a name."""
        named = [series for series in self.series if series.name]
        return named if len(named) > 1 else []


def percent_axis(label: str, low: float = 0.0, high: float = 1.0) -> Axis:
    """Return an axis for fractions, with ticks at round percentages."""
    step = next(step for step in (0.01, 0.02, 0.05, 0.1, 0.2, 0.25) if (high - low) / step <= 6 or step == 0.25)
    first, last = int(low / step + 0.999999), int(high / step + 1e-6)
    ticks = [(number * step, f"{100 * number * step:.0f}%") for number in range(first, last + 1)]
    return Axis(low, high, ticks, label)


def axis_start(lowest: float, room: float = 0.02) -> float:
    """Return the lower end of an axis: a multiple of 0.1 from 0 to 0.9 that leaves ``room`` below ``lowest``."""
    return min(max(int((lowest - room) * 10) / 10, 0.0), 0.9)


def count_axis(label: str, largest: int) -> Axis:
    """Return an axis of counts from 0, with up to five ticks at round values."""
    steps = (digit * 10**power for power in range(19) for digit in (1, 2, 5))
    step = next(step for step in steps if largest / step <= 4)
    top = max(largest, 1)
    return Axis(0, top, [(value, f"{value:,}") for value in range(0, top + 1, step)], label)
