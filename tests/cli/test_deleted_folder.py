"""If the working folder was deleted, every command names the file that it cannot read or write."""

import shlex

import pytest
from command import run_program, shell
from fork_server import MAIN
from sample_data import COUNT, PCA, one_step

# Python code and a shell command that make a folder the current directory and then delete it.
ENTER_DELETED_FOLDER = "import os; os.mkdir('gone'); os.chdir('gone'); os.rmdir(os.getcwd())\n"
ENTER_IN_SHELL = 'mkdir gone && cd gone && rmdir "$PWD" && '


def run_in_deleted_folder(words, folder, code):
    if words[0] == "cooccur":  # run only this command in a new interpreter, because starting one is slow
        result = shell(f"{ENTER_IN_SHELL} nlptx {shlex.join(map(str, words))}", cwd=folder, code=code)
    else:
        result = run_program(ENTER_DELETED_FOLDER + MAIN, *words, cwd=folder, code=code)
    assert result.stdout == b""
    assert len(result.stderr.splitlines()) <= 2, result.stderr
    assert not list(folder.iterdir())
    return result.stderr


@pytest.mark.parametrize("command", ["cooccur", "pca", "train", "predict"])
def test_an_output_that_cannot_be_written(command, work, tmp_path):
    words = {
        "cooccur": ("cooccur", work / "corpus.txt", *COUNT),
        "pca": ("pca", work / "cooccur.npz", *PCA),
        "train": one_step(work),
        "predict": ("predict", work / "test.tsv", "-m", work / "model.npz"),
    }[command]
    output = "result.tsv" if command == "predict" else "result.npz"
    message = run_in_deleted_folder((*words, "-q", "-o", output), tmp_path, code=1)
    assert message.startswith(f"nlptx: error: {output}: cannot be written: the working folder was deleted\n")


@pytest.mark.parametrize("command", ["cooccur", "pca", "train", "predict", "evaluate", "neighbors", "explain", "info"])
def test_an_input_that_cannot_be_read(command, work, tmp_path):
    words = {
        "cooccur": ("cooccur", "given.npz", "-o", tmp_path / "out"),
        "pca": ("pca", "given.npz", "-o", tmp_path / "out"),
        "train": ("train", "given.npz", "-e", work / "embeddings.npz", "-o", tmp_path / "out"),
        "predict": ("predict", "given.npz", "-m", work / "model.npz"),
        "evaluate": ("evaluate", "given.npz", "-m", work / "model.npz"),
        "neighbors": ("neighbors", "given.npz", "film"),
        "explain": ("explain", "a great film", "-m", "given.npz"),
        "info": ("info", "given.npz"),
    }[command]
    message = run_in_deleted_folder(words, tmp_path, code=2)
    assert message.startswith("nlptx: error: given.npz: no such file")
