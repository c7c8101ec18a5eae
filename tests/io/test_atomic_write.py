"""Writing: the old file or the new one, never half of one, and nothing left lying about."""

import errno
import fcntl
import io
import os
import stat
import tempfile
import threading

import pytest

from nlptx.errors import OutputError
from nlptx.io.atomic_write import atomic_output, check_writable


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


@pytest.fixture
def ten_bytes_of_room(monkeypatch):
    """Let each file grow to ten bytes; returns a list to put the number of the error in."""
    error = [errno.ENOSPC]
    write = os.write

    def short_of_room(descriptor, data):
        room = 10 - os.lseek(descriptor, 0, os.SEEK_CUR)
        if room <= 0:
            raise OSError(error[0], os.strerror(error[0]))
        return write(descriptor, data[:room])

    monkeypatch.setattr(os, "write", short_of_room)
    return error


@pytest.mark.parametrize("error", [errno.ENOSPC, errno.EDQUOT])
def test_a_full_disk_leaves_the_old_file_and_no_litter(path, ten_bytes_of_room, error):
    ten_bytes_of_room[0] = error
    with pytest.raises(OutputError, match="disk is full; nothing was changed") as caught:
        put(path, b"more than ten bytes")
    assert caught.value.where == str(path)
    assert path.read_bytes() == b"old"
    assert names(path.parent) == ["out.npz"]


@pytest.mark.usefixtures("ten_bytes_of_room")
def test_a_full_disk_under_the_temporary_folder_is_told_apart_from_the_target():
    with pytest.raises(OutputError, match="disk is full") as caught:
        put("-", b"more than ten bytes")
    assert caught.value.where == tempfile.gettempdir()


@pytest.mark.parametrize(
    ("number", "told"),
    [(errno.ENOSPC, "disk is full"), (errno.EIO, "Input/output error")],
    ids=["full", "any other failure"],
)
def test_what_the_system_finds_only_at_the_end_is_told_with_its_reason(number, told, path, monkeypatch):
    def broken(descriptor):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "fsync", broken)
    with pytest.raises(OutputError, match=told):
        put(path)
    assert path.read_bytes() == b"old"
    assert names(path.parent) == ["out.npz"]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no /dev/full")
@pytest.mark.parametrize("size", [1, 1_000_000])
def test_a_device_without_room(size):
    with pytest.raises(OutputError, match="disk is full; the output is incomplete"):
        put("/dev/full", b"x" * size)


def test_a_failure_to_read_is_not_told_as_one_to_write(path):
    with pytest.raises(IsADirectoryError), atomic_output(str(path)):
        open(path.parent)  # noqa: SIM115  # fails
    assert path.read_bytes() == b"old"
    assert names(path.parent) == ["out.npz"]


def test_file_and_folder_are_flushed_to_the_disk_around_the_renaming(path, monkeypatch):
    """Else a power cut could leave an empty file, or bring back the old one after success was told."""
    done = []
    fsync, replace = os.fsync, os.replace

    def note_fsync(descriptor):
        done.append("folder" if stat.S_ISDIR(os.fstat(descriptor).st_mode) else path.read_bytes())
        fsync(descriptor)

    def note_replace(source, target):
        done.append("replace")
        replace(source, target)

    monkeypatch.setattr(os, "fsync", note_fsync)
    monkeypatch.setattr(os, "replace", note_replace)
    put(path)
    assert done == [b"old", "replace", "folder"]


@pytest.mark.parametrize("error", [errno.EINVAL, errno.EIO])
def test_a_folder_that_does_not_flush(path, monkeypatch, error):
    """Some file systems do not know how, which is no failure; a broken disk is one, and not hidden."""
    fsync = os.fsync

    def fails_for_folders(descriptor):
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            raise OSError(error, os.strerror(error))
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", fails_for_folders)
    if error == errno.EINVAL:
        put(path)
    else:
        with pytest.raises(OutputError, match="the new file is in place, but"):
            put(path)
    assert path.read_bytes() == b"new"
    assert names(path.parent) == ["out.npz"]


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


def test_a_file_protected_from_writing_is_refused(path, monkeypatch):
    """Renaming would not ask, but ``> FILE`` does."""
    may = os.access
    monkeypatch.setattr(os, "access", lambda place, mode: place != str(path) and may(place, mode))
    with pytest.raises(OutputError, match="permission denied") as caught:
        put(path)
    assert caught.value.hint.startswith(f"chmod u+w {path}")
    assert path.read_bytes() == b"old"


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes everywhere")
def test_a_read_only_folder_is_refused(path):
    path.parent.chmod(0o555)
    try:
        with pytest.raises(OutputError, match="permission denied"):
            put(path)
    finally:
        path.parent.chmod(0o755)
    assert path.read_bytes() == b"old"


