"""Small malicious files that could exhaust the memory or take forever to read are rejected or read safely."""

import io
import json
import lzma
import struct
import tarfile
import tracemalloc
import zipfile
import zlib

import numpy as np
import pytest
import specimens
from mutations import Specimen, npy
from reading import texts

from nlptx.artifacts import container
from nlptx.errors import CorruptError, DataError

MEGABYTES = 200
BLOCK = 1 << 20


@pytest.fixture(autouse=True)
def memory():
    """Fail any test that allocates more than MEGABYTES."""
    tracemalloc.start()
    yield
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < MEGABYTES << 20


def packed(path, *parts):
    """Write a .gz file of repeated parts, given as (bytes, repetitions), and return its path."""
    size = crc = 0
    with open(path, "wb") as file:
        file.write(b"\x1f\x8b\x08" + bytes(6) + b"\xff")
        for data, times in parts:
            # After a full flush, compressed bytes do not refer to earlier ones, so they can be written many times.
            packer = zlib.compressobj(1, wbits=-zlib.MAX_WBITS)
            file.write((packer.compress(data) + packer.flush(zlib.Z_FULL_FLUSH)) * times)
            size += len(data) * times
            for _ in range(times):
                crc = zlib.crc32(data, crc)
        file.write(b"\3\0" + crc.to_bytes(4, "little") + (size % 2**32).to_bytes(4, "little"))
    assert path.stat().st_size < 3 * BLOCK
    return path


def check_rejected(path, *parts, error=DataError):
    with pytest.raises(error) as caught:
        texts(path) if error is DataError else specimens.use(path)
    for part in parts:
        assert part in str(caught.value)
    assert len(str(caught.value)) < 3000


# ---------------------------------------------------------------- corpora


@pytest.mark.parametrize("name", ["a.txt.gz", "a.tsv.gz", "a.jsonl.gz"])
def test_an_endless_line_in_a_compressed_file(name, tmp_path):
    check_rejected(packed(tmp_path / name, (b"text\n", "tsv" in name), (b"a" * BLOCK, 300)), name, "8 MiB")


def test_a_compressed_line_of_the_maximum_length_is_read(tmp_path):
    (text,) = texts(packed(tmp_path / "a.txt.gz", (b"a" * BLOCK, 8)))
    assert len(text) == 8 * BLOCK


def test_a_long_line_in_a_plain_file_is_read(tmp_path):
    # Some corpora consist of a single line; text8, for instance, is one line of 100 MB.
    (tmp_path / "a.txt").write_bytes(b"ab " * (4 * BLOCK))
    (text,) = texts(tmp_path / "a.txt")
    assert len(text) == 12 * BLOCK


def test_an_unclosed_quote_does_not_consume_the_rest_of_a_csv_file(tmp_path):
    path = packed(tmp_path / "a.csv.gz", (b'text\nfine\n"open\n', 1), (b"row " * 2**18 + b"\n", 20))
    check_rejected(path, f"{path}:3", "Close every quoted field")


def test_a_header_with_many_columns_is_checked_quickly(tmp_path):
    (tmp_path / "a.tsv").write_text("text\t" + "\t".join(map(str, range(200_000))) + "\n")
    assert texts(tmp_path / "a.tsv") == []


def test_an_xz_file_that_requires_four_gigabytes(tmp_path):
    data = bytearray(lzma.compress(b"a b\n" * BLOCK, preset=0))
    # The block header contains the size, the flags and the filter; one byte of the filter encodes the dictionary size.
    header = slice(12, 12 + 4 * (data[12] + 1))
    data[data.index(b"\x21\x01", 12) + 2] = 40
    data[header.stop - 4 : header.stop] = struct.pack("<I", zlib.crc32(data[header][:-4]))
    (tmp_path / "a.txt.xz").write_bytes(data)
    check_rejected(tmp_path / "a.txt.xz", "emory")


def member(name="a.txt", size=0, kind=tarfile.REGTYPE):
    info = tarfile.TarInfo(name)
    info.size, info.type = size, kind
    return info.tobuf(tarfile.GNU_FORMAT)


METADATA_TYPES = [tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK, tarfile.XHDTYPE, tarfile.XGLTYPE]


@pytest.mark.parametrize("kind", METADATA_TYPES, ids=["name", "link", "pax", "global"])
def test_an_archive_with_huge_metadata_of_a_member(kind, tmp_path):
    path = packed(tmp_path / "a.tar.gz", (member(size=300 * BLOCK, kind=kind), 1), (bytes(BLOCK), 300))
    check_rejected(path, "metadata are too many")


@pytest.mark.parametrize("kind", METADATA_TYPES, ids=["name", "link", "pax", "global"])
def test_an_archive_with_nested_metadata(kind, tmp_path):
    check_rejected(packed(tmp_path / "a.tar.gz", (member(size=512, kind=kind) + bytes(512), 20_000)), "damaged")


@pytest.mark.parametrize("name", ["a.txt", "a.bin"])
def test_a_member_that_claims_to_be_a_terabyte(name, tmp_path):
    check_rejected(packed(tmp_path / "a.tar.gz", (member(name, 10**12), 1), (bytes(BLOCK), 1)), "unexpected end")


def test_a_huge_member_of_one_letter(tmp_path):
    blocks = (member(size=300 * BLOCK), 1), (b"a" * BLOCK, 300)
    check_rejected(packed(tmp_path / "a.tar.gz", *blocks), "a.txt", "8 MiB")


