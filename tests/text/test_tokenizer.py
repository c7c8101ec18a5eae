"""Tests of the tokenizer and the vocabulary."""

import unicodedata

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlptx.errors import CorruptError
from nlptx.text.tokenizer import Tokenizer, split_words
from nlptx.text.vocabulary import Vocabulary, rank_words

ACUTE = "\u0301"
CURLY = "\u2019"


# ---------------------------------------------------------------- words


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("don't", ["do", "n't"]),
        ("can't", ["ca", "n't"]),
        ("DON'T", ["DO", "N'T"]),
        ("it's", ["it", "'s"]),
        ("I'm", ["I", "'m"]),
        ("he'd", ["he", "'d"]),
        ("we're", ["we", "'re"]),
        ("they've", ["they", "'ve"]),
        ("she'll", ["she", "'ll"]),
        ("shouldn't've", ["should", "n't", "'ve"]),
    ],
)
def test_contractions_are_split(text, tokens):
    assert split_words(text) == tokens


@pytest.mark.parametrize("text", ["don't", "I'm sure it's fine", "they've SHOUTED: DON'T!"])
def test_curly_apostrophes_are_treated_as_straight_ones(text):
    assert split_words(text.replace("'", CURLY)) == split_words(text)


def test_an_apostrophe_outside_a_contraction_is_a_token():
    assert split_words("the 'best' of rock'n'roll") == ["the", "'", "best", "'", "of", "rock", "'", "n", "'", "roll"]


def test_only_a_complete_contraction_is_split_off():
    # `n't` followed by a letter is not a contraction, so the preceding word keeps its n.
    assert split_words("fun'table") == ["fun", "'", "table"]


@pytest.mark.parametrize("text", ["he'sn't", "we'ren't", "we'ven't", "I'mn't"])
def test_consecutive_contractions_are_split(text):
    first, second = text[:-3].split("'")
    assert split_words(text) == [first, "'" + second, "n't"]


def test_long_s_does_not_form_a_contraction():
    assert split_words("it'\u017f") == ["it", "'", "\u017f"]


def test_contractions_next_to_an_underscore_are_split():
    assert split_words("_don't_ it's_") == ["_", "do", "n't", "_", "it", "'s", "_"]


@pytest.mark.parametrize("tag", ["<br />", "<br/>", "<br>", "<BR />", "<br   />", "<br /><br />"])
def test_html_line_breaks_are_removed(tag):
    assert split_words(f"one{tag}two") == ["one", "two"]


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("R&amp;B", ["R", "&", "B"]),
        ("it&#39;s don&#x27;t don&rsquo;t", ["it", "'s", "do", "n't", "do", "n't"]),
        ("caf&eacute; caf&#233;", ["café", "café"]),
        ("I &lt;3 it&hellip;", ["I", "<", "3", "it", "\u2026"]),
        ("one&nbsp;two&#10;three", ["one", "two", "three"]),
        ("one&lt;br /&gt;two", ["one", "two"]),
    ],
)
def test_html_character_references_are_decoded(text, tokens):
    assert split_words(text) == tokens


@pytest.mark.parametrize("text", ["R&B", "AT&T; too", "a?b=1&copy=2", "&amp", "&#39", "&nothing;", "&#;", "&;"])
def test_an_ampersand_that_does_not_start_a_reference_is_kept(text):
    assert "&" in split_words(text)


def test_references_are_decoded_once():
    assert split_words("&amp;lt;") == ["&", "lt", ";"]


def test_references_are_decoded_before_lowercasing():
    # References are case-sensitive: &newline; does not exist, and &auml; differs from &Auml;.
    assert Tokenizer()("one&NewLine;two &Auml;") == ["one", "two", "ä"]


def test_tokenized_text_is_not_decoded():
    assert Tokenizer("spaces")("R&amp;B <br />") == ["r&amp;b", "<br", "/>"]


def test_other_angle_brackets_are_kept():
    assert split_words("a < b") == ["a", "<", "b"]


def test_punctuation_marks_are_separate_tokens():
    assert split_words("Wow!! (10/10), really...") == [
        *("Wow", "!", "!", "(", "10", "/", "10", ")", ",", "really", ".", ".", ".")
    ]


def test_every_ascii_punctuation_mark_is_kept():
    marks = "!\"#$%&()*+,-./:;<=>?@[\\]^_`{|}~'"
    assert split_words(" ".join(marks)) == list(marks)
    # A non-ASCII letter in the text selects a different pattern, which must give the same tokens.
    assert split_words(" ".join(marks) + " é") == [*marks, "é"]


