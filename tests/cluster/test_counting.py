"""Counting a corpus in partitions gives the same bytes as counting it at once, however the corpus is cut."""

import dataclasses
import os

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nlptx.artifacts.container import write
from nlptx.cluster import count_tasks, counting
from nlptx.cluster.count_tasks import CountJob
from nlptx.cluster.counting import count_partitions
from nlptx.cooccurrence.count import count_corpus
from nlptx.corpus.corpus import Corpus
from nlptx.corpus.partitioning import partition_inputs
from nlptx.corpus.read_options import ReadOptions
from nlptx.errors import CorruptError, DataError
from nlptx.io.memory_budget import MemoryBudget
from nlptx.runtime.workers import Workers
from nlptx.settings import CountSettings

TEXT = b"a good film\nthe cat sat on the mat\n\nnot a bad film at all , a film to see\nthe end\n"
SETTINGS = CountSettings(min_count=1, window=3)


def at_once(path, settings):
    corpus = Corpus([str(path)])
    with MemoryBudget() as budget, Workers(1) as workers:
        counts = count_corpus(corpus.blocks(), settings, budget, workers)
        details = counts.details | {"documents": corpus.documents, "sha256": corpus.sha256}
        target = path.with_suffix(".once.npz")
        write(target, dataclasses.replace(counts, details=details).to_artifact())
    return target.read_bytes()


def in_partitions(path, settings, size, jobs=1, memory=1 << 30):
    folder = path.parent / "work"
    folder.mkdir(exist_ok=True)
    parts = partition_inputs([str(path)], ReadOptions(), size)
    job = CountJob.of(parts, settings, ReadOptions(), str(folder), memory)
    with MemoryBudget() as budget, Workers(jobs) as workers:
        counts = count_partitions(parts, job, workers, budget)
        target = path.with_suffix(".parts.npz")
        write(target, counts.to_artifact())
    return target.read_bytes()


@pytest.fixture
def corpus(tmp_path):
    path = tmp_path / "corpus.txt"
    path.write_bytes(TEXT * 40)
    return path


@given(
    texts=st.lists(st.lists(st.sampled_from("abcdefgh"), max_size=12), min_size=1, max_size=30),
    size=st.integers(30, 400),
    window=st.integers(2, 12),
    weighting=st.sampled_from(["harmonic", "uniform", "linear"]),
    max_words=st.integers(1, 9),
    range_bytes=st.integers(100, 2000),
    block_entries=st.integers(10, 200),
    jobs=st.sampled_from([1, 3]),
)
@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_the_bytes_do_not_depend_on_how_a_corpus_is_cut(
    tmp_path_factory, monkeypatch, texts, size, window, weighting, max_words, range_bytes, block_entries, jobs
):
    if not any(texts):
        return
    monkeypatch.setattr(count_tasks, "_RANGE_BYTES", range_bytes)
    monkeypatch.setattr(count_tasks, "_BLOCK_ENTRIES", block_entries)
    path = tmp_path_factory.mktemp("counting") / "corpus.txt"
    path.write_text("".join(" ".join(words) + "\n" for words in texts))
    settings = CountSettings(min_count=1, max_words=max_words, window=window, weighting=weighting)
    assert in_partitions(path, settings, size, jobs) == at_once(path, settings)


def test_sums_need_several_levels(corpus, monkeypatch):
    monkeypatch.setattr(counting, "_FAN_IN", 2)
    assert in_partitions(corpus, SETTINGS, 100) == at_once(corpus, SETTINGS)


def test_intermediate_results_are_removed_as_soon_as_possible(corpus, monkeypatch):
    seen = []
    original = counting.sum_rows

    def watched(job, task):
        seen.append(sorted({name.split("-")[0] for name in os.listdir(job.folder)}))
        original(job, task)

    monkeypatch.setattr(counting, "sum_rows", watched)
    in_partitions(corpus, SETTINGS, 500)
    assert seen[0] == ["pairs", "top", "vocabulary.npz"]
    assert sorted(os.listdir(corpus.parent / "work"))[0].startswith("pairs-")
    assert len([name for name in os.listdir(corpus.parent / "work") if name.startswith("pairs-")]) == 1


def test_a_task_can_be_done_twice(corpus):
    parts = partition_inputs([str(corpus)], ReadOptions(), 500)
    folder = corpus.parent / "work"
    folder.mkdir()
    job = CountJob.of(parts, SETTINGS, ReadOptions(), str(folder), 1 << 30)

    class Twice:
        def map(self, work, items, *, isolated=False):
            for item in items:
                work(item)
                yield work(item)

    with MemoryBudget() as budget:
        counts = count_partitions(parts, job, Twice(), budget)
        write(corpus.with_suffix(".twice.npz"), counts.to_artifact())
    assert corpus.with_suffix(".twice.npz").read_bytes() == at_once(corpus, SETTINGS)


def test_progress_and_notes(corpus):
    corpus.write_bytes(b"text,label\n" + TEXT)
    parts = partition_inputs([str(corpus)], ReadOptions(), 30)
    folder = corpus.parent / "work"
    folder.mkdir()
    notes, steps = [], []
    with MemoryBudget() as budget, Workers(1) as workers:
        job = CountJob.of(parts, SETTINGS, ReadOptions(), str(folder), 1 << 30)
        count_partitions(
            parts, job, workers, budget, on_note=notes.append, on_progress=lambda *step: steps.append(step)
        )
    assert len(notes) == 1
    assert "looks like" in notes[0]
    assert list(dict.fromkeys(step for step, _, _ in steps)) == [
        "encoding",
        "summing words",
        "counting pairs",
        "summing pairs",
    ]
    assert all(0 <= done <= total for _, done, total in steps)


@pytest.mark.parametrize(
    ("content", "settings", "message"),
    [
        (b"", SETTINGS, "the corpus is empty"),
        (b"a b\nb c\n", CountSettings(min_count=5), "'b', occurs 2 times"),
    ],
    ids=["empty", "rare"],
)
def test_a_corpus_without_frequent_words(corpus, content, settings, message):
    corpus.write_bytes(content)
    with pytest.raises(DataError, match=message):
        in_partitions(corpus, settings, 4)


def test_more_distinct_words_than_memory(corpus):
    corpus.write_text(" ".join(f"w{n}" for n in range(2000)))
    with pytest.raises(DataError, match="more distinct words"):
        in_partitions(corpus, SETTINGS, 10_000, memory=100_000)


def test_a_damaged_intermediate_result_is_noticed(corpus, monkeypatch):
    original = counting.count_partition

    def damaging(job, task):
        path = job.path("tokens", task.number)
        with open(path, "r+b") as file:
            file.seek(-200, os.SEEK_END)
            file.write(b"\xff" * 20)
        original(job, task)

    monkeypatch.setattr(counting, "count_partition", damaging)
    with pytest.raises(CorruptError):
        in_partitions(corpus, SETTINGS, 10_000)
