"""Tests of emoticons, emoji, ratings, lengthened and shouted words, hashtags, names and links."""

import re
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tricky_texts import tricky_texts

from nlptx.classifier.token_ids import pieces
from nlptx.settings import CountSettings
from nlptx.text.tokenizer import TOKENIZERS, Tokenizer

TOKENIZE = Tokenizer("expressive")


def check(text, *tokens):
    assert TOKENIZE(text) == list(tokens)
    assert TOKENIZE(f"é {text} é") == ["é", *tokens, "é"]


def test_the_examples_of_the_guide():
    guide = (Path(__file__).parents[2] / "nlptx/corpus/README.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| [^|`]+: (`[^|]+`) \| [^|`]+: `([^|`]+)` \|$", guide, re.MULTILINE)
    assert len(rows) == 5
    for signs, tokens in rows:
        for sign in re.findall("`([^`]+)`", signs):
            assert Tokenizer(CountSettings().tokenizer)(sign) == tokens.split()


def test_every_tokenizer_can_be_chosen():
    choices = next(
        item.metadata["choices"] for item in CountSettings.__dataclass_fields__.values() if item.name == "tokenizer"
    )
    assert set(choices) == set(TOKENIZERS)


# ---------------------------------------------------------------- emoticons


@pytest.mark.parametrize(
    ("emoticons", "emoji"),
    [
        (":) :-) =) :] :))) :)", "🙂"),
        (":( :-( =( :[ :((", "🙁"),
        (":D :-D =D xD xDDD", "😄"),
        (";) ;-) ;D", "😉"),
        (":'( :'-(", "😢"),
        (":P :p =P", "😛"),
        (r":/ :-\ =/", "😕"),
        ("<3", "❤"),
        ("</3", "💔"),
        ("^^ ^_^", "😊"),
    ],
)
def test_an_emoticon_becomes_its_emoji(emoticons, emoji):
    check(emoticons, *[emoji] * len(emoticons.split()))


def test_an_emoticon_may_follow_a_word_or_a_full_stop():
    check("loved it:) the end.:(", "loved", "it", "🙂", "the", "end", ".", "🙁")


@pytest.mark.parametrize(
    "text", ["cast:(John", "see (1999): a", "C:/files", "the following:[1]", "a <30 b", "2^^3", "max:Dora", "at 8:05"]
)
def test_what_only_looks_like_an_emoticon_stays(text):
    assert TOKENIZE(text) == Tokenizer()(text)


# ---------------------------------------------------------------- ratings


@pytest.mark.parametrize(
    ("text", "token"),
    [
        ("8/10", "⑧"),
        ("8 / 10", "⑧"),
        ("8 out of 10", "⑧"),
        ("4/5", "⑧"),
        ("2.5/5", "⑤"),
        ("9.5/10", "⑩"),
        ("7,5/10", "⑧"),
        ("0/10", "⓪"),
        ("10/10", "⑩"),
        ("★★☆☆☆", "④"),
        ("★★★★★", "⑩"),
        ("⭐️⭐️⭐️", "⑥"),
        ("★★★★★★★☆☆☆", "⑦"),
    ],
)
def test_a_rating_is_a_number_of_tenths(text, token):
    check(text, token)
    check(f"({text})", "(", token, ")")
    check(f"it gets {text}.", "it", "gets", token, ".")


@pytest.mark.parametrize(
    "text", ["9/11", "24/7", "5/10/2004", "11/10", "1/2", "$5/10", "3/100", "8/10th", "15/5", "1-5/10", "8/10%"]
)
def test_other_fractions_stay(text):
    assert TOKENIZE(text) == Tokenizer()(text)


def test_one_star_is_decoration():
    check("★ lovely ★", "★", "lovely", "★")


# ---------------------------------------------------------------- words


