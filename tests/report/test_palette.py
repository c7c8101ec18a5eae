"""Tests of the colours of a page: contrast according to WCAG 2.2, in the light and the dark theme."""

import pytest

from nlptx.report import palette

THEMES = {"light": palette.LIGHT, "dark": palette.DARK}


def channels(color):
    return [int(color[start : start + 2], 16) / 255 for start in (1, 3, 5)]


def luminance(rgb):
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in rgb]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(first, second):
    low, high = sorted((luminance(first), luminance(second)))
    return (high + 0.05) / (low + 0.05)


def mixed(color, background, percent):
    """Return the mixture of two colours, as the CSS function color-mix computes it in sRGB."""
    pairs = zip(channels(color), channels(background), strict=True)
    return [a * percent / 100 + b * (1 - percent / 100) for a, b in pairs]


def test_contrast_of_black_and_white_is_21():
    assert contrast((0, 0, 0), (1, 1, 1)) == pytest.approx(21)


def test_both_themes_define_the_same_colours():
    assert set(palette.LIGHT) == set(palette.DARK)


@pytest.mark.parametrize("theme", THEMES)
def test_text_has_a_contrast_of_at_least_4_5(theme):
    colors = THEMES[theme]
    for name in palette.TEXT:
        for background in palette.BACKGROUNDS:
            found = contrast(channels(colors[name]), channels(colors[background]))
            assert found >= 4.5, (name, background, found)


@pytest.mark.parametrize("theme", THEMES)
def test_marks_have_a_contrast_of_at_least_3(theme):
    colors = THEMES[theme]
    for name in palette.MARKS:
        for background in ("page", "surface", "sunken"):
            found = contrast(channels(colors[name]), channels(colors[background]))
            assert found >= 3, (name, background, found)


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("name", ["heat-right", "heat-wrong", "mark-for", "mark-against"])
def test_text_on_the_strongest_tint_can_be_read(theme, name):
    colors = THEMES[theme]
    for tint in palette.TINTS:
        background = mixed(colors[name], colors["surface"], tint)
        assert contrast(channels(colors["ink"]), background) >= 4.5, tint
