"""Co-occurrence counts are compared with those of a simple counter that uses a dictionary."""

import math
import os
import shutil
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import chain, product
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from command import refused, run
from hypothesis import given, settings
from hypothesis import strategies as st

from nlptx.artifacts.container import read, write
from nlptx.artifacts.provenance import command
from nlptx.cooccurrence import count as count_module
from nlptx.cooccurrence import inverted_index, parallel_count, window_pairs
from nlptx.cooccurrence.count import count_corpus
from nlptx.cooccurrence.counts_artifact import KIND
from nlptx.cooccurrence.matrix import Cooccurrence, count
from nlptx.errors import ArtifactError, CorruptError, DataError, InputTypeError, OutputError, SettingsError
from nlptx.io.memory_budget import MemoryBudget
from nlptx.runtime.workers import Workers
from nlptx.settings import CountSettings
from nlptx.text import blocks, token_stream
from nlptx.text.blocks import in_blocks
from nlptx.text.tokenizer import Tokenizer

WEIGHTS = {
    "harmonic": lambda d, window: Fraction(1, d),
    "uniform": lambda d, window: Fraction(1),
    "linear": lambda d, window: 1 - Fraction(d, window),
}


def reference(documents, window, weighting, min_count):
    """Count pairs in a straightforward loop, with exact fractions; return {(word, word): weight} and the vocabulary."""
    frequent = {word for word, n in Counter(chain.from_iterable(documents)).items() if n >= min_count}
    table = Counter()
    for document in documents:
        known = [word for word in document if word in frequent]
        for i, word in enumerate(known):
            for j in range(max(0, i - window), min(len(known), i + window + 1)):
                if i != j:
                    table[word, known[j]] += WEIGHTS[weighting](abs(i - j), window)
    return {pair: weight for pair, weight in table.items() if weight}, frequent


def tabulate(result):
    """Return the stored entries as {(word, word): weight}."""
    words, entries = result.vocabulary.words, result.matrix.tocoo()
    return {(words[a], words[b]): x for a, b, x in zip(entries.row, entries.col, entries.data.tolist(), strict=True)}


def count_words(documents, jobs=1, **options):
    return count(map(" ".join, documents), CountSettings(tokenizer="spaces", **options), jobs)


def sample(documents=40, words=30, longest=60, seed=0):
    rng = np.random.default_rng(seed)
    return [[f"w{n}" for n in rng.integers(words, size=rng.integers(longest))] for _ in range(documents)]


def same(a, b):
    """Assert that every array has identical bytes, not only equal values."""
    left, right = a.to_artifact(), b.to_artifact()
    assert left.header == right.header
    assert {k: (v.dtype, v.tobytes()) for k, v in left.arrays.items()} == {
        k: (v.dtype, v.tobytes()) for k, v in right.arrays.items()
    }


# ---------------------------------------------------------------- counts


def test_the_example_of_the_article():
    result = count(["the cat sat on the mat"], CountSettings(window=1, weighting="uniform", min_count=1), 1)
    assert list(result.vocabulary.words) == ["the", "cat", "mat", "on", "sat"]
    assert result.matrix.toarray().tolist() == [
        [0, 1, 1, 1, 0],
        [1, 0, 0, 0, 1],
        [1, 0, 0, 0, 0],
        [1, 0, 0, 0, 1],
        [0, 1, 0, 1, 0],
    ]


documents_of_letters = st.lists(st.lists(st.sampled_from("abcde"), max_size=12), min_size=1, max_size=5)


@settings(max_examples=150)
@given(
    documents=documents_of_letters,
    window=st.integers(2, 6),
    weighting=st.sampled_from(sorted(WEIGHTS)),
    min_count=st.integers(1, 4),
)
def test_counts_equal_the_dictionary_counter(documents, window, weighting, min_count):
    expected, frequent = reference(documents, window, weighting, min_count)
    if not frequent:
        with pytest.raises(DataError):
            count_words(documents, window=window, weighting=weighting, min_count=min_count)
        return
    result = count_words(documents, window=window, weighting=weighting, min_count=min_count)
    assert set(result.vocabulary.words) == frequent
    # The results must be exactly equal, because the sums are integers that are divided, and thus rounded, only once.
    assert tabulate(result) == {pair: float(weight) for pair, weight in expected.items()}


