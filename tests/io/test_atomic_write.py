"""Atomic writing: the target is always the complete old or new file, and no temporary files remain."""

import errno
import fcntl
import io
import os
import stat
import tempfile
import threading

import pytest

from nlptx.errors import OutputError
from nlptx.io.atomic_write import atomic_output
from nlptx.io.output_path import check_writable, descriptor_of


@pytest.fixture
def path(tmp_path):
    """Return the path of a file with old content in a folder that contains nothing else."""
    path = tmp_path / "out.npz"
    path.write_bytes(b"old")
    return path


def put(path, content=b"new"):
    with atomic_output(str(path)) as file:
        file.write(content)


def put_partially(path, error):
    """Write part of the content, then raise ``error``."""
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


def test_a_relative_path(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    put("out.npz")
    assert names(tmp_path) == ["out.npz"]


@pytest.mark.parametrize("error", [ValueError("x"), KeyboardInterrupt(), SystemExit(1), BrokenPipeError()])
def test_an_error_in_the_block_leaves_only_the_old_file(path, error):
    with pytest.raises(type(error)):
        put_partially(path, error)
    assert path.read_bytes() == b"old"
    assert names(path.parent) == ["out.npz"]


# ---------------------------------------------------------------- a full disk


@pytest.fixture
def ten_byte_disk(monkeypatch):
    """Make writes beyond ten bytes per file fail; return a list whose only item is the error number to raise."""
    error = [errno.ENOSPC]
    write = os.write

    def limited_write(descriptor, data):
        free = 10 - os.lseek(descriptor, 0, os.SEEK_CUR)
        if free <= 0:
            raise OSError(error[0], os.strerror(error[0]))
        return write(descriptor, data[:free])

    monkeypatch.setattr(os, "write", limited_write)
    return error


@pytest.mark.parametrize("error", [errno.ENOSPC, errno.EDQUOT])
def test_a_full_disk_leaves_only_the_old_file(path, ten_byte_disk, error):
    ten_byte_disk[0] = error
    with pytest.raises(OutputError, match="disk is full; nothing was changed") as caught:
        put(path, b"more than ten bytes")
    assert caught.value.where == str(path)
    assert path.read_bytes() == b"old"
    assert names(path.parent) == ["out.npz"]


@pytest.mark.usefixtures("ten_byte_disk")
def test_the_error_for_a_full_temporary_folder_names_that_folder():
    with pytest.raises(OutputError, match="disk is full") as caught:
        put("-", b"more than ten bytes")
    assert caught.value.where == tempfile.gettempdir()


@pytest.mark.parametrize(
    ("number", "message"),
    [(errno.ENOSPC, "disk is full"), (errno.EIO, "Input/output error")],
    ids=["full", "other error"],
)
def test_errors_at_the_final_flush_are_reported(number, message, path, monkeypatch):
    def failing_fsync(descriptor):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "fsync", failing_fsync)
    with pytest.raises(OutputError, match=message):
        put(path)
    assert path.read_bytes() == b"old"
    assert names(path.parent) == ["out.npz"]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no /dev/full")
@pytest.mark.parametrize("size", [1, 1_000_000])
def test_a_full_device(size):
    with pytest.raises(OutputError, match="disk is full; the output is incomplete"):
        put("/dev/full", b"x" * size)


def test_a_read_error_in_the_block_is_not_reported_as_a_write_error(path):
    with pytest.raises(IsADirectoryError), atomic_output(str(path)):
        open(path.parent)  # noqa: SIM115  # raises
    assert path.read_bytes() == b"old"
    assert names(path.parent) == ["out.npz"]


def test_the_file_is_flushed_before_the_rename_and_the_folder_after_it(path, monkeypatch):
    """With another order of flushing and renaming, a power failure could leave an empty file, or undo a rename."""
    events = []
    fsync, replace = os.fsync, os.replace

    def note_fsync(descriptor):
        events.append("folder" if stat.S_ISDIR(os.fstat(descriptor).st_mode) else path.read_bytes())
        fsync(descriptor)

    def note_replace(source, target):
        events.append("replace")
        replace(source, target)

    monkeypatch.setattr(os, "fsync", note_fsync)
    monkeypatch.setattr(os, "replace", note_replace)
    put(path)
    assert events == [b"old", "replace", "folder"]


@pytest.mark.parametrize("error", [errno.EINVAL, errno.EIO])
def test_a_folder_that_cannot_be_flushed(path, monkeypatch, error):
    """Some file systems cannot flush folders, which is not an error; a disk error is reported."""
    fsync = os.fsync

    def failing_for_folders(descriptor):
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            raise OSError(error, os.strerror(error))
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", failing_for_folders)
    if error == errno.EINVAL:
        put(path)
    else:
        with pytest.raises(OutputError, match="the new file is in place, but"):
            put(path)
    assert path.read_bytes() == b"new"
    assert names(path.parent) == ["out.npz"]


