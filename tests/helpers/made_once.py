"""Folders that are made only once for all worker processes of a parallel test run."""

import fcntl
import os


def made_once(tmp_path_factory, name, make):
    """Return a folder that ``make(folder)`` has filled; only one of the pytest-xdist workers calls ``make``."""
    base = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        base = base.parent  # common parent of the folders of all workers
    folder, done = base / f"once-{name}", base / f"once-{name}.done"
    with open(base / f"once-{name}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not done.exists():
            folder.mkdir()
            make(folder)
            done.touch()
    return folder