def test_underscores_separate_words_in_any_script():
    assert split_words("snake_case") == ["snake", "_", "case"]
    assert split_words("über_fall") == ["über", "_", "fall"]


@given(st.text(st.characters(max_codepoint=127), max_size=40))
def test_a_non_ascii_letter_elsewhere_does_not_change_ascii_tokens(text):
    assert split_words(text + " \u00e9") == [*split_words(text), "\u00e9"]


# ---------------------------------------------------------------- Unicode


@pytest.mark.parametrize("word", ["café", "naïve", "Ångström", "한국어", "Việt"])
def test_composed_and_decomposed_forms_are_one_word(word):
    composed, decomposed = unicodedata.normalize("NFC", word), unicodedata.normalize("NFD", word)
    assert composed != decomposed
    assert split_words(decomposed) == split_words(composed) == [composed]


def test_an_accent_without_a_composed_form_stays_in_its_word():
    word = "x" + ACUTE + "y"
    assert split_words(word) == [word]


@pytest.mark.parametrize(
    "word",
    ["हिन्दी", "क्षत्रिय", "தமிழ்", "বাংলা", "ภาษาไทย", "שָׁלוֹם", "مُحَمَّد", "မြန်မာ", "ខ្មែរ"],
    ids=["hindi", "conjunct", "tamil", "bengali", "thai", "hebrew", "arabic", "burmese", "khmer"],
)
def test_vowel_signs_and_marks_stay_in_the_word(word):
    assert split_words(f"{word} {word}") == [unicodedata.normalize("NFC", word)] * 2


@pytest.mark.parametrize("mark", ["\u0964", "\u0965", "\u05be", "\u05c3", "\u0e3f"])
def test_punctuation_within_the_block_of_a_script_is_not_a_letter(mark):
    # Danda, double danda, maqaf, sof pasuq and the baht sign lie among the vowel signs of their Unicode blocks.
    assert not unicodedata.category(mark).startswith(("L", "M"))
    assert split_words(f"नमस्ते{mark}") == ["नमस्ते", mark]


def test_emoji_are_separate_tokens():
    assert split_words("great👍👎film🎬") == ["great", "👍", "👎", "film", "🎬"]


def test_letters_of_other_scripts_are_words():
    assert split_words("привет, мир! Γειά σου") == ["привет", ",", "мир", "!", "Γειά", "σου"]


@pytest.mark.parametrize("other", ["", " é"], ids=["ascii", "unicode"])
@pytest.mark.parametrize("code", [*range(0x20), 0x7F])
def test_control_characters_give_no_token(code, other):
    assert split_words(f"a{chr(code)}b{other}") == ["a", "b", *other.split()]


@pytest.mark.parametrize("code", range(0x80, 0xA1))
def test_c1_controls_and_the_no_break_space_give_no_token(code):
    assert split_words(f"a{chr(code)}b") == ["a", "b"]


@pytest.mark.parametrize("character", ["\u200b", "\ufeff", "\u00ad", "\u2060", "\u200d", "\ufe0f", "\ud800"])
def test_invisible_characters_give_no_token(character):
    # The characters are: zero-width space, byte order mark, soft hyphen, word joiner, joiner, variation selector, and
    # lone surrogate.
    assert split_words(f"one {character} two") == ["one", "two"]


def test_joiners_join_words_but_not_emoji():
    assert split_words("soft\u00adhyphen a\u200bb") == ["softhyphen", "a", "b"]
    assert split_words("\u2764\ufe0f \U0001f469\u200d\U0001f4bb") == ["\u2764", "\U0001f469", "\U0001f4bb"]


@given(st.text(max_size=60))
def test_any_text_is_tokenized_and_no_token_contains_white_space(text):
    for token in split_words(text):
        assert token
        assert not any(character.isspace() for character in token)


@pytest.mark.parametrize("text", ["", " ", "\n\t  \r\n", "<br />"])
def test_a_text_without_words_has_no_tokens(text):
    assert split_words(text) == []


# ---------------------------------------------------------------- Tokenizer


def test_lower_case_is_the_default_and_can_be_turned_off():
    assert Tokenizer()("The ÉTÉ") == ["the", "été"]
    assert Tokenizer(lowercase=False)("The ÉTÉ") == ["The", "ÉTÉ"]


