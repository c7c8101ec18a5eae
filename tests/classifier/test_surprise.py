"""Tests of the measure of how much a text differs from the training texts: formula, false alarms, other languages."""

import csv
from collections import Counter
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose
from reviews import make_reviews, small_fit

import nlptx
from nlptx.classifier.byte_bigrams import ByteBigramModel
from nlptx.classifier.model import Model
from nlptx.classifier.scoring import score
from nlptx.classifier.surprise import SurpriseMeter, TypicalSurprise
from nlptx.classifier.token_ids import TokenIds, encode_texts
from nlptx.classifier.word_surprise import WordSurprise
from nlptx.embeddings.embeddings import Embeddings
from nlptx.errors import CorruptError
from nlptx.runtime.workers import Workers
from nlptx.settings import CountSettings
from nlptx.text.scanner import Scanner
from nlptx.text.tokenizer import Tokenizer
from nlptx.text.vocabulary import Vocabulary
from nlptx.training.typical_surprise import measure_typical_surprise

ROOT = Path(__file__).parent.parent.parent
TYPICAL = {"mean": -9.0, "between": 0.2, "within": 8.0, "threshold": 3.0}


def scored(model, texts):
    with Workers(1) as workers:
        return [one for batch in score(model, ((None, text) for text in texts), workers) for _, one in batch]


def unlike(vocabulary, typical, texts):
    """Return the fraction of texts that are unlike the training texts."""
    tokens = encode_texts(vocabulary, texts, Scanner(vocabulary.tokenizer))
    return np.mean(SurpriseMeter(vocabulary, typical).measure(tokens)[1])


def words_of(consonants, count=3000):
    """Return the words of an invented language."""
    syllables = ["".join(pair) for pair in product(consonants, "aeiou")]
    return ["".join(parts) for parts in product(syllables, repeat=3)][:count]


def make_texts(words, count, seed):
    """Return texts of 5 to 30 words and a full stop; the frequency of a word is inversely proportional to its rank."""
    rng = np.random.default_rng(seed)
    p = 1 / np.arange(1, len(words) + 1)
    ends = np.cumsum(rng.integers(5, 31, count))
    drawn = np.split(rng.choice(words, ends[-1], p=p / p.sum()), ends[:-1])
    return [" ".join(text) + (" !" if rng.random() < 0.2 else " .") for text in drawn]


def trained(words, count):
    texts = make_texts(words, count, seed=1)
    vocabulary = nlptx.count(texts, CountSettings(min_count=2), 1).vocabulary
    return vocabulary, measure_typical_surprise(vocabulary, texts)


# ---------------------------------------------------------------- the formula


def test_the_surprise_of_a_word_is_that_of_its_frequency_and_symbols_are_compared_with_symbols():
    surprise = WordSurprise(Vocabulary(["the", ".", "film", "..."], np.array([100, 50, 20, 4])))
    assert_allclose(surprise.known, -np.log([100, 50, 20, 4]))  # there are as many symbols as words
    surprise = WordSurprise(Vocabulary(["the", ".", "film", "n't"], np.array([100, 50, 20, 4])))
    assert_allclose(surprise.known, [-np.log(100), np.log(3) - np.log(50), -np.log(20), -np.log(4)])
    assert_allclose(surprise.unknown([b"~"]), -np.log(4 / 2))  # the spelling of a symbol does not count


def test_the_surprise_of_an_unknown_word_depends_on_its_spelling():
    words = ["the", "then", "there", "this", "that", "\u00e4iti"]
    surprise = WordSurprise(Vocabulary(words, np.array([100, 50, 20, 4, 4, 4]))).unknown(
        [b"thathat", b"zq", b"qzqz" * 99]
    )
    assert surprise[0] < surprise[1] < surprise[2] == 8 - np.log(2)
    spelling, known = ByteBigramModel(words), [word.encode() for word in words]
    assert_allclose(spelling.surprise(known), [spelling.surprise([word])[0] for word in known])
    assert_allclose(spelling.surprise(known).sum(), 0, atol=1e-12)


def test_the_spelling_of_words_with_digits_does_not_count():
    surprise = WordSurprise(Vocabulary(["the", "then", "there"], np.array([100, 50, 20]))).unknown(
        [b"qzqz54q", b"5717", "zq\u0663".encode(), b"qzqz"]
    )
    assert_allclose(surprise[:3], -np.log(20 / 2))
    assert surprise[3] > surprise[0]


