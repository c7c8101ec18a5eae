"""Tests of ``nlptx init``, which writes an experiment that ``make`` runs."""

import errno
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from calling import call, failure
from command import ONE_WORKER, TIMEOUT, refused, run

SETTINGS = "[train]\nepochs = 1\nwidth = 8\nlsa-components = 0\n"


@pytest.fixture
def experiment(work, tmp_path):
    """A folder with train.tsv, test.tsv and ``exp``, a new experiment that uses both tables and trains quickly."""
    for name in ("train.tsv", "test.tsv"):
        shutil.copy(work / name, tmp_path)
    run("init", "exp", "train.tsv", "test.tsv", cwd=tmp_path)
    (tmp_path / "exp/settings/base.toml").write_text(SETTINGS)
    (tmp_path / "exp/settings/candidate.toml").write_text(SETTINGS + "word-dropout = 0.3\n")
    return tmp_path


def make(folder, words):
    """Run make, and return what it prints."""
    programs = Path(sys.executable).parent
    environment = {**os.environ, **ONE_WORKER, "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"}
    command = ["make", "-C", "exp", "FOLDS=2", *words]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=True).stdout


def planned(folder, goals):
    """Return the nlptx command lines that make would run, without redirections."""
    lines = make(folder, ["-n", *goals]).splitlines()
    return [" ".join(line.split(" > ")[0].split()) for line in lines if line.startswith("nlptx")]


def later(path):
    """Give a file a modification time that is later than those of all results."""
    os.utime(path, (time.time() + 10, time.time() + 10))


def kinds_of_commands(folder, goals):
    """Return the name of each nlptx command that make would run, sorted."""
    return sorted(command.split()[1] for command in planned(folder, goals))


def test_the_files_and_what_to_do_next(work, tmp_path):
    shutil.copy(work / "train.tsv", tmp_path)
    done = run("init", "a/b", "train.tsv", "train.tsv", cwd=tmp_path)
    assert done.stdout == b""
    assert "next: edit a/b/settings/candidate.toml, then run make -C a/b" in done.stderr
    assert "TRAIN = ../../train.tsv\n" in (tmp_path / "a/b/Makefile").read_text()
    assert not re.search("@[A-Z]+@", (tmp_path / "a/b/Makefile").read_text())
    found = run("init", "c", "train.tsv", "train.tsv", "--json", cwd=tmp_path).json
    assert found == {"output": "c", "files": ["c/Makefile", "c/settings/base.toml", "c/settings/candidate.toml"]}


def test_columns_are_checked_before_anything_is_written(work, tmp_path):
    shutil.copy(work / "train.tsv", tmp_path)
    result = refused("init", "a", "train.tsv", "./train.tsv", "--text-column", "Nope", code=3, cwd=tmp_path)
    assert "no column 'Nope'" in result.stderr
    assert "TRAIN and TEST are the same file" in result.stderr
    assert not (tmp_path / "a").exists()


@pytest.mark.parametrize(("labels", "unknown"), [("pos neg", ""), ("0 1", ""), ("pos 3 4", "'3', '4'")])
def test_labels_of_the_test_texts_that_no_training_text_has_are_reported(labels, unknown, tmp_path):
    (tmp_path / "train.csv").write_text("text,label\na,pos\nb,neg\n")
    (tmp_path / "test.csv").write_text("text,label\n" + "".join(f"a,{label}\n" for label in labels.split()))
    warning = run("init", "exp", "train.csv", "test.csv", cwd=tmp_path).stderr
    assert ("has no text with this label" in warning, unknown in warning) == (bool(unknown), True)


def test_several_labels_per_text(tmp_path):
    (tmp_path / "d.csv").write_text("text,label\na,x|y\nb,\n")
    (tmp_path / "t.csv").write_text("text,label\na,x|y\nb,\n")
    run("init", "a", "d.csv", "t.csv", "--label-separator", "|", "--skip-bad", cwd=tmp_path)
    assert "--skip-bad --label-separator '|'" in (tmp_path / "a/Makefile").read_text()


