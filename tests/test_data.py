"""Checks of the bundled example data: format, balance, duplicates, near-duplicates and variety."""

import re
from collections import Counter
from itertools import combinations, pairwise
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from nlptx.corpus.lexicon import read_lexicon
from nlptx.text.tokenizer import Tokenizer

DATA = Path(__file__).resolve().parents[1] / "data"
FILES = ("train", "test")
LABELS = {"neg", "pos"}
DOMAINS = {"films", "books", "restaurants", "gadgets", "hotels", "services"}
MAX_JACCARD = 0.5
MAX_SAME_OPENING = 3
SHORT, LONG = 6, 20  # short texts have at most SHORT words, long texts have more than LONG words


def read_lines(name):
    return (DATA / f"{name}.tsv").read_text(encoding="utf-8").split("\n")


def read_rows(name):
    return [tuple(line.split("\t")) for line in read_lines(name)[1:-1]]


def words(text):
    return re.findall(r"[a-z0-9']+", text.lower())


def similar_pairs(texts, others, threshold):
    """Return the index pairs (into texts, into others) of texts whose word sets have at least this similarity."""
    sets_of_texts, sets_of_others = ([frozenset(words(text)) for text in part] for part in (texts, others))
    column = {word: number for number, word in enumerate(frozenset().union(*sets_of_texts, *sets_of_others))}

    def presence(sets):
        columns = [column[word] for word_set in sets for word in word_set]
        bounds = np.cumsum([0, *map(len, sets)])
        return sp.csr_matrix((np.ones(len(columns)), columns, bounds), shape=(len(sets), len(column)))

    common = (presence(sets_of_texts) @ presence(sets_of_others).T).toarray()
    union = (
        np.add.outer([len(word_set) for word_set in sets_of_texts], [len(word_set) for word_set in sets_of_others])
        - common
    )
    return [tuple(pair) for pair in np.argwhere(common >= threshold * union).tolist()]


@pytest.fixture(scope="module")
def rows():
    return {name: read_rows(name) for name in FILES}


@pytest.fixture(scope="module")
def texts(rows):
    return [row[0] for name in FILES for row in rows[name]]


@pytest.mark.parametrize("name", FILES)
def test_header_and_three_columns(name):
    lines = read_lines(name)
    assert lines[0] == "text\tlabel\tdomain"
    assert lines[-1] == "", "the file must end with a newline"
    for number, line in enumerate(lines[1:-1], start=2):
        columns = line.split("\t")
        assert len(columns) == 3, f"line {number}: {line!r}"
        text, label, domain = columns
        assert text == text.strip(), f"line {number}: {line!r}"
        assert len(words(text)) >= 2, f"line {number}: {line!r}"
        assert label in LABELS, f"line {number}: {line!r}"
        assert domain in DOMAINS, f"line {number}: {line!r}"


@pytest.mark.parametrize("name", FILES)
def test_plain_characters(name):
    for number, line in enumerate(read_lines(name), start=1):
        assert re.fullmatch(r"[\t\x20-\x7e]*", line), f"line {number}: {line!r}"
        assert "  " not in line, f"line {number}: {line!r}"
        assert not line.startswith('"'), f"line {number} would be misread by a CSV reader: {line!r}"


def test_size(rows):
    total = sum(len(rows[name]) for name in FILES)
    assert total >= 1000
    assert 0.15 <= len(rows["test"]) / total <= 0.25


@pytest.mark.parametrize("name", FILES)
def test_balance_per_file_and_domain(rows, name):
    counts = Counter(row[1:] for row in rows[name])
    assert {domain for _, domain in counts} == DOMAINS
    for domain in DOMAINS:
        assert counts["neg", domain] == counts["pos", domain] >= 20
    labels = Counter(label for _, label, _ in rows[name])
    assert labels["neg"] == labels["pos"]


@pytest.mark.parametrize("name", FILES)
def test_shuffled(rows, name):
    for column in (1, 2):
        values = [row[column] for row in rows[name]]
        changes = sum(a != b for a, b in pairwise(values))
        assert changes > 0.4 * len(values)


def test_no_duplicates(texts):
    normalised = Counter(" ".join(words(text)) for text in texts)
    assert [text for text, count in normalised.items() if count > 1] == []


def test_no_test_text_in_train(rows):
    train = {" ".join(words(row[0])) for row in rows["train"]}
    assert [row[0] for row in rows["test"] if " ".join(words(row[0])) in train] == []


def test_no_near_duplicates(texts):
    assert [(texts[i], texts[j]) for i, j in similar_pairs(texts, texts, MAX_JACCARD) if i < j] == []


def test_similar_pairs_agrees_with_brute_force(texts):
    sample, threshold = texts[::6], 0.2
    sets = [set(words(text)) for text in sample]
    expected = [
        (i, j)
        for i, j in combinations(range(len(sample)), 2)
        if len(sets[i] & sets[j]) >= threshold * len(sets[i] | sets[j])
    ]
    assert expected
    assert [(i, j) for i, j in similar_pairs(sample, sample, threshold) if i < j] == expected


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("label", sorted(LABELS))
def test_variety_of_length(rows, name, label):
    lengths = [len(row[0].split()) for row in rows[name] if row[1] == label]
    short = sum(n <= SHORT for n in lengths) / len(lengths)
    long = sum(n > LONG for n in lengths) / len(lengths)
    assert 0.12 <= short <= 0.30
    assert 0.20 <= long <= 0.40
    assert max(lengths) <= 80


