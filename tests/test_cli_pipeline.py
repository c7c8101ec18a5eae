"""The stages of the command line: on disk and in pipes, the bytes they write, where their settings come from."""

import gzip
import io
import os
import socket
import tarfile
import zipfile

import numpy as np
import pytest
import scipy.sparse as sp
from command import contents, header_of, on_terminal, refused, run, shell
from conftest import COUNT, PCA, TRAIN, make_rows, write_tsv

STAGES = ("cooccur", "pca", "train")
OUTPUTS = {"cooccur": "cooccur.npz", "pca": "embeddings.npz", "train": "model.npz"}


def stage_words(stage, work):
    """The arguments that make a stage's artifact in ``work``, without -o."""
    return {
        "cooccur": ("cooccur", work / "corpus.txt", *COUNT),
        "pca": ("pca", work / "cooccur.npz", *PCA),
        "train": ("train", work / "train.tsv", "-e", work / "embeddings.npz", *TRAIN),
    }[stage]


def settings_of(path):
    return header_of(path)["settings"]


# ---------------------------------------------------------------- files and pipes


def test_each_stage_writes_one_file_and_nothing_on_stdout(work, tmp_path):
    for number, stage in enumerate(STAGES, start=1):
        result = run(*stage_words(stage, work), "-o", OUTPUTS[stage], cwd=tmp_path)
        assert result.stdout == b""
        assert len(contents(tmp_path)) == number
        # Where no terminal is, neither bars nor colours are.
        assert result.stderr
        assert not set("\x1b\r") & set(result.stderr)
    assert len(run("predict", "-m", "model.npz", work / "corpus.txt", cwd=tmp_path).rows) == 140
    assert len(contents(tmp_path)) == 3


def test_the_pipeline_through_pipes_makes_the_same_model(work, tmp_path):
    script = (
        f"cat corpus.txt | nlptx cooccur - {' '.join(COUNT)} -o - | nlptx pca - {' '.join(PCA)} -o - |"
        f" nlptx train train.tsv -e - {' '.join(TRAIN)} -o {tmp_path}/model.npz"
    )
    assert shell(script, cwd=work).stdout == b""
    assert (tmp_path / "model.npz").read_bytes() == (work / "model.npz").read_bytes()


def test_labelled_text_and_model_through_pipes(work, tmp_path):
    train = f"nlptx train - --input-format tsv -e {work}/embeddings.npz {' '.join(TRAIN)} -o -"
    scored = shell(f"{train} < {work}/train.tsv | nlptx predict -m - {work}/test.tsv")
    assert scored.stdout == run("predict", "-m", work / "model.npz", work / "test.tsv").stdout


@pytest.mark.parametrize("stage", STAGES)
def test_a_stage_nobody_listens_to_still_works(stage, work):
    """With standard error closed there is nobody to tell, but the result is the same."""
    words = " ".join(map(str, stage_words(stage, work)))
    assert shell(f"nlptx {words} -o - 2>&-").stdout == (work / OUTPUTS[stage]).read_bytes()


@pytest.mark.parametrize("stage", STAGES)
def test_an_artifact_is_never_written_to_a_terminal(stage, work):
    result = on_terminal(*stage_words(stage, work), "-o", "-", terminal=(1,))
    assert result.code == 2
    assert "terminal" in result.stderr
    assert result.stdout == b""


def test_process_substitution_feeds_a_stage(work, tmp_path):
    shell(f"nlptx train train.tsv -e <(cat embeddings.npz) {' '.join(TRAIN)} -o {tmp_path}/model.npz", cwd=work)
    assert (tmp_path / "model.npz").read_bytes() == (work / "model.npz").read_bytes()


@pytest.mark.parametrize("target", ["/dev/stdout", "/dev/fd/1", ">(cat)"])
def test_an_output_that_is_a_pipe_gets_the_bytes(target, work):
    piped = shell(f"nlptx pca cooccur.npz {' '.join(PCA)} -o {target} | cat", cwd=work)
    assert piped.stdout == (work / "embeddings.npz").read_bytes()


@pytest.mark.parametrize(
    "words",
    [
        ("train", "-", "-e", "-"),
        ("train", "-", "-e", "embeddings.npz", "--valid", "-"),
        ("train", "train.tsv", "-e", "-", "--valid", "-"),
        ("predict", "-m", "-", "-"),
        ("predict", "-m", "-"),
        ("evaluate", "-m", "-", "-"),
    ],
    ids=" ".join,
)
def test_standard_input_cannot_be_two_things(words, work):
    """Otherwise the second reader would find it empty, and say so less clearly or not at all."""
    refused(*words, code=2, says="standard input", stdin=(work / "model.npz").read_bytes(), cwd=work)