def test_linear_weights_need_a_window_of_two():
    with pytest.raises(SettingsError, match="gives all pairs a weight of 0"):
        CountSettings(window=1, weighting="linear")


@pytest.mark.parametrize(
    ("window", "weighting"),
    [case for case in product([1, 2, 3, 6], WEIGHTS) if case != (1, "linear")],
)
def test_counts_are_exact_over_many_documents(window, weighting):
    documents = sample()
    expected, _ = reference(documents, window, weighting, 10)
    result = count_words(documents, window=window, weighting=weighting, min_count=10)
    assert tabulate(result) == {pair: float(weight) for pair, weight in expected.items()}


def test_pairs_never_cross_documents():
    result = count_words([["a", "b"], ["c", "d"], [], ["e"]], window=6, min_count=1)
    assert set(tabulate(result)) == {("a", "b"), ("b", "a"), ("c", "d"), ("d", "c")}


def test_rare_words_are_dropped_before_windows_are_formed():
    # `x` occurs only once and is dropped, so `a` and `b` become neighbours, as in GloVe and word2vec.
    result = count_words([["a", "x", "b"], ["a", "b"]], window=1, weighting="uniform", min_count=2)
    assert tabulate(result) == {("a", "b"): 2.0, ("b", "a"): 2.0}


def test_a_word_next_to_itself_is_counted_from_both_sides():
    assert tabulate(count_words([["a", "a"]], window=1, min_count=1)) == {("a", "a"): 2.0}


def test_matrix_is_symmetric_sorted_and_has_no_stored_zero():
    matrix = count_words(sample(), window=4, weighting="linear", min_count=1).matrix
    assert (matrix != matrix.T).nnz == 0
    assert matrix.has_canonical_format
    assert matrix.dtype == np.float64
    assert matrix.data.min() > 0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda matrix: matrix.tocsc(), "expected a sparse matrix in CSR format"),
        (lambda matrix: matrix.toarray(), "expected a sparse matrix in CSR format"),
        (lambda matrix: matrix[:2, :2], "2 rows and 2 columns, but there are 3 words"),
        (lambda matrix: sp.triu(matrix, format="csr"), "not symmetric"),
    ],
)
def test_unsuitable_matrices_are_refused(change, message):
    counts = count_words([["a", "a", "b"], ["a", "c"]], min_count=1)
    with pytest.raises((DataError, InputTypeError), match=message):
        replace(counts, matrix=change(counts.matrix))


def test_details_record_the_number_of_tokens():
    result = count_words([["a", "a", "b"], ["a"]], min_count=2)
    assert result.details == {"tokens": 4, "known_tokens": 3, "distinct_words": 2}


# ---------------------------------------------------------------- the vocabulary


def test_min_count_is_the_smallest_count_that_is_kept():
    documents = [["four"] * 4 + ["five"] * 5 + ["six"] * 6]
    result = count_words(documents, min_count=5)
    assert dict(zip(result.vocabulary.words, result.vocabulary.counts.tolist(), strict=True)) == {"six": 6, "five": 5}


def test_max_words_keeps_the_most_frequent_and_breaks_ties_by_code_point():
    result = count_words([["c", "b", "a", "c", "d"]], min_count=1, max_words=2)
    assert list(result.vocabulary.words) == ["c", "a"]


def test_tokenizer_and_case_folding_follow_the_settings():
    text = ["Don't, don't"]
    folded = count(text, CountSettings(min_count=1), 1)
    assert list(folded.vocabulary.words) == ["do", "n't", ","]
    literal = count(text, CountSettings(min_count=1, tokenizer="spaces", lowercase=False), 1)
    assert list(literal.vocabulary.words) == ["Don't,", "don't"]


# ---------------------------------------------------------------- wide windows