def test_the_surprise_of_a_text_is_a_standardised_mean():
    vocabulary = Vocabulary(["the", "film"], np.array([100, 20]))
    typical = TypicalSurprise(mean=-4.0, between=0.5, within=6.0, threshold=2.0)
    numbers, lengths = np.array([0, 1, 2, 0, 0, 3, 2, 1], np.int32), np.array([3, 0, 4, 1])
    tokens = TokenIds([b"the", b"film", b"~", b"#"], np.array([0, 1, -1, -1], np.int32), numbers, lengths)
    surprise, unusual = SurpriseMeter(vocabulary, typical).measure(tokens)
    s = -np.log([100, 20, 10])
    assert_allclose(surprise[0], (s.mean() + 4) / np.sqrt(0.5 + 6 / 3))
    assert surprise[1] is None
    assert_allclose(surprise[2], ((s[0] + 2 * s[2]) / 3 + 4) / np.sqrt(0.5 + 6 / 3))
    assert_allclose(surprise[3], (s[1] + 4) / np.sqrt(0.5 + 6))
    assert unusual == [False, None, False, False]


def test_repetitions_do_not_count():
    model = small_fit()
    once, often, other = scored(model, ["good1 w1 zz !", "good1 good1 w1 w1 w1 zz zz ! ! !", "good1 w1 zz yy !"])
    assert (once.tokens, often.tokens) == (4, 10)
    assert once.surprise == often.surprise != other.surprise


def test_a_text_without_a_known_word_is_unlike_the_training_texts():
    empty, unknown = scored(small_fit(), ["", "zz"])
    assert (empty.surprise, empty.unusual) == (None, None)
    assert unknown.unusual


def test_a_text_is_left_out_of_the_counts_when_it_is_measured():
    texts = ["aa aa bb ~", "bb ~ aa", "aa bb #"]
    vocabulary = Vocabulary(["aa", "bb", "~", "#"], np.array([4, 3, 2, 1]))
    # Without the text itself, the counts are 2, 3 and 3 for aa (the repetition is left out too), 2 for bb, 1 for ~ and
    # 0 for #; a count of 0 is treated as 1/2.
    expected = -(4 * np.log(2) + 2 * np.log(3) + 2 * np.log(1) + np.log(0.5)) / 9
    assert_allclose(measure_typical_surprise(vocabulary, texts).mean, expected, atol=1e-6)


def test_identical_texts_do_not_make_all_others_unlike():
    texts = ["good1 w1 w2"] * 20 + ["bad1 w1 w2"] * 20
    vocabulary = nlptx.count(texts, CountSettings(min_count=1), 1).vocabulary
    typical = measure_typical_surprise(vocabulary, texts)
    assert (typical.within, typical.threshold) == (1, 2.33)
    assert unlike(vocabulary, typical, ["good1 w1", "bad1 w2 w1", "w2"]) == 0


# ---------------------------------------------------------------- detection of texts unlike the training texts


@pytest.mark.parametrize(("count", "swapped"), [(300, False), (300, True), (2000, True)])
def test_new_texts_are_like_the_training_texts_and_those_in_another_language_are_not(count, swapped):
    ours, theirs = words_of("bdklm"), words_of("fgnprst")
    theirs[:3] = ours[500:503]  # the most frequent words of one language are rare words of the other
    if swapped:
        ours, theirs = theirs, ours
    vocabulary, typical = trained(ours, count)
    assert unlike(vocabulary, typical, make_texts(ours, 1000, seed=2)) <= 0.02
    assert unlike(vocabulary, typical, make_texts(theirs, 300, seed=3)) >= 0.95


def test_the_estimate_from_counts_is_close_to_the_measured_distribution():
    vocabulary, typical = trained(words_of("bdklm"), 2000)
    estimate = TypicalSurprise.estimate(WordSurprise(vocabulary))
    assert abs(estimate.mean - typical.mean) < 0.3
    assert 0.8 < estimate.within / typical.within < 1.25