def test_length_does_not_reveal_the_label(rows):
    for name in FILES:
        mean = {}
        for label in LABELS:
            lengths = [len(row[0].split()) for row in rows[name] if row[1] == label]
            mean[label] = sum(lengths) / len(lengths)
        assert abs(mean["neg"] - mean["pos"]) < 1.5


def test_no_common_openings(texts):
    openings = Counter(tuple(words(text)[:4]) for text in texts if len(words(text)) >= 4)
    assert {" ".join(key): n for key, n in openings.items() if n > MAX_SAME_OPENING} == {}


def test_varied_vocabulary(texts):
    frequency = Counter(word for text in texts for word in set(words(text)))
    assert len(frequency) >= 3000
    assert sum(n >= 5 for n in frequency.values()) >= 400, "too few words recur for a small model to learn from"


# ---------------------------------------------------------------- opinions.tsv, for the bundled model


OPINION_KINDS = ("sentence", "phrase", "word", "news", "critic")


@pytest.fixture(scope="module")
def opinions():
    return read_rows("opinions")


def test_opinions_have_three_columns(opinions):
    lines = read_lines("opinions")
    assert (lines[0], lines[-1]) == ("text\tlabel\tkind", "")
    for row in opinions:
        text, label, kind = row
        assert re.fullmatch(r"(?!\")[\x21-\x7e]+( [\x21-\x7e]+)*", text), row
        assert words(text), row
        assert label in LABELS, row
        assert kind in OPINION_KINDS, row


def test_opinions_have_no_duplicates(opinions):
    normalised = Counter(" ".join(words(text)) for text, _, _ in opinions)
    assert [text for text, count in normalised.items() if count > 1] == []


def test_opinions_are_balanced_and_shuffled(opinions):
    for kind in OPINION_KINDS:
        labels = Counter(label for _, label, other in opinions if other == kind)
        assert 0.4 < labels["pos"] / labels.total() < 0.6
    labels = [label for _, label, _ in opinions]
    assert sum(a != b for a, b in pairwise(labels)) > 0.4 * len(labels)


def test_the_guide_gives_the_number_of_opinions(opinions):
    guide = (DATA / "README.md").read_text(encoding="utf-8")
    assert f"`opinions.tsv` contains {len(opinions):,} labelled" in guide
    counts = Counter((kind, label) for _, label, kind in opinions)
    rows = re.findall(r"^\| `(\w+)` +\| ([\d,]+) \+ ([\d,]+) +\|", guide, re.MULTILINE)
    assert {kind for kind, *_ in rows} == set(OPINION_KINDS)
    for kind, neg, pos in rows:
        assert (f"{counts[kind, 'neg']:,}", f"{counts[kind, 'pos']:,}") == (neg, pos), kind


def test_no_opinion_is_similar_to_a_test_text(opinions, rows):
    tests = [row[0] for row in rows["test"]]
    others = [text for text, _, _ in opinions if len(words(text)) >= 4]
    assert [(tests[i], others[j]) for i, j in similar_pairs(tests, others, MAX_JACCARD)] == []


# ---------------------------------------------------------------- kinds of sentences that models often get wrong


@pytest.fixture(scope="module")
def kinds():
    return {part: read_rows(f"kinds_{part}") for part in ("train", "test")}


def test_kinds_have_three_columns(kinds):
    for part, rows_of_part in kinds.items():
        assert read_lines(f"kinds_{part}")[0] == "text\tlabel\tkind"
        for row in rows_of_part:
            text, label, kind = row
            assert text == text.strip() != "", row
            assert label in ({"neutral"} if (part, kind) == ("test", "neutral") else LABELS), row


def test_a_third_of_each_kind_is_kept_for_the_test(kinds):
    train, test = (Counter(kind for _, _, kind in rows_of_part) for rows_of_part in kinds.values())
    train["neutral"] //= 2
    assert train.keys() == test.keys()
    for kind, count in test.items():
        assert 0.3 < count / (count + train[kind]) < 0.36, kind


def test_neutral_sentences_occur_once_with_each_label(kinds):
    labels = Counter((text, label) for text, label, kind in kinds["train"] if kind == "neutral")
    assert set(labels.values()) == {1}
    assert {text for text, label in labels if label == "neg"} == {text for text, label in labels if label == "pos"}


def test_no_training_text_is_similar_to_a_test_text_of_the_same_kinds(kinds, opinions):
    tests = [text for text, _, _ in kinds["test"]]
    assert not {text.lower() for text in tests} & {text.lower() for text, _, _ in [*opinions, *kinds["train"]]}
    long = [text for text in tests if len(words(text)) >= 4]
    new = [text for text, _, kind in opinions if kind in ("news", "critic") and len(words(text)) >= 4]
    others = [*new, *(text for text, _, _ in kinds["train"] if len(words(text)) >= 4)]
    assert [(long[i], others[j]) for i, j in similar_pairs(long, others, MAX_JACCARD)] == []


def test_each_emoji_with_a_value_is_one_token():
    lexicon = read_lexicon(DATA / "emoji.tsv")
    tokenizer = Tokenizer("expressive")
    assert [emoji for emoji in lexicon if tokenizer(emoji) != [emoji]] == []
    assert lexicon["👍"] > 0 > lexicon["👎"]
    assert (min(lexicon.values()), max(lexicon.values())) == (-3.85, 3.15)