# ---------------------------------------------------------------- targets that cannot be written


def test_a_folder_is_rejected(tmp_path):
    with pytest.raises(OutputError, match="folder"):
        put(tmp_path)


def test_a_missing_folder_is_an_error_with_advice(tmp_path):
    with pytest.raises(OutputError, match="mkdir") as caught:
        put(tmp_path / "none" / "out.npz")
    assert str(tmp_path / "none") in str(caught.value)


def test_a_folder_without_write_permission_is_rejected_early(path, monkeypatch):
    # os.access is patched, because root could write to any folder.
    monkeypatch.setattr(os, "access", lambda name, mode: False)
    with pytest.raises(OutputError, match="permission denied"):
        check_writable(str(path))


def test_a_write_protected_file_is_rejected(path, monkeypatch):
    """A rename would succeed, but writing to a protected file must fail, as it does with ``> FILE``."""
    access = os.access
    monkeypatch.setattr(os, "access", lambda name, mode: name != str(path) and access(name, mode))
    with pytest.raises(OutputError, match="permission denied") as caught:
        put(path)
    assert caught.value.hint.startswith(f"Run chmod u+w {path}")
    assert path.read_bytes() == b"old"


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes everywhere")
def test_a_read_only_folder_is_rejected(path):
    path.parent.chmod(0o555)
    try:
        with pytest.raises(OutputError, match="permission denied"):
            put(path)
    finally:
        path.parent.chmod(0o755)
    assert path.read_bytes() == b"old"