def test_harmonic_weights_are_exact_up_to_window_20():
    units, units_per_count = window_pairs.unit_weights("harmonic", 20)
    assert [Fraction(int(unit), units_per_count) for unit in units] == [Fraction(1, d) for d in range(1, 21)]


@pytest.mark.parametrize("window", [21, 50, 1000])
def test_harmonic_weights_beyond_window_20_are_rounded_to_the_nearest_unit(window):
    units, units_per_count = window_pairs.unit_weights("harmonic", window)
    assert len(units) == window
    for d, unit in enumerate(units.tolist(), start=1):
        assert abs(Fraction(unit, units_per_count) - Fraction(1, d)) <= Fraction(1, 2**27)


@pytest.mark.parametrize("weighting", WEIGHTS)
@pytest.mark.parametrize("window", [20, 25, 40])
def test_wide_windows_are_counted_correctly(window, weighting):
    documents = sample(documents=4, words=6, longest=90)
    expected, _ = reference(documents, window, weighting, 1)
    actual = tabulate(count_words(documents, window=window, weighting=weighting, min_count=1))
    assert actual.keys() == expected.keys()
    rounding = 1e-7 if weighting == "harmonic" and window > 20 else 0
    for pair, weight in expected.items():
        assert math.isclose(actual[pair], float(weight), rel_tol=rounding), pair


@pytest.mark.parametrize("weighting", WEIGHTS)
def test_window_wider_than_every_document(weighting):
    documents = [["a", "b", "c"], ["a"]]
    expected, _ = reference(documents, 1000, weighting, 1)
    actual = tabulate(count_words(documents, window=1000, weighting=weighting, min_count=1))
    assert actual == pytest.approx({pair: float(weight) for pair, weight in expected.items()}, abs=1e-9)


# ---------------------------------------------------------------- block sizes and parallelism


def test_jobs_do_not_change_a_small_result():
    same(count_words(sample(), jobs=1), count_words(sample(), jobs=2))


@pytest.mark.parametrize("pairs_at_once", [1, 7, 64, 1000])
@pytest.mark.parametrize("jobs", [1, 3])
def test_the_batch_size_of_pairs_does_not_change_the_counts(monkeypatch, pairs_at_once, jobs):
    documents = sample(documents=8)
    unsplit = count_words(documents, window=4, min_count=2)
    monkeypatch.setattr(window_pairs, "_PAIRS_AT_A_TIME", pairs_at_once)
    same(count_words(documents, jobs, window=4, min_count=2), unsplit)


@pytest.mark.parametrize("jobs", [1, 3])
@pytest.mark.parametrize(("entries", "pairs_at_once"), [(0, 1), (0, 1 << 21), (1 << 21, 100), (300, 1 << 21)])
def test_the_grouping_of_rows_into_tasks_does_not_change_the_counts(monkeypatch, entries, pairs_at_once, jobs):
    documents = sample()
    unsplit = count_words(documents)
    monkeypatch.setattr(window_pairs, "_PAIRS_AT_A_TIME", 50)
    monkeypatch.setattr(parallel_count, "_ENTRIES", entries)
    monkeypatch.setattr(parallel_count, "_PAIRS_PER_GROUP", pairs_at_once)
    same(count_words(documents, jobs), unsplit)


@pytest.mark.parametrize("dense", [0, 40, 1 << 40], ids=["all dense", "some dense", "all sorted"])
def test_frequent_and_rare_words_are_counted_the_same_way(monkeypatch, dense):
    documents = sample()
    expected, _ = reference(documents, 3, "harmonic", 1)
    monkeypatch.setattr(window_pairs, "_DENSE_PAIRS", dense)
    actual = count_words(documents, window=3, min_count=1)
    assert tabulate(actual) == {pair: float(weight) for pair, weight in expected.items()}


