"""Tests of ``train --start`` and ``train -e MODEL``: commands and digests in ``info``, and files that are refused."""

import hashlib
import os
import shlex
import threading

import pytest
from calling import call, failure
from command import header_of
from sample_data import make_rows, write_tsv

from nlptx.classifier.model_file import bundled_path


@pytest.fixture(scope="module")
def started(work, tmp_path_factory):
    """A folder with new.tsv and two models trained on it: from model.npz, and with only the vectors of model.npz."""
    folder = tmp_path_factory.mktemp("start")
    write_tsv(folder / "new.tsv", make_rows(("neg", "pos"), 20, seed=8))
    write_tsv(folder / "more.tsv", make_rows(("neg", "pos"), 12, seed=9))
    call("train", folder / "new.tsv", "--start", work / "model.npz", "-o", folder / "model.npz", "-q")
    vectors = ("-e", work / "model.npz", "--epochs", 1, "--width", 8)
    call("train", folder / "new.tsv", *vectors, "-o", folder / "vectors.npz", "-q")
    return folder


def recipe(model):
    """Return the arguments of the last command that info prints, without the name of the program."""
    return shlex.split(call("info", model, "--json").json["commands"][-1])[1:]


@pytest.mark.parametrize("name", ["model.npz", "vectors.npz"])
def test_the_recipe_gives_the_same_bytes(name, started, work, tmp_path):
    names = {"DATA": started / "new.tsv", "start-1.npz": work / "model.npz", "model.npz": tmp_path / "again.npz"}
    words = recipe(started / name)
    assert ("--start" if name == "model.npz" else "-e") in words
    call(*(names.get(word, word) for word in words), "-q", "--jobs", 1)
    assert (tmp_path / "again.npz").read_bytes() == (started / name).read_bytes()


def test_the_chain_goes_back_through_every_model(started, tmp_path):
    call("train", started / "more.tsv", "--start", started / "model.npz", "-o", tmp_path / "more.npz", "-q")
    told = call("info", tmp_path / "more.npz", "--json").json
    outputs = [shlex.split(command)[-1] for command in told["commands"]]
    assert outputs == ["cooccur.npz", "embeddings.npz", "start-1.npz", "start-2.npz", "model.npz"]
    assert "--start start-2.npz" in told["commands"][-1]
    digest = hashlib.sha256((started / "model.npz").read_bytes()).hexdigest()
    assert told["details"]["source"]["start_sha256"] == digest
    shown = call("info", tmp_path / "more.npz").text
    assert digest in "".join(shown.split())


def test_results_on_texts_that_the_model_to_start_from_has_learned_cause_a_warning(started, work, tmp_path):
    warning = "warning: the model to start from was trained on {}, so the results on held-out texts will be too good"
    other = write_tsv(tmp_path / "other.tsv", make_rows(("neg", "pos"), 12, seed=10))
    output = ("-o", tmp_path / "m.npz", "--epochs", 0)
    # model.npz was trained on new.tsv, and started from a model that was trained on train.tsv.
    for start, path, more, data in (
        (started / "model.npz", started / "new.tsv", (), "this data"),
        (started / "model.npz", work / "train.tsv", (), "this data"),
        (started / "model.npz", other, ("--valid", started / "new.tsv"), "the texts of --valid"),
        (started / "vectors.npz", other, (), None),
    ):
        found = call("train", path, "--start", start, *more, *output).stderr
        assert (warning.format(data) in found) if data else "warning: the model to start" not in found
    words = ("crossvalidate", started / "new.tsv", "--start", started / "model.npz", "--folds", 2, "--epochs", 0)
    assert warning.format("this data") in call(*words).stderr
    assert call("evaluate", "-m", started / "model.npz", work / "train.tsv", "--json").json["seen_in"] == "training"


def test_the_digest_of_the_bundled_model_is_stored(started, tmp_path):
    call("train", started / "new.tsv", "--start", "bundled", "-o", tmp_path / "model.npz", "-q", "--epochs", 1)
    source = call("info", tmp_path / "model.npz", "--json").json["details"]["source"]
    with open(bundled_path(), "rb") as file:
        assert source["start_sha256"] == hashlib.file_digest(file, "sha256").hexdigest()


def test_without_epochs_no_epoch_is_shown(started, tmp_path):
    words = ("--start", "bundled", "--epochs", 0, "--valid", started / "more.tsv", "-o", tmp_path / "model.npz")
    result = call("train", started / "new.tsv", *words, "--json")
    assert "epoch" not in result.stderr
    facts = result.json
    assert (facts["steps"], "valid_loss" in facts, "best_epoch" in facts, "best_by" in facts) == (0, True, False, False)
    shown = call("info", tmp_path / "model.npz").text
    assert "validation loss  validation accuracy" in shown
    assert "kept:" not in shown
    history = call("info", tmp_path / "model.npz", "--json").json["details"]["history"]
    assert "valid_loss" in history["epochs"][0]
    assert "best_epoch" not in history


