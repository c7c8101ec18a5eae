"""Writing: the old file or the new one, never half of one, and nothing left lying about."""

import errno
import io
import os
import stat

import pytest

from nlptx import output
from nlptx.errors import OutputError
from nlptx.output import atomic_output, check_writable

# Larger than any process id can be, so its process is surely gone.
DEAD = 2**30


@pytest.fixture
def path(tmp_path):
    """A file with old content in a folder of its own."""
    path = tmp_path / "out.npz"
    path.write_bytes(b"old")
    return path


def put(path, content=b"new"):
    with atomic_output(str(path)) as file:
        file.write(content)


def put_half(path, error):
    """Begin to write, then fail."""
    with atomic_output(str(path)) as file:
        file.write(b"half")
        raise error


def names(folder):
    return sorted(entry.name for entry in folder.iterdir())


def test_the_file_is_replaced_when_the_block_ends(path):
    with atomic_output(str(path)) as file:
        file.write(b"new")
        file.flush()
        assert path.read_bytes() == b"old"
    assert path.read_bytes() == b"new"
    assert names(path.parent) == ["out.npz"]


def test_a_relative_name_is_enough(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    put("out.npz")
    assert names(tmp_path) == ["out.npz"]


@pytest.mark.parametrize("error", [ValueError("x"), KeyboardInterrupt(), SystemExit(1), BrokenPipeError()])
def test_an_error_in_the_block_leaves_the_old_file_and_no_litter(path, error):
    with pytest.raises(type(error)):
        put_half(path, error)
    assert path.read_bytes() == b"old"
    assert names(path.parent) == ["out.npz"]


# ---------------------------------------------------------------- a full disk


class FullDisk(io.FileIO):
    """Has room for ten bytes."""

    def write(self, data):
        if self.tell() + len(data) > 10:
            super().write(data[: 10 - self.tell()])
            raise OSError(self.error, os.strerror(self.error))
        return super().write(data)


@pytest.mark.parametrize("error", [errno.ENOSPC, errno.EDQUOT])
def test_a_full_disk_leaves_the_old_file_and_no_litter(path, monkeypatch, error):
    monkeypatch.setattr(FullDisk, "error", error, raising=False)
    monkeypatch.setattr(output, "open", FullDisk, raising=False)
    with pytest.raises(OutputError, match="disk is full") as caught:
        put(path, b"more than ten bytes")
    assert caught.value.where == str(path)
    assert path.read_bytes() == b"old"
    assert names(path.parent) == ["out.npz"]


def test_a_disk_that_is_found_full_only_at_the_end(path, monkeypatch):
    def full(descriptor):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OutputError, match="disk is full"):
        put(path)
    assert path.read_bytes() == b"old"
    assert names(path.parent) == ["out.npz"]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no /dev/full")
@pytest.mark.parametrize("size", [1, 1_000_000])
def test_a_device_without_room(size):
    with pytest.raises(OutputError, match="disk is full"):
        put("/dev/full", b"x" * size)


def test_any_other_failure_of_the_system_is_told_with_its_reason(path, monkeypatch):
    def broken(descriptor):
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(os, "fsync", broken)
    with pytest.raises(OutputError, match="Input/output error"):
        put(path)
    assert path.read_bytes() == b"old"


# ---------------------------------------------------------------- where nothing can be written


def test_a_folder_is_refused(tmp_path):
    with pytest.raises(OutputError, match="folder"):
        put(tmp_path)


def test_a_folder_that_does_not_exist_is_refused_with_advice(tmp_path):
    with pytest.raises(OutputError, match="mkdir") as caught:
        put(tmp_path / "none" / "out.npz")
    assert str(tmp_path / "none") in str(caught.value)


def test_a_folder_that_may_not_be_written_is_refused(path, monkeypatch):
    # Asked through os.access, as a test that runs as root may write anywhere.
    monkeypatch.setattr(os, "access", lambda place, mode: False)
    with pytest.raises(OutputError, match="permission denied"):
        check_writable(str(path))


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes everywhere")
def test_a_read_only_folder_is_refused(path):
    path.parent.chmod(0o555)
    try:
        with pytest.raises(OutputError, match="permission denied"):
            put(path)
    finally:
        path.parent.chmod(0o755)
    assert path.read_bytes() == b"old"


