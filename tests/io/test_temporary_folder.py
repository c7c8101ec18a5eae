"""Tests that temporary folders are removed even if the process that made them is killed."""

import os
import signal
import subprocess
import sys

from nlptx.io.temporary_folder import temporary_folder

WAITING = """
import sys, time
from nlptx.io.temporary_folder import temporary_folder
with temporary_folder(sys.argv[1], "") as folder:
    open(f"{folder}/result", "w").close()
    print(folder, flush=True)
    time.sleep(600)
"""


def waiting(parent):
    process = subprocess.Popen([sys.executable, "-c", WAITING, parent], stdout=subprocess.PIPE, text=True)
    return process, process.stdout.readline().strip()


def test_the_folder_is_removed_at_the_end(tmp_path):
    with temporary_folder(str(tmp_path), "") as folder:
        assert os.path.dirname(folder) == str(tmp_path)
        assert os.stat(folder).st_mode & 0o777 == 0o700
    assert os.listdir(tmp_path) == []


def test_folders_of_killed_processes_are_removed_but_not_those_in_use(tmp_path):
    (tmp_path / ".nlptx-without-a-lock").mkdir()
    (killed, left), (running, used) = waiting(tmp_path), waiting(tmp_path)
    with killed, running:
        killed.send_signal(signal.SIGKILL)
        killed.wait()
        assert os.path.exists(left)
        with temporary_folder(str(tmp_path), "") as folder:
            assert set(os.listdir(tmp_path)) == {
                os.path.basename(used),
                os.path.basename(folder),
                ".nlptx-without-a-lock",
            }
        assert os.path.exists(f"{used}/result")
        running.kill()


def test_a_folder_with_unreadable_contents_is_no_error(tmp_path):
    (tmp_path / ".nlptx-file").write_text("no folder")
    (tmp_path / ".nlptx-link").symlink_to(tmp_path / "nowhere")
    with temporary_folder(str(tmp_path), ""):
        pass
    assert set(os.listdir(tmp_path)) == {".nlptx-file", ".nlptx-link"}
