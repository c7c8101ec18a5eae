"""Tests of word vectors: neighbours, analogies, the artifact, and word2vec or GloVe text."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import nlptx
from nlptx.artifacts.artifact import Artifact
from nlptx.artifacts.container import read, write
from nlptx.embeddings.embeddings import KIND, Embeddings, load_embeddings
from nlptx.embeddings.unknown_words import similar_words
from nlptx.embeddings.word2vec_format import read_word2vec
from nlptx.errors import CorruptError, DataError, InputTypeError, OutputError, SettingsError, WrongKindError
from nlptx.text.tokenizer import Tokenizer
from nlptx.text.vocabulary import Vocabulary


def embeddings(table, **fields):
    """Return word vectors from a dict of word -> numbers."""
    tokenizer = fields.pop("tokenizer", Tokenizer())
    counts = np.arange(len(table), 0, -1, dtype=np.int64)
    vectors = np.array(list(table.values()), np.float32)
    return Embeddings(vectors, Vocabulary(list(table), counts, tokenizer), **fields)


ROYALS = {
    "man": (1, 0, 0),
    "woman": (0, 1, 0),
    "king": (1, 0, 1),
    "queen": (0, 1, 1),
    "apple": (0.1, 0.1, -1),
    "nothing": (0, 0, 0),
}


# ---------------------------------------------------------------- neighbours


def test_neighbours_are_sorted_by_cosine():
    result = embeddings(ROYALS).nearest("king", 3)
    assert [word for word, _ in result] == ["man", "queen", "woman"]
    assert [cosine for _, cosine in result] == pytest.approx([2**-0.5, 0.5, 0])
    assert all(type(cosine) is float for _, cosine in result)


def test_vector_length_does_not_affect_the_cosine():
    result = embeddings({"a": (1, 0), "b": (100, 1), "c": (1, 1)}).nearest("a", 2)
    assert [word for word, _ in result] == ["b", "c"]


def test_the_lengths_of_vectors_may_exceed_the_largest_float32():
    huge = embeddings({"a": [3e38, 3e38], "b": [3e38, 2e38], "c": [1, -1]})
    assert [word for word, _ in huge.nearest("a")] == ["b", "c"]
    assert huge.nearest("a")[0][1] == pytest.approx(5 / np.sqrt(26))


def test_ngrams_across_the_border_of_two_known_words_are_not_shared():
    assert not len(similar_words("b><i", ["cb", "ia"], np.zeros(2, np.int64)).indices)


def test_a_word_is_not_its_own_neighbour():
    result = embeddings(ROYALS).nearest("king", 99)
    assert sorted(word for word, _ in result) == sorted(ROYALS.keys() - {"king"})


@pytest.mark.parametrize("top", [0, 1, 2, 5])
def test_the_requested_number_of_neighbours_is_returned(top):
    assert len(embeddings(ROYALS).nearest("man", top)) == top


@pytest.mark.parametrize(("top", "error"), [(-1, SettingsError), (2.5, InputTypeError), (None, InputTypeError)])
def test_the_number_of_neighbours_is_checked(top, error):
    known = embeddings(ROYALS)
    searches = (known.nearest, "king"), (known.analogy, "man", "king", "woman"), (known.nearest_by_spelling, "kings")
    for search, *words in searches:
        with pytest.raises(error, match=r"`top` is"):
            search(*words, top)
        assert search(*words, 0)[:1] in ([], ([],))


def test_ties_go_to_the_more_frequent_word():
    result = embeddings({"a": (1, 0), "z": (0, 1), "b": (0, 1), "y": (0, 2)}).nearest("a")
    assert [word for word, _ in result] == ["z", "b", "y"]


def test_a_zero_vector_has_no_neighbours_and_cosine_0_with_all_words():
    with pytest.raises(DataError, match="the vector of 'nothing' is 0"):
        embeddings(ROYALS).nearest("nothing")
    assert dict(embeddings(ROYALS).nearest("king", 99))["nothing"] == 0


def test_lookup_folds_case_as_the_vocabulary_does():
    assert embeddings(ROYALS).nearest("KING", 1) == embeddings(ROYALS).nearest("king", 1)
    turkish = embeddings({"istanbul": (1, 0), "izmir": (1, 1)})
    assert turkish.nearest("\u0130stanbul") == turkish.nearest("istanbul")  # a capital I with a dot
    cased = embeddings({"Apple": (1, 0), "fruit": (0, 1)}, tokenizer=Tokenizer(lowercase=False))
    assert cased.nearest("Apple", 1)[0][0] == "fruit"
    with pytest.raises(DataError, match="'apple'"):
        cased.nearest("apple")


def test_words_that_differ_in_case_are_distinct_without_case_folding():
    cased = embeddings({"Apple": (1, 0.1), "apple": (1, 0), "Mac": (0, 1)}, tokenizer=Tokenizer(lowercase=False))
    assert [word for word, _ in cased.nearest("Apple")] == ["apple", "Mac"]


@pytest.mark.parametrize("word", ["emperor", ""])
def test_an_unknown_word_is_named(word):
    with pytest.raises(DataError, match=f"{word!r}.*6 words"):
        embeddings(ROYALS).nearest(word)


# ---------------------------------------------------------------- analogies


def test_man_is_to_king_as_woman_is_to_queen():
    assert embeddings(ROYALS).analogy("man", "king", "woman", 1)[0][0] == "queen"


def test_the_three_words_of_an_analogy_are_excluded_from_the_answers():
    result = embeddings(ROYALS).analogy("Man", "king", "woman", 99)
    assert sorted(word for word, _ in result) == ["apple", "nothing", "queen"]


def test_analogy_adds_unit_vectors():
    # 3CosAdd normalises the vectors first; otherwise the longest vector would dominate the sum.
    table = {"a": (1, 0, 0), "b": (0, 1, 0), "c": (0, 0, 50), "good": (-1, 1, 1), "long": (0, 0.1, 9)}
    word, cosine = embeddings(table).analogy("a", "b", "c", 1)[0]
    assert (word, cosine) == ("good", pytest.approx(1))


def test_an_analogy_whose_sum_is_zero_is_not_an_error():
    table = {"a": (1, 0), "b": (1, 0), "c": (0, 0), "d": (1, 1)}
    assert embeddings(table).analogy("a", "b", "c") == [("d", 0.0)]


def test_an_unknown_word_of_an_analogy_is_named():
    with pytest.raises(DataError, match="'emperor'"):
        embeddings(ROYALS).analogy("man", "king", "emperor")


# ---------------------------------------------------------------- the artifact


def assert_equal(a, b):
    assert list(a.vocabulary.words) == list(b.vocabulary.words)
    assert a.vocabulary.tokenizer == b.vocabulary.tokenizer
    for name in ("vectors", "eigenvalues", "residuals", "explained"):
        x, y = getattr(a, name), getattr(b, name)
        assert (x.dtype, x.shape, x.tobytes()) == (y.dtype, y.shape, y.tobytes()), name
    assert (a.settings, a.details, a.made_from, a.seed) == (b.settings, b.details, b.made_from, b.seed)


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"tokenizer": Tokenizer("spaces", lowercase=False)},
        {
            "eigenvalues": np.array([3.0, 2, 1]),
            "residuals": np.full(3, 1e-4),
            "explained": np.array([0.5, 0.2, 0.1]),
            "settings": {"components": 3},
            "details": {"products": 12},
            "made_from": Artifact("cooccurrence", {}, {}, None, {}).header,
            "seed": 7,
        },
    ],
    ids=["bare", "tokenizer", "everything"],
)
def test_artifact_round_trip(tmp_path, fields):
    before = embeddings(ROYALS, **fields)
    path = str(tmp_path / "embeddings.npz")
    write(path, before.to_artifact())
    assert_equal(load_embeddings(path), before)


def test_vectors_in_any_memory_order_can_be_stored(tmp_path):
    before = embeddings(ROYALS)
    column_major = Embeddings(np.asfortranarray(before.vectors), before.vocabulary)
    path = str(tmp_path / "embeddings.npz")
    write(path, column_major.to_artifact())
    assert np.array_equal(load_embeddings(path).vectors, before.vectors)


@pytest.mark.parametrize(
    "arrays",
    [
        {"vectors": np.ones((5, 3), np.float32)},
        {"vectors": np.ones((6, 0), np.float32)},
        {"vectors": np.ones(6, np.float32)},
        {"vectors": np.ones((6, 3))},
        {"vectors": np.full((6, 3), np.nan, np.float32)},
        {"eigenvalues": np.ones(2)},
        {"residuals": np.ones((3, 1))},
        {"explained": np.ones(4)},
        {"words": np.frombuffer(b"a\nb", np.uint8)},
    ],
    ids=lambda arrays: next(iter(arrays)),
)
def test_inconsistent_arrays_are_rejected(tmp_path, arrays):
    artifact = embeddings(ROYALS).to_artifact()
    artifact.arrays.update(arrays)
    path = str(tmp_path / "embeddings.npz")
    write(path, artifact)
    with pytest.raises(CorruptError) as caught:
        load_embeddings(path)
    assert path in str(caught.value)


def test_a_model_cannot_start_from_vectors_of_only_some_words():
    short = replace(embeddings(ROYALS), vectors=np.ones((5, 3), np.float32))
    with pytest.raises(DataError, match="there are 5 word vectors for 6 words; expected one per word"):
        nlptx.fit(["the king", "the queen"], ["a", "b"], short)


def test_a_model_cannot_start_from_vectors_that_are_not_finite():
    vectors = np.ones((6, 3), np.float32)
    vectors[2, 1] = np.nan
    with pytest.raises(DataError, match="a word vector contains NaN or an infinite number"):
        nlptx.fit(["the king", "the queen"], ["a", "b"], replace(embeddings(ROYALS), vectors=vectors))


@pytest.mark.parametrize("name", ["vectors.npz", "vectors.txt"])
@pytest.mark.parametrize(
    "vectors",
    [np.ones((6, 3)), np.full((6, 3), np.inf, np.float32), np.ones((5, 3), np.float32)],
    ids=lambda v: v.dtype,
)
def test_vectors_that_could_not_be_read_again_do_not_replace_a_file(tmp_path, vectors, name):
    path = tmp_path / name
    good = embeddings(ROYALS)
    good.save(path)
    before = path.read_bytes()
    with pytest.raises(DataError, match="the word vectors cannot be saved: array 'vectors'"):
        replace(good, vectors=vectors).save(path)
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    "details",
    [{"tokenizer": "none"}, {"lowercase": 1}, {"tokenizer": None}, {"tokenizer": ["words"]}, {"tokenizer": {}}],
)
def test_an_invalid_stored_tokenizer_is_rejected(details):
    artifact = embeddings(ROYALS).to_artifact()
    artifact.details.update(details)
    with pytest.raises(CorruptError):
        Embeddings.from_artifact(artifact)


def test_reading_does_not_modify_the_artifact(tmp_path):
    artifact = embeddings(ROYALS).to_artifact()
    assert_equal(Embeddings.from_artifact(artifact), Embeddings.from_artifact(artifact))


def test_another_kind_of_artifact_is_rejected(tmp_path):
    from nlptx.cooccurrence.matrix import count
    from nlptx.settings import CountSettings

    path = str(tmp_path / "cooccur.npz")
    write(path, count(["a b"], CountSettings(min_count=1), 1).to_artifact())
    with pytest.raises(WrongKindError, match=r"nlptx cooccur.*nlptx pca"):
        load_embeddings(path)
    assert read(path).kind != KIND


# ---------------------------------------------------------------- word2vec and GloVe text


def stored(tmp_path, content, name="vectors.txt"):
    path = tmp_path / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return str(path)


@pytest.mark.parametrize(
    ("words", "name"), [(["good", "¬good"], "negation"), (["good", "¬"], "words"), (["good", "¬tion"], "words")]
)
def test_marks_of_negated_words_select_the_tokenizer(tmp_path, words, name):
    path = stored(tmp_path, "".join(f"{word} 1 2\n" for word in words).encode())
    assert Embeddings.load(path).vocabulary.tokenizer == Tokenizer(name)


def test_word2vec_text_has_the_format_that_gensim_reads(tmp_path):
    path = str(tmp_path / "vectors.txt")
    embeddings({"the": (0.5, -1), "été": (1e-9, 3e20)}).save(path)
    with open(path, encoding="utf-8") as file:
        header, *lines = file.read().splitlines()
    assert header == "2 2"
    assert [line.split(" ")[0] for line in lines] == ["the", "été"]
    assert lines[0] == "the 0.5 -1"


numbers = st.floats(width=32, allow_nan=False, allow_infinity=False)
some_words = st.lists(
    st.text(st.characters(exclude_categories=["Cs", "Cc", "Z"]), min_size=1, max_size=5), min_size=1, unique=True
)


@pytest.mark.parametrize("content", [b"\xef\xbb\xbf2 2\na 1 2\nb 3 4\n", b"\xef\xbb\xbfa 1 2\nb 3 4\n"])
def test_a_byte_order_mark_is_not_part_of_the_first_word(content, tmp_path):
    (tmp_path / "v.txt").write_bytes(content)
    assert Embeddings.load(tmp_path / "v.txt").vocabulary.words == ["a", "b"]


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(words=some_words, size=st.integers(2, 4), data=st.data())
def test_word2vec_text_round_trip_preserves_every_bit(tmp_path, words, size, data):
    vectors = data.draw(hnp.arrays(np.float32, (len(words), size), elements=numbers))
    before = embeddings(dict(zip(words, vectors.tolist(), strict=True)))
    path = str(tmp_path / "vectors.txt")
    before.save(path)
    after = load_embeddings(path)
    assert list(after.vocabulary.words) == words
    # Comparing bytes also distinguishes -0 from 0.
    assert after.vectors.tobytes() == before.vectors.tobytes()


def test_round_trip_of_vectors_with_one_component(tmp_path):
    # The header line makes clear which line contains the first word.
    path = str(tmp_path / "vectors.txt")
    embeddings({"the": (0.5,), "a": (2,)}).save(path)
    assert load_embeddings(path).vectors.tolist() == [[0.5], [2]]


def test_glove_text_has_no_header(tmp_path):
    result = load_embeddings(stored(tmp_path, "the 0.5 -1\na 2e-3 4\n"))
    assert list(result.vocabulary.words) == ["the", "a"]
    assert result.vectors.tolist() == [pytest.approx([0.5, -1]), pytest.approx([0.002, 4])]


def test_glove_text_with_one_component_keeps_the_first_word(tmp_path):
    # `the 0.5` resembles a header, but a header consists of two integers.
    assert list(load_embeddings(stored(tmp_path, "the 0.5\na 2\n")).vocabulary.words) == ["the", "a"]


def test_dots_may_be_a_word(tmp_path):
    path = tmp_path / "vectors.txt"
    path.write_text("the 0.1 0.2\n. . . 0.3 0.4\n")
    assert load_embeddings(path).vocabulary.words == ["the", ". . ."]


def test_a_number_may_be_a_word(tmp_path):
    result = load_embeddings(stored(tmp_path, "2 3\n7 1 2 3\n, 4 5 6\n"))
    assert list(result.vocabulary.words) == ["7", ","]


@pytest.mark.parametrize("name", ["v.txt", "v.vec", "V.TXT"])
@pytest.mark.parametrize("content", ["2 2\r\nthe 1 2\r\na 3 4\r\n", "2 2\nthe 1 2 \na 3 4 \n", "the 1 2\na 3 4"])
def test_line_ends_and_trailing_spaces(tmp_path, content, name):
    result = load_embeddings(stored(tmp_path, content, name))
    assert list(result.vocabulary.words) == ["the", "a"]
    assert result.vectors.tolist() == [[1, 2], [3, 4]]


def test_case_is_folded_only_if_all_words_are_lower_case(tmp_path):
    assert load_embeddings(stored(tmp_path, "the 1 2\n")).vocabulary.tokenizer.lowercase
    assert not load_embeddings(stored(tmp_path, "The 1 2\n")).vocabulary.tokenizer.lowercase


def test_imported_vectors_make_an_artifact(tmp_path):
    before = load_embeddings(stored(tmp_path, "the 1 2\na 3 4\n"))
    path = str(tmp_path / "embeddings.npz")
    write(path, before.to_artifact())
    assert_equal(load_embeddings(path), before)


@pytest.mark.parametrize(
    ("content", "line", "part"),
    [
        ("the 1 2\na 3\n", 2, "found 1 number; expected 2"),
        ("2 2\nthe 1 2\na 3 4 5\n", 3, "found more than 2 numbers"),
        ("the 1 2\na 3 x\n", 2, "'x'"),
        ("the 1 2\n\n", 2, ""),
        ("the 1 2\na\n", 2, "expected 2"),
        ("the 1 2\na nan 2\n", 2, "finite"),
        ("the 1 2\na inf 2\n", 2, "finite"),
        ("the 1 2\na 1e99 2\n", 2, "finite"),
        ("the 1 2\nthe 3 4\n", 2, "twice"),
        ("the 1 2\na  3\n", 2, ""),
        ("the 1 2\n 3 4\n", 2, ""),
        (b"the 1 2\ncaf\xe9 3 4\n", 2, ""),
        (b"\x80\x04\x95 1\n\xff", 1, ""),
    ],
    ids=[
        *("short", "long", "no-number", "blank", "word-alone", "nan", "inf", "overflow", "twice", "two-spaces"),
        *("no-word", "latin-1", "binary"),
    ],
)
def test_a_bad_line_is_named(tmp_path, content, line, part):
    path = stored(tmp_path, content)
    with pytest.raises(DataError) as caught:
        read_word2vec(path)
    assert f"{path}:{line}" in str(caught.value)
    assert part in str(caught.value)


def test_a_truncated_file_is_detected_by_its_header(tmp_path):
    path = stored(tmp_path, "3 2\nthe 1 2\na 3 4\n")
    with pytest.raises(DataError, match=path):
        read_word2vec(path)


@pytest.mark.parametrize("content", ["", "0 5\n"])
def test_a_file_without_vectors_is_rejected(tmp_path, content):
    with pytest.raises(DataError, match="no vectors"):
        read_word2vec(stored(tmp_path, content))


@pytest.mark.parametrize("name", ["none.txt", "folder.txt"])
def test_a_missing_file_or_a_folder_is_named(tmp_path, name):
    # A wrong path is a usage error, for word vectors as for all other inputs.
    (tmp_path / "folder.txt").mkdir()
    with pytest.raises(SettingsError) as caught:
        read_word2vec(str(tmp_path / name))
    assert name in str(caught.value)


def test_a_word_that_cannot_be_encoded_leaves_no_partial_file(tmp_path):
    # JSON input may contain lone surrogates, so a vocabulary may too, but a UTF-8 text file cannot.
    path = tmp_path / "vectors.txt"
    with pytest.raises(OutputError):
        embeddings({"the": (1, 2), "\ud800": (3, 4)}).save(path)
    assert list(tmp_path.iterdir()) == []


# ---------------------------------------------------------------- unknown words

SPELLINGS = {"watchable": (1, 0, 0), "unwatchable": (0, 1, 0), "terrible": (0, 0.1, 1), "good": (1, 0, -1)}


def test_the_vector_of_an_unknown_word_is_the_weighted_mean_of_similarly_spelled_words():
    vectors = embeddings(SPELLINGS)
    nearest, similar = vectors.nearest_by_spelling("unwatchability", 2)
    assert similar == ["unwatchable", "watchable"]
    parts = [{f"<{word}>"[i : i + n] for n in range(3, 7) for i in range(len(word) + 3 - n)} for word in SPELLINGS]
    new = {"<unwatchability>"[i : i + n] for n in range(3, 7) for i in range(17 - n)}
    cosines = [len(new & each) / np.sqrt(len(new) * len(each)) for each in parts[:2]]
    weights = np.array(cosines) ** 5 * vectors.vocabulary.counts[:2] / (vectors.vocabulary.counts[:2] + 100)
    assert [word for word, _ in nearest] == ["unwatchable", "watchable"]
    expected = weights[::-1] / np.linalg.norm(weights)
    np.testing.assert_allclose([cosine for _, cosine in nearest], expected, rtol=1e-5)


def test_words_without_counts_may_be_similar_too():
    vectors = embeddings(SPELLINGS)
    vectors.vocabulary.counts[:] = 0
    assert vectors.nearest_by_spelling("watchables", 1)[0][0][0] == "watchable"


@pytest.mark.parametrize("word", ["qwzx", "", "able", "é"])
def test_a_word_without_similar_spelling_has_no_vector(word):
    with pytest.raises(DataError, match="none of them has a similar spelling"):
        embeddings(SPELLINGS).nearest_by_spelling(word)


def test_known_words_are_in_the_embeddings_in_any_case():
    vectors = embeddings(SPELLINGS)
    assert "Good" in vectors
    assert "goods" not in vectors
    assert "Good" not in embeddings(SPELLINGS, tokenizer=Tokenizer(lowercase=False))
