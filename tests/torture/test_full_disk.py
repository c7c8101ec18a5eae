"""A write that fails is told as a failure, in a few lines, and leaves the old file and no litter."""

import json
import os

import pytest
from command import NLPTX, TRACEBACK, contents
from harness import Target, amounts, broken, end, finish, seeded, start
from tally import Tally

STAGES = ("cooccur", "pca", "train", "predict")
ERRORS = {"ENOSPC": "the disk is full", "EDQUOT": "the disk is full", "EIO": "Input/output error", "EROFS": "Read-only"}
# Failing at these does no harm: without locks litter stays; and what is removed has been renamed already.
HARMLESS = ("flock", "unlink")


@pytest.fixture
def tally(request):
    return Tally(request, "full disk")


def refused(done, *says):
    """Check that the failure was told, briefly."""
    assert done.code == 1, f"exit {done.code}"
    assert TRACEBACK not in done.stderr, done.stderr
    assert 1 <= len(done.stderr.strip().splitlines()) <= 3, done.stderr
    for words in says:
        assert words in done.stderr, done.stderr


class Full(Target):
    """A target on a disk that fails."""

    def fail(self, name, steps, step, nlptx=None):
        """Let one step of the final write fail."""
        self.path.write_bytes(self.stage.old)
        self.tally.injected()
        fault = json.dumps({"step": step, "after": False, "do": name})
        done = end(start(*self.words, env=self.env, fault=fault, nlptx=nlptx))
        if steps[step] in HARMLESS:
            assert done.code == 0, done.stderr
            self.tally.same(self.path.read_bytes(), self.new, "success was told")
        elif step > steps.index("replace"):
            refused(done, ERRORS[name], "the new file is there")
            self.tally.same(self.path.read_bytes(), self.new, "the folder was not flushed")
        else:
            refused(done, ERRORS[name], "nothing was changed", str(self.path))
            self.tally.same(self.path.read_bytes(), self.stage.old, "nothing was written")
        self.clean()

    def limit(self, kilobytes):
        """Let no file grow beyond a size."""
        self.path.write_bytes(self.stage.old)
        self.tally.injected()
        shell = ["bash", "-c", f'ulimit -f {kilobytes}; exec "$@"', "bash"]
        refused(end(start(*self.words, env=self.env, nlptx=[*shell, *NLPTX])), "File too large", str(self.path))
        self.tally.same(self.path.read_bytes(), self.stage.old, "nothing was written")
        self.clean()

    def clean(self):
        # A training whose model has no room can go on from its checkpoint, when there is some.
        left = set(contents(self.folder)) - {f"{self.stage.output}.checkpoint"}
        assert left == {self.stage.output}, "litter beside the target"
        assert contents(self.temporary) == {}, "litter in the temporary folder"
        self.tally.survived()


@pytest.mark.parametrize("stage", STAGES)
@amounts(quick=2, full=30)
def test_a_failure_inside_the_final_write(stage, amount, stages, tmp_path, tally):
    target, rng = Full(stages[stage], tmp_path, tally), seeded("failure", stage)
    names = target.steps()
    others = [step for step, name in enumerate(names) if name != "write"]
    writes = [step for step, name in enumerate(names) if name == "write"]
    for number in range(amount):
        step = writes[-1] if number == 0 else rng.choice(others if number % 2 else writes)
        target.fail(rng.choice(list(ERRORS)), names, step)


@pytest.mark.parametrize("stage", STAGES)
@amounts(quick=1, full=8)
def test_a_limit_of_the_system_on_the_size_of_files(stage, amount, stages, tmp_path, tally):
    target, rng = Full(stages[stage], tmp_path, tally), seeded("limit", stage)
    for _ in range(amount):
        target.limit(rng.randrange(len(target.new) // 1024))


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")
@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("output", ["-", "/dev/stdout", "/dev/full"])
def test_a_device_without_room(stage, output, stages, tally):
    tally.injected()
    with open("/dev/full", "wb") as full:
        stdout = {} if output == "/dev/full" else {"stdout": full}
        done = end(start(*stages[stage].words, "-q", "-o", output, **stdout))
    refused(done, "full" if output == "/dev/full" else "")
    assert "nothing was changed" not in done.stderr
    tally.survived()


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes everywhere")
@pytest.mark.parametrize("stage", STAGES)
def test_a_folder_without_the_right_to_write(stage, stages, tmp_path, tally):
    target = Full(stages[stage], tmp_path, tally)
    target.path.write_bytes(target.stage.old)
    target.folder.chmod(0o555)
    tally.injected()
    try:
        refused(end(start(*target.words)), "permission denied", str(target.path))
    finally:
        target.folder.chmod(0o755)
    tally.same(target.path.read_bytes(), target.stage.old)
    target.clean()


@pytest.mark.parametrize("stage", STAGES)
def test_adding_to_a_file_through_dev_stdout_keeps_what_is_there(stage, stages, tmp_path, tally):
    scores = tmp_path / "scores"
    scores.write_bytes(b"before\n")
    new = finish(*stages[stage].words, "-q", "-o", "-").stdout
    with open(scores, "ab") as file:
        finish(*stages[stage].words, "-q", "-o", "/dev/stdout", stdout=file)
    tally.same(scores.read_bytes(), b"before\n" + new, "the file added to")


# ---------------------------------------------------------------- the tests notice


@pytest.mark.parametrize(("defect", "says"), [("silent", "exit 0"), ("early", "exit|differ")])
def test_a_defect_is_noticed(defect, says, stages, tmp_path, tally):
    target = Full(stages["pca"], tmp_path, tally)
    names = target.steps()
    with pytest.raises(AssertionError, match=says):
        target.fail("ENOSPC", names, names.index("write") + 1, nlptx=broken(defect))
