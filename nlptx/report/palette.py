"""The colours of a report, for light and dark backgrounds. Colour-blind readers can tell the colours apart.

The colours of the series in charts, except the grey of the sixth, are from Okabe & Ito (2008), darkened or lightened
where the contrast with the background would be too low. The colours in ``TEXT`` have a contrast of at least 4.5 with
all backgrounds, and the colours in ``MARKS`` have a contrast of at least 3 (WCAG 2.2, success criteria 1.4.3 and
1.4.11).
"""

from __future__ import annotations

LIGHT = {
    "page": "#fbfbfa",
    "surface": "#ffffff",
    "sunken": "#f3f3f0",
    "ink": "#1b1d21",
    "muted": "#5b616b",
    "line": "#deded9",
    "grid": "#e9e9e5",
    "edge": "#80858e",
    "accent": "#0b63b0",
    "on-accent": "#ffffff",
    "series-1": "#0b63b0",
    "series-2": "#b84e00",
    "series-3": "#007a59",
    "series-4": "#a1437d",
    "series-5": "#77690a",
    "series-6": "#4d5259",
    "good": "#0b63b0",
    "bad": "#a84400",
    "heat-right": "#0b63b0",
    "heat-wrong": "#d55e00",
    "mark-for": "#0072b2",
    "mark-against": "#d55e00",
}
DARK = {
    "page": "#14161a",
    "surface": "#1a1d22",
    "sunken": "#22262c",
    "ink": "#e9eaec",
    "muted": "#a6acb6",
    "line": "#33383f",
    "grid": "#2b2f36",
    "edge": "#7b828d",
    "accent": "#6cb8f2",
    "on-accent": "#10141a",
    "series-1": "#6cb8f2",
    "series-2": "#f0a13a",
    "series-3": "#3cc79c",
    "series-4": "#e39cc4",
    "series-5": "#e6d94a",
    "series-6": "#c3c8cf",
    "good": "#6cb8f2",
    "bad": "#f5a742",
    "heat-right": "#3f8fd0",
    "heat-wrong": "#c9761c",
    "mark-for": "#3f8fd0",
    "mark-against": "#c9761c",
}
BACKGROUNDS = ("page", "surface", "sunken")
TEXT = ("ink", "muted", "accent", "good", "bad")
MARKS = ("edge", "accent", *(f"series-{number}" for number in range(1, 7)))
# Percentage of colour in the background of a table cell or a word, for each colour strength from 0 to 5.
TINTS = (0, 8, 16, 26, 36, 48)