def test_other_columns_and_labels(tmp_path):
    (tmp_path / "train.tsv").write_text("My $text\tstars\na good film\t1\n")
    options = "--text-column", "My $text", "--label-column", "stars", "--map", "1=neg"
    run("init", "exp", "train.tsv", "train.tsv", *options, cwd=tmp_path)
    written = "--text-column 'My $text' --label-column stars --map 1=neg"
    assert all(written in line for line in planned(tmp_path, ["all"]))
    (tmp_path / "train.csv").write_bytes(b"text,other|label\ncaf\xe9|pos\n")
    options = "--text-column", "text,other", "--delimiter", "|", "--encoding-errors", "replace"
    run("init", "exp2", "train.csv", "train.csv", *options, cwd=tmp_path)
    makefile = (tmp_path / "exp2/Makefile").read_text()
    assert "READING = --text-column text,other --encoding-errors replace\n" in makefile
    assert "DELIMITER = --delimiter '|'\n" in makefile
    refused("init", "e", "train.tsv", "train.tsv", "--map", "x", code=2, says="--map is 'x'", cwd=tmp_path)


def test_make_runs_the_experiment_and_reruns_only_what_has_changed(experiment):
    goals = ["SEEDS=1", "results/crossvalidation.txt", "results/test.txt"]
    make(experiment, goals)
    assert (
        "results/candidate.csv minus results/base.csv" in (experiment / "exp/results/crossvalidation.txt").read_text()
    )
    assert "models/candidate-1.npz minus models/base-1.npz" in (experiment / "exp/results/test.txt").read_text()
    assert planned(experiment, goals) == []

    later(experiment / "exp/settings/candidate.toml")
    ran = planned(experiment, goals)
    assert sorted(command.split()[1] for command in ran) == ["compare", "compare", "crossvalidate", "train"]
    assert not any("base.toml" in command for command in ran)

    os.utime(experiment / "exp/settings/candidate.toml", (1e9, 1e9))
    with open(experiment / "test.tsv", "a") as file:
        file.write("another good film\tpos\n")
    assert kinds_of_commands(experiment, goals) == ["compare"]


def test_make_evaluates_its_own_tables_if_the_data_has_another_delimiter(experiment):
    for name in ("train", "test"):
        rows = [line.split("\t") for line in (experiment / f"{name}.tsv").read_text().splitlines()]
        (experiment / f"{name}.csv").write_text("".join(f"{row[0]}|{row[1]}\n" for row in rows))
    shutil.rmtree(experiment / "exp/settings")
    (experiment / "exp/Makefile").unlink()
    run("init", "exp", "train.csv", "test.csv", "--delimiter", "|", cwd=experiment)
    (experiment / "exp/settings/base.toml").write_text(SETTINGS)
    (experiment / "exp/settings/candidate.toml").unlink()
    make(experiment, ["SEEDS=1", "results/crossvalidation.txt"])
    assert "accuracy" in (experiment / "exp/results/crossvalidation.txt").read_text()


@pytest.fixture
def without_nlptx(tmp_path, monkeypatch):
    """An experiment whose data are folders and whose results are empty files, made by a script that replaces nlptx."""
    for name in ("train/pos/1.txt", "train/neg/a file.txt", "test/pos/1.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("a film")
    call("init", tmp_path / "exp", tmp_path / "train", tmp_path / "test")
    script = tmp_path / "bin/nlptx"
    script.parent.mkdir()
    script.write_text(
        '#!/bin/sh\n[ -z "$FAILS" ] || exit 1\n'
        'for word; do case $before in -o|--predictions|--report) : > "$word";; esac; before=$word; done\n'
    )
    script.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(script))
    make(tmp_path, ["all"])
    assert planned(tmp_path, ["all"]) == []
    return tmp_path


def test_make_notices_changed_values(without_nlptx):
    expected = {
        "FOLDS=3": ["compare", "crossvalidate", "crossvalidate"],
        "SEEDS=1 2": ["compare"],
        "SEEDS=2 1": ["compare", "evaluate"],
        "READING=--text-column 'My $$text'": [*["compare"] * 2, *["crossvalidate"] * 2, "evaluate", *["train"] * 6],
        "TEST=../train": ["compare", "evaluate"],
    }
    for change, commands in expected.items():
        assert kinds_of_commands(without_nlptx, ["all", change]) == commands
    assert planned(without_nlptx, ["all"]) == []
    change = "READING=--text-column 'My $$text'"
    make(without_nlptx, ["all", change])
    assert planned(without_nlptx, ["all", change]) == []


def test_make_notices_deleted_settings(without_nlptx):
    (without_nlptx / "exp/settings/candidate.toml").unlink()
    assert kinds_of_commands(without_nlptx, ["all"]) == ["compare", "evaluate", "evaluate"]


def test_make_notices_changes_in_folders(without_nlptx):
    (without_nlptx / "test/pos/1.txt").write_text("another film")
    assert kinds_of_commands(without_nlptx, ["all"]) == ["compare", "evaluate"]
    make(without_nlptx, ["all"])
    (without_nlptx / "train/neg/a file.txt").unlink()
    assert kinds_of_commands(without_nlptx, ["all"]) == sorted(
        ["compare", "compare", "crossvalidate", "crossvalidate", "evaluate", *["train"] * 6]
    )


