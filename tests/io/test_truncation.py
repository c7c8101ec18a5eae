"""A file that is truncated while it is read causes an error that names it; data that is added meanwhile is read too."""

import gzip
import os
import random
import sys

import pytest
from calling import call
from command import contents
from sample_data import COUNT

from nlptx.cli.main import run_command
from nlptx.errors import DataError
from nlptx.io import truncation
from nlptx.io.truncation import open_detecting_truncation

SIZE, FIRST = 1 << 20, 1 << 16
PAIRS = 8000
DATA = bytes(range(256)) * (SIZE // 256)


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "text.txt"
    path.write_bytes(DATA)
    return path


# ---------------------------------------------------------------- open_detecting_truncation


def read_blocks(file):
    return b"".join(iter(lambda: file.read(FIRST), b""))


def read_lines(file):
    return b"".join(file)


READERS = [lambda file: file.read(), read_blocks, read_lines]
READER_NAMES = ["single read", "blocks", "lines"]


@pytest.mark.parametrize("read_rest", READERS, ids=READER_NAMES)
def test_a_file_is_read_to_its_end(read_rest, path):
    with open_detecting_truncation(str(path)) as file:
        assert file.read(FIRST) + read_rest(file) == DATA


@pytest.mark.parametrize("size", [0, 10, SIZE // 2, SIZE - 1])
@pytest.mark.parametrize("read_rest", READERS, ids=READER_NAMES)
def test_a_file_truncated_while_it_is_read_is_an_error(read_rest, size, path):
    with open_detecting_truncation(str(path)) as file:
        file.read(FIRST)
        os.truncate(path, size)
        with pytest.raises(
            DataError, match=f"cut short while it was read: it had {SIZE:,} .* now has {size:,}"
        ) as caught:
            read_rest(file)
    assert caught.value.where == str(path)


@pytest.mark.parametrize("read_rest", READERS, ids=READER_NAMES)
def test_a_file_truncated_after_it_has_been_read_is_not_an_error(read_rest, path):
    with open_detecting_truncation(str(path)) as file:
        assert read_rest(file) == DATA
        os.truncate(path, SIZE - 1)
        assert file.read() == b""


@pytest.mark.parametrize("read_rest", READERS, ids=READER_NAMES)
def test_a_file_that_grows_is_read_to_its_new_end(read_rest, path):
    with open_detecting_truncation(str(path)) as file:
        start = file.read(FIRST)
        with open(path, "ab") as more:
            more.write(b"more\n")
        assert start + read_rest(file) == DATA + b"more\n"


def test_errors_of_a_descriptor_use_the_given_name_and_it_stays_open(path):
    with open(path, "rb", buffering=0) as given:
        with open_detecting_truncation(given.fileno(), "<stdin>") as file:
            file.read(FIRST)
            os.truncate(path, FIRST)
            with pytest.raises(DataError, match=r"^<stdin>: ") as caught:
                file.read()
        assert caught.value.where == "<stdin>"
        assert os.fstat(given.fileno()).st_size == FIRST


@pytest.mark.parametrize("read_rest", READERS, ids=READER_NAMES)
def test_a_pipe_is_read_to_its_end(read_rest):
    reader, writer = os.pipe()
    os.write(writer, b"some text\n")
    os.close(writer)
    with os.fdopen(reader, "rb", buffering=0) as given, open_detecting_truncation(given.fileno(), "<stdin>") as file:
        assert read_rest(file) == b"some text\n"


# ---------------------------------------------------------------- commands


@pytest.fixture
def truncate_after_first_block(monkeypatch):
    """Truncate files of more than one block as soon as their first block has been read."""
    original = truncation._FileOfKnownSize.readinto

    def readinto(self, buffer):
        at_start = self.tell() == 0
        count = original(self, buffer)
        if at_start and count < self._size:
            os.truncate(os.readlink(f"/proc/self/fd/{self.fileno()}"), count + (self._size - count) // 2)
        return count

    monkeypatch.setattr(truncation._FileOfKnownSize, "readinto", readinto)


needs_proc = pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="no /proc here")


def write_input(path):
    """Write several blocks of text in the format that the suffix of the path implies."""
    separator = "," if path.suffix == ".csv" else "\t"
    texts = ["a great film and its story", "an awful film and its end"] * PAIRS
    if path.suffix == ".gz":
        rng = random.Random(1)  # random digits compress badly
        path.write_bytes(gzip.compress("".join(f"film {rng.getrandbits(200):x}\n" for _ in texts).encode()))
    elif path.suffix == ".txt":
        path.write_text("".join(f"{text}\n" for text in texts))
    else:
        rows = (f"{text}{separator}{label}\n" for text, label in zip(texts, ["pos", "neg"] * PAIRS, strict=True))
        path.write_text(f"text{separator}label\n" + "".join(rows))
    return path


def check_truncation_error(stderr, name):
    assert stderr.startswith(f"nlptx: error: {name}: the file was cut short while it was read: it had "), stderr
    assert stderr.count("nlptx:") == 1, stderr


@needs_proc
@pytest.mark.parametrize(
    ("command", "name"),
    [
        *((command, name) for command in ("cooccur", "predict") for name in ("texts.txt", "texts.csv", "texts.txt.gz")),
        *((command, name) for command in ("train", "evaluate") for name in ("texts.csv", "texts.tsv")),
    ],
)
def test_a_command_names_the_truncated_file(command, name, work, tmp_path, truncate_after_first_block):
    text, output = write_input(tmp_path / name), tmp_path / "out"
    output.write_bytes(b"old\n")
    words = {
        "cooccur": (*COUNT, "-q", "-o", output),
        "train": ("-e", work / "embeddings.npz", "--epochs", "1", "-q", "-o", output),
        "predict": ("-m", work / "model.npz", "-q", "-o", output),
        "evaluate": ("-m", work / "model.npz", "-q"),
    }[command]
    result = call(command, text, *words, "--jobs", "1", code=3)
    check_truncation_error(result.stderr, text)
    assert result.stdout == b""
    files = contents(tmp_path)
    assert files.pop("out") == b"old\n"
    assert list(files) == [name]


@needs_proc
@pytest.mark.parametrize("name", ["texts.txt", "texts.csv"])
def test_truncated_file_as_standard_input(name, model, tmp_path, truncate_after_first_block, monkeypatch, capsys):
    text = write_input(tmp_path / name)
    data_format = "csv" if name.endswith("csv") else "text"
    with open(text) as stdin:
        monkeypatch.setattr(sys, "stdin", stdin)
        words = ("predict", "-m", model, "--format", data_format, "-q", "-o", tmp_path / "out", "--jobs", "1")
        assert run_command(list(map(str, words))) == 3
    check_truncation_error(capsys.readouterr().err, "<stdin>")
    assert list(contents(tmp_path)) == [name]
