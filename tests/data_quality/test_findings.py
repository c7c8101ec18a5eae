"""Tests of finding faults: copies, conflicting labels, overlap, damaged characters, markup, unusual words."""

import numpy as np
import pytest
from calling import call, failure

from nlptx.corpus.document import Document
from nlptx.data_quality.check import check
from nlptx.data_quality.rows import DataRows
from nlptx.runtime.workers import SERIAL, Workers
from nlptx.sampling.same_texts import first_same


def rows_of(*pairs):
    documents = [Document(text, None, "d.tsv", line) for line, (text, _) in enumerate(pairs, start=2)]
    return DataRows(documents, [None if label is None else (label,) for _, label in pairs])


def found_in(rows, against=None):
    result = check(rows, SERIAL, against)
    return {finding.kind: finding for finding in result.findings}


def test_the_same_text_in_another_form():
    texts = ["Fine  PHONE", "fine\tphone ", "ﬁne phone", "fine phones", "", " "]
    assert first_same(texts).tolist() == [0, 0, 0, 3, 4, 5]


def test_copies_and_the_majority_of_their_labels():
    found = found_in(rows_of(("a b", "x"), ("A b", "x"), ("a  b", "y"), ("c d", "x")))
    assert found["duplicates"].rows.tolist() == [1, 2]
    assert found["duplicates"].others.tolist() == [0, 0]
    assert (found["conflicting-labels"].rows.tolist(), found["conflicting-labels"].suggested) == ([2], ["x"])


def test_a_sound_row_of_each_text_remains_if_all_listed_rows_are_left_out():
    found = found_in(rows_of(("a b", "y"), ("a b", "x"), ("a b", "x"), ("c d", "x")))
    listed = {*found["conflicting-labels"].rows.tolist(), *found["duplicates"].rows.tolist()}
    assert listed == {0, 2}
    assert found["duplicates"].others.tolist() == [1, 1]


def test_a_labelled_row_is_kept_rather_than_an_unlabelled_one():
    text = "the battery of this small camera lasts for a whole day of pictures"
    found = found_in(rows_of(("good film", None), ("good film", "x"), (text, None), (text + "!", "y"), ("c d", "y")))
    assert (found["duplicates"].rows.tolist(), found["duplicates"].others.tolist()) == ([0], [1])
    assert (found["near-duplicates"].rows.tolist(), found["near-duplicates"].others.tolist()) == ([2], [3])


def test_near_copies_are_compared_with_the_rows_that_are_kept():
    short = "the battery of this small camera lasts for a whole day of pictures"
    long = f"{short} there"
    found = found_in(rows_of((short, "x"), (long, "y"), (long, "x"), (long, "x")))
    assert (found["duplicates"].rows.tolist(), found["conflicting-labels"].rows.tolist()) == ([1, 3], [1])
    assert (found["near-duplicates"].rows.tolist(), found["near-duplicates"].others.tolist()) == ([2], [0])


def test_a_text_that_resembles_a_test_text_is_found_even_if_the_data_contains_the_test_text():
    short = "the battery of this small camera lasts for a whole day of pictures"
    long = f"{short} there"
    found = found_in(rows_of((short, "x"), (long, "y")), rows_of((long, "y")))
    assert (found["overlap"].rows.tolist(), found["near-overlap"].rows.tolist()) == ([1], [0])
    assert found["near-overlap"].others.tolist() == [2]


def test_without_a_majority_all_copies_are_named():
    found = found_in(rows_of(("a b", "x"), ("a b", "y"), ("c d", "x")))
    assert found["conflicting-labels"].rows.tolist() == [0, 1]
    assert found["conflicting-labels"].others.tolist() == [1, 0]
    assert found["conflicting-labels"].suggested == [None, None]


def test_near_copies_under_two_labels():
    text = "the battery of this small camera lasts for a whole day of pictures"
    found = found_in(rows_of((text, "x"), (text + "!", "y"), (text + " there", "x")))
    assert found["near-duplicates"].rows.tolist() == [1, 2]
    assert found["near-conflicts"].rows.tolist() == [1, 2]  # the third text resembles the second one too


def test_overlap_with_other_data():
    text = "the battery of this small camera lasts for a whole day of pictures"
    data, test = rows_of(("one two", "x"), (text, "y"), ("four", "x")), rows_of(("One two", "x"), (text + " so", "y"))
    found = found_in(data, test)
    assert (found["overlap"].rows.tolist(), found["overlap"].others.tolist()) == ([0], [3])
    assert (found["near-overlap"].rows.tolist(), found["near-overlap"].others.tolist()) == ([1], [4])
    assert "duplicates" not in found  # copies within the test data are not faults of the checked data


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("mojibake", "a cafÃ© in town"),
        ("mojibake", "it doesnâ€™t work"),
        ("lost-characters", "a caf\ufffd in town"),
        ("control-characters", "a\x07b"),
        ("markup", "a fine<br />film"),
        ("markup", 'see <a href="x">this</a>'),
        ("markup", "one</P >two"),
        ("markup", "R&amp;B"),
        ("long-words", "a " + "x" * 101),
        ("empty-texts", " \t"),
    ],
)
def test_faults_of_single_texts(kind, text):
    assert found_in(rows_of((text, "x"), ("a fine text", "x")))[kind].rows.tolist() == [0]


@pytest.mark.parametrize(
    "text",
    [
        "a café in Zürich, ça va, São Paulo, Ærø, Łódź – “yes”",
        "a < b and c > d, I <3 you, AT&T; x&y, a<b && c>d, a <b or c> d",
        "see https://example.com/" + "a" * 200,
        "see www.example.com/" + "a" * 200,
        "„Spaß“, Gruß… « voilà\u00a0» «\u00a0café\u00a0» CAFÉ’s PIÙ” Groß–",
        "これは日本語の文です。" * 20,
        "line one\nline two\ttab",
    ],
)
def test_ordinary_texts_have_no_fault(text):
    assert found_in(rows_of((text, "x"), ("another text", "x"))) == {}


def test_texts_in_another_language():
    rng = np.random.default_rng(1)
    words = [f"w{number}" for number in range(50)]
    pairs = [(" ".join(rng.choice(words, 8)), "x") for _ in range(200)]
    pairs[7] = ("der kleine Film gefiel uns sehr gut", "x")
    assert found_in(rows_of(*pairs))["unusual-texts"].rows.tolist() == [7]


def test_a_table_without_a_label_column_is_reported(tmp_path):
    (tmp_path / "d.csv").write_text("text,labell\na good film,pos\n")
    assert "no column 'label', so the data is checked as unlabelled" in call("check", tmp_path / "d.csv").stderr
    code, message = failure("check", tmp_path / "d.csv", "--label-column", "labl")
    assert (code, "no column 'labl'" in message) == (3, True)


def test_missing_labels_are_a_fault_only_if_there_are_labels():
    assert found_in(rows_of(("a text", "x"), ("another", None)))["missing-labels"].rows.tolist() == [1]
    assert found_in(rows_of(("a text", None), ("another", None))) == {}


def test_the_number_of_workers_does_not_change_the_findings():
    rng = np.random.default_rng(3)
    words = [f"w{number}" for number in range(30)]
    rows = rows_of(*((" ".join(rng.choice(words, 6)), str(number % 3)) for number in range(300)))
    results = []
    for jobs in (1, 3):
        with Workers(jobs) as workers:
            results.append(check(rows, workers).findings)
    for one, other in zip(*results, strict=True):
        assert one.kind == other.kind
        np.testing.assert_array_equal(one.rows, other.rows)
