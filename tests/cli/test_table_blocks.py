"""Tests of tables that are wider than the terminal: they are split into blocks of columns, and no number is broken."""

import re

import pytest

from nlptx.cli.terminal.reporter import Reporter
from nlptx.cli.terminal.table_blocks import split_into_blocks

HEADS = [f"b{block}h{head}" for block in (1, 2) for head in range(1, 9)]


def drawn(capsys, header, rows, width, monkeypatch):
    monkeypatch.setattr("nlptx.cli.terminal.reporter._WIDTH", width)
    Reporter().table("title", header, rows)
    return capsys.readouterr().out.splitlines()


@pytest.mark.parametrize("width", [40, 60, 80, 120])
def test_no_number_is_broken_into_two_lines(width, capsys, monkeypatch):
    words = ["the", "wonderful"]
    rows = [[word, "+0.1234", *(f"0.{n}{number:02}" for number in range(len(HEADS)))] for n, word in enumerate(words)]
    lines = drawn(capsys, ["word", "effect", *HEADS], rows, width, monkeypatch)
    assert max(map(len, lines)) <= width
    cells = re.findall(r"\S+", "\n".join(lines))
    assert all(cells.count(cell) == 1 for row in rows for cell in row[2:])
    assert cells.count("wonderful") == sum(line.startswith(" word") for line in lines)


def test_a_confusion_matrix_with_long_labels_keeps_the_labels_of_its_rows(capsys, monkeypatch):
    labels = [f"comp.sys.machine{number}.hardware" for number in range(12)]
    short = [label[:24] for label in labels]
    rows = [[label, *range(100, 112)] for label in short]
    lines = drawn(capsys, ["", *labels], rows, 80, monkeypatch)
    assert max(map(len, lines)) <= 80
    assert all(any(line.startswith(f" {label} ") for line in lines) for label in short)


def test_all_key_columns_are_repeated():
    header, rows = ["first", "second", "with", "without"], [["not", "good", "+7.08", "+2.46"]]
    assert [block.columns for block in split_into_blocks(header, rows, 24, keys=2)] == [[0, 1, 2], [0, 1, 3]]


def test_a_table_that_fits_is_one_block():
    header, rows = ["label", "F1", "a long comment"], [["neg", "0.5", "word " * 50]]
    assert [block.columns for block in split_into_blocks(header, rows, 60)] == [[0, 1, 2]]


def test_tables_may_be_empty_or_have_one_column():
    assert split_into_blocks([], [], 80) == []
    assert [block.columns for block in split_into_blocks(["word"], [["x" * 200]], 40)] == [[0]]
    assert [block.columns for block in split_into_blocks(["word", "n"], [], 2)] == [[0, 1]]
