"""Tests of unlabelled texts in training: where they come from, and what they change."""

import io
import tarfile

import pytest
from command import refused, run
from reviews import small_embeddings
from sample_data import TRAIN, make_rows, write_tsv

import nlptx
from nlptx.corpus.read_options import ReadOptions
from nlptx.corpus.training_data import read_training_data
from nlptx.settings import TrainSettings
from nlptx.training.fingerprint import Fingerprint
from nlptx.training.labelled_texts import LabelledTexts

READING = ReadOptions(splits=("train", "unsup"))


def write_corpus(folder, order=lambda names: names):
    """Write train/neg, train/pos, train/unsup and test/pos; file names contain numbers of different lengths."""
    files = {}
    for number, (text, label) in enumerate(make_rows(("neg", "pos"), 24, seed=1)):
        files[f"train/{label}/{number}_7.txt"] = text
    for number, (text, _) in enumerate(make_rows(("neg", "pos"), 30, seed=5)):
        files[f"train/unsup/{number}_0.txt"] = text
    files["test/pos/0_9.txt"] = "held out"
    for name in order(sorted(files)):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(files[name])
    return files


def pack(path, files, names):
    with tarfile.open(path, "w:gz") as archive:
        for name in names:
            member = tarfile.TarInfo(f"corpus/{name}")
            member.size = len(files[name].encode())
            archive.addfile(member, io.BytesIO(files[name].encode()))
    return str(path)


def read(*data, unlabelled=(), valid=(), reading=READING):
    return read_training_data(tuple(map(str, data)), tuple(map(str, unlabelled)), tuple(map(str, valid)), reading)


def test_texts_in_unsup_are_unlabelled(tmp_path):
    write_corpus(tmp_path / "corpus")
    data = read(tmp_path / "corpus")
    assert (len(data.texts), len(data.unlabelled)) == (24, 30)
    assert set(data.labels) == {"neg", "pos"}
    assert "held out" not in data.texts + data.unlabelled
    assert read(tmp_path / "corpus", reading=ReadOptions(splits=("train",))).unlabelled == []


def test_the_test_part_of_an_archive_is_used_for_validation(tmp_path):
    files = write_corpus(tmp_path / "corpus")
    data = read(tmp_path / "corpus", valid=[pack(tmp_path / "a.tar", files, files)])
    assert data.valid == (["held out"], ["pos"])
    assert len(data.texts) == 24


def test_a_note_reports_that_unlabelled_texts_are_not_used():
    texts, labels = zip(*make_rows(("neg", "pos"), 20, seed=1), strict=True)
    for settings, note in (
        ({"ngrams": 0}, True),
        ({"lsa_components": 0, "distill": 0}, True),
        ({"lsa_components": 4}, False),
    ):
        notes = []
        chosen = TrainSettings(width=0, epochs=1, valid_share=0.0, new_word_min_count=1, **settings)
        embeddings = small_embeddings()
        nlptx.fit(texts, labels, embeddings, chosen, unlabelled=["a b"], jobs=1, on_note=notes.append)
        assert any("texts without labels are not used" in text for text in notes) == note


def test_files_are_read_in_numeric_order(tmp_path):
    files = write_corpus(tmp_path / "corpus")
    data = read(tmp_path / "corpus")
    numbers = [int(name.split("/")[2].split("_")[0]) for name in files if name.startswith("train/neg")]
    expected = [files[f"train/neg/{number}_7.txt"] for number in sorted(numbers)]
    assert data.texts[: len(expected)] == expected


def test_a_folder_and_its_archive_in_any_order_yield_the_same_texts(tmp_path):
    files = write_corpus(tmp_path / "corpus")
    folder = read(tmp_path / "corpus")
    for name, order in ("a.tar.gz", sorted(files)), ("b.tar.gz", sorted(files, reverse=True)):
        data = read(pack(tmp_path / name, files, order))
        assert (data.texts, data.labels, data.unlabelled) == (folder.texts, folder.labels, folder.unlabelled)


def test_rows_of_tables_keep_their_order(tmp_path):
    rows = make_rows(("neg", "pos"), 30, seed=2)
    data = read(write_tsv(tmp_path / "10.tsv", rows))
    assert data.texts == [text for text, _ in rows]


def test_unlabelled_files_of_any_format(tmp_path, work):
    write_corpus(tmp_path / "corpus")
    table = write_tsv(tmp_path / "more.tsv", make_rows(("neg", "pos"), 7, seed=2))
    data = read(work / "train.tsv", unlabelled=[work / "corpus.txt", table, tmp_path / "corpus"])
    assert len(data.unlabelled) == 140 + 7 + 30
    assert data.source["unlabelled_documents"] == 177
    assert len(data.texts) == 80


def train(work, output, *more):
    run("train", work / "train.tsv", "-e", work / "embeddings.npz", *TRAIN, *more, "-o", output, "-q")
    return output.read_bytes()


def test_unlabelled_texts_change_the_model_and_its_description(work, tmp_path):
    without = train(work, tmp_path / "a.npz")
    with_them = train(work, tmp_path / "b.npz", "--unlabelled", work / "corpus.txt")
    assert with_them != without
    assert with_them == train(work, tmp_path / "c.npz", "--unlabelled", work / "corpus.txt", "-j", "2")
    assert "--unlabelled UNLABELLED" in run("info", tmp_path / "b.npz").text
    assert "--unlabelled" not in run("info", tmp_path / "a.npz").text


@pytest.mark.parametrize("off", [("--lsa-components", "0", "--distill", "0"), ("--ngrams", "0")])
def test_without_components_unlabelled_texts_change_no_bit_of_a_score(work, tmp_path, off):
    for name, more in ("a.npz", ()), ("b.npz", ("--unlabelled", work / "corpus.txt")):
        train(work, tmp_path / name, *off, *more)
    one, two = (run("predict", "-m", tmp_path / name, work / "test.tsv").stdout for name in ("a.npz", "b.npz"))
    assert one == two


def test_unlabelled_texts_are_part_of_the_fingerprint():
    settings = TrainSettings()
    given = [LabelledTexts.of(["a"], ["b"], None, free) for free in ([], ["c"])]
    one, two = (Fingerprint.of(each, small_embeddings(), settings, 1) for each in given)
    assert one.differences(two) == ["the unlabelled data differs"]


def test_a_text_without_a_label_outside_unsup_is_an_error(tmp_path, work):
    write_corpus(tmp_path / "corpus")
    (tmp_path / "corpus" / "stray.txt").write_text("no folder gives it a label")
    words = ("train", tmp_path / "corpus", "-e", work / "embeddings.npz", "-o", tmp_path / "m.npz")
    refused(*words, code=3, says="has no label")
