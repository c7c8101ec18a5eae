"""The memory limit of training decides where data is stored, and does not change a byte of the model."""

import errno
import shutil
from types import SimpleNamespace

import numpy as np
import pytest
from label_sets import SETTINGS as MULTI_LABEL
from label_sets import make_sets
from reviews import make_reviews, small_embeddings

import nlptx
from nlptx.errors import DataError, OutputError
from nlptx.io.memory_budget import MemoryBudget
from nlptx.ngrams import cross_fit, occurrence_blocks, occurrences
from nlptx.settings import PcaSettings, TrainSettings
from nlptx.text import token_stream
from nlptx.training import linear_combination, ngram_features

TEXTS, NAMES = make_reviews(48)
MORE, _ = make_reviews(30, seed=4)
LEXICON = {"good1": 2.0, "bad2 w3": -1.0, "novel": 1.0}
SMALL = TrainSettings(epochs=1, batch=8, width=0, blocks=1, lsa_components=6, warmup=0, lr=0.01)
WEIGHTS = np.random.default_rng(2).integers(0, 4, 48) / 2


def changed(**more):
    return TrainSettings(**SMALL.to_dict() | more)


CASES = {
    "default": {"embeddings": None, "pca": PcaSettings(components=8)},
    "fast": {"settings": changed(epochs=0), "sample_weight": WEIGHTS},
    "unlabelled": {"unlabelled": MORE, "lexicon": LEXICON},
    "passages": {
        "texts": [f"{text} " * 12 for text in TEXTS[:24]],
        "labels": NAMES[:24],
        "settings": changed(passages=1, pretrain=1),
    },
    "short": {"settings": changed(ngrams=0, long_texts="head", attention_window=5), "valid": (MORE, NAMES[:30])},
    "balanced": {"settings": changed(class_weight="balanced", lsa_components=0, epochs=0)},
    "label sets": dict(zip(("texts", "labels"), make_sets(40), strict=True)) | {"settings": MULTI_LABEL},
}


@pytest.fixture(params=["few", "many"])
def small_parts(request, monkeypatch):
    """Process the texts in small parts; test the method for few texts and the one for many texts."""
    monkeypatch.setattr(cross_fit, "OUT_OF_CORE_TEXTS", 0 if request.param == "many" else 10**6)
    monkeypatch.setattr(occurrence_blocks, "_ENTRIES", 400)
    monkeypatch.setattr(occurrences, "_WORDS_PER_GROUP", 60)
    monkeypatch.setattr(token_stream, "_WORDS_PER_GROUP", 60)
    monkeypatch.setattr(linear_combination, "_TEXTS_AT_A_TIME", 10)


def model_of(folder, **given):
    data = {"texts": TEXTS, "labels": NAMES, "embeddings": small_embeddings(), "settings": SMALL} | given
    nlptx.fit(**data).save(folder / "model.npz")
    return (folder / "model.npz").read_bytes()


@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_the_limit_does_not_change_the_model(case, files, tmp_path):
    expected = model_of(tmp_path, **case, jobs=1)
    assert not files
    for memory, jobs in ((1, 2), (4_000, 1)):
        assert model_of(tmp_path, **case, jobs=jobs, memory=memory, tmp_dir=tmp_path) == expected
        assert files
        assert all(file.closed for file in files)
        files.clear()
    assert [path.name for path in tmp_path.iterdir()] == ["model.npz"]


@pytest.mark.usefixtures("small_parts")
def test_the_sparse_features_of_many_labels(files, monkeypatch, tmp_path):
    monkeypatch.setattr(ngram_features, "MAX_LABELS", 1)
    expected = model_of(tmp_path)
    assert model_of(tmp_path, memory=1) == expected
    assert files


def test_training_that_starts_from_a_model(files, tmp_path):
    start = nlptx.fit(TEXTS, NAMES, small_embeddings(), SMALL, jobs=1)
    case = {"texts": MORE, "labels": NAMES[:30], "embeddings": None, "start": start, "jobs": 1}
    expected = model_of(tmp_path, **case)
    assert model_of(tmp_path, **case, memory=1) == expected
    assert files


def test_texts_from_an_iterator_are_stored(files, tmp_path):
    expected = model_of(tmp_path)
    assert model_of(tmp_path, texts=iter(TEXTS), labels=iter(NAMES), memory=1) == expected
    texts = (text if number < 30 else 3 for number, text in enumerate(TEXTS))
    with pytest.raises(nlptx.errors.InputTypeError, match=r"`texts\[30\]` is 3"):
        model_of(tmp_path, texts=texts, memory=1)
    assert all(file.closed for file in files)


def test_with_many_texts_the_model_is_about_as_good(monkeypatch):
    texts, names = make_reviews(600)
    tested, truth = make_reviews(300, seed=9)
    settings = changed(epochs=0, lsa_components=16)
    accuracies = []
    for limit in (10**6, 0):
        monkeypatch.setattr(cross_fit, "OUT_OF_CORE_TEXTS", limit)
        model = nlptx.fit(texts, names, small_embeddings(), settings)
        assert (model.ngram_features.lsa_weights != 0).any()
        accuracies.append(np.mean(np.array(model.predict(tested)) == truth))
    assert min(accuracies) > 0.85
    assert abs(accuracies[0] - accuracies[1]) < 0.02


# ---------------------------------------------------------------- failures


def test_the_disk_space_is_checked_first(monkeypatch, files):
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: SimpleNamespace(free=10**6))
    with pytest.raises(OutputError, match=r"temporary files need .* only 1 MB is free") as raised:
        nlptx.fit(TEXTS, NAMES, small_embeddings(), SMALL, memory=1)
    assert "tmp_dir" in raised.value.hint
    assert not files


@pytest.mark.parametrize("at", [1, 2, 5, 9])
def test_a_disk_that_becomes_full(at, monkeypatch, files, tmp_path):
    original, writes = MemoryBudget.write_bytes, []

    class FullFile:
        def write(self, data):
            raise OSError(errno.ENOSPC, "No space left on device")

    def write_bytes(budget, file, data):
        writes.append(len(data))
        original(budget, FullFile() if len(writes) >= at else file, data)

    monkeypatch.setattr(MemoryBudget, "write_bytes", write_bytes)
    with pytest.raises(OutputError, match="temporary files cannot be written: the disk is full") as raised:
        nlptx.fit(TEXTS, NAMES, small_embeddings(), SMALL, memory=1, tmp_dir=tmp_path)
    assert raised.value.where == str(tmp_path)
    assert all(file.closed for file in files)


def test_a_missing_folder(tmp_path):
    with pytest.raises(OutputError, match="No such file"):
        nlptx.fit(TEXTS, NAMES, small_embeddings(), SMALL, memory=1, tmp_dir=tmp_path / "none")


def test_bad_data_closes_the_files(files):
    with pytest.raises(DataError):
        nlptx.fit(iter(TEXTS), NAMES[1:], small_embeddings(), SMALL, memory=1)
    assert all(file.closed for file in files)