@pytest.mark.parametrize("name", ["words", "spaces"])
@pytest.mark.parametrize("text", ["\u0130stanbul", "I\u0307stanbul", "\u0130STANBUL"])
def test_a_dotted_capital_i_becomes_a_plain_lowercase_i(text, name):
    assert Tokenizer(name)(text) == ["istanbul"]
    assert Tokenizer(name, lowercase=False)("\u0130") == ["\u0130"]


def test_spaces_tokenizer_splits_only_at_white_space():
    tokenizer = Tokenizer("spaces", lowercase=False)
    assert tokenizer("Don't  cut,\tthis<br/>!\n") == ["Don't", "cut,", "this<br/>!"]
    assert tokenizer("") == []


# ---------------------------------------------------------------- Vocabulary


def vocabulary(*words, tokenizer=None):
    counts = np.arange(len(words), 0, -1, dtype=np.int64)
    return Vocabulary(list(words), counts, tokenizer or Tokenizer())


@given(st.lists(st.text(st.characters(exclude_characters="\n"), min_size=1, max_size=6), unique=True, max_size=12))
def test_vocabulary_round_trip_through_arrays(words):
    before = vocabulary(*words)
    after = Vocabulary.from_arrays(before.to_arrays(), before.tokenizer)
    assert list(after.words) == words
    assert np.array_equal(after.counts, before.counts)
    assert after.index == before.index
    assert len(after) == len(words)


def test_lone_surrogates_survive_the_round_trip():
    # JSON input may contain lone surrogates, so words may contain them too.
    before = vocabulary("ok", "\ud800")
    assert list(Vocabulary.from_arrays(before.to_arrays(), Tokenizer()).words) == ["ok", "\ud800"]


def test_the_arrays_are_bytes_and_integers():
    arrays = vocabulary("the", "café").to_arrays()
    assert {name: array.dtype.name for name, array in arrays.items()} == {"words": "uint8", "word_counts": "int64"}


def test_a_word_list_that_is_not_utf8_is_rejected():
    arrays = {"words": np.frombuffer(b"a\n\xff", np.uint8), "word_counts": np.ones(2, np.int64)}
    with pytest.raises(CorruptError, match="UTF-8"):
        Vocabulary.from_arrays(arrays, Tokenizer())


@pytest.mark.parametrize(("blob", "counts"), [(b"a\na", 2), (b"a\nb", 3), (b"a\nb", 1), (b"", 1)])
def test_duplicate_words_and_a_wrong_number_of_counts_are_rejected(blob, counts):
    arrays = {"words": np.frombuffer(blob, np.uint8), "word_counts": np.ones(counts, np.int64)}
    with pytest.raises(CorruptError):
        Vocabulary.from_arrays(arrays, Tokenizer())


def test_encode_keeps_the_order_and_drops_unknown_words():
    ids = vocabulary("the", "cat", "sat").encode("The dog sat; the cat")
    assert ids.tolist() == [0, 2, 0, 1]
    assert ids.dtype == np.int32


@pytest.mark.parametrize("text", ["", "unknown words only"])
def test_encode_without_known_words_returns_an_empty_int32_array(text):
    ids = vocabulary("the").encode(text)
    assert ids.shape == (0,)
    assert ids.dtype == np.int32


def test_encode_uses_the_tokenizer_of_the_vocabulary():
    words = vocabulary("don't", "Don't", tokenizer=Tokenizer("spaces", lowercase=False))
    assert words.encode("Don't don't do").tolist() == [1, 0]


# ---------------------------------------------------------------- ranking


def test_words_rank_by_count_and_ties_by_code_point():
    counts = {"b": 2, "a": 2, "Z": 2, "é": 2, "top": 9, "low": 1}
    assert rank_words(counts, 1, 99) == ["top", "Z", "a", "b", "é", "low"]


def test_ranking_does_not_depend_on_the_order_of_appearance():
    counts = {"b": 2, "a": 2, "c": 3}
    assert rank_words(dict(reversed(counts.items())), 1, 99) == rank_words(counts, 1, 99)


def test_min_count_is_inclusive():
    assert rank_words({"four": 4, "five": 5, "six": 6}, 5, 99) == ["six", "five"]


def test_max_words_keeps_the_most_frequent():
    assert rank_words({"a": 1, "b": 3, "c": 2}, 1, 2) == ["b", "c"]
    assert rank_words({"a": 1}, 2, 2) == []