def test_without_epochs_and_held_out_texts_info_shows_no_results(started, tmp_path):
    words = ("--start", "bundled", "--epochs", 0, "--valid-share", 0, "-q", "-o", tmp_path / "model.npz")
    call("train", started / "new.tsv", *words)
    assert "results" not in call("info", tmp_path / "model.npz").text


@pytest.mark.parametrize(("option", "theirs"), [("ngrams", 3), ("lsa-components", 300), ("width", 64)])
@pytest.mark.parametrize("by_file", [False, True])
def test_settings_that_contradict_the_model_are_refused_even_if_they_are_the_defaults(
    option, theirs, by_file, started, tmp_path
):
    small = ("--ngrams", 2, "--lsa-components", 4, "--width", 8, "--heads", 2, "--epochs", 1)
    call("train", started / "new.tsv", *small, "-o", tmp_path / "small.npz", "-q")
    (tmp_path / "settings.toml").write_text(f"[train]\n{option} = {theirs}\n")
    given = ("--config", tmp_path / "settings.toml") if by_file else (f"--{option}", theirs)
    start = ("--start", tmp_path / "small.npz")
    code, told = failure("train", started / "new.tsv", *start, *given, "-o", tmp_path / "model.npz")
    assert code == 2
    origin = f" (from [train] in {tmp_path / 'settings.toml'})" if by_file else ""
    assert f"--{option}{origin} is {theirs}, but the model to start from has" in told


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("-e", "{work}/embeddings.npz", "--start", "{work}/model.npz"), "use only one of them"),
        (("--start", "{work}/model.npz", "--blocks", "2"), "--blocks is 2, but the model to start from has 1"),
        (("--start", "{work}/model.npz", "--heads", "4"), "--heads is 4, but the model to start from has 2"),
        (("--start", "{work}/model.npz", "--loss", "squared-error"), "--loss is squared-error, but the model to start"),
        (("--start", "{work}/model.npz", "--preset", "bloem"), "the model to start from has"),
        (("--start", "{work}/model.npz", "--pretrain", "1"), "--pretrain trains a new network"),
        (("--start", "{work}/nowhere.npz"), "nowhere.npz: no such file"),
    ],
)
def test_wrong_uses_are_refused(words, message, started, work, tmp_path):
    given = [word.format(work=work) for word in words]
    code, told = failure("train", started / "new.tsv", *given, "-o", tmp_path / "model.npz")
    assert code == 2
    assert message in told
    assert not (tmp_path / "model.npz").exists()


def test_files_that_are_not_valid_models_are_refused(started, work, tmp_path):
    good = (work / "model.npz").read_bytes()
    (tmp_path / "cut.npz").write_bytes(good[:-40])
    (tmp_path / "newer.npz").write_bytes(good.replace(b'"format": 1,', b'"format": 9,'))
    for start in (tmp_path / "cut.npz", tmp_path / "newer.npz", work / "embeddings.npz"):
        code, told = failure("train", started / "new.tsv", "--start", start, "-o", tmp_path / "model.npz")
        assert code == 4, told
        assert start.name in told


def test_a_lexicon_may_come_from_a_pipe_and_need_not_exist_after_reading(tmp_path, monkeypatch):
    """A pipe can be read only once, so no digest of it is stored."""
    from nlptx.training import fit as training

    write_tsv(tmp_path / "d.tsv", make_rows(("neg", "pos"), 40, seed=1))
    lexicon, pipe = tmp_path / "l.txt", tmp_path / "pipe"
    lexicon.write_text("good\t1\nbad\t-1\n")
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(lexicon.read_bytes(),), daemon=True)
    writer.start()
    fast = ("--effort", "fast", "-q", "-j", "1")
    call("train", tmp_path / "d.tsv", "--lexicon", pipe, *fast, "-o", tmp_path / "a.npz")
    writer.join()
    assert "lexicon_sha256" not in header_of(tmp_path / "a.npz")["details"]["source"]
    digest = hashlib.sha256(lexicon.read_bytes()).hexdigest()

    def fit(*arguments, **options):
        lexicon.unlink()
        return trained(*arguments, **options)

    trained = training.fit
    monkeypatch.setattr(training, "fit", fit)
    call("train", tmp_path / "d.tsv", "--lexicon", lexicon, *fast, "-o", tmp_path / "b.npz")
    assert header_of(tmp_path / "b.npz")["details"]["source"]["lexicon_sha256"] == digest
