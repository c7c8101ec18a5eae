"""A failed write is reported in a few lines, keeps the old file, and leaves no temporary files."""

import json
import os

import pytest
from command import NLPTX, TRACEBACK, contents
from harness import Target, amounts, broken, end, finish, seeded, start
from tally import Tally

STAGES = ("cooccur", "pca", "train", "predict")
ERRORS = {"ENOSPC": "the disk is full", "EDQUOT": "the disk is full", "EIO": "Input/output error", "EROFS": "Read-only"}
# Failures of these calls are harmless: locks only protect temporary files from deletion, and the temporary file that
# is unlinked at the end has already been renamed.
HARMLESS = ("flock", "unlink")


@pytest.fixture
def tally(request):
    return Tally(request, "full disk")


def check_error(done, *parts):
    """Check that the command failed with a short message that contains ``parts``."""
    assert done.code == 1, f"exit {done.code}"
    assert TRACEBACK not in done.stderr, done.stderr
    assert 1 <= len(done.stderr.strip().splitlines()) <= 3, done.stderr
    for part in parts:
        assert part in done.stderr, done.stderr


class FailingTarget(Target):
    """A target whose writes fail."""

    def fail(self, name, steps, step, nlptx=None):
        """Make one step of the final write fail with the error ``name``."""
        self.path.write_bytes(self.stage.old)
        self.tally.injected()
        fault = json.dumps({"step": step, "after": False, "do": name})
        done = end(start(*self.words, env=self.env, fault=fault, nlptx=nlptx))
        if steps[step] in HARMLESS:
            assert done.code == 0, done.stderr
            self.tally.same(self.path.read_bytes(), self.new, "success was reported")
        elif step > steps.index("replace"):
            check_error(done, ERRORS[name], "the new file is in place")
            self.tally.same(self.path.read_bytes(), self.new, "the folder was not flushed")
        else:
            check_error(done, ERRORS[name], "nothing was changed", str(self.path))
            self.tally.same(self.path.read_bytes(), self.stage.old, "nothing was written")
        self.check_no_leftovers()

    def limit(self, kilobytes):
        """Run the stage with a limit on the size of files; the write must fail and change nothing."""
        self.path.write_bytes(self.stage.old)
        self.tally.injected()
        shell = ["bash", "-c", f'ulimit -f {kilobytes}; exec "$@"', "bash"]
        check_error(end(start(*self.words, env=self.env, nlptx=[*shell, *NLPTX])), "File too large", str(self.path))
        self.tally.same(self.path.read_bytes(), self.stage.old, "nothing was written")
        self.check_no_leftovers()

    def check_no_leftovers(self):
        # If the model of a training run cannot be written, its checkpoint is kept, so that the run can be resumed. The
        # next run renames the checkpoint.
        checkpoint = f"{self.stage.output}.checkpoint"
        names = set(contents(self.folder)) - {checkpoint, f"{checkpoint}.old"}
        assert names == {self.stage.output}, "temporary files beside the target"
        assert contents(self.temporary) == {}, "files left in the temporary folder"
        self.tally.survived()


@pytest.mark.parametrize("stage", STAGES)
@amounts(quick=2, full=30)
def test_failure_during_the_final_write(stage, amount, stages, tmp_path, tally):
    target, rng = FailingTarget(stages[stage], tmp_path, tally), seeded("failure", stage)
    names = target.steps()
    others = [step for step, name in enumerate(names) if name != "write"]
    writes = [step for step, name in enumerate(names) if name == "write"]
    for number in range(amount):
        step = writes[-1] if number == 0 else rng.choice(others if number % 2 else writes)
        target.fail(rng.choice(list(ERRORS)), names, step)


@pytest.mark.parametrize("stage", STAGES)
@amounts(quick=1, full=8)
def test_file_size_limit_of_the_system(stage, amount, stages, tmp_path, tally):
    target, rng = FailingTarget(stages[stage], tmp_path, tally), seeded("limit", stage)
    for _ in range(amount):
        target.limit(rng.randrange(len(target.new) // 1024))


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")
@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("output", ["-", "/dev/stdout", "/dev/full"])
def test_full_device(stage, output, stages, tally):
    tally.injected()
    with open("/dev/full", "wb") as full:
        stdout = {} if output == "/dev/full" else {"stdout": full}
        done = end(start(*stages[stage].words, "-q", "-o", output, **stdout))
    check_error(done, "full" if output == "/dev/full" else "")
    assert "nothing was changed" not in done.stderr
    tally.survived()


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes everywhere")
@pytest.mark.parametrize("stage", STAGES)
def test_folder_without_write_permission(stage, stages, tmp_path, tally):
    target = FailingTarget(stages[stage], tmp_path, tally)
    target.path.write_bytes(target.stage.old)
    target.folder.chmod(0o555)
    tally.injected()
    try:
        check_error(end(start(*target.words)), "permission denied", str(target.path))
    finally:
        target.folder.chmod(0o755)
    tally.same(target.path.read_bytes(), target.stage.old)
    target.check_no_leftovers()


@pytest.mark.parametrize("stage", STAGES)
def test_appending_through_dev_stdout_keeps_earlier_content(stage, stages, tmp_path, tally):
    scores = tmp_path / "scores"
    scores.write_bytes(b"before\n")
    new = finish(*stages[stage].words, "-q", "-o", "-").stdout
    with open(scores, "ab") as file:
        finish(*stages[stage].words, "-q", "-o", "/dev/stdout", stdout=file)
    tally.same(scores.read_bytes(), b"before\n" + new, "the appended file")


# ---------------------------------------------------------------- the tests detect defects


@pytest.mark.torture
@pytest.mark.parametrize(("defect", "message"), [("ignores_full_disk", "exit 0"), ("renames_too_early", "exit|differ")])
def test_defect_is_detected(defect, message, stages, tmp_path, tally):
    target = FailingTarget(stages["pca"], tmp_path, tally)
    names = target.steps()
    with pytest.raises(AssertionError, match=message):
        target.fail("ENOSPC", names, names.index("write") + 1, nlptx=broken(defect))
