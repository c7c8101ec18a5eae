"""Known forms of unknown words."""

import numpy as np
import pytest

import nlptx
from nlptx.classifier.token_ids import encode_texts
from nlptx.text.scanner import Scanner
from nlptx.text.tokenizer import Tokenizer
from nlptx.text.vocabulary import Vocabulary

WORDS = [
    "pleasant",
    "film",
    "films",
    "fairly",
    "disappoint",
    "disappointed",
    "3rd",
    "arts",
    "¬pleasant",
    "¬awful",
    "straße",
]
NEGATION = Tokenizer("negation")


def known(*words):
    return Vocabulary(list(words), np.ones(len(words), np.int64), NEGATION)


def read(*tokens, words=WORDS):
    vocabulary = known(*words)
    return [vocabulary.words[number] if number >= 0 else None for number in vocabulary.ids_read(tokens).tolist()]


@pytest.mark.parametrize(
    ("word", "form"),
    [
        ("film", "film"),
        ("pleasantly", "pleasant"),
        ("filmed", "film"),  # 2 * 4 / (6 + 4) = 0.8
        ("filming", None),  # 8 / 11
        ("disappointing", "disappoint"),  # 20 / 23; for "disappointed", 20 / 25
        ("disappoints", "disappoint"),
        ("straßen", "straße"),
        ("unfairly", None),  # the beginning differs
        ("fai", None),
        ("art", None),  # 6 / 7, but the common beginning has three letters
        ("3rds", None),  # not only letters
        ("¬pleasantly", "¬pleasant"),
        ("¬filmed", None),  # "¬film" is unknown
        ("awful", None),  # only "¬awful" is known
        ("¬film", None),
        ("", None),
        ("¬", None),
    ],
)
def test_unknown_words_are_read_as_similar_words_with_the_same_beginning(word, form):
    assert read(word) == [form]


def test_the_more_frequent_of_two_equally_similar_words_is_used():
    assert read("films", words=["filma", "filmb"]) == ["filma"]
    assert read("films", words=["filmb", "filma"]) == ["filmb"]


def test_a_form_is_found_among_many_words_with_the_same_beginning():
    words = [f"direct{a}{b}" for a in "abcdefghij" for b in "abcdefghij"]
    assert read("directcas", "directzz", words=words) == ["directca", None]


def test_very_long_words_have_no_form():
    assert read("beginning" + "c" * 1_000_000, words=["beginning", "beginnings"]) == [None]


def test_blocks_of_texts_are_read_like_tokens():
    vocabulary = known(*WORDS)
    texts = ["A pleasantly long film, not pleasantly filmed", "disappoints", "", "unfairly 3rds"]
    tokens = encode_texts(vocabulary, texts, Scanner(NEGATION))
    alone = [vocabulary.ids_read(NEGATION(text)) for text in texts]
    assert [ids.tolist() for ids in tokens.ids_read(vocabulary)] == [ids[ids >= 0].tolist() for ids in alone]
    assert (tokens.vocabulary_ids >= 0).sum() == 1  # "film"; forms do not count as known when rare words are looked for


def test_a_model_reads_an_unknown_word_as_its_known_form():
    model = nlptx.Model.load()
    unknown, form = "exuberantly", "exuberant"
    assert unknown not in model.vocabulary.index
    assert form in model.vocabulary.index
    ours, same = model.predict_proba([f"an {unknown} told story", f"an {form} told story"])
    assert ours.tolist() == same.tolist()
    seen, expected = (nlptx.explain(model, f"an {word} told story") for word in (unknown, form))
    assert seen.words[1] == unknown
    assert seen.effects.tolist() == expected.effects.tolist()
    assert seen.probabilities.tolist() == ours.tolist()
