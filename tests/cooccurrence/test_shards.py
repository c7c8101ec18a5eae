"""However a corpus is divided into shards, merging their parts gives the same bytes as a single run."""

import shutil
from itertools import pairwise

import numpy as np
import pytest
from calling import call
from command import refused, run
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nlptx.artifacts.artifact import Artifact
from nlptx.artifacts.container import read, write
from nlptx.cooccurrence.count import count_corpus
from nlptx.cooccurrence.count_shard import count_shard, read_word_list
from nlptx.cooccurrence.merge_parts import merge_parts, merge_words
from nlptx.corpus import shard as shard_module
from nlptx.corpus.shard import Shard
from nlptx.errors import CorruptError, DataError, SettingsError
from nlptx.io.memory_budget import MemoryBudget
from nlptx.runtime.workers import SERIAL
from nlptx.settings import CountSettings
from nlptx.text.blocks import as_lines

CORPUS = {"documents": 1, "sha256": "00", "reading": {}}


def part_of(blocks, shard, path, options, words=None, memory=1 << 26):
    with MemoryBudget(memory) as budget:
        known = None if words is None else read_word_list(str(words), options)
        write(path, count_shard(blocks, shard, known, options, lambda: CORPUS, budget, SERIAL))
    return str(path)


def save_whole(blocks, path, options):
    with MemoryBudget() as budget:
        counts = count_corpus(blocks, options, budget, SERIAL)
        counts.details.update(CORPUS)
        write(path, counts.to_artifact())
    return path.read_bytes()


def merged(paths, path, memory=1 << 26):
    with MemoryBudget(memory) as budget:
        write(path, merge_parts(paths, budget, SERIAL).to_artifact())
    return path.read_bytes()


def word_list(paths, path):
    with MemoryBudget() as budget:
        words, options = merge_words(paths, budget)
        write(path, words.to_artifact(options))
    return path


documents = st.lists(st.lists(st.sampled_from("abcdefé"), max_size=12).map(" ".join), min_size=1, max_size=30)


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    texts=documents,
    number=st.integers(1, 9),
    stretch_length=st.integers(1, 4),
    cuts=st.integers(1, 7),
    order=st.randoms(use_true_random=False),
    window=st.sampled_from([2, 3, 40]),
    weighting=st.sampled_from(["harmonic", "uniform", "linear"]),
)
def test_any_parts_in_any_order(tmp_path, monkeypatch, texts, number, stretch_length, cuts, order, window, weighting):
    monkeypatch.setattr(shard_module, "_STRETCH", stretch_length)
    options = CountSettings(tokenizer="spaces", min_count=2, window=window, weighting=weighting)
    blocks = [as_lines(texts[start : start + cuts]) for start in range(0, len(texts), cuts)]
    try:
        whole = save_whole(blocks, tmp_path / "whole.npz", options)
    except DataError:
        whole = None  # no word reaches the minimum count
    shards = [Shard(each, number) for each in range(1, number + 1)]
    tokens = [part_of(blocks, shard, tmp_path / f"tokens-{shard.number}.npz", options) for shard in shards]
    order.shuffle(tokens)
    if whole is None:
        with pytest.raises(DataError):
            merged(tokens, tmp_path / "merged.npz")
        return
    assert merged(tokens, tmp_path / "merged.npz") == whole
    words = word_list(tokens, tmp_path / "words.npz")
    pairs = [part_of(blocks, shard, tmp_path / f"pairs-{shard.number}.npz", options, words) for shard in shards]
    order.shuffle(pairs)
    assert merged(pairs, tmp_path / "merged.npz") == whole


def test_many_parts_and_little_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(shard_module, "_STRETCH", 3)
    rng = np.random.default_rng(1)
    texts = [" ".join(f"w{word}" for word in rng.zipf(1.5, 30) % 500) for _ in range(300)]
    options, blocks = CountSettings(tokenizer="spaces", min_count=1), [as_lines(texts)]
    whole = save_whole(blocks, tmp_path / "whole.npz", options)
    shards = [Shard(number, 40) for number in range(1, 41)]
    tokens = [part_of(blocks, shard, tmp_path / f"tokens-{shard.number}.npz", options) for shard in shards]
    assert merged(tokens[::-1], tmp_path / "merged.npz", 1 << 20) == whole
    words = word_list(tokens, tmp_path / "words.npz")
    pairs = [part_of(blocks, each, tmp_path / f"pairs-{each.number}.npz", options, words, 1 << 20) for each in shards]
    assert merged(pairs, tmp_path / "merged.npz", 1 << 20) == whole