# ---------------------------------------------------------------- same command, same bytes


@pytest.mark.parametrize("stage", STAGES)
def test_same_bytes_for_any_jobs_hash_seed_place_and_user(stage, work, tmp_path):
    """And nothing in them tells who made them where and when."""
    home = tmp_path / "home-of-zebra"
    home.mkdir()
    env = {"USER": "zebra", "LOGNAME": "zebra", "HOME": str(home), "TZ": "Asia/Tokyo", "PYTHONHASHSEED": "1"}
    run(*stage_words(stage, work), "-j", "1", "-o", "out.npz", cwd=tmp_path, env=env)
    data = (tmp_path / "out.npz").read_bytes()
    run(*stage_words(stage, work), "-j", "2", "-o", "out.npz", cwd=tmp_path, env={"PYTHONHASHSEED": "0"})
    assert data == (tmp_path / "out.npz").read_bytes() == (work / OUTPUTS[stage]).read_bytes()
    for mark in ("zebra", str(tmp_path), str(work), os.getcwd(), socket.gethostname(), "corpus.txt", "train.tsv"):
        assert len(mark) < 4 or mark.encode() not in data, mark
    with zipfile.ZipFile(io.BytesIO(data)) as container:
        assert {entry.date_time for entry in container.infolist()} == {(1980, 1, 1, 0, 0, 0)}


def test_same_bytes_where_a_batch_is_shared_between_jobs(work, tmp_path):
    # Batches of some thousand words, which training cuts into shares for its threads.
    write_tsv(tmp_path / "long.tsv", make_rows(("neg", "pos"), 64, seed=4, words=90))
    for jobs in ("1", "2"):
        words = ("train", "long.tsv", "-e", work / "embeddings.npz", *TRAIN, "--epochs", "1", "--batch", "32")
        run(*words, "-j", jobs, "-o", f"{jobs}.npz", cwd=tmp_path)
    assert (tmp_path / "1.npz").read_bytes() == (tmp_path / "2.npz").read_bytes()


@pytest.mark.parametrize("way", ["stdin", "dash", "pieces", "gzip", "crlf", "folder", "table"])
def test_same_bytes_however_the_corpus_arrives(way, work, tmp_path):
    text = (work / "corpus.txt").read_bytes()
    lines = text.splitlines(keepends=True)
    (tmp_path / "a.txt").write_bytes(b"".join(lines[:50]))
    (tmp_path / "b.txt").write_bytes(b"".join(lines[50:]))
    (tmp_path / "c.txt.gz").write_bytes(gzip.compress(text))
    (tmp_path / "d.txt").write_bytes(text.replace(b"\n", b"\r\n"))
    (tmp_path / "e.tsv").write_bytes(b"text\n" + text)
    (tmp_path / "folder").mkdir()
    for number, line in enumerate(lines):
        (tmp_path / "folder" / f"{number:03}.txt").write_bytes(line)
    inputs = {
        "stdin": (),
        "dash": ("-",),
        "pieces": ("a.txt", "b.txt"),
        "gzip": ("c.txt.gz",),
        "crlf": ("d.txt",),
        "folder": ("folder",),
        "table": ("e.tsv",),
    }[way]
    run("cooccur", *inputs, *COUNT, "-o", "out.npz", stdin=text if way in ("stdin", "dash") else b"", cwd=tmp_path)
    assert (tmp_path / "out.npz").read_bytes() == (work / "cooccur.npz").read_bytes()


@pytest.mark.parametrize("stage", ["pca", "train"])
def test_another_seed_gives_other_bytes(stage, work, tmp_path):
    run(*stage_words(stage, work), "--seed", "7", "-o", tmp_path / "out.npz")
    assert (tmp_path / "out.npz").read_bytes() != (work / OUTPUTS[stage]).read_bytes()


def test_counts_open_with_scipy(work):
    matrix = sp.load_npz(work / "cooccur.npz")
    assert matrix.shape == (41, 41)
    assert (matrix != matrix.T).nnz == 0


def test_artifacts_hold_no_pickle(work):
    for name in OUTPUTS.values():
        with np.load(work / name, allow_pickle=False) as arrays:
            assert all(arrays[key].dtype != object for key in arrays)


# ---------------------------------------------------------------- summaries


@pytest.mark.parametrize(
    ("stage", "facts"),
    [
        ("cooccur", {"documents": 140, "tokens": 1260, "words": 41}),
        ("pca", {"words": 41, "components": 8}),
        ("train", {"texts": 80, "labels": "neg, pos"}),
    ],
    ids=STAGES,
)
def test_json_summary_is_one_object_and_quiet_says_nothing_else(stage, facts, work, tmp_path):
    result = run(*stage_words(stage, work), "--json", "-q", "-o", tmp_path / "out.npz")
    assert len(result.lines) == 1
    assert {name: result.json[name] for name in facts} == facts
    assert result.json["seconds"] > 0
    assert result.stderr == ""
    assert (tmp_path / "out.npz").read_bytes() == (work / OUTPUTS[stage]).read_bytes()


