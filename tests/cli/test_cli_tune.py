"""Tests of ``nlptx tune``: settings file, table, JSON, resuming, errors."""

import signal
import tomllib

import pytest
from calling import call, failure
from command import Running, header_of, run

import nlptx
from nlptx.cli.results.tuning_report import draw_tuning
from nlptx.cli.terminal.reporter import Reporter
from nlptx.experiments.halving import Trial
from nlptx.experiments.measures import Measures
from nlptx.experiments.tuning import Tuning

ROWS = [("a good film", "pos"), ("so good", "pos"), ("a bad film", "neg"), ("so bad", "neg")] * 12

FAST = ("--folds", "2", "--heads", "2", "--rounds", "1")


@pytest.fixture
def here(work, tmp_path, monkeypatch):
    """Run the test in an empty working folder; return ``work``, the folder with the input files."""
    monkeypatch.chdir(tmp_path)
    return work


def test_the_settings_file_is_accepted_by_train(here):
    result = call("tune", here / "train.tsv", *FAST, "--epochs", "1")
    assert "settings -> tuned.toml" in result.text
    assert "starting settings" in result.text
    with open("tuned.toml", "rb") as file:
        found = tomllib.load(file)
    assert found["train"]["epochs"] == 1
    assert found["train"]["heads"] == 2
    call("train", here / "train.tsv", "--config", "tuned.toml", "-q", "-o", "m.npz")
    assert header_of("m.npz")["settings"]["epochs"] == 1


def test_the_settings_file_names_the_lexicon_and_the_model(here, tmp_path):
    (tmp_path / "l.tsv").write_text("good\t1\nbad\t-1\n")
    call("tune", here / "train.tsv", "--folds", "2", "--rounds", "1", "--epochs", "0", "--lexicon", "l.tsv", "-q")
    with open("tuned.toml", "rb") as file:
        assert tomllib.load(file)["train"]["lexicon"] == "l.tsv"
    words = ("--folds", "2", "--rounds", "1", "--epochs", "0", "--start", here / "model.npz", "-q")
    call("tune", here / "train.tsv", *words, "-o", "s.toml")
    with open("s.toml", "rb") as file:
        assert tomllib.load(file)["train"]["start"] == str(here / "model.npz")


def test_the_settings_file_says_how_the_data_is_read(here, tmp_path):
    rows = [f"{text}\t{label}\t{label}{number % 2}\t2" for number, (text, label) in enumerate(ROWS)]
    (tmp_path / "d.tsv").write_text("\n".join(["words\tlabel\tkind\tw", *rows]) + "\n")
    (tmp_path / "c.toml").write_text('[train]\nlabel-column = "kind"\nmap = ["neg0=neg", "neg1=neg"]\n')
    options = ("--text-column", "words", "--weight-column", "w", "--unlabelled", "d.tsv", "--config", "c.toml")
    call("tune", "d.tsv", "--effort", "fast", "--folds", "2", "--minutes", "0.000001", *options, "-q")
    with open("tuned.toml", "rb") as file:
        assert tomllib.load(file)["train"] == {
            "epochs": 0,
            "text-column": "words",
            "label-column": "kind",
            "map": ["neg0=neg", "neg1=neg"],
            "weight-column": "w",
            "unlabelled": ["d.tsv"],
        }
    call("train", "d.tsv", "--config", "tuned.toml", "-q", "-o", "m.npz")
    assert nlptx.Model.load("m.npz").label_names == ["neg", "pos0", "pos1"]


def test_json_and_given_settings_are_not_changed(here):
    words = ("--folds", "2", "--rounds", "1", "--epochs", "1", "--measure", "accuracy")
    report = call("tune", here / "train.tsv", *words, "--json", "-q").json
    assert report["measure"] == "accuracy"
    assert len(report["trials"]) > 1
    assert report["trials"][0]["changes"] == {}
    assert all("train.epochs" not in trial["changes"] for trial in report["trials"])
    assert sum(trial["best"] for trial in report["trials"]) == 1
    assert report["settings"]["train.epochs"] == 1


def test_an_interrupted_search_is_resumed(here):
    words = ("tune", here / "train.tsv", "--folds", "2", "--minutes", "5", "--epochs", "1")
    with Running(*words) as running:
        running.read_until(b"starting settings", running.process.stderr)
        running.process.send_signal(signal.SIGINT)
        stopped = running.finish()
    assert stopped.code == 130
    assert "--resume continues from tuned.toml.checkpoint" in stopped.stderr
    resumed = call(*words[:4], "--minutes", "0.001", "--epochs", "1", "--resume")
    assert "finished runs: " in resumed.stderr
    code, message = failure(*words[:4], "--minutes", "0.001", "--epochs", "2", "--resume")
    assert (code, "--epochs was 1 and is now 2" in message) == (4, True)


def test_temporary_files_of_a_killed_search_are_removed_by_the_next_one(here, tmp_path):
    (tmp_path / "tmp").mkdir()
    words = ("tune", here / "train.tsv", "--folds", "2", "--epochs", "1")
    with Running(*words, "--minutes", "5", env={"TMPDIR": str(tmp_path / "tmp")}) as running:
        running.read_until(b"starting settings", running.process.stderr)
        running.process.kill()
        running.finish()
    assert list((tmp_path / "tmp").iterdir())
    run(*words, "--minutes", "0.001", env={"TMPDIR": str(tmp_path / "tmp")})
    assert not list((tmp_path / "tmp").iterdir())


def test_a_time_that_is_too_short_to_compare_anything(here):
    result = call("tune", here / "train.tsv", "--folds", "2", "--minutes", "0.000001", "--epochs", "1")
    assert (
        "the time was too short to compare any other settings; tuned.toml contains the starting settings"
        in result.stderr
    )
    assert "best of" not in result.text
    with open("tuned.toml", "rb") as file:
        assert tomllib.load(file) == {"train": {"epochs": 1}}


def test_a_sample_of_the_texts(here):
    result = call("tune", here / "train.tsv", "--folds", "2", "--minutes", "0.001", "--epochs", "1", "--texts", "40")
    assert "the search uses 40 of 80 texts" in result.stderr


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (("-o", "-"), 2, "-o needs a file name"),
        (("-o", "a.npz"), 2, "name it *.toml"),
        (("--minutes", "0"), 2, "--minutes"),
        (("--minutes", "nan"), 2, "--minutes"),
        (("--folds", "99"), 3, "80 texts for 99 folds"),
    ],
)
def test_errors(here, words, code, says):
    found, message = failure("tune", here / "train.tsv", *words)
    assert (found, says in message) == (code, True), message


def test_settings_are_ranked_by_their_change_on_the_same_folds(capsys):
    """The starting settings are worse on fold 2 than on fold 1, so a log-loss of 0.5 is good on fold 2 only."""

    def measures(log_loss):
        return Measures(0.8, 0.8, log_loss, 0.1)

    default = Trial({}, {}, {0: measures(0.4), 1: measures(0.6)})
    worse = Trial({}, {"train.epochs": 3}, {0: measures(0.45)})
    better = Trial({}, {"train.epochs": 4}, {1: measures(0.5)})
    draw_tuning(Tuning("log_loss", default, [default, worse, better], 1, 1.0), "t.toml", Reporter())
    table = capsys.readouterr().out
    assert table.index("epochs 4") < table.index("epochs 3")
    assert "-0.1000" in table
    assert "+0.0500" in table