@pytest.mark.parametrize("quote", ['"', "'"])
def test_make_notices_changes_in_a_file_that_settings_name(quote, without_nlptx):
    lexicon, settings = without_nlptx / "words.txt", without_nlptx / "exp/settings/candidate.toml"
    lexicon.write_text("fine\t1\n")
    settings.write_text(settings.read_text() + f'class-weight = "balanced"\nlexicon = {quote}../words.txt{quote}\n')
    make(without_nlptx, ["all"])
    assert planned(without_nlptx, ["all"]) == []
    lexicon.write_text("fine\t2\n")
    assert kinds_of_commands(without_nlptx, ["all"]) == ["compare"] * 2 + ["crossvalidate", "evaluate"] + ["train"] * 3


@pytest.mark.parametrize("name", ["a b", "a=b", "a;touch x", "a'b", "a(b)", "a#b"])
def test_make_refuses_names_of_settings_files_with_special_characters(name, without_nlptx):
    (without_nlptx / "exp/settings/notes (old).txt").touch()
    (without_nlptx / "exp/settings/ü,x-1+.toml").write_text(SETTINGS)
    assert "settings/ü,x-1+.toml" in make(without_nlptx, ["-n", "all"])
    (without_nlptx / f"exp/settings/{name}.toml").write_text(SETTINGS)
    with pytest.raises(subprocess.CalledProcessError) as caught:
        make(without_nlptx, ["-n", "all"])
    assert f"must not contain spaces or special characters: {name}.toml" in caught.value.stderr
    assert not (without_nlptx / "exp/x").exists()


def test_the_program_may_have_a_path(without_nlptx):
    lines = make(without_nlptx, ["-n", "all", "SEEDS=1 2", "NLPTX=/opt/bin/nlptx"]).splitlines()
    assert [line.split()[:2] for line in lines if "nlptx" in line] == [["/opt/bin/nlptx", "compare"]]


def test_a_warning_if_the_reports_cannot_be_written(work, tmp_path, monkeypatch):
    paths = (work / "train.tsv", work / "test.tsv")
    assert "Jinja2" not in call("init", tmp_path / "a", *paths).stderr
    monkeypatch.setattr("nlptx.cli.commands.init.find_spec", lambda name: None)
    assert "reports, which need Jinja2: pip install 'nlptx[report]'" in call("init", tmp_path / "b", *paths).stderr


def test_make_starts_an_interrupted_cross_validation_over_if_a_value_changed(without_nlptx, monkeypatch):
    exp = without_nlptx / "exp"
    monkeypatch.setenv("FAILS", "1")
    for change, continues in (("FOLDS=2", True), ("FOLDS=3", False)):
        (exp / "results/base.csv").unlink(missing_ok=True)
        checkpoint = exp / "results/base.csv.checkpoint"
        checkpoint.touch()
        with pytest.raises(subprocess.CalledProcessError):
            make(without_nlptx, ["results/base.csv", change])
        assert checkpoint.exists() == continues


def test_the_number_of_cores_of_each_command(work, tmp_path):
    shutil.copy(work / "train.tsv", tmp_path)
    run("init", "exp", "train.tsv", "train.tsv", "-j", "3", cwd=tmp_path)
    assert all(" -j 3" in line for line in planned(tmp_path, ["all"]))
    assert all(" -j 2" in line for line in planned(tmp_path, ["all", "-j", "2", "JOBS=2"]))
    assert not any(" -j" in line for line in planned(tmp_path, ["all", "JOBS="]))


def test_a_single_settings_file_is_evaluated(experiment):
    (experiment / "exp/settings/candidate.toml").unlink()
    make(experiment, ["SEEDS=1", "results/crossvalidation.txt", "results/test.txt"])
    for name in ("crossvalidation", "test"):
        assert "accuracy" in (experiment / f"exp/results/{name}.txt").read_text()
    report = "nlptx evaluate ../test.tsv -m models/base-1.npz --report results/base.html"
    assert planned(experiment, ["all", "SEEDS=1"]) == [report]
    compared = "nlptx compare models/base-1.npz models/base-2.npz ../test.tsv"
    assert compared in planned(experiment, ["all", "SEEDS=1 2"])


