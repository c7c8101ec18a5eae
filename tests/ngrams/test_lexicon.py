"""Tests of a lexicon as a prior for the weights of n-grams."""

import numpy as np
import pytest
from label_sets import fit_sets, make_sets
from numpy.testing import assert_allclose, assert_array_equal
from reviews import make_reviews, small_embeddings

import nlptx
from nlptx.corpus.lexicon import read_lexicon
from nlptx.errors import DataError, InputTypeError, SettingsError
from nlptx.ngrams.lexicon import LexiconPrior, lexicon_words
from nlptx.ngrams.ngram_keys import ngram_keys
from nlptx.ngrams.occurrences import ngrams_of_texts
from nlptx.text.vocabulary import Vocabulary

VOCABULARY = Vocabulary(["not", "good", "bad", "film"], np.array([4, 3, 2, 1]))
SETTINGS = nlptx.TrainSettings(width=8, heads=2, epochs=1, lsa_components=0)
TEXTS, LABELS = make_reviews(40)


def trained(lexicon=None, settings=SETTINGS, **more):
    return nlptx.fit(TEXTS, LABELS, small_embeddings(), settings, lexicon=lexicon, jobs=1, **more)


def test_entries_are_looked_up_as_ngrams():
    prior = LexiconPrior.of({"good": 3.0, "not good": -4.0, "unknown": 2.0, "film": 0.0, "a b": 1}, VOCABULARY, 2)
    good, pair = (ngram_keys(np.array(ids), 2, 4)[-1, len(ids) - 1] for ids in ([1], [0, 1]))
    assert prior.keys.tolist() == sorted([good, pair])
    assert_allclose(np.mean(prior.values**2), 1, rtol=1e-6)
    assert_allclose(prior.values[prior.keys == pair] / prior.values[prior.keys == good], -4 / 3, rtol=1e-6)


def test_the_largest_numbers_are_possible():
    small, large = (LexiconPrior.of({"good": 1.7 * scale, "bad": -scale}, VOCABULARY, 1) for scale in (1, 1e308))
    assert_allclose(large.values, small.values, rtol=1e-6)


def test_phrases_longer_than_the_ngrams_are_left_out():
    assert LexiconPrior.of({"not good": 1.0}, VOCABULARY, 1) is None


def test_the_feature_of_a_text_is_a_sum_over_its_ngrams():
    prior = LexiconPrior.of({"good": 1.0, "bad": -1.0}, VOCABULARY, 1)
    texts = [np.array(ids, np.int32) for ids in ([1, 3], [2, 2, 3, 0], [3])]
    assert_allclose(prior.rows(ngrams_of_texts(texts, 1, 4), texts).toarray()[:, 0], [1 / 2**0.5, -1 / 2, 0], rtol=1e-6)


def test_words_that_the_vocabulary_lacks():
    assert lexicon_words({"good": 1, "so-so": 1, "Awful film": 2, "awful": 1, "so so so good": 1}, VOCABULARY, 3) == [
        "so",
        "-",
        "awful",
    ]


@pytest.mark.parametrize("components", [0, 2])
def test_a_lexicon_gives_a_weight_to_words_that_no_training_text_contains(components):
    settings = nlptx.TrainSettings(width=8, heads=2, epochs=1, lsa_components=components)
    lexicon = {"good5": 2.0, "bad5": -2.0, "splendiferous": 2.0, "ghastly": -2.0}
    without, model = trained(settings=settings), trained(lexicon, settings)
    assert without.vocabulary.encode("splendiferous ghastly").tolist() == []
    positive, negative = (row[1] for row in model.predict_proba(["splendiferous", "ghastly"]))
    assert positive > negative


def test_the_scale_of_the_values_and_their_sign_do_not_matter():
    one = trained({"good5": 1.0, "bad5": -3.0})
    for factor in (1000.0, -0.01):
        other = trained({"good5": factor, "bad5": -3 * factor})
        assert_allclose(one.predict_proba(TEXTS), other.predict_proba(TEXTS), atol=1e-3)


def test_the_result_does_not_depend_on_the_number_of_workers(tmp_path):
    files = []
    for jobs in (1, 2):
        model = nlptx.fit(TEXTS, LABELS, small_embeddings(), SETTINGS, lexicon={"good5": 1.0, "new": 1.0}, jobs=jobs)
        model.save(tmp_path / "m.npz")
        files.append((tmp_path / "m.npz").read_bytes())
        assert_array_equal(nlptx.Model.load(tmp_path / "m.npz").predict_proba(TEXTS), model.predict_proba(TEXTS))
    assert files[0] == files[1]