def test_standard_output_is_always_writable():
    check_writable("-")


# ---------------------------------------------------------------- litter


def test_litter_of_dead_processes_is_removed(path):
    litter = [path.with_name(f".out.npz.{number}.tmp") for number in (DEAD, DEAD + 1)]
    for file in litter:
        file.touch()
    put(path)
    assert names(path.parent) == ["out.npz"]


@pytest.mark.parametrize("target", ["[a].npz", "a*.npz", "a?.npz"])
def test_litter_is_found_for_names_with_special_characters(tmp_path, target):
    path = tmp_path / target
    mine = path.with_name(f".{target}.{DEAD}.tmp")
    other = path.with_name(f".abc.npz.{DEAD}.tmp")
    mine.touch()
    other.touch()
    put(path)
    assert names(tmp_path) == sorted([other.name, target])


def test_files_of_running_processes_and_of_others_are_left(path):
    kept = [
        f".out.npz.{os.getppid()}.tmp",
        ".out.npz.tmp",
        ".out.npz.x.tmp",
        f".other.npz.{DEAD}.tmp",
        f"out.npz.{DEAD}.tmp",
        f".out.npz.{'9' * 40}.tmp",
    ]
    for name in kept:
        path.with_name(name).touch()
    put(path)
    assert names(path.parent) == sorted([*kept, "out.npz"])


# ---------------------------------------------------------------- what the old file was


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o644, 0o444])
def test_the_mode_of_the_old_file_is_kept(path, mode):
    path.chmod(mode)
    put(path)
    assert stat.S_IMODE(path.stat().st_mode) == mode
    assert path.read_bytes() == b"new"


def test_a_symbolic_link_stays_one_and_its_target_is_replaced(path):
    folder = path.parent / "elsewhere"
    folder.mkdir()
    link = folder / "link.npz"
    link.symlink_to("../out.npz")
    put(link)
    assert link.is_symlink()
    assert path.read_bytes() == b"new"
    assert not path.is_symlink()
    assert names(folder) == ["link.npz"]


def test_a_symbolic_link_to_nothing_yet_makes_its_target(tmp_path):
    link = tmp_path / "link.npz"
    link.symlink_to("target.npz")
    put(link)
    assert link.is_symlink()
    assert (tmp_path / "target.npz").read_bytes() == b"new"


def test_a_hard_link_elsewhere_keeps_the_old_content(path):
    other = path.with_name("other")
    os.link(path, other)
    put(path)
    assert (path.read_bytes(), other.read_bytes()) == (b"new", b"old")


def test_a_name_as_long_as_names_may_be(tmp_path):
    path = tmp_path / ("x" * 251 + ".npz")
    put(path)
    assert path.read_bytes() == b"new"


# ---------------------------------------------------------------- pipes and devices


def test_standard_output_gets_the_bytes_at_the_end(monkeypatch):
    pipe = io.BytesIO()
    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(pipe))
    with atomic_output("-") as file:
        file.write(b"new")
        assert pipe.getvalue() == b""
    assert pipe.getvalue() == b"new"


def test_standard_output_gets_nothing_when_the_block_fails(monkeypatch):
    pipe = io.BytesIO()
    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(pipe))
    with pytest.raises(ValueError, match="stop"):
        put_half("-", ValueError("stop"))
    assert pipe.getvalue() == b""


def test_the_file_of_standard_output_can_be_sought(monkeypatch):
    # A zip file is written with steps back, which no pipe takes.
    pipe = io.BytesIO()
    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(pipe))
    with atomic_output("-") as file:
        file.write(b"abc")
        file.seek(0)
        file.write(b"X")
    assert pipe.getvalue() == b"Xbc"


def test_devices_are_written_to_and_not_replaced():
    put(os.devnull)
    assert stat.S_ISCHR(os.stat(os.devnull).st_mode)