def test_the_report_uses_the_model_of_the_first_seed(experiment):
    commands = planned(experiment, ["all", "SEEDS=7 8"])
    (report,) = [command for command in commands if "--report" in command]
    assert report == "nlptx evaluate ../test.tsv -m models/candidate-7.npz --report results/candidate.html"


def test_what_cannot_be_an_experiment_is_refused(work, tmp_path):
    shutil.copy(work / "train.tsv", tmp_path / "train.tsv")
    shutil.copy(work / "train.tsv", tmp_path / "my reviews.tsv")
    (tmp_path / "full").mkdir()
    (tmp_path / "full/notes").touch()
    options = {"cwd": tmp_path}
    refused("init", "full", "train.tsv", "train.tsv", code=1, says=["full", "not empty"], **options)
    refused("init", "new", "train.tsv", "no.tsv", code=2, says=["no.tsv", "no such file"], **options)
    refused("init", "new", "train.tsv", "my reviews.tsv", code=2, says=["my reviews.tsv", "Makefile"], **options)
    refused("init", "train.tsv/new", "train.tsv", "train.tsv", code=1, says=["train.tsv"], **options)
    (tmp_path / "empty.tsv").write_text("text\tlabel\n")
    refused("init", "new", "train.tsv", "empty.tsv", code=3, says="empty.tsv: it contains no labelled texts", **options)
    refused("init", "new", "train.tsv", "-", code=2, says="- cannot be used here", **options)
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(("value", "says"), [("SEEDS=", "SEEDS is empty"), ("BASE=x", "no file settings/x.toml")])
def test_make_refuses_values_that_cannot_work(value, says, without_nlptx):
    with pytest.raises(subprocess.CalledProcessError) as raised:
        make(without_nlptx, ["-n", value])
    assert says in raised.value.stderr


def test_a_folder_that_is_a_link(experiment):
    (experiment / "a/b").mkdir(parents=True)
    (experiment / "link").symlink_to("a/b")
    (experiment / "train set.tsv").symlink_to("train.tsv")
    (experiment / "set.tsv").symlink_to("train set.tsv")
    run("init", "link", "link/../../set.tsv", "test.tsv", cwd=experiment)
    assert "TRAIN = ../../set.tsv\nTEST = ../../test.tsv\n" in (experiment / "a/b/Makefile").read_text()


def test_data_that_is_reached_through_a_link(experiment):
    (experiment / "my disk").mkdir()
    (experiment / "my disk/train.tsv").write_bytes((experiment / "train.tsv").read_bytes())
    (experiment / "data").symlink_to("my disk")
    run("init", "other", "data/train.tsv", "test.tsv", cwd=experiment)
    assert "TRAIN = ../data/train.tsv\n" in (experiment / "other/Makefile").read_text()


def test_missing_data_changes_nothing(experiment, tmp_path):
    run("init", tmp_path / "new", experiment / "train.tsv", experiment / "test.tsv")
    makefile = tmp_path / "new/Makefile"
    makefile.write_text(makefile.read_text().replace("test.tsv", "gone.tsv"))
    done = subprocess.run(
        ["make", "-C", tmp_path / "new"], capture_output=True, text=True, check=False, timeout=TIMEOUT
    )
    assert done.returncode == 2
    assert "gone.tsv: no such file or folder" in done.stderr
    assert not (tmp_path / "new/.stamps").exists()
    assert subprocess.run(["make", "-C", tmp_path / "new", "clean"], check=False, timeout=TIMEOUT).returncode == 0


def test_nothing_is_left_if_writing_fails(work, tmp_path, monkeypatch):
    write = Path.write_text

    def fail(path, text, **options):
        write(path, text[:10], **options)
        if path.name == "base.toml":
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))

    for folder in (tmp_path / "exp", tmp_path):
        with monkeypatch.context() as patch:
            patch.setattr(Path, "write_text", fail)
            code, message = failure("init", folder, work / "train.tsv", work / "test.tsv")
            assert (code, "No space left" in message) == (1, True)
            assert list(folder.iterdir()) == []
        call("init", folder, work / "train.tsv", work / "test.tsv")
        shutil.rmtree(tmp_path / "exp", ignore_errors=True)


def test_numpy_is_not_loaded(work, tmp_path):
    command = [sys.executable, "-X", "importtime", "-m", "nlptx", "init", tmp_path / "exp", *[work / "train.tsv"] * 2]
    imported = subprocess.run(command, capture_output=True, text=True, check=True).stderr
    names = {line.rpartition("|")[2].strip() for line in imported.splitlines()}
    assert "nlptx.experiments.new_experiment" in names
    assert not names & {"numpy", "scipy", "pandas"}
