"""Thousands of damaged corpora and files of word vectors. ``make torture`` runs many more of them."""

import json

import hostile_corpora
import pytest
import specimens
from fuzzing import campaign
from mutations import mutate_bytes, mutate_json

from nlptx.errors import DataError

QUICK = 100
CORPORA = hostile_corpora.corpora()
ROW = {"text": "great film", "label": "pos", "id": 7, "more": [1.5, {"deep": [None, True]}]}


@pytest.fixture(scope="session")
def vectors(tmp_path_factory):
    return specimens.make(tmp_path_factory.mktemp("specimens"))["vectors.txt"]


def damaged_corpus(name, path, count, start=0):
    """Where a checksum covers the content, what is read must be all of it; else it must keep its promises."""
    path.write_bytes(CORPORA[name])
    whole = hostile_corpora.documents(path)
    # A file of two streams may be cut between them, and nobody can tell.
    checked = name.endswith(tuple(hostile_corpora.PACKERS)) and not name.startswith("two")

    def use(mutant):
        path.write_bytes(mutant)
        found = hostile_corpora.documents(path)
        assert not checked or found == whole

    return campaign(f"corpus/{name}", count, lambda rng: mutate_bytes(rng, CORPORA[name]), use, DataError, start)


def forged_rows(path, count, start=0):
    """JSON rows with values where they do not belong."""

    def mutate(rng):
        return "".join(json.dumps(mutate_json(rng, ROW)[0]) + "\n" for _ in range(3))

    def use(text):
        path.write_text(text)
        hostile_corpora.documents(path)

    return campaign("rows", count, mutate, use, DataError, start)


def damaged_vectors(data, path, count, start=0):
    """Word vectors as text."""

    def use(mutant):
        path.write_bytes(mutant)
        hostile_corpora.vectors(path)

    return campaign("vectors", count, lambda rng: mutate_bytes(rng, data), use, DataError, start)


@pytest.mark.parametrize("name", CORPORA)
def test_a_damaged_corpus_is_refused_or_read_in_full(name, tmp_path):
    outcomes = damaged_corpus(name, tmp_path / name, QUICK)
    assert outcomes["DataError"] + outcomes["DecodingError"] > 5
    assert outcomes.total() == QUICK


def test_forged_rows_are_refused_or_read(tmp_path):
    outcomes = forged_rows(tmp_path / "a.jsonl", 3 * QUICK)
    assert min(outcomes["accepted"], outcomes["DataError"]) > 20


def test_damaged_word_vectors_are_refused_or_read(vectors, tmp_path):
    outcomes = damaged_vectors(vectors, tmp_path / "a.txt", 3 * QUICK)
    assert min(outcomes["accepted"], outcomes["DataError"]) > 20
