"""A command with too little memory ends quickly with one error message, and leaves no files behind."""

import errno
import subprocess

import pytest
from calling import call
from command import TIMEOUT, contents, environment
from sample_data import COUNT, PCA, TRAIN
from short_memory import check_shortage_message, limited, linux_only, options_in

from nlptx.cli.main import COMMANDS
from nlptx.cli.shortage import describe_shortage

# Commands, and address-space limits in MB that are too low for them on any machine. Python needs only 60 MB to start.
# init is not listed, because it computes nothing and therefore succeeds. At higher limits, commands fail later, when
# SciPy is loaded or workers are started. Some versions of NumPy and SciPy need less memory than others: with some,
# predict succeeds with 120 MB, pca with 170 MB, and train with 180 MB. Up to 30 MB below the limit at which a command
# succeeds, OpenBLAS may end the process with a message of its own.
LIMITS = [
    *((command, 90) for command in COMMANDS if command != "init"),
    ("pca", 120),
    ("train", 110),
    ("train", 130),
]


def words_of(command, work):
    """Return the arguments of a command with little data; output files are in the working folder."""
    return {
        "cooccur": ("cooccur", work / "corpus.txt", *COUNT, "-q", "-o", "out"),
        "merge": ("merge", work / "cooccur.npz", "-q", "-o", "out"),
        "pca": ("pca", work / "cooccur.npz", *PCA, "-q", "-o", "out"),
        "train": ("train", work / "train.tsv", "-e", work / "embeddings.npz", *TRAIN, "-q", "-o", "out"),
        "predict": ("predict", work / "test.tsv", "-m", work / "model.npz", "-q", "-o", "out"),
        "evaluate": ("evaluate", work / "test.tsv", "-m", work / "model.npz"),
        "neighbors": ("neighbors", work / "embeddings.npz", "film"),
        "explain": ("explain", "a great film", "-m", work / "model.npz"),
        "info": ("info", work / "model.npz"),
        "compare": ("compare", work / "model.npz", "bundled", work / "test.tsv"),
        "crossvalidate": ("crossvalidate", work / "train.tsv", "-q"),
        "tune": ("tune", work / "train.tsv", "--minutes", "0.01", "-q", "-o", "out"),
        "check": ("check", work / "train.tsv"),
    }[command]


@linux_only
@pytest.mark.parametrize(("command", "megabytes"), LIMITS)
def test_a_command_without_enough_memory_reports_this_and_leaves_no_files(command, megabytes, work, tmp_path):
    for name in ("here", "tmp"):
        (tmp_path / name).mkdir()
    done = subprocess.run(
        [*limited(megabytes), *map(str, words_of(command, work))],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        cwd=tmp_path / "here",
        env=environment(TMPDIR=str(tmp_path / "tmp"), PYTHONDONTWRITEBYTECODE="1"),
        check=False,
        text=True,
        timeout=TIMEOUT,
    )
    assert (done.returncode, done.stdout) == (1, ""), done.stderr
    check_shortage_message(done.stderr)
    assert f"(ulimit -v: {megabytes} MB)" in done.stderr
    assert options_in(done.stderr) <= options_in(call(command, "--help").text)
    assert contents(tmp_path) == {}


# ---------------------------------------------------------------- errors that mean a lack of memory

LOADER = "libscipy_openblas.so: failed to map segment from shared object"


def raised_from(cause):
    """Return an error with an explicit cause (``raise ... from``)."""
    error = ValueError("cannot be used")
    error.__cause__ = cause
    return error


def raised_while_handling(context):
    """Return an error that was raised while another error was handled."""
    error = ValueError("cannot be used")
    error.__context__ = context
    return error


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        OSError(errno.ENOMEM, "Cannot allocate memory"),
        OSError(errno.ENOMEM, "Cannot allocate memory", "corpus.txt"),
        ImportError(LOADER),
        ImportError("libm.so.6: cannot map zero-fill pages: Cannot allocate memory"),
        raised_from(MemoryError()),
        raised_from(ImportError(LOADER)),
        raised_while_handling(OSError(errno.ENOMEM, "Cannot allocate memory")),
    ],
    ids=repr,
)
def test_an_error_that_means_a_lack_of_memory(error):
    assert describe_shortage(error, "predict").startswith("out of memory")


@pytest.mark.parametrize("limit", [None, 150 << 20])
def test_c_code_that_fails_without_an_exception_lacks_memory_if_there_is_a_limit(limit, monkeypatch):
    monkeypatch.setattr("nlptx.cli.shortage.address_space_limit", lambda: limit)
    message = describe_shortage(SystemError("error return without exception set"), "info")
    assert (message or "").startswith("out of memory") == (limit is not None)


def test_a_thread_that_cannot_be_started():
    message = describe_shortage(RuntimeError("can't start new thread"), "predict")
    assert message.startswith("no thread can be started")


@pytest.mark.parametrize(
    "error",
    [
        ValueError("out of memory"),
        RuntimeError("something else"),
        OSError(errno.ENOSPC, "No space left on device"),
        OSError(errno.ENOENT, "No such file or directory"),
        ImportError("No module named 'scipy'"),
        ModuleNotFoundError("No module named 'pyarrow'"),
        KeyError("word"),
        raised_from(ValueError("a cause")),
    ],
    ids=repr,
)
def test_an_error_that_means_something_else(error):
    assert describe_shortage(error, "predict") is None


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("limit", [None, 150 << 20])
def test_the_advice_names_only_options_that_the_command_has(limit, command, monkeypatch):
    monkeypatch.setattr("nlptx.cli.shortage.address_space_limit", lambda: limit)
    message = describe_shortage(MemoryError(), command)
    assert options_in(message) <= options_in(call(command, "--help").text)
    assert ("raise the limit" in message) == ("ulimit -v: 150 MB" in message) == (limit is not None)
    assert len(message.splitlines()) == 2


def test_without_a_command_the_advice_names_no_option():
    assert options_in(describe_shortage(MemoryError(), None)) == set()