@pytest.mark.parametrize(
    "lexicon", [["good"], {"good": "1"}, {"good": float("nan")}, {1: 1.0}, {"good": True}, {"good": 10**400}]
)
def test_a_lexicon_maps_words_to_finite_numbers(lexicon):
    with pytest.raises(InputTypeError, match="lexicon"):
        trained(lexicon)


def test_a_lexicon_needs_ngrams_that_are_fitted():
    with pytest.raises(SettingsError, match="`ngrams` is 0"):
        trained({"good": 1.0}, nlptx.TrainSettings(width=8, heads=2, ngrams=0))
    with pytest.raises(SettingsError, match="with `start`, no such features are fitted"):
        nlptx.fit(TEXTS, LABELS, settings=nlptx.TrainSettings(), start=trained(), lexicon={"good": 1.0})


def test_with_several_labels_a_lexicon_has_a_weight_for_each_label():
    # The value of a word in the lexicon is high for words of the first label, and low for words of the second one.
    lexicon = {f"red{number}": 1.0 for number in range(4)} | {f"blue{number}": -1.0 for number in range(4)}
    model, _ = fit_sets(*make_sets(150), lexicon=lexicon | {"crimson": 1.0, "azure": -1.0})
    crimson, azure = (dict(zip(model.labels, row, strict=True)) for row in model.predict_proba(["crimson", "azure"]))
    assert crimson["red"] > azure["red"]
    assert crimson["blue"] < azure["blue"]


@pytest.mark.parametrize("multi_label", [False, True])
def test_a_lexicon_is_refused_with_many_labels(multi_label):
    labels = [f"l{number}" for number in range(21)] * 2
    texts, given = [f"word of {label}" for label in labels], [[label] for label in labels] if multi_label else labels
    with pytest.raises(SettingsError, match=r"`lexicon` .* 21 labels are too many; at most 20 are supported"):
        nlptx.fit(texts, given, small_embeddings(), SETTINGS, lexicon={"good": 1.0}, jobs=1)


def test_a_file_may_have_a_header_and_more_columns(tmp_path):
    (tmp_path / "a.tsv").write_text("word\tvalue\nGood film\t1.5\t0.8\t[1, 2]\n\n:(\t-2\nbad\t-1\nbad\t-3\n")
    assert read_lexicon(tmp_path / "a.tsv") == {"Good film": 1.5, ":(": -2.0, "bad": -3.0}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("good\t1\nbad\tx\n", "a.tsv:2: 'bad.*x' is not an entry"),
        ("good\t1\nbad\tinf\n", "a.tsv:2: "),
        ("good\tnan\nbad\t-1\n", "a.tsv:1: 'good.*nan' is not an entry"),
        ("good 1\n", "a.tsv:1: 'good 1' is not an entry"),
        ("good\t1,5\tx\nbad\t-1\tx\n", "a.tsv:1: 'good.*x' is not an entry"),
        ("", "a.tsv: the lexicon has no entries"),
        ("word\tvalue\n", "a.tsv: the lexicon has no entries"),
        ("good\t1\n\udcff\t1\n", "a.tsv: the lexicon is not UTF-8"),
    ],
)
def test_a_damaged_file_is_an_error_that_names_the_line(tmp_path, text, message):
    (tmp_path / "a.tsv").write_text(text, errors="surrogateescape")
    with pytest.raises(DataError, match=message):
        read_lexicon(tmp_path / "a.tsv")


def test_a_lexicon_that_has_no_effect_causes_a_warning():
    texts, labels = ["a good film", "a bad film"] * 10, ["pos", "neg"] * 10
    notes = []
    settings = nlptx.TrainSettings(epochs=0, lsa_components=0)
    nlptx.fit(texts, labels, settings=settings, lexicon={"not at all good": 1.0}, on_note=notes.append)
    assert any(note.startswith("warning: the lexicon has no effect") for note in notes)


@pytest.mark.parametrize("content", ["good\t1,5\nbad\t-2\n", "good 1\n"])
def test_a_first_line_that_is_not_a_header_is_refused(tmp_path, content):
    (tmp_path / "l.tsv").write_text(content)
    with pytest.raises(DataError, match=r"l\.tsv:1"):
        read_lexicon(tmp_path / "l.tsv")


def test_a_missing_lexicon_is_a_usage_error(tmp_path):
    with pytest.raises(SettingsError, match="no such file"):
        read_lexicon(tmp_path / "l.tsv")
