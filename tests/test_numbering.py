"""Words as numbers: short, middling and long ones, and what could be taken for another."""

from hypothesis import given, settings
from hypothesis import strategies as st

from nlptx.text import Tokenizer
from nlptx.tokens.lines import as_lines, cut
from nlptx.tokens.numbering import number_words
from nlptx.tokens.scan import Scanner

TOKENIZER = Tokenizer("spaces", lowercase=False)
SCANNER = Scanner(TOKENIZER)
# Few letters, so that words often begin or end alike; of one, two and three bytes, and the byte 0.
words = st.text(st.sampled_from("ab\0\u00e9\u4e2d"), min_size=1, max_size=20)
documents = st.lists(st.lists(words, max_size=12).map(" ".join), max_size=6)


@settings(derandomize=True, deadline=None, max_examples=500)
@given(documents, st.sampled_from([1, 30, 1 << 19]))
def test_numbers_stand_for_the_words_in_order(texts, piece):
    chunk = number_words(map(as_lines, cut(texts, piece)), SCANNER)
    spelled = [word.decode() for word in chunk.words]
    assert len(set(spelled)) == len(spelled)
    tokens = [TOKENIZER(text) for text in texts]
    assert chunk.lengths.tolist() == [len(found) for found in tokens]
    assert [spelled[number] for number in chunk.ids] == [token for found in tokens for token in found]
    assert set(chunk.ids.tolist()) == set(range(len(spelled)))