@pytest.mark.parametrize("name", ["", "folder/", "none/"])
def test_what_is_no_file_name_is_refused_before_any_work(tmp_path, monkeypatch, name):
    """An empty one comes from an unset variable of the shell."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    with pytest.raises(OutputError, match="expected a file name"):
        check_writable(name)


def test_a_ring_of_symbolic_links_is_refused(tmp_path):
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(OutputError, match="symbolic links"):
        put(tmp_path / "a")
    assert names(tmp_path) == ["a", "b"]


def test_standard_output_is_always_writable():
    check_writable("-")


# ---------------------------------------------------------------- litter

LITTER = "0123456789abcdef"


def test_litter_of_killed_writers_is_removed(path):
    for name in (LITTER, "f" * 16):
        path.with_name(f".out.npz.{name}.tmp").write_bytes(b"half")
    put(path)
    assert names(path.parent) == ["out.npz"]


@pytest.mark.parametrize("target", ["[a].npz", "a*.npz", "a?.npz"])
def test_litter_is_found_for_names_with_special_characters(tmp_path, target):
    path = tmp_path / target
    mine = path.with_name(f".{target}.{LITTER}.tmp")
    other = path.with_name(f".abc.npz.{LITTER}.tmp")
    mine.touch()
    other.touch()
    put(path)
    assert names(tmp_path) == sorted([other.name, target])


def test_what_only_looks_like_litter_is_left(path):
    kept = [
        ".out.npz.tmp",
        ".out.npz.x.tmp",
        ".out.npz.1234.tmp",
        f".out.npz.{LITTER}0.tmp",
        f".out.npz.{LITTER}",
        f".other.npz.{LITTER}.tmp",
        f"out.npz.{LITTER}.tmp",
    ]
    for name in kept:
        path.with_name(name).touch()
    put(path)
    assert names(path.parent) == sorted([*kept, "out.npz"])


def test_the_file_of_a_living_writer_is_left(path):
    """Whatever its process id and host: what tells is the lock on it."""
    with atomic_output(str(path)) as first:
        first.write(b"first")
        put(path, b"second")
        assert path.read_bytes() == b"second"
        assert len(names(path.parent)) == 2
    assert path.read_bytes() == b"first"
    assert names(path.parent) == ["out.npz"]


def test_a_new_file_taken_for_litter_before_it_is_locked_is_made_again(path, monkeypatch):
    flock, taken = fcntl.flock, []

    def too_late(descriptor, operation):
        if not taken:
            taken.extend(file for file in path.parent.iterdir() if file != path)
            taken[0].unlink()
        flock(descriptor, operation)

    monkeypatch.setattr(fcntl, "flock", too_late)
    put(path)
    assert len(taken) == 1
    assert path.read_bytes() == b"new"
    assert names(path.parent) == ["out.npz"]


def test_without_locks_on_the_file_system_writing_works_and_nothing_counts_as_litter(path, monkeypatch):
    def unknown(descriptor, operation):
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", unknown)
    path.with_name(f".out.npz.{LITTER}.tmp").touch()
    put(path)
    assert path.read_bytes() == b"new"
    assert names(path.parent) == [f".out.npz.{LITTER}.tmp", "out.npz"]


# ---------------------------------------------------------------- what the old file was


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


def test_nobody_else_may_read_the_temporary_file_of_a_private_one(path):
    path.chmod(0o600)
    with atomic_output(str(path)):
        modes = {stat.S_IMODE(file.stat().st_mode) for file in path.parent.iterdir()}
    assert modes == {0o600}


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


def standard_output(monkeypatch):
    """Return what standard output gets from now on. No fixture, as pytest sets it anew before a test begins."""
    pipe = io.BytesIO()
    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(pipe))
    return pipe


def test_standard_output_gets_the_bytes_at_the_end(monkeypatch):
    pipe = standard_output(monkeypatch)
    with atomic_output("-") as file:
        file.write(b"new")
        assert pipe.getvalue() == b""
    assert pipe.getvalue() == b"new"


def test_standard_output_gets_nothing_when_the_block_fails(monkeypatch):
    pipe = standard_output(monkeypatch)
    with pytest.raises(ValueError, match="stop"):
        put_half("-", ValueError("stop"))
    assert pipe.getvalue() == b""


def test_the_file_of_standard_output_can_be_sought(monkeypatch):
    # A zip file is written with steps back, which no pipe takes.
    pipe = standard_output(monkeypatch)
    with atomic_output("-") as file:
        file.write(b"abc")
        file.seek(0)
        file.write(b"X")
    assert pipe.getvalue() == b"Xbc"


def test_devices_are_written_to_and_not_replaced():
    put(os.devnull)
    assert stat.S_ISCHR(os.stat(os.devnull).st_mode)


def test_a_named_pipe_is_written_to_and_not_replaced(tmp_path):
    pipe, got = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: got.append(pipe.read_bytes()))
    reader.start()
    put(pipe)
    reader.join()
    assert got == [b"new"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert names(tmp_path) == ["pipe"]


@pytest.mark.parametrize("how", ["/dev/fd", "/proc/self/fd", "a link"])
def test_an_open_file_is_written_where_it_stands(path, how):
    """Not replaced, nor cut to nothing first: ``-o /dev/stdout >> out.npz`` adds to the file."""
    with open(path, "ab") as file:
        if how == "a link":
            name = path.with_name("link")
            name.symlink_to(f"/dev/fd/{file.fileno()}")
        else:
            name = f"{how}/{file.fileno()}"
        put(name)
        file.write(b" and more")
    assert path.read_bytes() == b"oldnew and more"


def test_a_file_open_for_reading_only_is_refused(path):
    with open(path, "rb") as file, pytest.raises(OutputError, match="reading only"):
        check_writable(f"/dev/fd/{file.fileno()}")


def test_a_file_that_is_not_open_is_refused(tmp_path):
    descriptor = os.open(tmp_path, os.O_RDONLY)
    os.close(descriptor)
    with pytest.raises(OutputError, match="Bad file descriptor"):
        check_writable(f"/dev/fd/{descriptor}")
