"""Thousands of damaged corpora and files of word vectors. In ``make torture``, a hundred thousand."""

import json
from functools import partial

import hostile_corpora
import pytest
import specimens
from fuzzing import SECONDS, campaign
from harness import amounts
from mutations import mutate_bytes, mutate_json
from tally import Tally

from nlptx.errors import DataError

CORPORA = hostile_corpora.corpora()
ROW = {"text": "great film", "label": "pos", "id": 7, "more": [1.5, {"deep": [None, True]}]}


@pytest.fixture(scope="session")
def vectors(tmp_path_factory):
    return specimens.make(tmp_path_factory.mktemp("specimens"))["vectors.txt"]


@pytest.fixture
def tally(request):
    return Tally(request, "fuzz corpora")


def damaged_corpus(name, path, count, tally):
    """Where a checksum covers the content, what is read must be all of it; else it must keep its promises."""
    path.write_bytes(CORPORA[name])
    whole = hostile_corpora.documents(path)
    # A file of two streams may be cut between them, and nobody can tell.
    checked = name.endswith(tuple(hostile_corpora.PACKERS)) and not name.startswith("two")

    def use(mutant):
        path.write_bytes(mutant)
        found = hostile_corpora.documents(path)
        assert not checked or found == whole

    # One wrong bit can make 45 MB out of a block of bzip2, whose checksum stands at its end.
    seconds = 30 if name.endswith("bz2") else SECONDS
    mutate = partial(mutate_bytes, data=CORPORA[name])
    return campaign(f"corpus/{name}", count, mutate, use, DataError, tally, seconds)


def forged_rows(path, count, tally):
    """JSON rows with values where they do not belong."""

    def mutate(rng):
        return "".join(json.dumps(mutate_json(rng, ROW)[0]) + "\n" for _ in range(3))

    def use(text):
        path.write_text(text)
        hostile_corpora.documents(path)

    return campaign("rows", count, mutate, use, DataError, tally)


def damaged_vectors(data, path, count, tally):
    """Word vectors as text."""

    def use(mutant):
        path.write_bytes(mutant)
        hostile_corpora.vectors(path)

    return campaign("vectors", count, lambda rng: mutate_bytes(rng, data), use, DataError, tally)


@amounts(quick=100, full=1300)
@pytest.mark.parametrize("name", CORPORA)
def test_a_damaged_corpus_is_refused_or_read_in_full(name, amount, tmp_path, tally):
    outcomes = damaged_corpus(name, tmp_path / name, amount, tally)
    assert outcomes["DataError"] + outcomes["DecodingError"] > amount / 20
    assert outcomes.total() == amount


@amounts(quick=300, full=3000)
def test_forged_rows_are_refused_or_read(amount, tmp_path, tally):
    outcomes = forged_rows(tmp_path / "a.jsonl", amount, tally)
    assert min(outcomes["accepted"], outcomes["DataError"]) > amount / 20


@amounts(quick=300, full=3000)
def test_damaged_word_vectors_are_refused_or_read(amount, vectors, tmp_path, tally):
    outcomes = damaged_vectors(vectors, tmp_path / "a.txt", amount, tally)
    assert min(outcomes["accepted"], outcomes["DataError"]) > amount / 20