@pytest.mark.parametrize("version", ["old", "1.0"])
def test_a_sparse_member(version, tmp_path):
    with tarfile.open(tmp_path / "a.tar", "w", format=tarfile.PAX_FORMAT) as archive:
        info = tarfile.TarInfo("a.txt")
        if version == "old":
            info.type = tarfile.GNUTYPE_SPARSE
        else:
            info.pax_headers = {"GNU.sparse.major": "1", "GNU.sparse.minor": "0", "GNU.sparse.realsize": str(10**12)}
        info.size = 512
        archive.addfile(info, io.BytesIO(b"1\n0\n1\n" + bytes(506)))
    check_rejected(tmp_path / "a.tar", "sparse")


def test_a_line_break_in_a_folder_name_becomes_a_space_in_the_label(tmp_path):
    (tmp_path / "a.tar").write_bytes(member("p\nos/a.txt") + bytes(1024))
    from nlptx.corpus.corpus import Corpus

    (document,) = Corpus([str(tmp_path / "a.tar")])
    assert document.label == "p os"


# ---------------------------------------------------------------- artifacts


@pytest.fixture(scope="module")
def artifacts(tmp_path_factory):
    return specimens.stored_specimens(tmp_path_factory)


def forged(path, data, settings=(), details=(), **arrays):
    """Write an artifact with changed settings, details and arrays, but correct checksums."""
    specimen = Specimen(data)
    specimen.header["settings"] |= dict(settings)
    specimen.header["details"] |= dict(details)
    specimen.arrays |= arrays
    specimen.header["arrays"] = sorted(specimen.arrays)
    return archive(path, json.dumps(specimen.header).encode(), specimen.arrays)


def archive(path, header, arrays):
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("header.npy", npy(np.frombuffer(header, np.uint8)))
        for name, array in arrays.items():
            file.writestr(f"{name}.npy", npy(array))
    return path


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("flat", {"attention_window": 65_536, "width": 1024, "pool": "mean"}),
        ("flat", {"attention_window": 65_536, "width": 1024}),
        ("model", {"width": 16_384, "blocks": 0}),
        ("model", {"width": 16_384, "hidden": 65_536}),
        ("plain", {"width": 16_384, "blocks": 1000, "hidden": 1}),
        ("wide", {"heads": 1024}),
    ],
    ids=str,
)
def test_a_small_file_cannot_request_a_large_network(name, settings, artifacts, tmp_path):
    check_rejected(forged(tmp_path / "a.npz", artifacts[name], settings), "parameters", error=CorruptError)


def test_a_large_window_allocates_no_memory_in_advance(artifacts, tmp_path):
    specimens.use(forged(tmp_path / "a.npz", artifacts["model"], {"attention_window": 65_536}))


def test_memory_does_not_grow_with_the_square_of_the_labels(artifacts, tmp_path):
    count = 100_000
    none = np.zeros((0, count), np.float32)
    features = dict.fromkeys(("ratios", "slopes", "latent"), none)
    features |= {"ngrams": np.zeros(0, np.int64), "importance": np.zeros(0, np.float32)}
    features["bias"] = np.zeros(2 * count, np.float32)
    labels = {"labels": list(map(str, range(count))), "values": None}
    path = forged(tmp_path / "a.npz", artifacts["model"], (), labels, priors=np.full(count, 1 / count), **features)
    check_rejected(path, "parameters", error=CorruptError)


@pytest.mark.parametrize(
    "header",
    [
        b'{"format": 1, "details": ' + b"[" * 10**6,
        b'{"format": 1, "details": ' + b"[" * 500 + b"]" * 500 + b"}",
        b'{"format": ' + b"9" * 10**6 + b"}",
        b'{"format": 1, "kind": "' + b"x" * 10**6 + b'"}',
        b'{"format": NaN}',
        b'{"format": 1e999}',
        b'{"format": 1, "format": 1}',
    ],
    ids=["depth", "some-depth", "digits", "kind", "nan", "overflow", "twice"],
)
def test_a_header_that_is_not_strict_json(header, tmp_path):
    check_rejected(archive(tmp_path / "a.npz", header, {}), error=CorruptError)


def test_names_in_a_message_are_truncated(artifacts, tmp_path):
    header = Specimen(artifacts["model"]).header | {"arrays": ["x" * 10] * 100_000}
    check_rejected(archive(tmp_path / "a.npz", json.dumps(header).encode(), {}), error=CorruptError)


def test_an_error_message_is_one_line_and_one_hint(tmp_path):
    (tmp_path / "a.jsonl").write_text(json.dumps({"te\nnlptx: all is well": "a", "n": 1}) + "\n")
    with pytest.raises(DataError) as caught:
        texts(tmp_path / "a.jsonl")
    assert len(str(caught.value).splitlines()) == 2


def test_overlapping_entries(tmp_path):
    # Many names in the zip directory refer to the same bytes, so a small file could expand to any number of arrays.
    array = npy(np.zeros(1000))
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as file:
        file.writestr("x.npy", array)
        file.writestr("header.npy", array)
        first = file.filelist[0]
        for number in range(50):
            again = zipfile.ZipInfo(f"x{number}.npy")
            again.header_offset, again.CRC = first.header_offset, first.CRC
            again.file_size = again.compress_size = first.file_size
            file.filelist.append(again)
            file.NameToInfo[again.filename] = again
    with pytest.raises(CorruptError, match="larger than the file"):
        container.read(str(tmp_path / "a.npz"))