@pytest.mark.parametrize("chunk", [1, 50, 400])
@pytest.mark.parametrize("jobs", [1, 2])
def test_the_size_of_a_chunk_of_text_does_not_change_the_counts(monkeypatch, chunk, jobs):
    unsplit = count_words(sample())
    monkeypatch.setattr(token_stream, "_CHUNK", chunk)
    monkeypatch.setattr(blocks, "BLOCK", chunk // 3)
    same(count_words(sample(), jobs), unsplit)


# ---------------------------------------------------------------- in bounded memory


def count_in(budget, documents, jobs=1, **options):
    """Count within the memory budget, write the artifact and return its bytes."""
    with budget:
        counted = count_corpus(
            in_blocks(map(" ".join, documents)), CountSettings(tokenizer="spaces", **options), budget, Workers(jobs)
        )
        target = os.path.join(budget.folder, "counts.npz")
        write(target, counted.to_artifact())
    with open(target, "rb") as file:
        return file.read()


@pytest.mark.parametrize("memory", [200, 5_000, 50_000])
@pytest.mark.parametrize("weighting", WEIGHTS)
def test_a_corpus_counted_in_blocks_gives_the_same_bytes(tmp_path, monkeypatch, memory, weighting):
    # With the smallest budget, almost every document is a block, and there are more partial matrices in files than are
    # summed in one pass.
    documents = sample()
    options = {"window": 4, "min_count": 2, "weighting": weighting}
    write(str(tmp_path / "whole.npz"), count_words(documents, **options).to_artifact())
    monkeypatch.setattr(token_stream, "_BYTES_PER_WORD", 0.1)
    assert count_in(MemoryBudget(memory, str(tmp_path)), documents, **options) == (tmp_path / "whole.npz").read_bytes()
    assert {path.name for path in tmp_path.iterdir()} == {"whole.npz", "counts.npz"}


def test_the_padding_between_documents_counts_towards_the_memory_limit(tmp_path, monkeypatch):
    """With a wide window and very short documents, the padding takes far more memory than the words."""
    documents = [["a", "b"] * 500, *(["a", "b"] for _ in range(2000))]
    options = {"window": 999, "min_count": 1, "weighting": "uniform"}
    write(str(tmp_path / "whole.npz"), count_words(documents, **options).to_artifact())
    sizes = []

    def build(*arguments):
        index = inverted_index.build_index(*arguments)
        sizes.append(index.text.nbytes)
        return index

    monkeypatch.setattr(count_module, "build_index", build)
    memory = 1 << 20
    assert count_in(MemoryBudget(memory, str(tmp_path)), documents, **options) == (tmp_path / "whole.npz").read_bytes()
    assert sum(sizes) > 2000 * 4
    assert max(sizes) <= memory // 2


def test_a_block_without_known_words_adds_no_counts(tmp_path, monkeypatch):
    documents = [["a", "b"], *([f"once{n}"] for n in range(50)), ["b", "a"]]
    write(str(tmp_path / "whole.npz"), count_words(documents, min_count=2).to_artifact())
    monkeypatch.setattr(token_stream, "_BYTES_PER_WORD", 0.1)
    assert count_in(MemoryBudget(200, str(tmp_path)), documents, min_count=2) == (tmp_path / "whole.npz").read_bytes()


def test_the_disk_space_for_temporary_files_is_checked_first(tmp_path, monkeypatch):
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: SimpleNamespace(free=10**6))
    message = r"temporary files need about 0 MB, and 67 MB must stay free, but only 1 MB is free"
    with pytest.raises(OutputError, match=message):
        count_in(MemoryBudget(5_000, str(tmp_path)), sample(), min_count=1)


def test_a_missing_folder_for_temporary_files(tmp_path):
    with pytest.raises(OutputError, match="No such file"):
        count_in(MemoryBudget(5_000, str(tmp_path / "nowhere")), sample(), min_count=1)


@pytest.mark.parametrize("workers", [Workers(1), Workers(2), Workers(2, processes=True)], ids=["1", "2", "2 processes"])
def test_many_distinct_words_in_many_chunks_are_all_counted(monkeypatch, workers):
    # The number of words exceeds the initial capacity of the running totals, which grow chunk by chunk.
    monkeypatch.setattr(token_stream, "_CHUNK", 5000)
    monkeypatch.setattr(blocks, "BLOCK", 1)
    documents = [[f"w{n}" for n in range(start, start + 900)] for start in range(0, 6000, 600)]
    stream = token_stream.TokenStream(MemoryBudget())  # large enough that no temporary file is needed
    stream.read(in_blocks(map(" ".join, documents)), Tokenizer("spaces"), workers)
    assert stream.counts() == {word.encode(): n for word, n in Counter(chain.from_iterable(documents)).items()}
    numbers = {number: word.decode() for word, number in stream.word_ids.items()}
    assert [numbers[number] for number in stream.ids.array().tolist()] == list(chain.from_iterable(documents))


