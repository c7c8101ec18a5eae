"""Damaged corpora and word vector files are rejected or read; ``make torture`` tests a hundred thousand of them."""

import json
from functools import partial

import hostile_corpora
import pytest
from fuzzing import SECONDS, campaign
from harness import amounts
from mutations import mutate_bytes, mutate_json
from specimens import stored_specimens
from tally import Tally

from nlptx.errors import DataError

CORPORA = hostile_corpora.corpora()
ROW = {"text": "great film", "label": "pos", "id": 7, "more": [1.5, {"deep": [None, True]}]}


@pytest.fixture(scope="session")
def vectors(tmp_path_factory):
    return stored_specimens(tmp_path_factory)["vectors.txt"]


@pytest.fixture
def tally(request):
    return Tally(request, "fuzz corpora")


def damaged_corpus(name, path, count, tally):
    """A damaged file is rejected or read; if the format has a checksum, the content that is read must be unchanged."""
    path.write_bytes(CORPORA[name])
    original = hostile_corpora.documents(path)
    # If a file that consists of two compressed streams is cut between the two, the damage cannot be detected.
    checked = name.endswith(tuple(hostile_corpora.PACKERS)) and not name.startswith("two")

    def use(mutant):
        path.write_bytes(mutant)
        documents = hostile_corpora.documents(path)
        assert not checked or documents == original

    # One wrong bit can make a bzip2 block expand to 45 MB, and its checksum is checked only at the end of the block.
    seconds = 30 if name.endswith("bz2") else SECONDS
    mutate = partial(mutate_bytes, data=CORPORA[name])
    return campaign(f"corpus/{name}", count, mutate, use, DataError, tally, seconds)


def forged_rows(path, count, tally):
    """Read JSON rows with values of wrong types in wrong positions."""

    def mutate(rng):
        return "".join(json.dumps(mutate_json(rng, ROW)[0]) + "\n" for _ in range(3))

    def use(text):
        path.write_text(text)
        hostile_corpora.documents(path)

    return campaign("rows", count, mutate, use, DataError, tally)


def damaged_vectors(data, path, count, tally):
    """Read damaged word vectors in text format."""

    def use(mutant):
        path.write_bytes(mutant)
        hostile_corpora.vectors(path)

    return campaign("vectors", count, lambda rng: mutate_bytes(rng, data), use, DataError, tally)


@amounts(quick=100, full=1300)
@pytest.mark.parametrize("name", CORPORA)
def test_damaged_corpus_is_rejected_or_read_completely(name, amount, tmp_path, tally):
    outcomes = damaged_corpus(name, tmp_path / name, amount, tally)
    assert outcomes["DataError"] + outcomes["DecodingError"] > amount / 20
    assert outcomes.total() == amount


@amounts(quick=300, full=3000)
def test_forged_rows_are_rejected_or_read(amount, tmp_path, tally):
    outcomes = forged_rows(tmp_path / "a.jsonl", amount, tally)
    assert amount / 20 < outcomes["accepted"] < 19 / 20 * amount


@amounts(quick=300, full=3000)
def test_damaged_word_vectors_are_rejected_or_read(amount, vectors, tmp_path, tally):
    outcomes = damaged_vectors(vectors, tmp_path / "a.txt", amount, tally)
    assert min(outcomes["accepted"], outcomes["DataError"]) > amount / 20
