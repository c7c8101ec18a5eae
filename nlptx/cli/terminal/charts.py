"""Charts drawn with text characters."""

from __future__ import annotations

from collections.abc import Sequence

_EIGHTHS = " ▏▎▍▌▋▊▉█"
# Bit mask of each dot of a braille character, by row and column. A character has 4 rows and 2 columns of dots.
_DOTS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))
_NO_DOTS, _ALL_DOTS, _AXIS = "\u2800", "\u28ff", "┤"

# Maximum width of a curve, in characters; the labels on the y axis are not included.
_WIDTH = 60


def bar(fraction: float, width: int) -> str:
    """Draw a fraction from -1 to 1 as a bar, with a minus sign in front if it is negative.

    >>> bar(0.5, 4), bar(-1, 2)
    ('██', '-██')
    """
    eighths = round(abs(fraction) * width * 8)
    return ("-" if fraction < 0 and eighths else "") + "█" * (eighths // 8) + _EIGHTHS[eighths % 8].strip()


def curve(points: Sequence[tuple[float, float]], max_width: int = 80, height: int = 10) -> list[str]:
    """Draw a curve of braille dots through points (x, y), and return it as lines. The y axis is labelled at both ends.

    Args:
        points: one or more points, with increasing x.
        max_width: maximum number of characters per output line.
        height: number of output lines.
    """
    xs, ys = [x for x, _ in points], [y for _, y in points]
    low, high = min(ys), max(ys)
    labels = {0: f"{high:.3f}", height - 1: f"{low:.3f}"}
    margin = max(len(label) for label in labels.values())
    width = max(min(_WIDTH, max_width - margin - 2), 1)
    cells = [[0] * width for _ in range(height)]
    columns, rows = 2 * width - 1, 4 * height - 1

    def to_dot(x: float, y: float) -> tuple[int, int]:
        across = (x - xs[0]) / ((xs[-1] - xs[0]) or 1)
        up = (y - low) / ((high - low) or 1)
        return round(across * columns), round((1 - up) * rows)

    def draw_dot(column: int, row: int) -> None:
        cells[row // 4][column // 2] |= _DOTS[row % 4][column % 2]

    previous = to_dot(*points[0])
    draw_dot(*previous)
    for point in points[1:]:
        current = to_dot(*point)
        steps = max(abs(current[0] - previous[0]), abs(current[1] - previous[1]), 1)
        for step in range(1, steps + 1):
            draw_dot(*(round(a + (b - a) * step / steps) for a, b in zip(previous, current, strict=True)))
        previous = current
    return [
        f"{labels.get(row, ''):>{margin}} {_AXIS}{''.join(chr(ord(_NO_DOTS) + cell) for cell in line)}"
        for row, line in enumerate(cells)
    ]


def as_ascii(character: str) -> str:
    """Return an ASCII character that can replace a character of a chart; ``?`` for characters that charts do not use.

    >>> as_ascii("▍"), as_ascii("⠒"), as_ascii("é")
    ('#', '*', '?')
    """
    if character in _EIGHTHS:
        return "#"
    if _NO_DOTS <= character <= _ALL_DOTS:
        return " " if character == _NO_DOTS else "*"
    return "|" if character == _AXIS else "?"
