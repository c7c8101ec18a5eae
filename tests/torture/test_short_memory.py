"""Whatever the limit of the address space: the work is done, or there is one message, and soon."""

import subprocess

import pytest
from command import NLPTX, contents
from harness import amounts, broken, end, start
from short_memory import check_shortage_message, limited, linux_only
from tally import Tally

pytestmark = linux_only
# In MB: too little for NumPy, and enough for everything.
LOWEST, HIGHEST = 100, 1000
STEPS = (HIGHEST - LOWEST) // 25
SOON = 60
OUTPUT, OLD = "out", b"the work of last week\n"


@pytest.fixture
def tally(request):
    return Tally(request, "short memory")


def limits(steps):
    """Return the limits of a sweep, in MB, the same distance apart."""
    return [LOWEST + (HIGHEST - LOWEST) * number // steps for number in range(steps + 1)]


def words_of(command, stages):
    """Return a command that works on little data. Two workers, so that the number of cores makes no difference."""
    if command in stages:
        return (*stages[command].words, "--jobs", "2", "-q", "-o", OUTPUT)
    folder = stages["train"].words[1].parent
    return {
        "--help": ("--help",),
        "evaluate": ("evaluate", folder / "train.tsv", "-m", folder / "model.npz", "--jobs", "2", "-q"),
        "neighbors": ("neighbors", folder / "embeddings.npz", "w1"),
        "explain": ("explain", "w1 w2 pos1", "-m", folder / "model.npz"),
        "info": ("info", folder / "model.npz"),
    }[command]


def run_in(folder, words, tally, nlptx=None, soon=SOON):
    """Run where there is an output of last week; return how it ended, and the output. Nothing else may be left."""
    here, temporary = folder / "here", folder / "tmp"
    for path in (here, temporary):
        path.mkdir(exist_ok=True)
    (here / OUTPUT).write_bytes(OLD)
    tally.ran()
    done = end(start(*words, nlptx=nlptx, cwd=here, env={"TMPDIR": str(temporary)}), soon)
    assert set(contents(folder)) == {f"here/{OUTPUT}"}, "litter"
    assert done.orphans == []
    return done, (here / OUTPUT).read_bytes()


def sweep(command, given, stages, folder, tally, nlptx=None, soon=SOON):
    """Run a command under each limit; what it gives must be what it gives without one."""
    words = words_of(command, stages)
    whole, new = run_in(folder, words, tally, nlptx)
    assert whole.code == 0, whole.stderr
    enough = []
    for megabytes in given:
        tally.injected()
        done, output = run_in(folder, words, tally, limited(megabytes, nlptx or NLPTX), soon)
        assert done.code in (0, 1), f"exit {done.code} at {megabytes} MB: {done.stderr}"
        if done.code == 0:
            enough.append(megabytes)
            tally.same(output, new, f"{command} at {megabytes} MB")
            tally.same(done.stdout, whole.stdout, f"what {command} prints at {megabytes} MB")
            assert done.stderr == whole.stderr
        else:
            check_shortage_message(done.stderr)
            tally.same(output, OLD, f"{command} at {megabytes} MB")
            assert done.stdout == b"", f"half an answer at {megabytes} MB"
        tally.survived()
    tally.note(f"{command}: enough at {', '.join(map(str, enough)) or 'none'} MB")


@pytest.mark.parametrize(
    "command", ["--help", "cooccur", "pca", "train", "predict", "evaluate", "neighbors", "explain", "info"]
)
@amounts(quick=1, full=STEPS)
def test_every_limit_of_the_address_space(command, amount, stages, tmp_path, tally):
    sweep(command, limits(amount), stages, tmp_path, tally)


# ---------------------------------------------------------------- the tests notice


def test_another_message_is_noticed(stages, tmp_path, tally):
    with pytest.raises(AssertionError, match="unexpected MemoryError"):
        sweep("info", [150], stages, tmp_path, tally, nlptx=broken("puzzled"))


def test_a_command_that_does_not_end_is_noticed(stages, tmp_path, tally):
    with pytest.raises(subprocess.TimeoutExpired):
        sweep("info", [150], stages, tmp_path, tally, nlptx=broken("endless"), soon=1)
