"""Tests of the parts of a page: scales of charts, words in a text, escaped data, model cards."""

import configparser
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlptx.errors import SettingsError
from nlptx.evaluation.coverage import CoverageCurve
from nlptx.evaluation.groups import Group
from nlptx.metrics import roc_auc
from nlptx.report.chart import axis_start, count_axis, percent_axis
from nlptx.report.figures import coverage_chart, length_chart, ranking_charts, tint_of
from nlptx.report.model_facts import card_rows
from nlptx.report.page import as_script_data, check_report_path, visible
from nlptx.report.word_spans import Span, find_spans


@pytest.mark.parametrize(
    ("lengths", "shown"), [(range(1, 9), 8), (range(100, 900, 100), 4), (range(10**6, 10**6 + 8), 3)]
)
def test_the_names_of_groups_by_length_do_not_overlap(lengths, shown):
    groups = [Group(f"{length} to {length + 1}", 40, 0.9, (0.8, 0.95)) for length in lengths]
    ticks = length_chart(groups, 0.9).x.ticks
    assert len(ticks) == shown
    names = [name for _, name in ticks]
    assert names[0] == f"{lengths[0]}\u2013{lengths[0] + 1}"
    assert 7 * max(map(len, names)) * (len(names) - 1) < 360


@given(st.integers(0, 10**9))
def test_count_axes_have_few_round_ticks(largest):
    axis = count_axis("texts", largest)
    values = [value for value, _ in axis.ticks]
    assert values[0] == 0
    assert len(values) <= 5
    assert all(0 <= value <= axis.high for value in values)


@given(st.floats(0, 1))
def test_percent_axes_include_the_lowest_value(lowest):
    start = axis_start(lowest, 0)
    assert 0 <= start <= 0.9
    assert start <= lowest or start == 0.9
    ticks = percent_axis("accuracy", start).ticks
    assert 2 <= len(ticks) <= 7
    assert ticks[-1] == (pytest.approx(1), "100%")


def test_only_zero_has_no_tint():
    assert [tint_of(share) for share in (0, 0.001, 0.2, 0.21, 0.9, 1)] == [0, 1, 1, 2, 5, 5]


def test_the_area_under_a_thinned_curve_is_that_of_all_points():
    targets = np.arange(1000) % 2
    scores = np.clip(targets / 9 + np.linspace(0.1, 0.7, 1000) ** 2, 0, 1)
    roc, _ = ranking_charts(["neg", "pos"], np.column_stack([1 - scores, scores]), targets, multi_label=False)
    assert len(roc.series[0].points) < 300
    assert f"The area under the curve is {roc_auc(scores, targets == 1):.3f}." in roc.caption


def test_the_only_label_with_a_curve_is_named():
    targets = np.array([[True, False], [False, False], [True, False]])  # no text has the label "long"
    roc, _ = ranking_charts(["good", "long"], np.array([[0.9, 0.9], [0.2, 0.8], [0.7, 0.9]]), targets, multi_label=True)
    assert "for the label good" in roc.caption


def test_a_coverage_curve_of_one_point_is_drawn_as_a_dot():
    for confidence, kind in (([0.7, 0.7], "dots"), ([0.7, 0.8], "line")):
        curve = CoverageCurve.of(np.array(confidence), np.array([True, False]))
        assert coverage_chart(curve).series[0].kind == kind


def test_words_are_found_at_their_positions():
    words = [("it", None), ("is", 0.1), ("n't", -0.5), ("good", 0.2), ("\U0001f642", 0.3), ("!", 0.0)]
    found = find_spans("It isn't GOOD :) !", words)
    assert found == [
        *(Span("It "), Span("is", 0.1), Span("n't", -0.5), Span(" "), Span("GOOD", 0.2), Span(" :) "), Span("!", 0.0))
    ]
    typographic = find_spans("It isn\u2019t GOOD :) !", words)
    assert typographic == [span._replace(text=span.text.replace("'", "\u2019")) for span in found]


def test_a_rewritten_token_that_occurs_later_does_not_hide_the_words_before_it():
    words = [("it's", 0.1), ("great", 0.5), (",", None), ("it's", 0.1), ("fun", 0.3)]
    found = find_spans("It&#39;s great, it's fun", words)
    assert [span.text for span in found if span.effect is not None] == ["great", "it's", "fun"]


@given(st.text(max_size=40), st.lists(st.tuples(st.text(max_size=5), st.none() | st.floats(-1, 1)), max_size=9))
def test_the_spans_are_the_text(text, words):
    assert "".join(span.text for span in find_spans(text, words)) == text


@given(st.text())
def test_data_in_scripts_cannot_end_the_script(text):
    data = as_script_data([text, 0.5])
    assert data.isascii()
    assert not set("<>&") & set(data)
    assert json.loads(data) == [text, 0.5]


def test_control_characters_become_visible():
    assert visible("a\tb\nc\x00\x1b\x7f\x85\ud800") == "a\tb\nc\u2400\u241b\u2421\ufffd\ufffd"
    assert visible("a\r\nb\rc") == "a\nb\u240dc"
    assert visible(3) == 3


def test_a_card_of_any_shape_has_rows():
    rows = card_rows({"purpose_of": "x", "list": [1, {"a": 2}], "object": {"a": [1], "b": None}, "number": 3})
    assert rows == [("purpose of", "x"), ("list", "1\n{'a': 2}"), ("object", "a: [1]\nb: None"), ("number", "3")]


@pytest.mark.parametrize("name", ["-", "r.txt", "html", "r.html.gz"])
def test_the_name_of_a_page_ends_in_html(name):
    with pytest.raises(SettingsError, match="html"):
        check_report_path(name)


def test_the_templates_are_in_the_package():
    config = configparser.ConfigParser()
    config.read(Path(__file__).parents[2] / "setup.cfg")
    assert config["options.package_data"]["nlptx.report"] == "templates/*"