def test_no_process_is_started_for_a_single_chunk(monkeypatch):
    monkeypatch.setattr("nlptx.runtime.processes.Process", None)  # starting a process would fail
    stream = token_stream.TokenStream(MemoryBudget())
    stream.read(in_blocks(["a good film"]), Tokenizer("spaces"), Workers(2, processes=True))
    assert stream.counts() == {b"a": 1, b"good": 1, b"film": 1}


@pytest.mark.parametrize("jobs", [1, 2])
def test_words_dropped_to_save_memory_are_reported(monkeypatch, jobs):
    # Two words are frequent. All other words occur once and are dropped; the counts of the frequent words stay exact.
    monkeypatch.setattr(token_stream, "_CHUNK", 300)
    monkeypatch.setattr(blocks, "BLOCK", 1)
    documents = [["often", "again", f"once{n}"] for n in range(500)]
    with MemoryBudget(2 * token_stream._BYTES_PER_WORD * 100) as budget:
        counted = count_corpus(
            in_blocks(map(" ".join, documents)), CountSettings(tokenizer="spaces", min_count=3), budget, Workers(jobs)
        )
    assert counted.vocabulary.words == ["again", "often"]
    assert counted.vocabulary.counts.tolist() == [500, 500]
    assert counted.details["dropped_up_to"] == 1
    assert f"--memory {counted.details['memory']} " in command(counted.to_artifact().header)
    assert counted.details["distinct_words"] <= 102


def test_texts_are_read_once_and_may_be_a_generator():
    assert count((text for text in ["a b", "a b"]), CountSettings(min_count=2), 1).matrix.nnz == 2


# ---------------------------------------------------------------- nothing to count


@pytest.mark.parametrize("texts", [[], [""], ["", "  ", "\n"]])
def test_an_empty_corpus_is_bad_data(texts):
    with pytest.raises(DataError, match="empty"):
        count(texts, jobs=1)


def test_the_error_for_no_frequent_word_reports_the_highest_count():
    with pytest.raises(DataError, match=r"5 times.*'b'.*2 times") as caught:
        count(["a b b"], jobs=1)
    assert "`min_count`" in str(caught.value)


def test_documents_of_a_single_known_word_give_an_empty_matrix():
    result = count_words([["a"], ["a"], []], min_count=1)
    assert result.matrix.shape == (1, 1)
    assert result.matrix.nnz == 0


# ---------------------------------------------------------------- the artifact


def test_artifact_round_trip(tmp_path):
    before = count_words(sample(), window=3)
    path = str(tmp_path / "cooccur.npz")
    write(path, before.to_artifact())
    after = Cooccurrence.from_artifact(read(path, KIND))
    assert after.settings == before.settings
    assert list(after.vocabulary.words) == list(before.vocabulary.words)
    assert after.vocabulary.tokenizer == before.vocabulary.tokenizer
    same(after, before)


@pytest.mark.parametrize("documents", [sample(), [["a"]]], ids=["many", "no-pairs"])
def test_the_file_can_be_opened_with_scipy(tmp_path, documents):
    result = count_words(documents, min_count=1)
    path = tmp_path / "cooccur.npz"
    write(str(path), result.to_artifact())
    matrix = sp.load_npz(path)
    assert matrix.format == "csr"
    assert matrix.shape == result.matrix.shape
    assert (matrix != result.matrix).nnz == 0


def damaged(**arrays):
    artifact = count_words([["a", "b", "c", "a"]], min_count=1).to_artifact()
    artifact.arrays.update(arrays)
    return artifact