@pytest.mark.parametrize(
    ("lengthened", "word"),
    [
        *(("sooooo", "so"), ("loooove", "love"), ("goooood", "good"), ("coooool", "cool"), ("reallyyyy", "really")),
        *(
            ("realllly", "really"),
            ("nooo", "no"),
            ("feeel", "feel"),
            ("felll", "fell"),
            ("yessss", "yes"),
            ("ewww", "ew"),
        ),
    ],
)
def test_a_lengthened_word_is_the_word_with_a_mark(lengthened, word):
    check(lengthened, "↔", word)
    assert Tokenizer("expressive", lowercase=False)(f"{lengthened.upper()} a") == ["⇪", "↔", word.upper(), "a"]


@pytest.mark.parametrize("text", ["www", "mmm", "XXX", "xviii", "III", "1000", "a1bbb", "bbb1", "still", "---", "..."])
def test_what_only_looks_lengthened_stays(text):
    assert TOKENIZE(text) == Tokenizer()(text)


def test_a_shouted_phrase_has_one_mark():
    check("DO NOT BUY THIS camera", "⇪", "do", "not", "buy", "this", "camera")
    check("it is AWFUL. JUST awful", "it", "is", "⇪", "awful", ".", "⇪", "just", "awful")
    check("SOOO GOOD", "⇪", "↔", "so", "good")


@pytest.mark.parametrize("text", ["my TV and DVD", "an iPHONE", "McDONALD2", "I AM", "ABC1 CAFÉ"])
def test_short_words_in_capitals_are_abbreviations(text):
    assert TOKENIZE(text) == Tokenizer()(text)


# ---------------------------------------------------------------- social media


def test_a_hashtag_is_its_words():
    check("#BestDayEver #fail #so_sad", "#", "best", "day", "ever", "#", "fail", "#", "so", "sad")
    check("#1 C# &#", "#", "1", "c", "#", "&", "#")


def test_an_at_name_becomes_a_mark_and_an_email_address_stays():
    check("thanks @some_one!", "thanks", "@", "!")
    check("me@example", "me", "@", "example")


def test_a_link_is_one_token():
    check("see https://example.org/a?b=SHOUTED#c now", "see", "🔗", "now")
    check("www.example.org (http://x.y)", "🔗", "(", "🔗")


# ---------------------------------------------------------------- characters beyond ASCII


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("👍🏽👍🏿", ["👍", "👍"]),
        ("👩\u200d💻👨\u200d👩\u200d👧", ["👩", "👨"]),
        ("❤️ ♥ 💙💚", ["❤"] * 4),
        ("❤️\u200d🔥", ["❤"]),
        ("🇩🇪🇫🇷a🇪🇺", ["🇩🇪", "🇫🇷", "a", "🇪🇺"]),
        ("🏳️\u200d🌈!", ["🏳", "!"]),
        ("😂😂", ["😂", "😂"]),
    ],
)
def test_an_emoji_is_one_token_whatever_its_style(text, tokens):
    check(text, *tokens)


@pytest.mark.parametrize("mark", "’‘ʼ´＇′`")
def test_apostrophes_of_all_kinds_form_contractions(mark):
    check(f"don{mark}t", "do", "n't")


def test_typographic_punctuation_becomes_ascii():
    assert TOKENIZE("“so…”") == TOKENIZE('"so..."')


@settings(max_examples=200)
@given(tricky_texts)
def test_composed_and_decomposed_text_have_the_same_tokens(text):
    composed, decomposed = (unicodedata.normalize(form, text) for form in ("NFC", "NFD"))
    assert TOKENIZE(composed) == TOKENIZE(decomposed) == TOKENIZE(text)


@pytest.mark.parametrize("size", range(1, 12))
@pytest.mark.parametrize("text", ["It is 8 out of 10 for me", "BEST FILM EVER! GREAT CAST, REALLY. 10 / 10"])
def test_no_part_of_a_text_ends_within_a_rating_or_a_phrase_in_capitals(text, size):
    assert [token for part in pieces(text, size) for token in TOKENIZE(part)] == TOKENIZE(text)


@settings(max_examples=200)
@given(tricky_texts, st.integers(1, 9))
def test_the_parts_of_a_long_text_have_its_tokens(text, size):
    for name in TOKENIZERS:
        tokenizer = Tokenizer(name)
        assert [token for part in pieces(text, size) for token in tokenizer.split(part)] == tokenizer.split(text)
