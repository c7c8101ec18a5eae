"""``predict_frame`` returns the table that ``nlptx predict`` writes, as a DataFrame."""

import io

import numpy as np
import pandas as pd
import pytest
from calling import call
from reviews import make_reviews, small_fit

import nlptx
from nlptx.errors import InputTypeError

WITHOUT_NETWORK = nlptx.TrainSettings(epochs=0)
TEXTS = ["a great lovely film", "an awful dull film", "zzz", "tears and a horse"]


@pytest.fixture(scope="module")
def numbers():
    """A model whose labels are the numbers 0 and 1."""
    texts, labels = make_reviews(40)
    return small_fit(texts, [int(label == "pos") for label in labels])


@pytest.mark.parametrize("name", ["model.npz", "kinds.npz"])
@pytest.mark.parametrize("columns", [["text"], ["id", "text", "label", "prob_neg", "predicted_label"]])
def test_the_columns_are_those_of_the_command_line(name, columns, work):
    frame = pd.DataFrame({column: [f"{column}{row}" for row in range(4)] for column in columns} | {"text": TEXTS})
    written = call("predict", "--input-format", "csv", "-m", work / name, stdin=frame.to_csv(index=False)).text
    expected = pd.read_csv(io.StringIO(written))
    result = nlptx.Model.load(work / name).predict_frame(frame).fillna("?")
    pd.testing.assert_frame_equal(result, expected, check_dtype=False, atol=1e-6, rtol=0)


def test_the_frame_is_copied_with_its_index_and_types(numbers):
    frame = pd.DataFrame({"n": [1, 2], "review": ["good1 w3", "bad2 w4"]}, index=["b", "b"])
    before = frame.copy()
    result = numbers.predict_frame(frame, "review")
    pd.testing.assert_frame_equal(frame, before)
    pd.testing.assert_frame_equal(result[["n", "review"]], before)
    assert result["label"].tolist() == numbers.predict(frame["review"])
    assert result["label"].dtype == np.int64
    assert np.array_equal(result[["prob_0", "prob_1"]], numbers.predict_proba(frame["review"]))


def test_levels_and_names_of_the_columns_and_attributes_are_kept(numbers):
    frame = pd.DataFrame({("review", "text"): ["good1"], ("label", "mine"): [1]})
    frame.columns.names, frame.attrs = ["part", "kind"], {"source": ["films"]}
    result = numbers.predict_frame(frame, ("review", "text"))
    assert list(result)[2:] == [(name, "") for name in ("predicted_label", "confidence", "score", "prob_0", "prob_1")]
    assert (list(result.columns.names), result.attrs) == (["part", "kind"], {"source": ["films"]})
    pd.testing.assert_frame_equal(result[frame.columns], frame)
    frame = pd.DataFrame({"text": ["good1"]}).rename_axis(columns="name")
    assert numbers.predict_frame(frame).columns.name == "name"


def test_labels_that_differ_only_in_case_have_columns_without_prefix():
    texts, labels = make_reviews(20)
    model = nlptx.fit(texts, [{"pos": "A", "neg": "a"}[label] for label in labels], settings=WITHOUT_NETWORK, jobs=1)
    columns = ["text", "label", "confidence", "prob_A", "prob_a"]
    assert list(model.predict_frame(pd.DataFrame({"text": texts}))) == columns
    more = model.predict_frame(pd.DataFrame({"text": texts, "Prob_a": 0}))
    assert list(more)[-2:] == ["predicted_prob_A", "predicted_prob_a"]


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA, "", "unknown"])
def test_a_text_without_known_words_has_no_label(missing, numbers):
    result = numbers.predict_frame(pd.DataFrame({"text": ["good1", missing]}, dtype=object))
    assert result["label"].tolist() == [numbers.predict(["good1"])[0], None]
    assert type(result["label"][0]) is int
    assert result["prob_1"][1] == numbers.priors[1]


def test_with_prior_every_text_gets_the_label_of_predict(numbers):
    texts = ["good1", "unknown", ""]
    result = numbers.predict_frame(pd.DataFrame({"text": texts}), prior=True)
    assert result["label"].tolist() == numbers.predict(texts)
    assert result["confidence"][1] == numbers.priors.max()
    high = numbers.predict_frame(pd.DataFrame({"text": texts}), prior=True, abstain=numbers.priors.max() + 0.01)
    assert high["label"][1:].tolist() == [None, None]


def test_labels_below_the_minimum_confidence_are_missing(numbers):
    texts = make_reviews(20)[0]
    median = float(np.median(numbers.predict_proba(texts).max(axis=1)))
    result = numbers.predict_frame(pd.DataFrame({"text": texts}), abstain=median)
    assert result["label"].tolist() == numbers.predict(texts, abstain=median)
    assert 0 < result["label"].isna().sum() < 20
    with pytest.raises(ValueError, match="abstain"):
        numbers.predict_frame(result, abstain=2)


def test_a_frame_without_rows_gets_the_columns(numbers):
    result = numbers.predict_frame(pd.DataFrame({"text": []}))
    assert list(result) == ["text", "label", "confidence", "score", "prob_0", "prob_1"]
    assert len(result) == 0
    assert result["label"].dtype == np.int64


@pytest.mark.parametrize(
    ("frame", "kind", "message"),
    [
        (["a text"], TypeError, "`frame` is .* expected a pandas DataFrame"),
        (pd.Series(["a text"]), TypeError, "expected a pandas DataFrame"),
        (pd.DataFrame({"a": [1], "b": [2]}), ValueError, "no column 'text'; its columns are a, b"),
        (pd.DataFrame({"text": ["a", 3]}), TypeError, r"`frame\['text'\]\[1\]` is 3 \(int\); expected a str"),
        (pd.DataFrame([["a", "b"]], columns=["text", "text"]), TypeError, "with 2 dimensions"),
    ],
)
def test_unusable_frames_are_refused(frame, kind, message, numbers):
    with pytest.raises(kind, match=message):
        numbers.predict_frame(frame)


def test_the_name_of_the_column_is_checked(numbers):
    with pytest.raises(InputTypeError, match=r"`text_column` is \['text'\] \(list\); expected the name of one column"):
        numbers.predict_frame(pd.DataFrame({"text": TEXTS}), ["text"])


def test_the_type_of_the_labels_does_not_depend_on_the_answers():
    model = nlptx.Model.load()
    kinds = {
        str(model.predict_frame(pd.DataFrame({"text": pd.Series(texts, dtype=object)})).label.dtype)
        for texts in (["good", "bad"], ["good", None], [None, None], [])
    }
    assert len(kinds) == 1