def test_the_bundled_model_tells_other_languages_and_code_from_english():
    with open(ROOT / "tests/benchmarks/other_languages.tsv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    english = [line.split("\t")[0] for line in (ROOT / "data/test.tsv").read_text().splitlines()[1:]]
    model = Model.load()
    found = [one.unusual for one in scored(model, [row["text"] for row in rows] + english)]
    assert np.mean(found[len(rows) :]) <= 0.01
    for language in {row["language"] for row in rows}:
        marked = [flag for flag, row in zip(found, rows, strict=False) if row["language"] == language]
        assert np.mean(marked) >= (0.8 if "code" in language else 0.95), language


# ---------------------------------------------------------------- the model file


def test_training_stores_the_distribution(tmp_path):
    model = small_fit(valid_share=0)
    assert model.typical_surprise == measure_typical_surprise(model.vocabulary, make_reviews(40)[0])
    model.save(tmp_path / "model.npz")
    loaded = Model.load(tmp_path / "model.npz")
    assert loaded.typical_surprise == model.typical_surprise
    assert scored(loaded, ["good1 w1 zz"]) == scored(model, ["good1 w1 zz"])


def test_without_a_stored_distribution_it_is_estimated(tmp_path):
    model = small_fit()
    model.typical_surprise = None
    model.save(tmp_path / "model.npz")
    (one,) = scored(Model.load(tmp_path / "model.npz"), ["good1 w1"])
    surprise = WordSurprise(model.vocabulary)
    mean = surprise.known[model.encode("good1 w1")].mean()
    assert one.surprise == pytest.approx(float(TypicalSurprise.estimate(surprise).standardize(mean, 2)))


def model_of_vectors_without_counts():
    texts, labels = make_reviews(40)
    words = [*sorted({word for text in texts for word in text.split()}), "absent"]
    vectors = np.random.default_rng(1).normal(size=(len(words), 8)).astype(np.float32)
    embeddings = Embeddings(vectors, Vocabulary(words, np.zeros(len(words), np.int64)))
    return nlptx.fit(texts, labels, embeddings, nlptx.TrainSettings(epochs=1, ngrams=0, valid_share=0), jobs=1)


def test_for_vectors_without_counts_the_words_of_the_training_texts_are_counted():
    model = model_of_vectors_without_counts()
    texts = make_reviews(40)[0]
    counted = Counter(word for text in texts for word in text.split())
    assert model.vocabulary.counts.tolist() == [counted[word] for word in model.vocabulary.words]
    assert model.typical_surprise == measure_typical_surprise(model.vocabulary, texts)


def test_models_without_counts_give_no_surprise():
    model = model_of_vectors_without_counts()
    words = model.vocabulary.words
    model.vocabulary, model.typical_surprise = Vocabulary(words, np.zeros(len(words), np.int64)), None
    assert [(one.surprise, one.unusual) for one in scored(model, ["good1", "zz", ""])] == [(None, None)] * 3


@pytest.mark.parametrize(
    "change",
    [
        {"mean": float("nan")},
        {"mean": 1},
        {"threshold": float("inf")},
        {"between": -0.1},
        {"within": 0.0},
        {"within": 1e300},
        {"more": 1.0},
    ],
)
def test_an_invalid_distribution_is_rejected(change):
    assert TypicalSurprise.from_dict(TYPICAL).to_dict() == TYPICAL
    with pytest.raises(CorruptError, match="typical surprise"):
        TypicalSurprise.from_dict(TYPICAL | change)
    with pytest.raises(CorruptError, match="typical surprise"):
        TypicalSurprise.from_dict(list(TYPICAL))


def test_an_unknown_negated_word_is_as_surprising_as_the_word():
    vocabulary = Vocabulary(["good", "fine", "¬fine"], np.array([50, 20, 10]), Tokenizer("negation"))
    surprise = WordSurprise(vocabulary)
    good, strange, negated = surprise.unknown([word.encode() for word in ("¬good", "xqz", "¬xqz")])
    assert good == surprise.known[0]
    assert strange == negated > good
    marked = Vocabulary(["¬good"], np.array([5]), Tokenizer("negation"))
    assert np.isfinite(WordSurprise(marked).unknown([b"xqz"])).all()
    literal = Vocabulary(["good", "¬fine"], np.array([50, 20]), Tokenizer("spaces"))
    assert WordSurprise(literal).unknown(["¬good".encode()]) > WordSurprise(literal).known[0]