@pytest.mark.parametrize(
    "arrays",
    [
        {"indptr": np.array([1, 2, 4, 6], np.int32)},
        {"indptr": np.array([0, 4, 2, 6], np.int32)},
        {"indptr": np.array([0, 6], np.int32)},
        {"indices": np.array([0, 1, 2, 0, 2, 0, 9], np.int32)},
        {"indices": np.array([0, 1, 2, 0, 2, 0, -1], np.int32)},
        {"indices": np.zeros(7, np.int32)},
        {"indices": np.zeros(7, np.float64)},
        {"indices": np.zeros(2, np.int32)},
        {"data": np.full(7, -1.0)},
        {"data": np.full(7, np.nan)},
        {"data": np.full(7, np.inf)},
        {"data": np.ones(7, np.float32)},
        {"data": np.ones((7, 1))},
        {"word_counts": np.ones(2, np.int64)},
        {"word_counts": np.array([2, 1, -1], np.int64)},
    ],
    ids=lambda arrays: next(iter(arrays)),
)
def test_inconsistent_arrays_are_rejected(arrays):
    assert len(damaged().arrays["data"]) == 7
    with pytest.raises(CorruptError):
        Cooccurrence.from_artifact(damaged(**arrays))


@pytest.mark.parametrize("change", [{"window": 0}, {"window": "5"}, {"colour": "red"}, {"tokenizer": "none"}])
def test_stored_settings_that_are_invalid_raise_an_artifact_error(change):
    # The error is in the file and not in the user's options, so the exit code is not that of a usage error.
    artifact = damaged()
    artifact.settings.update(change)
    with pytest.raises(ArtifactError):
        Cooccurrence.from_artifact(artifact)


@pytest.mark.parametrize("name", ["data", "indices", "indptr", "words", "word_counts"])
def test_a_missing_array_is_rejected(name):
    artifact = damaged()
    del artifact.arrays[name]
    with pytest.raises(CorruptError, match=name):
        Cooccurrence.from_artifact(artifact)


# ---------------------------------------------------------------- on the command line


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--memory", "10K"), "at least 64M"),
        (("--memory", "plenty"), "not a size"),
        (("--tmp-dir", "nowhere"), "does not exist"),
    ],
)
def test_invalid_memory_options(options, message, tmp_path):
    (tmp_path / "corpus.txt").write_text("a b\n" * 9)
    refused("cooccur", "corpus.txt", *options, code=2, says=message, cwd=tmp_path, untouched=tmp_path)


def test_memory_options_do_not_change_the_file(tmp_path):
    (tmp_path / "corpus.txt").write_text("a b\n" * 9)
    for options in ((), ("--memory", "0.1G", "--tmp-dir", "."), ("--memory", "99999999T"), ("--memory", "9" * 400)):
        run("cooccur", "corpus.txt", *options, "-o", f"counts{len(options)}.npz", cwd=tmp_path)
    assert (tmp_path / "counts0.npz").read_bytes() == (tmp_path / "counts4.npz").read_bytes()


def test_a_word_that_occurs_once_is_described_in_the_singular():
    with pytest.raises(DataError, match="'good', occurs 1 time\n"):
        count(["good"], CountSettings(min_count=2), 1)


@pytest.mark.parametrize("memory", [0, 1, 100])
def test_memory_that_is_too_small_for_any_word(memory):
    with pytest.raises(DataError, match=r"too little memory for all distinct words(.|\n)*Raise `memory`"):
        count(["a b c"], CountSettings(min_count=1), memory=memory)


@pytest.mark.parametrize("change", [lambda m: m.astype(np.float32), lambda m: -m])
def test_counts_that_could_not_be_read_again_do_not_replace_a_file(tmp_path, change):
    counts = count(["a good film", "a bad film"], CountSettings(min_count=1))
    counts.save(tmp_path / "counts.npz")
    before = (tmp_path / "counts.npz").read_bytes()
    with pytest.raises(DataError, match="the counts cannot be saved: "):
        replace(counts, matrix=change(counts.matrix)).save(tmp_path / "counts.npz")
    assert (tmp_path / "counts.npz").read_bytes() == before
