"""Tests of texts that are stored within a memory limit: the stored texts equal the original ones."""

import tracemalloc

import numpy as np
import pytest
from reading import write

from nlptx.corpus import stored_texts
from nlptx.corpus.read_options import ReadOptions
from nlptx.corpus.stored_texts import StoredTexts
from nlptx.corpus.training_data import read_training_data
from nlptx.errors import DataError
from nlptx.io.memory_budget import MemoryBudget

TEXTS = ["", "a film", "Łódź \U0001f600", "two\nlines\r", "\udcff lone", "x" * 300, "\0", "end"]
limits = pytest.mark.parametrize("memory", [1, 800, 1 << 30])


@limits
@pytest.mark.parametrize("together", [1, 20, 1 << 20])
def test_texts_are_stored_exactly(memory, together, monkeypatch):
    monkeypatch.setattr(stored_texts, "_BUFFER_SIZE", together)
    with MemoryBudget(memory) as budget:
        texts = StoredTexts.of(iter(TEXTS), budget)
        assert len(texts) == len(TEXTS)
        assert list(texts) == TEXTS
        assert [texts[row] for row in (0, 2, -1)] == [TEXTS[row] for row in (0, 2, -1)]
        assert list(texts[1::3]) == TEXTS[1::3]
        assert list(texts.take(np.array([5, 5, 0]))) == [TEXTS[5], TEXTS[5], ""]
        assert not StoredTexts.of([], budget)


def as_lists(found):
    record = dict(vars(found))
    for name in ("texts", "unlabelled", "left_out"):
        record[name] = list(record[name])
    if record["valid"] is not None:
        record["valid"] = tuple(map(list, record["valid"]))
    return record


def make_folder(tmp_path):
    for split, label, number in [
        *(("train", label, number) for label in ("pos", "neg") for number in (2, 10, 1)),
        *(("unsup", "", number) for number in (3, 20, 1)),
    ]:
        folder = tmp_path / "corpus" / split / label
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{number}.txt").write_text(f"{split} {label} {number}")
    return tmp_path / "corpus"


def make_table(tmp_path):
    rows = [f"text {number}\t{'ab'[number % 2]}\t{number % 3}" for number in range(30)]
    return write(tmp_path / "table.tsv", "\n".join(["text\tlabel\tweight", *rows, ""]))


@limits
@pytest.mark.parametrize(
    ("make", "options"),
    [
        (make_folder, {}),
        (make_table, {}),
        (make_table, {"weight_column": "weight"}),
        (make_table, {"label_separator": ";", "label_map": {"a": "c"}}),
    ],
)
def test_the_data_is_the_same_with_a_memory_limit(make, options, memory, tmp_path):
    path, more = make(tmp_path), write(tmp_path / "more.txt", "one\ntwo\n")
    reading = ReadOptions(splits=("train", "unsup"), **options)
    arguments = {"data": path, "unlabelled": more, "options": reading}
    arguments["valid"] = make_table(tmp_path)
    if make is make_folder:
        arguments["valid"] = write(tmp_path / "valid.tsv", "text\tlabel\ngood\tpos\n")
    expected = as_lists(read_training_data(**arguments))
    with MemoryBudget(memory) as budget:
        found = read_training_data(**arguments, budget=budget)
        assert isinstance(found.texts, StoredTexts)
        assert as_lists(found) == expected


def test_an_unreadable_row_in_the_middle_is_named(tmp_path):
    path = write(tmp_path / "table.tsv", "text\tlabel\n" + "good\tpos\n" * 50 + "only one cell\n" + "bad\tneg\n" * 50)
    with MemoryBudget(1) as budget, pytest.raises(DataError) as raised:
        read_training_data(path, budget=budget)
    assert raised.value.where == f"{path}:52"


def test_unlabelled_texts_of_a_folder_are_stored_while_they_are_read(tmp_path):
    for name, text in (("train/pos/1", "good"), ("train/neg/2", "bad")):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / f"{name}.txt").write_text(text)
    (tmp_path / "train/unsup").mkdir()
    for number in range(40):
        (tmp_path / f"train/unsup/{number}.txt").write_text(f"{number} " + "film " * 50_000)
    tracemalloc.start()
    try:
        with MemoryBudget(1 << 20) as budget:
            found = read_training_data(str(tmp_path), budget=budget)
            assert tracemalloc.get_traced_memory()[1] < 6e6  # all texts together: 10 MB
            assert [text.split()[0] for text in found.unlabelled] == [str(number) for number in range(40)]
    finally:
        tracemalloc.stop()