@pytest.mark.parametrize("stretch_length", [1, 2, 5])
def test_each_document_is_in_exactly_one_shard(monkeypatch, stretch_length):
    monkeypatch.setattr(shard_module, "_STRETCH", stretch_length)
    lines = [b"%d\n" % number for number in range(23)]
    for size in (1, 4, 23):
        blocks = [b"".join(lines[start : start + size]) for start in range(0, 23, size)]
        parts = [b"".join(Shard(number, 3).blocks(blocks)).splitlines(True) for number in (1, 2, 3)]
        for number, part in enumerate(parts):
            assert part == [line for place, line in enumerate(lines) if place // stretch_length % 3 == number]


@pytest.mark.parametrize("text", ["", "3", "0/2", "3/2", "-1/2", "1/0", "1.0/2", "1/2/3", "x/y", "1/9999999", "١/٢"])
def test_impossible_shards(text):
    with pytest.raises(SettingsError):
        Shard.parse(text)


def test_words_that_do_not_fit_are_not_dropped(tmp_path):
    blocks = [as_lines([" ".join(f"{number}x{word}" for word in range(100)) for number in range(50)])]
    with pytest.raises(DataError, match="more distinct words than fit"):
        part_of(blocks, Shard(1, 1), tmp_path / "part.npz", CountSettings(tokenizer="spaces"), memory=1 << 20)


@pytest.fixture(scope="module")
def folder(tmp_path_factory, work):
    """A folder with both kinds of parts (tokens and pairs) of train.tsv, and cooccur.npz, counted in a single run."""
    path = tmp_path_factory.mktemp("shards")
    (path / "train.tsv").write_bytes((work / "train.tsv").read_bytes())
    words = ("cooccur", path / "train.tsv", "--min-count", "1", "-q")
    call(*words, "-o", path / "cooccur.npz")
    for number in (1, 2):
        call(*words, "--shard", f"{number}/2", "-o", path / f"tokens-{number}.npz")
    call("merge", path / "tokens-1.npz", path / "tokens-2.npz", "--words-only", "-o", path / "words.npz", "-q")
    more = ("--vocabulary", path / "words.npz")
    for number in (1, 2):
        call(*words, "--shard", f"{number}/2", *more, "-o", path / f"pairs-{number}.npz")
    call("cooccur", path / "train.tsv", "--shard", "2/2", "-o", path / "other-2.npz", "-q")  # another min_count
    (path / "link.npz").symlink_to("pairs-2.npz")
    shutil.copy(path / "tokens-1.npz", path / "copy.npz")
    return path


@pytest.mark.parametrize("kind", ["tokens", "pairs"])
def test_the_command_line_writes_the_bytes_of_one_run(folder, tmp_path, kind):
    facts = call(
        "merge", folder / f"{kind}-2.npz", folder / f"{kind}-1.npz", "-o", tmp_path / "merged.npz", "--json"
    ).json
    assert (tmp_path / "merged.npz").read_bytes() == (folder / "cooccur.npz").read_bytes()
    assert facts["documents"] == read(folder / "cooccur.npz").details["documents"]


def test_standard_input_and_output(folder):
    data = (folder / "train.tsv").read_bytes()
    words = ("cooccur", "-", "--input-format", "tsv", "--min-count", "1", "--shard", "1/1", "-o", "-")
    part = run(*words, stdin=data).stdout
    assert run("merge", "-", "-o", "-", stdin=part).stdout == (folder / "cooccur.npz").read_bytes()


def test_the_default_output_names_differ_between_parts(folder, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for number in (1, 2):
        call("cooccur", folder / "train.tsv", "--shard", f"{number}/2", "-q")
    call("merge", "part-1.npz", "part-2.npz", "--words-only", "-q")
    call("merge", "part-1.npz", "part-2.npz", "-q")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cooccur.npz", "part-1.npz", "part-2.npz", "words.npz"]


def test_info_names_the_command(folder):
    assert "nlptx cooccur CORPUS --shard 2/2 --min-count 1 -o part-2.npz" in call("info", folder / "tokens-2.npz").text
    says = "nlptx cooccur CORPUS --shard 1/2 --vocabulary words.npz --min-count 1 -o part-1.npz"
    assert says in call("info", folder / "pairs-1.npz").text
    assert "nlptx merge PARTS --words-only -o words.npz" in call("info", folder / "words.npz").text


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (("merge", "tokens-1.npz"), 3, "there is 1 part; expected 2"),
        (("merge", "tokens-1.npz", "tokens-1.npz"), 3, "tokens-1.npz: the file is given twice"),
        (("merge", "tokens-1.npz", "./tokens-1.npz"), 3, "the file is given twice, first as tokens-1.npz"),
        (("merge", "pairs-2.npz", "link.npz"), 3, "link.npz: the file is given twice, first as pairs-2.npz"),
        (("merge", "tokens-1.npz", "copy.npz"), 3, "copy.npz: contains shard 1/2, as does tokens-1.npz"),
        (("merge", "tokens-1.npz", "pairs-2.npz"), 4, "pairs-2.npz: its kind differs from that of tokens-1.npz"),
        (
            ("merge", "tokens-1.npz", "other-2.npz"),
            4,
            "its settings differ from those of tokens-1.npz: --min-count",
        ),
        (("merge", "pairs-1.npz", "pairs-2.npz", "--words-only"), 4, "holds pairs"),
        (
            ("merge", "cooccur.npz", "-o", "merged.npz"),
            4,
            "holds cooccurrence, the output of nlptx cooccur; expected tokens (nlptx cooccur --shard I/N) or pairs",
        ),
        (
            ("cooccur", "train.tsv", "--shard", "1/2", "--vocabulary", "cooccur.npz"),
            4,
            "expected words (nlptx merge --words-only)",
        ),
        (("merge", "none.npz"), 2, "none.npz: no such file"),
        (("merge", "tokens-1.npz", "tokens-2.npz", "-o", "tokens-2.npz"), 2, "is also an input"),
        (("pca", "tokens-1.npz"), 4, "Add up all parts with `nlptx merge` first"),
        (("cooccur", "train.tsv", "--vocabulary", "words.npz"), 2, "--vocabulary needs --shard"),
        (("cooccur", "train.tsv", "--shard", "3/2"), 2, "no shard 3 of 2"),
        (
            ("cooccur", "train.tsv", "--shard", "1/2", "--vocabulary", "words.npz"),
            2,
            "was made with --min-count 1, not --min-count",
        ),
    ],
)
def test_wrong_or_incompatible_parts_are_refused(folder, words, code, says):
    refused(*words, code=code, says=says, cwd=folder)