@pytest.mark.parametrize("stage", STAGES)
def test_json_and_an_artifact_cannot_share_stdout(stage, work):
    refused(*stage_words(stage, work), "--json", "-o", "-", code=2, says="--json")


# ---------------------------------------------------------------- where settings come from


@pytest.mark.parametrize(
    ("options", "variable", "lr"),
    [
        ((), None, 1e-3),
        (("--preset", "bloem"), None, 1e-4),
        (("--preset", "bloem"), "0.02", 0.02),
        (("--preset", "bloem", "--lr", "0.03"), "0.02", 0.03),
        (("--lr", "0.03", "--preset", "bloem"), None, 0.03),
        ((), "0.02", 0.02),
    ],
    ids=["default", "preset", "variable-over-preset", "option-over-variable", "preset-comes-last", "variable"],
)
def test_option_over_variable_over_preset_over_default(options, variable, lr, work, tmp_path):
    small = ("--epochs", "1", "--blocks", "1", "--heads", "1", "--batch", "40", "--window", "16")
    words = ("train", work / "train.tsv", "-e", work / "embeddings.npz", *small, *options, "-o", tmp_path / "out.npz")
    run(*words, env={"NLPTX_TRAIN_LR": variable})
    assert settings_of(tmp_path / "out.npz")["lr"] == lr


@pytest.mark.parametrize(
    ("command", "variables", "setting", "value"),
    [
        ("cooccur", {"NLPTX_COOCCUR_WINDOW": "2"}, "window", 2),
        ("cooccur", {"NLPTX_COOCCUR_LOWERCASE": "0"}, "lowercase", False),
        ("pca", {"NLPTX_PCA_COMPONENTS": "3"}, "components", 3),
    ],
)
def test_variables_reach_every_stage(command, variables, setting, value, work, tmp_path):
    words = {"cooccur": ("cooccur", work / "corpus.txt"), "pca": ("pca", work / "cooccur.npz")}[command]
    run(*words, "-o", tmp_path / "out.npz", env=variables)
    assert settings_of(tmp_path / "out.npz")[setting] == value


def test_a_bad_variable_is_refused_by_name(work):
    refused("pca", work / "cooccur.npz", code=2, says="components", env={"NLPTX_PCA_COMPONENTS": "many"})


def test_preset_goldstraw_resolves_to_the_settings_of_the_article(work, tmp_path):
    run("cooccur", work / "corpus.txt", "--preset", "goldstraw", "--min-count", "1", "-o", "c.npz", cwd=tmp_path)
    run("pca", "c.npz", "--preset", "goldstraw", "--components", "6", "-o", "e.npz", cwd=tmp_path)
    words = ("train", work / "train.tsv", "-e", "e.npz", "--preset", "goldstraw", "--epochs", "1")
    run(*words, "-o", "m.npz", cwd=tmp_path)
    shown = run("info", "m.npz", "--json", cwd=tmp_path).json
    expected = {
        "c.npz": {"window": 4, "weighting": "linear", "min_count": 1},
        "e.npz": {"components": 6, "transform": "none", "eigenvalue_weight": 1.0},
        "m.npz": {
            "window": 12,
            "long_texts": "head",
            "blocks": 2,
            "heads": 3,
            "head_width": "wide",
            "hidden": 400,
            "norm": "post",
            "pool": "flatten",
            "loss": "squared-error",
            "optimizer": "sgd",
            "lr": 0.001,
            "schedule": "constant",
            "ngrams": 0,
            "freeze": True,
            "dropout": 0.0,
            "epochs": 1,
        },
    }
    headers = {"c.npz": shown["made_from"]["made_from"], "e.npz": shown["made_from"], "m.npz": shown}
    for name, settings in expected.items():
        found = headers[name]["settings"]
        assert {key: found[key] for key in settings} == settings


# ---------------------------------------------------------------- word2vec text


def test_vectors_go_out_and_come_in_as_word2vec_text(work, tmp_path):
    run("pca", work / "cooccur.npz", *PCA, "-o", "v.txt", cwd=tmp_path)
    first, *lines = (tmp_path / "v.txt").read_text().splitlines()
    assert first == f"{len(lines)} 8"
    assert all(len(line.split(" ")) == 9 for line in lines)
    run("train", work / "train.tsv", "-e", "v.txt", *TRAIN, "-o", "m.npz", cwd=tmp_path)
    scored = [run("predict", "-m", path, work / "test.tsv").stdout for path in (tmp_path / "m.npz", work / "model.npz")]
    assert scored[0] == scored[1]


