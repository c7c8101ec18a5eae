"""The same text yields the same bytes for every number of jobs, hash seed and kind of input."""

import gzip
import itertools
import subprocess

import pytest
from harness import COUNT, PCA, SCALE, TRAIN, broken, finish, torture, write_corpus
from tally import Tally

JOBS, HASH_SEEDS, SOURCES = (1, 2, 4), (0, 1, 2), ("file", "pipe", "pieces", "gzip")
GRID = list(itertools.product(SOURCES, JOBS, HASH_SEEDS))
# These combinations use each number of jobs and each hash seed once.
DIAGONAL = [("pipe", 2, 0), ("pieces", 4, 1), ("gzip", 1, 2)]
# Size of the text in bytes. cooccur reads its text in several chunks and counts in several processes.
SIZES = {"cooccur": 9_000_000, "pca": 3_000_000, "train": 500_000, "predict": 600_000}


@pytest.fixture
def tally(request):
    return Tally(request, "same bytes")


def amounts(stage):
    scaled = max(20_000, round(SIZES[stage] * SCALE))
    quick = [pytest.param(stage, 20_000, DIAGONAL, id=f"quick-{stage}")] if stage in ("cooccur", "predict") else []
    return [*quick, torture(stage, scaled, GRID, id=f"full-{stage}")]


@pytest.fixture(scope="module")
def artifacts(tmp_path_factory):
    """A folder with embeddings and a model."""
    folder = tmp_path_factory.mktemp("artifacts")
    write_corpus(folder / "train.tsv", 30_000, seed=3, labels=("neg", "pos"))
    finish("cooccur", folder / "train.tsv", *COUNT, "-o", folder / "cooccur.npz")
    finish("pca", folder / "cooccur.npz", *PCA, "-o", folder / "embeddings.npz")
    finish("train", folder / "train.tsv", "-e", folder / "embeddings.npz", *TRAIN, "-o", folder / "model.npz")
    return folder


class Command:
    """A stage with input of a given size, which it can read from different sources."""

    def __init__(self, stage, size, artifacts, folder, tally):
        self.tally = tally
        if stage == "pca":
            corpus = write_corpus(folder / "corpus.txt", size, seed=4)
            self.input = folder / "cooccur.npz"
            finish("cooccur", corpus, *COUNT, "-o", self.input)
        else:
            self.input = folder / ("train.tsv" if stage == "train" else "corpus.txt")
            write_corpus(self.input, size, seed=5, labels=("neg", "pos") if stage == "train" else ())
        # A table from a pipe needs --input-format. A table from a file gets this option too, because the artifact
        # records all options.
        table = ("--input-format", "tsv")
        self.before, self.after = {
            "cooccur": (("cooccur",), COUNT),
            "pca": (("pca",), PCA),
            "train": (("train",), (*TRAIN, *table, "--batch", "128", "-e", artifacts / "embeddings.npz")),
            "predict": (("predict",), ("-m", artifacts / "model.npz")),
        }[stage]
        self.sources = ("file", "pipe") if stage == "pca" else SOURCES
        self.gzipped = folder / f"{self.input.name}.gz"
        self.gzipped.write_bytes(gzip.compress(self.input.read_bytes()))
        self.pieces = self.cut(folder)

    def cut(self, folder):
        """Split the input into three files; if the input is a table, each file has a header."""
        header, *lines = self.input.read_bytes().splitlines(keepends=True)
        if self.input.suffix == ".txt":
            header, lines = b"", [header, *lines]
        pieces = [folder / f"piece{number}{self.input.suffix}" for number in range(3)]
        for number, piece in enumerate(pieces):
            first, last = number * len(lines) // 3, (number + 1) * len(lines) // 3
            piece.write_bytes(header + b"".join(lines[first:last]))
        return pieces

    def bytes(self, source, jobs, hash_seed, nlptx=None):
        """Return the output of the command."""
        self.tally.ran()
        inputs = {"file": [self.input], "pipe": ["-"], "pieces": self.pieces, "gzip": [self.gzipped]}[source]
        words = [*self.before, *inputs, *self.after, "-j", jobs, "-q", "-o", "-"]
        # Another hash seed needs a new interpreter, which takes longer to start than a fork.
        env = {} if hash_seed == "random" else {"PYTHONHASHSEED": str(hash_seed)}
        if source != "pipe":
            return finish(*words, env=env, nlptx=nlptx).stdout
        with subprocess.Popen(["cat", self.input], stdout=subprocess.PIPE) as cat:
            return finish(*words, env=env, nlptx=nlptx, stdin=cat.stdout).stdout


@pytest.mark.parametrize(("stage", "size", "grid"), [row for stage in SIZES for row in amounts(stage)])
def test_same_bytes(stage, size, grid, artifacts, tmp_path, tally):
    command = Command(stage, size, artifacts, tmp_path, tally)
    expected = command.bytes("file", 1, "random")
    assert len(expected) > size / 100
    for source, jobs, hash_seed in grid:
        if source in command.sources:
            tally.same(command.bytes(source, jobs, hash_seed), expected, f"{stage} {source} -j {jobs} seed {hash_seed}")


# ---------------------------------------------------------------- the tests detect defects


@pytest.mark.torture
@pytest.mark.parametrize("defect", ["unordered_words", "records_jobs"])
def test_defect_is_detected(defect, artifacts, tmp_path, tally):
    command = Command("cooccur", 20_000, artifacts, tmp_path, tally)
    expected = command.bytes("file", 1, 0, nlptx=broken(defect))
    with pytest.raises(AssertionError, match="differ"):
        tally.same(command.bytes("file", 2, 1, nlptx=broken(defect)), expected)