def test_another_corpus_is_refused(folder, tmp_path):
    (tmp_path / "other.tsv").write_text("text\tlabel\na film\tpos\n")
    words = ("cooccur", tmp_path / "other.tsv", "--min-count", "1", "--shard", "1/2", "-o", tmp_path / "p.npz")
    refused(*words, "--vocabulary", folder / "words.npz", code=3, says="the word list was made from another corpus")
    run(*words, "-q")
    says = "its corpus differs from that of"
    refused("merge", folder / "tokens-2.npz", tmp_path / "p.npz", code=4, says=says)


@pytest.mark.parametrize("kind", ["tokens", "pairs"])
def test_damaged_parts_are_refused(folder, tmp_path, kind):
    good = read(folder / f"{kind}-1.npz")
    whole = {name: array.copy() for name, array in good.arrays.items()}
    changes = {
        "tokens": {"ids": -1, "word_counts": 9, "lengths": 10**6},
        "pairs": {"indices": 10**6, "data": 0.5, "indptr": -1},
    }
    for name, value in changes[kind].items():
        array = whole[name].copy()
        array[len(array) // 2] = value
        write(tmp_path / "bad.npz", Artifact(kind, good.settings, {**whole, name: array}, None, good.details))
        with pytest.raises(CorruptError):
            merged([str(tmp_path / "bad.npz"), str(folder / f"{kind}-2.npz")], tmp_path / "merged.npz")
    for details in ({**good.details, "shard": 3}, {**good.details, "shard": "1"}, {"shard": 1, "shards": 1}):
        write(tmp_path / "bad.npz", Artifact(kind, good.settings, whole, None, details))
        with pytest.raises(CorruptError):
            merged([str(tmp_path / "bad.npz"), str(folder / f"{kind}-2.npz")], tmp_path / "merged.npz")


def test_a_run_has_a_thousand_documents():
    lines = [b"%d\n" % number for number in range(4500)]
    blocks = [b"".join(lines[first:after]) for first, after in pairwise([0, 10, 999, 1000, 3001, 4500])]
    parts = [b"".join(Shard(number, 2).blocks(blocks)).split() for number in (1, 2)]
    assert [len(part) for part in parts] == [2500, 2000]
    assert (parts[0][1000], parts[1][0]) == (b"2000", b"1000")
