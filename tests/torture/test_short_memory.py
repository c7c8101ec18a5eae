"""Under any address-space limit, a command either succeeds or ends quickly with a single error message."""

import subprocess

import pytest
from command import NLPTX, contents
from harness import SCALE, broken, end, start, torture
from short_memory import check_shortage_message, limited, linux_only
from tally import Tally

pytestmark = linux_only
# Limits in MB. The lowest limit does not suffice to import NumPy; the highest one suffices for every command.
MIN_MB, MAX_MB = 100, 1000
STEPS = (MAX_MB - MIN_MB) // 25
MAX_SECONDS = 60
COMMANDS = ("--help", "cooccur", "pca", "train", "predict", "evaluate", "neighbors", "explain", "info")
OUTPUT, OLD = "out", b"the work of last week\n"


@pytest.fixture
def tally(request):
    return Tally(request, "short memory")


def limits(steps):
    """Return evenly spaced limits, in MB."""
    return [MIN_MB + (MAX_MB - MIN_MB) * number // steps for number in range(steps + 1)]


def words_of(command, stages):
    """Return the arguments of a command that reads little data and always has two workers."""
    if command in stages:
        return (*stages[command].words, "--jobs", "2", "-q", "-o", OUTPUT)
    folder = stages["train"].words[1].parent
    return {
        "--help": ("--help",),
        "evaluate": ("evaluate", folder / "train.tsv", "-m", folder / "model.npz", "--jobs", "2", "-q"),
        "neighbors": ("neighbors", folder / "embeddings.npz", "w1"),
        "explain": ("explain", "w1 w2 pos1", "-m", folder / "model.npz"),
        "info": ("info", folder / "model.npz"),
        "compare": ("compare", folder / "model.npz", "bundled", folder / "train.tsv", "--jobs", "2", "-q"),
        "check": ("check", folder / "train.tsv", "--jobs", "2", "-q"),
    }[command]


def run_in(folder, words, tally, nlptx=None, timeout=MAX_SECONDS):
    """Run a command that replaces an old file and must leave no other; return how it ended, and the file's bytes."""
    here, temporary = folder / "here", folder / "tmp"
    for path in (here, temporary):
        path.mkdir(exist_ok=True)
    (here / OUTPUT).write_bytes(OLD)
    tally.ran()
    done = end(start(*words, nlptx=nlptx, cwd=here, env={"TMPDIR": str(temporary)}), timeout)
    assert set(contents(folder)) == {f"here/{OUTPUT}"}, "temporary files are left"
    assert done.orphans == []
    return done, (here / OUTPUT).read_bytes()


def sweep(command, limits_in_mb, stages, folder, tally, nlptx=None, timeout=MAX_SECONDS):
    """Run a command under each limit; whenever it succeeds, its output must be the same as without a limit."""
    words = words_of(command, stages)
    unlimited, new = run_in(folder, words, tally, nlptx)
    assert unlimited.code == 0, unlimited.stderr
    sufficient = []
    for megabytes in limits_in_mb:
        tally.injected()
        done, output = run_in(folder, words, tally, limited(megabytes, nlptx or NLPTX), timeout)
        assert done.code in (0, 1), f"exit {done.code} at {megabytes} MB: {done.stderr}"
        if done.code == 0:
            sufficient.append(megabytes)
            tally.same(output, new, f"{command} at {megabytes} MB")
            tally.same(done.stdout, unlimited.stdout, f"standard output of {command} at {megabytes} MB")
            assert done.stderr == unlimited.stderr
        else:
            check_shortage_message(done.stderr)
            tally.same(output, OLD, f"{command} at {megabytes} MB")
            assert done.stdout == b"", f"incomplete output at {megabytes} MB"
        tally.survived()
    tally.note(f"{command}: succeeds with {', '.join(map(str, sufficient)) or 'none'} MB")


@pytest.mark.parametrize(
    ("command", "amount"),
    [
        pytest.param("train", 1, id="quick"),
        *(torture(command, max(1, round(STEPS * SCALE)), id=command) for command in COMMANDS),
    ],
)
def test_every_limit_of_the_address_space(command, amount, stages, tmp_path, tally):
    sweep(command, limits(amount), stages, tmp_path, tally)


# ---------------------------------------------------------------- the tests detect defects


@pytest.mark.torture
def test_wrong_message_is_detected(stages, tmp_path, tally):
    with pytest.raises(AssertionError, match="unexpected MemoryError"):
        sweep("info", [150], stages, tmp_path, tally, nlptx=broken("misreports_memory_error"))


@pytest.mark.torture
def test_command_that_does_not_end_is_detected(stages, tmp_path, tally):
    with pytest.raises(subprocess.TimeoutExpired):
        sweep("info", [150], stages, tmp_path, tally, nlptx=broken("waits_forever"), timeout=1)
