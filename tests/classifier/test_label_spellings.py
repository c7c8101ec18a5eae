"""Labels of data that are spelled differently in the model."""

import pytest

from nlptx.classifier.label_spellings import match_labels

MODEL = ["neg", "pos"]


@pytest.mark.parametrize(
    ("found", "negative", "positive"),
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
def test_pairs_that_mean_negative_and_positive(found, negative, positive, model):
    assert match_labels(found, model) == {negative: model[0], positive: model[1]}


@pytest.mark.parametrize("found", [["positive"], ["TRUE"], ["Neg"]])
def test_one_word_alone_is_clear(found):
    assert match_labels(found, MODEL) is not None


@pytest.mark.parametrize(
    "found",
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
def test_what_is_not_certain_is_not_matched(found):
    assert match_labels(found, MODEL) is None


@pytest.mark.parametrize(
    ("found", "known", "matches"),
    [
        (["Sport", "arts"], ["arts", "sport"], {"Sport": "sport", "arts": "arts"}),
        (["SPORT"], ["sport", "Sport"], None),
        (["Sport"], ["sport", "Sport"], {"Sport": "Sport"}),
        (["neg", "pos"], ["0", "1"], None),
        (["0", "1"], ["neg", "neu", "pos"], None),
    ],
)
def test_other_models(found, known, matches):
    assert match_labels(found, known) == matches
