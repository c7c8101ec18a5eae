"""Small valid corpora in all formats, and functions that read them completely; used by the fuzz tests."""

import bz2
import csv
import gzip
import io
import json
import lzma
import tarfile

from nlptx.corpus.corpus import Corpus
from nlptx.corpus.read_options import ReadOptions
from nlptx.embeddings.embeddings import Embeddings

ROWS = [('Good, "very" good\'s\nfilm', "pos"), ("schlecht 坏 \u202e\0", "neg"), ("", "pos"), ("a\tb " * 30, "5")]
PACKERS = {"gz": lambda data: gzip.compress(data, mtime=0), "bz2": bz2.compress, "xz": lzma.compress}


def _table():
    with io.StringIO(newline="") as out:
        csv.writer(out).writerows([("text", "label"), *ROWS])
        return out.getvalue().encode()


def _archive(form):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=form) as archive:
        for number, (text, label) in enumerate(ROWS):
            member = tarfile.TarInfo(f"{'films/' * 30}{label}/{number}é.txt")
            member.size = len(text.encode())
            archive.addfile(member, io.BytesIO(text.encode()))
            link = tarfile.TarInfo(f"{label}/link{number}.txt")
            link.type, link.linkname = tarfile.SYMTYPE, "../../etc/passwd"
            archive.addfile(link)
    return out.getvalue()


def corpora():
    """Return the bytes of each corpus by file name."""
    flat = [(" ".join(text.split()), label) for text, label in ROWS]
    made = {
        "a.txt": "".join(f"{text}\n" for text, _ in flat).encode(),
        "a.csv": _table(),
        "a.tsv": "".join(f"{text}\t{label}\n" for text, label in [("text", "label"), *flat]).encode(),
        "a.jsonl": "".join(
            json.dumps({"text": t, "label": y, "x": [1.5, {"k": None}]}) + "\n" for t, y in ROWS
        ).encode(),
        "pax.tar": _archive(tarfile.PAX_FORMAT),
        "gnu.tar": _archive(tarfile.GNU_FORMAT),
    }
    packed = {f"{name}.{suffix}": pack(data) for name, data in made.items() for suffix, pack in PACKERS.items()}
    two = {f"two.txt.{suffix}": pack(made["a.txt"]) + pack(b"the end\n") for suffix, pack in PACKERS.items()}
    return made | packed | two


def documents(path):
    """Read a corpus of any format, and check the invariants of every document."""
    corpus = Corpus([str(path)], ReadOptions())
    pairs = []
    for document in corpus:
        assert isinstance(document.text, str)
        assert document.label is None or (document.label and document.label == " ".join(document.label.split()))
        assert document.where.startswith(str(path))
        pairs.append((document.text, document.label))
    assert len(corpus.sha256) == 64
    return pairs


def vectors(path):
    """Read word vectors from text, and compute nearest neighbours."""
    embeddings = Embeddings.from_word2vec(path)
    word = embeddings.vocabulary.words[0]
    embeddings.nearest(word.lower() if embeddings.vocabulary.tokenizer.lowercase else word)
    return embeddings
