"""Tests of the matching of labels that are spelled differently in the data and in the model."""

import pytest

from nlptx.evaluation.label_spellings import match_labels

MODEL = ["neg", "pos"]


@pytest.mark.parametrize(
    ("labels", "negative", "positive"),
    [
        (["neg", "pos"], "neg", "pos"),
        (["POS", "Neg"], "Neg", "POS"),
        (["positive", "negative"], "negative", "positive"),
        (["Negative", "POSITIVE"], "Negative", "POSITIVE"),
        (["1", "0"], "0", "1"),
        (["1.0", "0.0"], "0.0", "1.0"),
        (["+1", "-1"], "-1", "+1"),
        (["True", "False"], "False", "True"),
        (["true", "false"], "false", "true"),
    ],
)
@pytest.mark.parametrize("model", [MODEL, ["Negative", "Positive"]])
def test_pairs_that_mean_negative_and_positive(labels, negative, positive, model):
    assert match_labels(labels, model) == {negative: model[0], positive: model[1]}


@pytest.mark.parametrize("labels", [["positive"], ["TRUE"], ["Neg"]])
def test_a_single_unambiguous_label_is_matched(labels):
    assert match_labels(labels, MODEL) is not None


@pytest.mark.parametrize(
    "labels",
    [
        ["1", "2"],
        ["1", "2", "3", "4", "5"],
        ["-1", "0", "1"],
        ["1"],
        ["0"],
        ["pos", "1"],
        ["pos", "negative"],
        ["positive", "neutral", "negative"],
        ["0", "1", "pos"],
        ["nan", "1"],
        ["inf", "0"],
        [""],
        ["good", "bad"],
    ],
)
def test_ambiguous_labels_are_not_matched(labels):
    assert match_labels(labels, MODEL) is None


@pytest.mark.parametrize(
    ("labels", "known", "matches"),
    [
        (["Sport", "arts"], ["arts", "sport"], {"Sport": "sport", "arts": "arts"}),
        (["SPORT"], ["sport", "Sport"], None),
        (["Sport"], ["sport", "Sport"], {"Sport": "Sport"}),
        (["neg", "pos"], ["0", "1"], None),
        (["1", "5"], ["1.0", "5.0"], {"1": "1.0", "5": "5.0"}),
        (["1.0", "1"], ["1", "5"], {"1.0": "1", "1": "1"}),
        (["1e0"], ["1", "1.0"], None),
        (["true", "false"], ["False", "True"], {"true": "True", "false": "False"}),
        (["0", "1"], ["neg", "neu", "pos"], None),
    ],
)
def test_models_with_other_labels(labels, known, matches):
    assert match_labels(labels, known) == matches


def test_the_same_number_in_another_form_is_matched_but_not_a_code():
    assert match_labels(["1.0", "2.50", "-3"], ["1", "2.5", "-3.0"]) == {"1.0": "1", "2.50": "2.5", "-3": "-3.0"}
    for label in ("007", "9007199254740992", "7e0", "7."):
        assert match_labels([label], ["7", "9007199254740993"]) is None
