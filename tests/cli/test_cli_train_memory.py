"""Tests of ``train --memory --tmp-dir``: same model, one message if temporary files fail, no files left behind."""

import subprocess

import pytest
from command import NLPTX, TIMEOUT, TRACEBACK, contents, environment, refused, run
from killing import ENCODE, FEATURES, STEP, signalled_at
from sample_data import TRAIN, make_rows, write_tsv

# With the smallest limit, texts of more than 4 MiB in total go to a temporary file. A long word makes the texts large.
LITTLE_MEMORY = ("--memory", "64M")
LONG_WORD = " " + "x" * 60_000


def large_table(folder, bad_row=None):
    rows = [(text + LONG_WORD, label) for text, label in make_rows(("neg", "pos"), 90, seed=2)]
    if bad_row is not None:
        rows[bad_row] = (rows[bad_row][0], "")
    return write_tsv(folder / "large.tsv", rows)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "spilled").mkdir()
    return tmp_path


def words_of(work, *more):
    return ("train", "large.tsv", "-e", work / "embeddings.npz", *TRAIN, *more, "-o", "out.npz")


LIMITED = (*LITTLE_MEMORY, "--tmp-dir", "spilled")


def test_the_limit_does_not_change_the_file(work, folder):
    large_table(folder)
    run(*words_of(work), cwd=folder)
    expected = (folder / "out.npz").read_bytes()
    run(*words_of(work, *LIMITED), cwd=folder)
    assert (folder / "out.npz").read_bytes() == expected
    assert contents(folder / "spilled") == {}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--memory", "10K"), "at least 64M"),
        (("--memory", "plenty"), "not a size"),
        (("--tmp-dir", "nowhere"), "does not exist"),
    ],
)
def test_invalid_memory_options(options, message, work, folder):
    large_table(folder)
    refused(*words_of(work, *options), code=2, says=message, cwd=folder, untouched=folder)


@pytest.mark.parametrize(
    ("point", "name"),
    [(ENCODE, "SIGINT"), (ENCODE, "SIGKILL"), (FEATURES, "SIGTERM"), (STEP, "SIGINT"), (STEP, "SIGKILL")],
    ids=lambda value: value if isinstance(value, str) else value[2],
)
def test_a_signal_leaves_no_temporary_files(point, name, work, folder):
    large_table(folder)
    signalled_at([(point, 1, name)], *words_of(work, *LIMITED), cwd=folder)
    assert contents(folder / "spilled") == {}


def test_a_stopped_run_can_be_resumed_with_another_limit(work, folder):
    large_table(folder)
    run(*words_of(work), cwd=folder)
    expected = (folder / "out.npz").read_bytes()
    signalled_at([(STEP, 2, "SIGTERM")], *words_of(work), cwd=folder)
    assert "out.npz.checkpoint" in contents(folder)
    run(*words_of(work, *LIMITED, "--resume"), cwd=folder)
    assert (folder / "out.npz").read_bytes() == expected


def test_a_bad_row_in_the_middle_is_named(work, folder):
    large_table(folder, bad_row=80)
    refused(*words_of(work, *LIMITED), code=3, says="large.tsv:82: the label is missing", cwd=folder)
    assert contents(folder / "spilled") == {}


def test_a_full_disk_is_one_message(work, folder):
    large_table(folder)
    done = subprocess.run(
        ["bash", "-c", 'ulimit -f 2000; exec "$@"', "bash", *NLPTX, *map(str, words_of(work, *LIMITED, "-q"))],
        capture_output=True,
        cwd=folder,
        env=environment(),
        check=False,
        text=True,
        timeout=TIMEOUT,
    )
    assert done.returncode == 1
    assert TRACEBACK not in done.stderr
    assert "temporary files cannot be written: the disk is full" in done.stderr
    assert len(done.stderr.splitlines()) == 2, done.stderr
    assert "--tmp-dir" in done.stderr
    assert set(contents(folder)) == {"large.tsv"}
