"""Python's audit events show that no command opens a connection, starts another program or unpickles foreign data."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from calling import call
from command import NLPTX, environment
from sample_data import COUNT, PCA, TRAIN

HOOK = Path(__file__).parents[1] / "helpers" / "audit"
# Libraries that the commands may load: the C library, and the linear algebra libraries that threadpoolctl asks for
# their number of threads.
LIBRARIES = re.compile(
    r"None|.*\b(lib(scipy_)?openblas|libmkl|libblis|libflexiblas|libgomp|libomp|libiomp|vcomp|libc\.)[^/]*"
)

COMMANDS = [
    ("--help",),
    ("cooccur", "corpus.txt", *COUNT, "-o", "{out}/c.npz"),
    ("cooccur", "{out}/packed.txt.gz", *COUNT, "-o", "{out}/c.npz"),
    ("cooccur", "corpus.txt", *COUNT, "--shard", "1/1", "-o", "{out}/part.npz"),
    ("merge", "{out}/part.npz", "-o", "{out}/c.npz"),
    ("pca", "cooccur.npz", *PCA, "-o", "{out}/e.npz"),
    ("pca", "cooccur.npz", *PCA, "-o", "{out}/e.txt"),
    ("train", "train.tsv", "-e", "embeddings.npz", *TRAIN, "-o", "{out}/m.npz"),
    ("predict", "-m", "model.npz", "test.tsv"),
    ("predict", "test.tsv", "-o", "{out}/scores.tsv"),
    ("evaluate", "-m", "model.npz", "test.tsv"),
    (
        "crossvalidate",
        "train.tsv",
        "--folds",
        "2",
        "--epochs",
        "1",
        "--width",
        "8",
        "--predictions",
        "{out}/predictions.csv",
    ),
    ("tune", "train.tsv", "--folds", "2", "--epochs", "1", "--minutes", "0.02", "-o", "{out}/tuned.toml"),
    ("check", "train.tsv"),
    ("compare", "model.npz", "{out}/copy.npz", "test.tsv"),
    ("init", "{out}/experiment", "train.tsv", "test.tsv"),
    ("neighbors", "embeddings.npz", "great"),
    ("explain", "-m", "model.npz", "great film"),
    ("info", "model.npz"),
]


def audited(words, tmp_path, cwd=None):
    """Run a program with the audit hook; return the finished process and the lines of the log."""
    log = tmp_path / "log"
    paths = os.pathsep.join(filter(None, [str(HOOK), os.environ.get("PYTHONPATH")]))
    env = environment(PYTHONPATH=paths, AUDIT_LOG=str(log))
    done = subprocess.run(
        words, capture_output=True, text=True, cwd=cwd, env=env, check=False, stdin=subprocess.DEVNULL
    )
    return done, log.read_text().splitlines()


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: " ".join(words[:2]))
def test_a_command_raises_no_forbidden_audit_event(words, work, tmp_path):
    import gzip

    (tmp_path / "packed.txt.gz").write_bytes(gzip.compress((work / "corpus.txt").read_bytes()))
    (tmp_path / "copy.npz").write_bytes((work / "model.npz").read_bytes())
    if words[0] == "merge":
        call("cooccur", work / "corpus.txt", *COUNT, "--shard", "1/1", "-o", tmp_path / "part.npz", "-q")
    done, log = audited([*NLPTX, *(word.format(out=tmp_path) for word in words)], tmp_path, cwd=work)
    assert done.returncode == 0, done.stderr
    assert log[0] == "watching"
    assert not [line for line in log if line.startswith("refused")]
    if words[0] not in ("cooccur", "train", "predict", "evaluate", "compare", "crossvalidate", "tune"):
        assert not {"forked", "exchanged"} & set(log)
    opened = {line.removeprefix("opened ") for line in log if line.startswith("opened ")}
    assert all(LIBRARIES.fullmatch(name) for name in opened), opened


@pytest.mark.parametrize(
    ("code", "event"),
    [
        ("import socket; socket.create_connection(('127.0.0.1', 9))", "socket.getaddrinfo"),
        ("import socket; socket.socket()", "socket.__new__"),
        ("import urllib.request; urllib.request.urlopen('http://localhost:9')", "urllib.Request"),
        ("import os; os.system('true')", "os.system"),
        ("import subprocess; subprocess.run(['true'])", "subprocess.Popen"),
        ("import os; os.execv('/bin/true', ['true'])", "os.exec"),
        ("import pickle, io; pickle.loads(pickle.dumps(io.BytesIO))", "pickle.find_class"),
    ],
    ids=lambda value: value if "." in value and " " not in value else "",
)
def test_the_hook_detects_forbidden_events(code, event, tmp_path):
    done, log = audited([sys.executable, "-c", code], tmp_path)
    assert done.returncode == 1
    assert f"refused: {event}" in done.stderr
    assert f"refused {event}" in log


def test_an_unknown_library_is_detected(tmp_path):
    _, log = audited([sys.executable, "-c", "import ctypes; ctypes.CDLL('./evil.so')"], tmp_path)
    assert "opened ./evil.so" in log
    assert not LIBRARIES.fullmatch("./evil.so")