def test_glove_text_without_a_first_line_trains(work, tmp_path):
    (tmp_path / "glove.txt").write_text("the 0.1 0.2\nfilm -0.3 0.4\nawful 1 0\ngreat 0 1\n")
    words = ("train", work / "train.tsv", "-e", tmp_path / "glove.txt", *TRAIN, "--new-words", "0")
    summary = run(*words, "--json", "-o", tmp_path / "m.npz").json
    assert summary["words"] == 4


def test_a_word_that_is_not_utf8_does_not_stop_word2vec_text(tmp_path):
    """JSON can hold half a surrogate pair, and counting takes it as a word."""
    (tmp_path / "a.jsonl").write_text('{"text": "a \\ud800 b a b"}\n{"text": "b a \\ud800"}\n')
    run("cooccur", "a.jsonl", *COUNT, "-o", "c.npz", cwd=tmp_path)
    run("pca", "c.npz", "--components", "2", "-o", "v.txt", cwd=tmp_path)
    run("neighbors", "v.txt", "a", cwd=tmp_path)


# ---------------------------------------------------------------- folders, archives, splits

SPLITS = {"train/pos": 4, "train/neg": 4, "train/unsup": 3, "test/pos": 2, "test/neg": 2}


@pytest.fixture(scope="module")
def reviews(tmp_path_factory):
    """The layout of the IMDB reviews, as a folder and as an archive."""
    root = tmp_path_factory.mktemp("reviews")
    top = root / "aclImdb"
    for place, count in SPLITS.items():
        (top / place).mkdir(parents=True)
        label = place.rpartition("/")[2]
        for number, (text, _) in enumerate(make_rows((label if label != "unsup" else "pos",), count, seed=5)):
            (top / place / f"{number}_8.txt").write_text(text)
    (top / "imdb.vocab").write_text("the\n")
    (top / "train" / "urls_pos.txt").write_text("https://example.org/\n")
    (top / "README").write_text("about\n")
    with tarfile.open(root / "aclImdb.tar.gz", "w:gz") as archive:
        archive.add(top, "aclImdb")
    return {"folder": top, "archive": root / "aclImdb.tar.gz"}


@pytest.mark.parametrize("source", ["folder", "archive"])
def test_each_command_reads_its_splits(source, reviews, work, tmp_path):
    data, out = reviews[source], ("--json", "-o", tmp_path / "out.npz")
    assert run("cooccur", data, *COUNT, *out).json["documents"] == 11
    assert run("train", data, "-e", work / "embeddings.npz", *TRAIN, *out).json["texts"] == 8
    assert run("evaluate", "-m", work / "model.npz", data, "--json").json["texts"] == 4
    assert len(run("predict", "-m", work / "model.npz", data).lines) == 4


@pytest.mark.parametrize(("options", "documents"), [(("test", "unsup"), 7), (("all",), 15)])
def test_split_chooses_the_parts(options, documents, reviews, tmp_path):
    words = [word for name in options for word in ("--split", name)]
    summary = run("cooccur", reviews["archive"], *words, *COUNT, "--json", "-o", tmp_path / "out.npz").json
    assert summary["documents"] == documents


def test_folder_and_sorted_archive_make_the_same_counts(reviews, tmp_path):
    for source, data in reviews.items():
        run("cooccur", data, *COUNT, "-o", tmp_path / f"{source}.npz")
    # Archives are read in their own order, which the digest shows; counts do not depend on it.
    found = [sp.load_npz(tmp_path / f"{source}.npz") for source in reviews]
    assert (found[0] != found[1]).nnz == 0


def test_class_folders_give_the_labels(work, tmp_path):
    for number, (text, label) in enumerate(make_rows(("comedy", "drama"), 20, seed=6)):
        (tmp_path / "films" / label).mkdir(parents=True, exist_ok=True)
        (tmp_path / "films" / label / f"{number}.txt").write_text(text)
    words = ("train", "films", "-e", work / "embeddings.npz", *TRAIN, "--json", "-o", "m.npz")
    assert run(*words, cwd=tmp_path).json["labels"] == "comedy, drama"


def test_validation_file_takes_the_place_of_a_held_out_part(work, tmp_path):
    words = ("train", work / "train.tsv", "-e", work / "embeddings.npz", *TRAIN, "--valid", work / "test.tsv")
    run(*words, "-o", tmp_path / "m.npz")
    history = header_of(tmp_path / "m.npz")["details"]["history"]
    assert (history["train_texts"], history["valid_texts"]) == (80, 31)
