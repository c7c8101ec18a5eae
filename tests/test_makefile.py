"""Tests of the experiments in the Makefile: a stage is rerun if and only if its data or settings have changed."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
DATA_FILES = ("sst2/train.tsv", "sst2/dev.tsv", "sst5/train.tsv", "sst5/dev.tsv", "trec/train.tsv", "cr/cr.tsv")
SCRIPTS = [f"tests/benchmarks/{name}.py" for name in ("run_table", "baselines")]
# A script that is run instead of `nlptx` and `python`, logs its arguments, and creates the output file.
PROGRAM = """#!/bin/sh
echo "$(basename "$0") $*" >> "$CALLS"
while [ $# -gt 1 ]; do
  case $1 in
    -o) echo made > "$2" ;;
    --method) method=$2 ;;
    --out) mkdir -p "$2"; echo made > "$2/$method.json" ;;
  esac
  shift
done
"""
OLD = (1e9, 1e9)


@pytest.fixture
def make(tmp_path):
    """Return a function that runs ``make`` with fake programs and returns the commands and scripts that it ran."""
    shutil.copy(ROOT / "Makefile", tmp_path)
    for name in ("setup.cfg", "nlptx/default_model.npz", *(f"shared/{name}" for name in DATA_FILES), *SCRIPTS):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    programs = tmp_path / ".venv/bin"
    programs.mkdir(parents=True)
    for name in ("nlptx", "python"):
        (programs / name).write_text(PROGRAM)
        (programs / name).chmod(0o755)
    (tmp_path / ".venv/.installed").touch()
    calls = tmp_path / "calls"

    def run(*words):
        calls.write_text("")
        environment = {"PATH": os.environ["PATH"], "CALLS": str(calls), "NLPTX_SHARED_DATA": "shared"}
        done = subprocess.run(
            ["make", *words], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        lines = done.stdout if "-n" in words else calls.read_text()
        commands = [line.split()[:2] for line in lines.splitlines() if line.startswith(("nlptx", "python"))]
        return [Path(argument).stem for _, argument in commands]

    return run


@pytest.fixture
def archives(tmp_path):
    """Return two archives that are older than all files made from them."""
    paths = [tmp_path / "one.tar.gz", tmp_path / "other.tar.gz"]
    for path in paths:
        path.write_text(path.name)
        os.utime(path, OLD)
    return paths


STAGES = ["cooccur", "pca", "train", "evaluate", "run_table"]
EXPERIMENTS = {
    **dict.fromkeys(("imdb", "goldstraw", "bloem", "sst2", "sst5", "build/imdb-no-ngrams/table.txt"), STAGES),
    "build/imdb/seed-7/evaluate.json": STAGES[:-1],
    "trec": ["cooccur", "pca", "crossvalidate", "run_table"],
    "build/baselines/imdb/nblr.json": ["baselines"],
}


@pytest.mark.parametrize("target", EXPERIMENTS)
def test_another_archive_reruns_every_stage_even_if_it_is_older(make, archives, target):
    for archive in archives:
        assert make(target, f"DATA={archive}") == EXPERIMENTS[target]
    assert make(target, f"DATA={archives[-1]}") == []


def test_stages_are_rerun_only_if_the_content_of_the_archive_changes(make, archives):
    archive, _ = archives
    make("imdb", f"DATA={archive}")
    archive.touch()
    assert make("imdb", f"DATA={archive}") == []
    archive.write_text("altered")
    os.utime(archive, OLD)
    assert make("imdb", f"DATA={archive}") == STAGES


def test_changed_files_in_a_folder_rerun_stages(make, tmp_path):
    (tmp_path / "reviews").mkdir()
    for content in ("good", "bad"):
        (tmp_path / "reviews/1.txt").write_text(content)
        assert make("imdb", "DATA=reviews") == STAGES
    assert make("imdb", "DATA=reviews") == []


@pytest.mark.parametrize("name", DATA_FILES)
def test_changed_content_of_other_data_reruns_stages(make, archives, tmp_path, name):
    target = name.split("/")[0]
    words = (target, f"DATA={archives[0]}")
    make(*words)
    (tmp_path / "shared" / name).write_text("altered")
    os.utime(tmp_path / "shared" / name, OLD)
    rerun = {"trec": ["crossvalidate", "run_table"], "cr": ["info", "evaluate", "run_table"]}
    assert make(*words) == rerun.get(target, ["train", "evaluate", "run_table"])
    assert make(*words) == []


def test_changed_settings_on_the_command_line_rerun_stages(make, archives):
    data = f"DATA={archives[0]}"
    make("trec", "bloem", data)
    assert make("trec", data, "FOLDS=7") == ["crossvalidate", "run_table"]
    assert make("bloem", data, "BLOEM_EPOCHS=80") == ["train", "evaluate", "run_table"]


def test_a_dry_run_lists_the_stages_to_run(make, archives):
    one, other = archives
    make("imdb", f"DATA={one}")
    assert make("-n", "imdb", f"DATA={one}") == []
    assert make("-n", "imdb", f"DATA={other}")[:2] == ["cooccur", "pca"]
