"""Creates a folder for a new experiment, with a Makefile and two settings files copied from ``template``."""

from __future__ import annotations

import os
import re
import shlex
import shutil
from collections.abc import Sequence
from importlib import resources
from pathlib import Path

from nlptx.errors import OutputError, SettingsError
from nlptx.io.paths import is_same_file

# The files that are created.
_FILES = ("Makefile", "settings/base.toml", "settings/candidate.toml")
# Characters that have no special meaning in a Makefile or in a shell.
_PLAIN = re.compile(r"[\w./+,@-]+")


def write_experiment(
    folder: str | Path,
    train: str | Path,
    test: str | Path,
    reading: Sequence[str] = (),
    delimiter: Sequence[str] = (),
    jobs: int | None = None,
) -> list[Path]:
    """Write the files of a new experiment, and return their paths.

    Args:
        folder: folder to create, or an existing empty folder.
        train: labelled texts for training.
        test: labelled texts for testing.
        reading: command-line options for reading both files, except the option for the delimiter.
        delimiter: command-line option for the delimiter of both files; empty to detect the delimiter.
        jobs: number of cores that each command uses; None for all cores.

    Raises:
        OutputError: the folder is not empty, or cannot be written to.
        SettingsError: ``train`` or ``test`` does not exist, a file name contains a character that has a special meaning
            in a Makefile or in a shell, or an option contains a line break.
    """
    folder = Path(folder)
    names = {"@TRAIN@": _relative(train, folder), "@TEST@": _relative(test, folder)}
    for placeholder, words in (("@READING@", reading), ("@DELIMITER@", delimiter)):
        names[placeholder] = "".join(f" {_escaped(word)}" for word in words)
    names["@JOBS@"] = "" if jobs is None else f" {jobs}"
    template = resources.files("nlptx") / "experiments" / "template"
    paths = [folder / name for name in _FILES]
    try:
        if folder.exists() and any(folder.iterdir()):
            raise OutputError("the folder is not empty", where=str(folder), hint="Choose a new or empty folder.")
        folder.mkdir(parents=True, exist_ok=True)
        try:
            for path, name in zip(paths, _FILES, strict=True):
                text = template.joinpath(name).read_text(encoding="utf-8")
                for placeholder, value in names.items():
                    text = text.replace(placeholder, value)
                path.parent.mkdir(exist_ok=True)
                path.write_text(text, encoding="utf-8")
        except BaseException:
            # Remove the files, because another attempt requires an empty folder.
            (folder / "Makefile").unlink(missing_ok=True)
            shutil.rmtree(folder / "settings", ignore_errors=True)
            raise
    except OSError as error:
        raise OutputError(str(error.strerror), where=error.filename or str(folder)) from error
    return paths


def _escaped(word: str) -> str:
    """Return a word of a shell command, quoted for use in a Makefile."""
    if "\n" in word or "\r" in word:
        raise SettingsError(f"{word!r} cannot be used in a Makefile; expected no line breaks")
    return shlex.quote(word).replace("$", "$$").replace("#", r"\#")


def _relative(path: str | Path, folder: Path) -> str:
    """Return the path of an existing file relative to a folder."""
    if not os.path.exists(path):
        raise SettingsError(f"{path}: no such file or folder")
    name, resolved = os.path.relpath(path, folder), os.path.realpath(folder)
    target = os.path.normpath(os.path.join(resolved, name))
    if not is_same_file(target, path):
        # One of the folders is a symbolic link, so the relative path leads to another file. Resolve links to folders,
        # but keep a link to the file itself: the name of its target may contain characters that a Makefile forbids.
        parent, base = os.path.split(path)
        name = os.path.relpath(os.path.join(os.path.realpath(parent), base), resolved)
    if not _PLAIN.fullmatch(name):
        raise SettingsError(
            f"{name!r} cannot be used in a Makefile; expected no spaces or special characters",
            hint="Rename the file, or make a link to it.",
        )
    return name
