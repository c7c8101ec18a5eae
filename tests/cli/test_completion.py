"""Shell completion works as the README describes, in a real bash at a terminal; other shells get their scripts."""

import os
import pty
import re
import select
import shutil
import subprocess
import sys
import time

import pytest
from command import TIMEOUT, environment, run

FILES = ("test.tsv", "tesla.txt", "model.npz", "two words.txt")


class Bash:
    """An interactive bash in a folder with some files, with completion enabled as in the README."""

    def __init__(self, folder):
        program = folder / "bin" / "nlptx"
        program.parent.mkdir()
        program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m nlptx "$@"\n')
        program.chmod(0o755)
        here = folder / "here"
        (here / "folder").mkdir(parents=True)
        for name in FILES:
            (here / name).touch()
        self.screen, slave = pty.openpty()
        changes = {"PATH": f"{program.parent}:{os.environ['PATH']}", "PS1": "", "TERM": "dumb"}
        self.process = subprocess.Popen(
            ["bash", "--norc", "--noprofile", "-i"],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            cwd=here,
            env=environment(**changes),
            start_new_session=True,
        )
        os.close(slave)
        self.type('eval "$(_NLPTX_COMPLETE=bash_source nlptx)"; echo re""ady\n', b"ready\r\n")

    def type(self, keys, mark):
        """Type ``keys``, read until ``mark`` is on the screen, and return the last line before it."""
        os.write(self.screen, keys.encode())
        seen, end = b"", time.monotonic() + TIMEOUT
        while mark not in seen:
            ready, _, _ = select.select([self.screen], [], [], max(0, end - time.monotonic()))
            assert ready, f"waited in vain for {mark!r}, got {seen!r}"
            seen += os.read(self.screen, 65536)
        return seen.decode().rpartition(mark.decode())[0].splitlines()[-1]

    def complete(self, line):
        """Return the words of a line after the key M-* has inserted all completions of the last word."""
        shown = self.type(f"{line}\033*\001printf '<%s>' \005; echo do''ne\n", b"done\r\n")
        return re.findall("<([^<>]*)>", shown)

    def close(self):
        self.process.kill()
        self.process.wait()
        os.close(self.screen)


@pytest.fixture(scope="module")
def bash(tmp_path_factory):
    test = "compopt 2>/dev/null; (( BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] >= 404 )) && type bind"
    if not shutil.which("bash") or subprocess.run(["bash", "-c", test], capture_output=True, check=False).returncode:
        pytest.skip("bash 4.4 or later is not installed")
    shell = Bash(tmp_path_factory.mktemp("bash"))
    yield shell
    shell.close()


@pytest.mark.parametrize(
    ("line", "completed"),
    [
        ("nlptx pre", ["predict"]),
        ("nlptx pca --comp", ["--components"]),
        ("nlptx predict --format ", ["auto", "text", "csv", "tsv", "jsonl"]),
        ("nlptx predict --format=c", ["--format=csv"]),
        ("nlptx predict tes", ["tesla.txt", "test.tsv"]),
        ("nlptx predict two", ["two words.txt"]),
        ("nlptx predict test.tsv fol", ["folder"]),
        ("nlptx predict --model=mod", ["--model=model.npz"]),
        ("nlptx train test.tsv -e mod", ["model.npz"]),
        ("nlptx neighbors mod", ["model.npz"]),
        ("nlptx cooccur --tmp-dir ", ["folder"]),
    ],
)
def test_bash_completes(line, completed, bash):
    assert bash.complete(line)[-len(completed) :] == completed


@pytest.mark.parametrize(
    "command", ["cooccur", "pca", "train", "predict", "evaluate", "compare", "check", "neighbors", "info"]
)
def test_arguments_are_completed_as_file_names(command):
    env = {"_NLPTX_COMPLETE": "bash_complete", "COMP_WORDS": f"nlptx\n{command}\nte", "COMP_CWORD": "2"}
    assert run(env=env).text == "file,te\n"


@pytest.mark.parametrize(("name", "mark"), [("bash", "complete "), ("zsh", "#compdef"), ("fish", "complete ")])
def test_the_script_of_each_shell(name, mark):
    script = run(env={"_NLPTX_COMPLETE": f"{name}_source"}).text
    assert mark in script
    assert "nlptx" in script
