"""``fit`` without word vectors makes them from its texts, with the same result as the stages and the command line."""

import numpy as np
import pytest
from calling import call
from reviews import make_reviews
from sample_data import make_rows, write_tsv

import nlptx
from nlptx.errors import DataError, SettingsError

TEXTS, LABELS = make_reviews(60)
COUNT, PCA = nlptx.CountSettings(min_count=2), nlptx.PcaSettings(components=6)
TRAIN = nlptx.TrainSettings(epochs=1, lsa_components=8)


def as_bytes(model, path):
    model.save(path)
    return path.read_bytes()


def test_fit_yields_the_same_model_as_the_three_stages(tmp_path):
    free = TEXTS[:10]
    one = nlptx.fit(TEXTS, LABELS, settings=TRAIN, cooccur=COUNT, pca=PCA, unlabelled=free, seed=5, jobs=2)
    embeddings = nlptx.fit_pca(nlptx.count([*TEXTS, *free], COUNT, 1), PCA, seed=5, jobs=1)
    three = nlptx.fit(TEXTS, LABELS, embeddings, TRAIN, unlabelled=free, seed=5, jobs=1)
    assert as_bytes(one, tmp_path / "one.npz") == as_bytes(three, tmp_path / "three.npz")


def test_the_command_line_yields_the_same_model(tmp_path):
    rows = make_rows(("neg", "pos"), 60, seed=1)
    table = write_tsv(tmp_path / "data.tsv", rows)
    call("train", table, "--epochs", "1", "--lsa-components", "8", "-q", "-o", tmp_path / "m.npz")
    model = nlptx.fit(*zip(*rows, strict=True), settings=TRAIN)
    other = nlptx.Model.load(tmp_path / "m.npz")
    assert np.array_equal(model.flat, other.flat)
    assert np.array_equal(model.predict_proba(["a great film"]), other.predict_proba(["a great film"]))
    # Only the command line records the input files.
    assert set(other.made_from["made_from"]["details"]) - set(model.made_from["made_from"]["details"]) == {
        "documents",
        "sha256",
        "reading",
    }


def test_progress_and_notes_of_all_stages():
    titles, notes = [], []
    texts, labels = ["a good film", "a bad film", "so good", "so bad"], [1, 0, 1, 0]
    on_progress = lambda progress: titles.append(progress.title)  # noqa: E731
    nlptx.fit(texts, labels, settings=TRAIN, on_progress=on_progress, on_note=notes.append)
    assert list(dict.fromkeys(titles))[:3] == ["counting words", "principal components", "encoding texts"]
    assert notes[0].endswith("so all words are counted instead")
    assert notes[1] == "the vocabulary has only 5 words, so their vectors have 5 components"


def test_notes_of_pca():
    notes = []
    pca = nlptx.PcaSettings(components=6, transform="log", smoothing=0.5)
    nlptx.fit(TEXTS, LABELS, settings=TRAIN, cooccur=COUNT, pca=pca, memory=1000, on_note=notes.append)
    assert notes[0] == "pca: `transform` is log, not ppmi, so `smoothing` has no effect"
    assert notes[1].startswith("pca: the vectors need up to 0 MB, more than `memory`")


def test_a_single_frequent_word_beside_itself_is_not_enough():
    notes = []
    texts = ["the cat sat on the mat", "the dog lay by the door", "many birds fly over the the sea", "fish swim"]
    nlptx.fit(texts, ["a", "b"] * 2, settings=TRAIN, on_note=notes.append)
    assert notes[0] == "no two words that occur at least 5 times are near each other, so all words are counted instead"


def test_a_single_frequent_word_is_not_enough():
    notes = []
    texts = [f"{word} shoe" for word in ("red", "blue", "big", "old", "new", "wet", "dry", "hot", "wide", "soft")]
    nlptx.fit(texts, ["a", "b"] * 5, settings=TRAIN, on_note=notes.append)
    assert notes[0] == "no two words that occur at least 5 times are near each other, so all words are counted instead"


def test_texts_of_a_single_word_train_the_linear_models_alone(tmp_path):
    texts, labels = ["superb", "lovely", "awful", "dull"] * 10, ["pos", "pos", "neg", "neg"] * 10
    notes = []
    model = nlptx.fit(texts, labels, on_note=notes.append)
    assert "no two words are near each other in these texts, so no network is trained, only linear models" in notes
    assert model.predict(["lovely", "awful"]) == ["pos", "neg"]
    alone = nlptx.fit(texts, labels, settings=nlptx.TrainSettings(epochs=0))
    assert as_bytes(model, tmp_path / "a.npz") == as_bytes(alone, tmp_path / "b.npz")
    with pytest.raises(DataError, match="no word vectors to train a network on"):
        nlptx.fit(texts, labels, settings=nlptx.TrainSettings(ngrams=0))


def test_settings_without_effect_are_rejected():
    embeddings = nlptx.fit_pca(nlptx.count(TEXTS, COUNT), PCA)
    for more in ({"cooccur": COUNT}, {"pca": PCA}):
        with pytest.raises(SettingsError, match="but `embeddings` are given"):
            nlptx.fit(TEXTS, LABELS, embeddings, TRAIN, **more)


@pytest.mark.parametrize("name", ["cooccur", "pca"])
def test_settings_of_another_stage_are_rejected(name):
    with pytest.raises(TypeError, match=f"`{name}` is .* expected an instance of"):
        nlptx.fit(TEXTS, LABELS, **{name: TRAIN})


def test_an_explicit_minimum_count_is_never_lowered():
    with pytest.raises(ValueError, match="no word occurs 10000 times") as caught:
        nlptx.fit(TEXTS, LABELS, cooccur=nlptx.CountSettings(min_count=10_000))
    assert "`cooccur.min_count`" in str(caught.value)
