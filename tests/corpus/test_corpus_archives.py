"""Tests of reading compressed files, folders, archives, and the folder structure of aclImdb."""

import bz2
import gzip
import io
import os
import tarfile
import threading

import pytest
from reading import BOM, PACKERS, read, refused, texts, write

from nlptx.corpus.corpus import Corpus
from nlptx.errors import DataError, DecodingError

# ---------------------------------------------------------------- compressed files


@pytest.mark.parametrize("suffix", PACKERS)
@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.txt", "one\ntwo\n"),
        ("a", "one\ntwo\n"),
        ("a.csv", "text\none\ntwo\n"),
        ("a.jsonl", '{"text": "one"}\n{"text": "two"}\n'),
    ],
    ids=["text", "no-suffix", "csv", "jsonl"],
)
def test_compressed_files_are_read_in_the_format_of_their_content(tmp_path, suffix, name, content):
    path = write(tmp_path / f"{name}.{suffix}", PACKERS[suffix](content.encode()))
    assert texts(path) == ["one", "two"]


@pytest.mark.parametrize("suffix", PACKERS)
def test_a_truncated_compressed_file_is_an_error(tmp_path, suffix):
    packed = PACKERS[suffix]("".join(f"document {n * n}\n" for n in range(500)).encode())
    path = tmp_path / f"a.txt.{suffix}"
    for length in (1, 5, 12, len(packed) // 2, len(packed) - 9, len(packed) - 1):
        refused(write(path, packed[:length]), str(path), "truncated")


@pytest.mark.parametrize("suffix", PACKERS)
@pytest.mark.parametrize("name", ["a.txt", "a.csv", "a.jsonl"])
def test_an_uncompressed_file_with_a_compression_suffix_is_an_error(tmp_path, suffix, name):
    path = write(tmp_path / f"{name}.{suffix}", b"this is plain text\n" * 9)
    refused(path, str(path), "damaged")


@pytest.mark.parametrize("suffix", PACKERS)
def test_a_flipped_bit_in_a_compressed_file_is_an_error(tmp_path, suffix):
    packed = bytearray(PACKERS[suffix]("".join(f"document {n * n}\n" for n in range(500)).encode()))
    packed[len(packed) // 2] ^= 16
    path = write(tmp_path / f"a.txt.{suffix}", bytes(packed))
    refused(path, str(path))


def test_short_compressed_streams_are_examined_together(tmp_path):
    """The first stream contains only the first line of a JSON array."""
    packed = b"".join(gzip.compress(part) for part in (b"[\n", b'{"text": "a"}', b"]\n"))
    refused(write(tmp_path / "a.txt.gz", packed), "JSON array")


# ---------------------------------------------------------------- folders


def test_hidden_folders_are_ignored(tmp_path):
    for name in ("pos/1.txt", "pos/.ipynb_checkpoints/1-checkpoint.txt", ".snapshot/pos/1.txt"):
        write(tmp_path / "a" / name, "good\n")
    notes = []
    assert len(list(Corpus([str(tmp_path / "a")], on_note=notes.append))) == 1
    with tarfile.open(tmp_path / "a.tar", "w") as archive:
        archive.add(tmp_path / "a", "./a")
    assert len(list(Corpus([str(tmp_path / "a.tar")], on_note=notes.append))) == 1
    assert notes == []


def test_broken_links_and_pipes_in_a_folder_cause_a_note(tmp_path):
    (tmp_path / "pos").mkdir()
    os.mkfifo(tmp_path / "pos/1.txt")
    refused(tmp_path, "1 file (pos/1.txt) was not read; broken links, pipes and devices are left out")
    (tmp_path / "pos/2.txt").symlink_to("nowhere")
    write(tmp_path / "pos/3.txt", "good\n")
    notes = []
    assert len(list(Corpus([str(tmp_path)], on_note=notes.append))) == 1
    reason = "broken links, pipes and devices are left out"
    assert notes == [f"{tmp_path}: 2 files (pos/1.txt, ...) were not read; {reason}"]


def test_folder_has_one_document_per_file(tmp_path):
    write(tmp_path / "b.txt", "\nsecond\ntext\n")
    write(tmp_path / "a.txt", BOM + b"first\r\n")
    first, second = read(tmp_path)
    assert (first.text, first.label, first.line, first.source) == ("first", None, 0, str(tmp_path / "a.txt"))
    assert second.text == "second\ntext"
    assert second.where == str(tmp_path / "b.txt")


def test_subfolders_are_labels(tmp_path):
    for label in ("pos", "neg", "so so"):
        write(tmp_path / label / "1.txt", f"a {label} film")
    assert {document.label: document.text for document in read(tmp_path)} == {
        label: f"a {label} film" for label in ("pos", "neg", "so so")
    }


def test_folder_skips_files_that_are_not_documents(tmp_path):
    write(tmp_path / "pos" / "1.txt", "yes")
    for name in ("pos/.hidden.txt", "pos/._1.txt", "pos/notes.md", "pos/table.csv", "urls_pos.txt", "README.txt"):
        write(tmp_path / name, "no")
    (tmp_path / "folder.txt").mkdir()
    assert texts(tmp_path) == ["yes"]


def test_documents_of_a_folder_are_sorted_by_name(tmp_path):
    for number in (10, 2, 33, 1):
        write(tmp_path / "pos" / f"{number}.txt", str(number))
    assert texts(tmp_path) == sorted(["10", "2", "33", "1"])


def test_the_error_for_an_empty_folder_explains_the_expected_files(tmp_path):
    write(tmp_path / "a.csv", "text\na\n")
    refused(tmp_path, str(tmp_path), ".txt", "one document per")


def test_undecodable_document_names_file_and_line(tmp_path):
    path = write(tmp_path / "pos" / "1.txt", b"fine\nfine\ncaf\xe9\n")
    refused(tmp_path, f"{path}:3", "0xe9", error=DecodingError)


# ---------------------------------------------------------------- the folder structure of aclImdb

IMDB = {
    "README": "no text",
    "imdb.vocab": "the\nand\n",
    "train/urls_pos.txt": "http://example.org\n",
    "train/labeledBow.feat": "9 0:9\n",
    "train/pos/0_9.txt": "train good",
    "train/neg/0_3.txt": "train bad",
    "train/unsup/0_0.txt": "unsup one",
    "train/unsup/1_0.txt": "unsup two",
    "test/urls_neg.txt": "http://example.org\n",
    "test/pos/0_10.txt": "test good",
    "test/neg/0_2.txt": "test bad",
}
SPLITS = {
    ("train",): {("train good", "pos"), ("train bad", "neg")},
    ("test",): {("test good", "pos"), ("test bad", "neg")},
    ("unsup",): {("unsup one", None), ("unsup two", None)},
}


@pytest.fixture(params=["folder", "tar", "tar.gz", "tgz", "tar.bz2", "tar.xz"])
def imdb(tmp_path, request):
    return write_dataset(tmp_path, IMDB, request.param)


def write_dataset(tmp_path, files, kind):
    """Write ``files`` as a folder, or as an archive with the suffix ``kind``."""
    folder = tmp_path / "aclImdb"
    for name, content in files.items():
        write(folder / name, content)
    if kind == "folder":
        return folder
    path = tmp_path / f"aclImdb_v1.{kind}"
    packing = kind.removeprefix("tar").removeprefix(".").replace("tgz", "gz")
    with tarfile.open(path, f"w:{packing}") as archive:
        archive.add(folder, "aclImdb")
    return path


@pytest.mark.parametrize("split", SPLITS, ids=[split[0] for split in SPLITS])
def test_imdb_split(imdb, split):
    documents = read(imdb, splits=split)
    assert {(document.text, document.label) for document in documents} == SPLITS[split]
    assert len(documents) == 2


def test_imdb_several_splits(imdb):
    documents = {(document.text, document.label) for document in read(imdb, splits=("train", "unsup"))}
    assert documents == SPLITS["train",] | SPLITS["unsup",]


def test_imdb_without_a_split_is_read_completely(imdb):
    documents = {(document.text, document.label) for document in read(imdb)}
    assert documents == set().union(*SPLITS.values())


@pytest.mark.parametrize("split", [(), ("train",), ("unsup",)], ids=["all", "train", "unsup"])
@pytest.mark.parametrize("kind", ["folder", "tar.gz"])
def test_the_word_ratings_of_imdb_are_not_a_review(tmp_path, kind, split):
    # The published archive contains imdbEr.txt, a list of one number per word, beside the folders train/ and test/.
    path = write_dataset(tmp_path, IMDB | {"imdbEr.txt": "0.0490972013402\n0.201363575849\n"}, kind)
    assert not [document.where for document in read(path, splits=split) if "imdbEr" in document.where]


def test_the_folder_of_a_split_may_be_given(tmp_path):
    write(tmp_path / "train" / "pos" / "1.txt", "yes")
    (document,) = read(tmp_path / "train", splits=("train",))
    assert document.label == "pos"


def test_a_missing_split(tmp_path):
    write(tmp_path / "train" / "pos" / "1.txt", "yes")
    refused(tmp_path, str(tmp_path), "test", splits=("test",))


# ---------------------------------------------------------------- archives


def add(archive, name, content=b"", **attributes):
    member = tarfile.TarInfo(name)
    member.size = len(content)
    for key, value in attributes.items():
        setattr(member, key, value)
    archive.addfile(member, io.BytesIO(content))


def test_archive_members_record_their_path(tmp_path):
    path = tmp_path / "a.tar"
    with tarfile.open(path, "w") as archive:
        add(archive, "films/pos/1.txt", b"good\n")
    (document,) = read(path)
    assert (document.text, document.label, document.where) == ("good", "pos", f"{path}:films/pos/1.txt")


def test_archive_of_label_folders_without_a_root_folder(tmp_path):
    path = tmp_path / "a.tgz"
    with tarfile.open(path, "w:gz") as archive:
        add(archive, "./pos/1.txt", b"good")
        add(archive, "./neg/1.txt", b"bad")
        add(archive, "./loose.txt", b"loose")
    assert [(document.text, document.label) for document in read(path)] == [
        ("good", "pos"),
        ("bad", "neg"),
        ("loose", None),
    ]


def test_members_with_hostile_paths_are_read_without_extracting_files(tmp_path, monkeypatch):
    inside = tmp_path / "inside"
    inside.mkdir()
    monkeypatch.chdir(inside)
    path = tmp_path / "a.tar"
    with tarfile.open(path, "w") as archive:
        add(archive, "../../pos/up.txt", b"up")
        add(archive, f"{tmp_path}/neg/absolute.txt", b"absolute")
    assert [(document.text, document.label) for document in read(path)] == [("up", "pos"), ("absolute", "neg")]
    assert sorted(name.name for name in tmp_path.rglob("*")) == ["a.tar", "inside"]


@pytest.mark.parametrize("name", ["../up.txt", "/absolute.txt", "./here.txt"])
def test_dots_and_slashes_are_not_labels(tmp_path, name):
    path = tmp_path / "a.tar"
    with tarfile.open(path, "w") as archive:
        add(archive, name, b"text")
    (document,) = read(path)
    assert document.label is None


def test_links_devices_and_pipes_in_an_archive_are_skipped(tmp_path):
    secret = write(tmp_path / "secret.txt", "secret")
    path = tmp_path / "a.tar"
    with tarfile.open(path, "w") as archive:
        add(archive, "pos/1.txt", b"good")
        add(archive, "pos/link.txt", type=tarfile.SYMTYPE, linkname=str(secret))
        add(archive, "pos/hard.txt", type=tarfile.LNKTYPE, linkname="pos/1.txt")
        add(archive, "pos/device.txt", type=tarfile.CHRTYPE, devmajor=1, devminor=5)
        add(archive, "pos/block.txt", type=tarfile.BLKTYPE)
        add(archive, "pos/pipe.txt", type=tarfile.FIFOTYPE)
        add(archive, "pos/folder.txt", type=tarfile.DIRTYPE)
        add(archive, "pos/2.txt", b"fine")
    assert texts(path) == ["good", "fine"]


@pytest.mark.parametrize("kind", [None, gzip.open, bz2.open])
def test_an_archive_may_come_from_a_pipe(tmp_path, kind):
    """A pipe can be opened and read only once."""
    path, pipe = tmp_path / "a.tar", tmp_path / "pipe.tar"
    with (kind or open)(path, "wb") as file, tarfile.open(fileobj=file, mode="w") as archive:
        for number in range(40):
            add(archive, f"pos/{number}.txt", f"text {number}".encode())
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_bytes(path.read_bytes()), daemon=True)
    writer.start()
    assert texts(pipe) == [f"text {number}" for number in range(40)]
    writer.join()


@pytest.mark.parametrize("number", [b"0", b"1"], ids=["sparse 0.0", "sparse 0.1"])
def test_sparse_files_of_old_formats_are_refused(tmp_path, number):
    path = tmp_path / "a.tar"
    with tarfile.open(path, "w", format=tarfile.PAX_FORMAT) as archive:
        member = tarfile.TarInfo("pos/1.txt")
        member.pax_headers = {"GNU.sparse.size": "4"} if number == b"0" else {"GNU.sparse.map": "0,4"}
        archive.addfile(member)
    refused(path, "sparse files are not supported")


def test_archive_without_texts_is_rejected(tmp_path):
    path = tmp_path / "a.tar"
    with tarfile.open(path, "w") as archive:
        add(archive, "a.csv", b"text\na\n")
    refused(path, str(path), ".txt")


def texts_or_error(path):
    try:
        return texts(path)
    except DataError:
        return "error"


@pytest.mark.parametrize("packing", ["", "gz", "bz2", "xz"])
def test_a_truncated_archive_never_loses_documents_silently(tmp_path, packing):
    path = tmp_path / ("a.tar" + (packing and f".{packing}"))
    with tarfile.open(path, f"w:{packing}") as archive:
        for number in range(6):
            # These digits compress badly, so some truncated archives end within a header and others within a member.
            add(archive, f"pos/{number}.txt", " ".join(str(n**7 + number) for n in range(60)).encode())
    complete, expected = path.read_bytes(), texts(path)
    # The first member ends after its header, and its content, rounded up to blocks of 512 bytes.
    border = 512 + -(-len(expected[0]) // 512) * 512
    for length in {border, *range(1, len(complete), 41)}:
        write(path, complete[:length])
        assert texts_or_error(path) in (expected, "error"), f"cut to {length} of {len(complete)} bytes"


def test_a_damaged_member_header_is_an_error(tmp_path):
    path = tmp_path / "a.tar"
    with tarfile.open(path, "w") as archive:
        add(archive, "pos/1.txt", b"good")
        add(archive, "pos/2.txt", b"fine")
    data = bytearray(path.read_bytes())
    data[2 * 512 + 3] ^= 1  # a byte of the name of the second member, covered by the header checksum
    refused(write(path, bytes(data)), str(path))


@pytest.mark.parametrize("size", [-1, -512, -(1 << 40)])
@pytest.mark.parametrize("kind", [tarfile.REGTYPE, tarfile.XHDTYPE], ids=["file", "metadata"])
def test_a_member_of_negative_size_is_an_error(tmp_path, size, kind):
    member = tarfile.TarInfo("pos/1.txt")
    member.size, member.type = size, kind
    path = tmp_path / "a.tar"
    with tarfile.open(path, "w") as archive:
        add(archive, "pos/2.txt", b"fine")
    refused(write(path, member.tobuf(tarfile.GNU_FORMAT) + path.read_bytes()), str(path), "negative size")


def test_data_after_the_end_of_an_archive_is_an_error(tmp_path):
    path = tmp_path / "a.tar"
    with tarfile.open(path, "w") as archive:
        add(archive, "pos/1.txt", b"good")
    refused(write(path, path.read_bytes() * 2), str(path))


@pytest.mark.parametrize("packing", ["", "gz", "bz2", "xz"])
def test_the_compression_of_an_archive_may_differ_from_its_suffix(tmp_path, packing):
    # Some browsers decompress a download but keep its original file name.
    path = tmp_path / "a.tar.gz"
    with tarfile.open(path, f"w:{packing}") as archive:
        add(archive, "pos/1.txt", b"good")
    assert texts(path) == ["good"]


@pytest.mark.parametrize("name", ["a.tar", "a.tar.gz", "a.tgz", "a.tar.xz"])
@pytest.mark.parametrize("content", [b"", b"this is no archive\n" * 100], ids=["empty", "text"])
def test_a_file_that_is_not_an_archive_is_an_error(tmp_path, name, content):
    path = write(tmp_path / name, content)
    refused(path, str(path))


def test_links_in_an_archive_are_not_read_and_cause_a_note(tmp_path):
    path = tmp_path / "a.tar"
    with tarfile.open(path, "w") as archive:
        add(archive, "pos/1.txt", b"good")
        for name, kind in (("pos/2.txt", tarfile.LNKTYPE), ("pos/3.txt", tarfile.SYMTYPE), ("pos", tarfile.SYMTYPE)):
            link = tarfile.TarInfo(name)
            link.type, link.linkname = kind, "pos/1.txt"
            archive.addfile(link)
    notes: list[str] = []
    assert [document.text for document in Corpus([str(path)], on_note=notes.append)] == ["good"]
    with tarfile.open(path, "w") as archive:
        archive.addfile(link)
    refused(path, str(path), "contains no .txt file")
    reason = "because they are links; pack files instead of links"
    assert notes == [f"{path}: 2 files (pos/2.txt, ...) were not read, {reason}"]