@pytest.mark.parametrize("name", ["", "folder/", "none/"])
def test_an_invalid_file_name_is_rejected_early(tmp_path, monkeypatch, name):
    """An empty name can come from an unset shell variable."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    with pytest.raises(OutputError, match="expected a file name"):
        check_writable(name)


def test_a_cycle_of_symbolic_links_is_rejected(tmp_path):
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(OutputError, match="symbolic links"):
        put(tmp_path / "a")
    assert names(tmp_path) == ["a", "b"]


def test_standard_output_is_always_writable():
    check_writable("-")


# ---------------------------------------------------------------- stale temporary files

RANDOM_PART = "0123456789abcdef"


def test_temporary_files_of_killed_writers_are_removed(path):
    for name in (RANDOM_PART, "f" * 16):
        path.with_name(f".out.npz.{name}.tmp").write_bytes(b"half")
    put(path)
    assert names(path.parent) == ["out.npz"]


@pytest.mark.parametrize("target", ["[a].npz", "a*.npz", "a?.npz"])
def test_temporary_files_are_found_for_names_with_special_characters(tmp_path, target):
    path = tmp_path / target
    mine = path.with_name(f".{target}.{RANDOM_PART}.tmp")
    other = path.with_name(f".abc.npz.{RANDOM_PART}.tmp")
    mine.touch()
    other.touch()
    put(path)
    assert names(tmp_path) == sorted([other.name, target])


def test_files_with_similar_names_are_not_removed(path):
    kept = [
        ".out.npz.tmp",
        ".out.npz.x.tmp",
        ".out.npz.1234.tmp",
        f".out.npz.{RANDOM_PART}0.tmp",
        f".out.npz.{RANDOM_PART}",
        f".other.npz.{RANDOM_PART}.tmp",
        f"out.npz.{RANDOM_PART}.tmp",
    ]
    for name in kept:
        path.with_name(name).touch()
    put(path)
    assert names(path.parent) == sorted([*kept, "out.npz"])


def test_the_temporary_file_of_a_running_writer_is_not_removed(path):
    """The lock on the file shows that its writer is running; the process id and the host do not matter."""
    with atomic_output(str(path)) as first:
        first.write(b"first")
        put(path, b"second")
        assert path.read_bytes() == b"second"
        assert len(names(path.parent)) == 2
    assert path.read_bytes() == b"first"
    assert names(path.parent) == ["out.npz"]


def test_a_temporary_file_that_is_removed_before_it_is_locked_is_recreated(path, monkeypatch):
    flock, removed = fcntl.flock, []

    def flock_after_removal(descriptor, operation):
        if not removed:
            removed.extend(file for file in path.parent.iterdir() if file != path)
            removed[0].unlink()
        flock(descriptor, operation)

    monkeypatch.setattr(fcntl, "flock", flock_after_removal)
    put(path)
    assert len(removed) == 1
    assert path.read_bytes() == b"new"
    assert names(path.parent) == ["out.npz"]


def test_without_file_locks_writing_works_and_no_temporary_file_is_removed(path, monkeypatch):
    def unsupported(descriptor, operation):
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", unsupported)
    path.with_name(f".out.npz.{RANDOM_PART}.tmp").touch()
    put(path)
    assert path.read_bytes() == b"new"
    assert names(path.parent) == [f".out.npz.{RANDOM_PART}.tmp", "out.npz"]


# ---------------------------------------------------------------- permissions and links


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o644, 0o755])
def test_the_mode_of_the_old_file_is_kept(path, mode):
    path.chmod(mode)
    put(path)
    assert stat.S_IMODE(path.stat().st_mode) == mode
    assert path.read_bytes() == b"new"


@pytest.mark.parametrize("mask", [0o022, 0o077])
def test_a_new_file_has_the_mode_of_the_umask(tmp_path, mask):
    before = os.umask(mask)
    try:
        put(tmp_path / "out.npz")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "out.npz").stat().st_mode) == 0o666 & ~mask


def test_the_temporary_file_of_a_private_file_is_private(path):
    path.chmod(0o600)
    with atomic_output(str(path)):
        modes = {stat.S_IMODE(file.stat().st_mode) for file in path.parent.iterdir()}
    assert modes == {0o600}


def test_a_symbolic_link_is_kept_and_its_target_is_replaced(path):
    folder = path.parent / "elsewhere"
    folder.mkdir()
    link = folder / "link.npz"
    link.symlink_to("../out.npz")
    put(link)
    assert link.is_symlink()
    assert path.read_bytes() == b"new"
    assert not path.is_symlink()
    assert names(folder) == ["link.npz"]


def test_the_missing_target_of_a_symbolic_link_is_created(tmp_path):
    link = tmp_path / "link.npz"
    link.symlink_to("target.npz")
    put(link)
    assert link.is_symlink()
    assert (tmp_path / "target.npz").read_bytes() == b"new"


def test_another_hard_link_keeps_the_old_content(path):
    other = path.with_name("other")
    os.link(path, other)
    put(path)
    assert (path.read_bytes(), other.read_bytes()) == (b"new", b"old")


def test_a_file_name_of_the_maximum_length(tmp_path):
    path = tmp_path / ("x" * 251 + ".npz")
    put(path)
    assert path.read_bytes() == b"new"


# ---------------------------------------------------------------- pipes and devices


def standard_output(monkeypatch):
    """Replace standard output with a buffer; a fixture cannot do this, because pytest resets sys.stdout later."""
    pipe = io.BytesIO()
    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(pipe))
    return pipe


def test_standard_output_is_written_at_the_end(monkeypatch):
    pipe = standard_output(monkeypatch)
    with atomic_output("-") as file:
        file.write(b"new")
        assert pipe.getvalue() == b""
    assert pipe.getvalue() == b"new"


def test_nothing_is_written_to_standard_output_if_the_block_fails(monkeypatch):
    pipe = standard_output(monkeypatch)
    with pytest.raises(ValueError, match="stop"):
        put_partially("-", ValueError("stop"))
    assert pipe.getvalue() == b""


def test_output_to_standard_output_is_seekable(monkeypatch):
    # Writing a zip file requires seeking, which pipes do not support.
    pipe = standard_output(monkeypatch)
    with atomic_output("-") as file:
        file.write(b"abc")
        file.seek(0)
        file.write(b"X")
    assert pipe.getvalue() == b"Xbc"


def test_devices_are_written_to_rather_than_replaced():
    put(os.devnull)
    assert stat.S_ISCHR(os.stat(os.devnull).st_mode)


def test_a_named_pipe_is_written_to_rather_than_replaced(tmp_path):
    pipe, received = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: received.append(pipe.read_bytes()))
    reader.start()
    put(pipe)
    reader.join()
    assert received == [b"new"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert names(tmp_path) == ["pipe"]


@pytest.mark.parametrize("kind", ["/dev/fd", "/proc/self/fd", "link"])
def test_an_open_file_is_written_at_its_current_position(path, kind):
    """An output path such as /dev/stdout is not truncated, so ``-o /dev/stdout >> out.npz`` appends to out.npz."""
    with open(path, "ab") as file:
        if kind == "link":
            name = path.with_name("link")
            name.symlink_to(f"/dev/fd/{file.fileno()}")
        else:
            name = f"{kind}/{file.fileno()}"
        put(name)
        file.write(b" and more")
    assert path.read_bytes() == b"oldnew and more"


def test_a_file_that_is_open_only_for_reading_is_rejected(path):
    with open(path, "rb") as file, pytest.raises(OutputError, match="reading only"):
        check_writable(f"/dev/fd/{file.fileno()}")


def test_a_closed_file_descriptor_is_rejected(tmp_path):
    descriptor = os.open(tmp_path, os.O_RDONLY)
    os.close(descriptor)
    with pytest.raises(OutputError, match="Bad file descriptor"):
        check_writable(f"/dev/fd/{descriptor}")
    assert descriptor_of("/dev/fd/99999999999999") is None  # too large for a descriptor
