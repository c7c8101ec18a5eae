"""Tests of the stages of the command line with files and pipes, and of the bytes that they write."""

import gzip
import io
import os
import socket
import zipfile

import numpy as np
import pytest
import scipy.sparse as sp
from calling import last_of_each
from command import contents, on_terminal, refused, run, shell
from sample_data import COUNT, PCA, TRAIN, make_rows, write_tsv

STAGES = ("cooccur", "pca", "train")
OUTPUTS = {"cooccur": "cooccur.npz", "pca": "embeddings.npz", "train": "model.npz"}


def stage_words(stage, work):
    """Return the arguments, without -o, of the command that made the artifact of a stage in ``work``."""
    return {
        "cooccur": ("cooccur", work / "corpus.txt", *COUNT),
        "pca": ("pca", work / "cooccur.npz", *PCA),
        "train": ("train", work / "train.tsv", "-e", work / "embeddings.npz", *TRAIN),
    }[stage]


# ---------------------------------------------------------------- files and pipes


def test_each_stage_writes_one_file_and_nothing_on_stdout(work, tmp_path):
    for number, stage in enumerate(STAGES, start=1):
        result = run(*stage_words(stage, work), "-o", OUTPUTS[stage], cwd=tmp_path)
        assert result.stdout == b""
        assert len(contents(tmp_path)) == number
        # Without a terminal there are neither progress bars nor colours.
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
    train = ("train", "-", "--input-format", "tsv", "-e", work / "embeddings.npz", *TRAIN, "-o", "-")
    trained = run(*train, stdin=(work / "train.tsv").read_bytes()).stdout
    assert trained == (work / "model.npz").read_bytes()
    assert (
        run("predict", "-m", "-", work / "test.tsv", stdin=trained).stdout
        == run("predict", "-m", work / "model.npz", work / "test.tsv").stdout
    )


@pytest.mark.parametrize("stage", STAGES)
def test_a_stage_works_with_standard_error_closed(stage, work):
    words = " ".join(map(str, stage_words(stage, work)))
    assert shell(f"nlptx {words} -o - 2>&-").stdout == (work / OUTPUTS[stage]).read_bytes()


@pytest.mark.parametrize("stage", STAGES)
def test_an_artifact_is_never_written_to_a_terminal(stage, work):
    result = on_terminal(*stage_words(stage, work), "-o", "-", terminal=(1,))
    assert result.code == 2
    assert "terminal" in result.stderr
    assert result.stdout == b""


def test_a_stage_reads_from_process_substitution(work, tmp_path):
    shell(f"nlptx train train.tsv -e <(cat embeddings.npz) {' '.join(TRAIN)} -o {tmp_path}/model.npz", cwd=work)
    assert (tmp_path / "model.npz").read_bytes() == (work / "model.npz").read_bytes()


@pytest.mark.parametrize("target", ["/dev/stdout", ">(cat)"])
def test_an_artifact_can_be_written_to_a_pipe(target, work):
    piped = shell(f"nlptx pca cooccur.npz {' '.join(PCA)} -o {target} | cat", cwd=work)
    assert piped.stdout == (work / "embeddings.npz").read_bytes()


@pytest.mark.parametrize(
    "words",
    [
        ("train", "-", "-e", "-"),
        ("train", "-", "-e", "embeddings.npz", "--valid", "-"),
        ("predict", "-m", "-", "-"),
        ("predict", "-m", "-"),
    ],
    ids=" ".join,
)
def test_standard_input_cannot_be_used_twice(words, work):
    """If two inputs could be read from standard input, the second would be empty, and the error message misleading."""
    refused(*words, code=2, says="standard input", stdin=(work / "model.npz").read_bytes(), cwd=work)


@pytest.mark.parametrize(
    "words",
    [
        ("cooccur", ""),
        ("pca", ""),
        ("train", "train.tsv", "-e", ""),
        ("predict", "-m", "", "test.tsv"),
        ("evaluate", "-m", "", "test.tsv"),
        ("explain", "-m", "", "good"),
        ("neighbors", "", "good"),
        ("info", ""),
    ],
    ids=lambda words: words[0],
)
def test_an_empty_file_name_is_rejected(words, work):
    """Shells expand unset variables to empty names."""
    refused(*words, code=2, says="a file name is empty", cwd=work)


@pytest.mark.parametrize(
    "words",
    [
        ("cooccur", "train.tsv", "-o", "train.tsv"),
        ("pca", "cooccur.npz", "-o", "./cooccur.npz"),
        ("train", "train.tsv", "-e", "embeddings.npz", "-o", "embeddings.npz"),
        ("predict", "train.tsv", "--skip-bad", "-o", "train.tsv"),
        ("predict", "train.tsv", "--csv-safe", "-o", "train.tsv"),
        ("predict", "train.tsv", "--encoding-errors", "replace", "-o", "train.tsv"),
    ],
    ids=" ".join,
)
def test_an_output_cannot_replace_an_input(words, work, tmp_path):
    for name in ("train.tsv", "cooccur.npz", "embeddings.npz"):
        (tmp_path / name).write_bytes((work / name).read_bytes())
    refused(*words, code=2, says="is also an input and would be overwritten", cwd=tmp_path, untouched=tmp_path)


@pytest.mark.parametrize("command", ["cooccur", "predict"])
def test_an_output_cannot_replace_a_document_of_an_input_folder(command, tmp_path):
    document = tmp_path / "docs" / "pos" / "1.txt"
    document.parent.mkdir(parents=True)
    document.write_text("a good film\n")
    for output in ("docs/pos/1.txt", "docs/../docs/pos/1.txt"):
        says = "is in the input folder docs and would be overwritten"
        refused(command, "docs", "-o", output, code=2, says=says, cwd=tmp_path, untouched=tmp_path)
    if command == "predict":
        run("predict", "docs", "-o", "docs/scores.csv", cwd=tmp_path)
        run("predict", "docs", "-o", "docs/scores.csv", cwd=tmp_path)  # a table in the folder is not a document


def test_a_file_called_minus_is_not_taken_for_a_stream(tmp_path):
    (tmp_path / "-").touch()
    assert run("predict", stdin="a good film\n", cwd=tmp_path).lines


@pytest.mark.parametrize("name", ["train.tsv/x", "n" * 300], ids=["below a file", "long name"])
def test_an_invalid_path_is_not_reported_as_a_damaged_artifact(name, work):
    refused("info", name, code=2, says=name, cwd=work)


def test_a_stream_that_is_not_an_artifact_is_rejected_at_its_start(work):
    refused("info", "/dev/zero", code=4, says="not an nlptx artifact", cwd=work)


def test_text_to_explain_must_be_utf_8(work):
    says = ("<stdin>:2", "byte 0xff is not UTF-8")
    refused("explain", "-m", "model.npz", code=3, says=says, stdin=b"good\nb\xffad\n", cwd=work)


# ---------------------------------------------------------------- same command, same bytes


@pytest.mark.parametrize("stage", STAGES)
def test_same_bytes_for_any_jobs_hash_seed_folder_and_user(stage, work, tmp_path):
    """Equal bytes show that the artifacts contain no user, host, path or date."""
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


def test_same_bytes_when_a_batch_is_split_between_jobs(work, tmp_path):
    # Batches of a few thousand words are split into microbatches for several workers.
    write_tsv(tmp_path / "long.tsv", make_rows(("neg", "pos"), 64, seed=4, words=90))
    for jobs in ("1", "2"):
        words = ("train", "long.tsv", "-e", work / "embeddings.npz", *TRAIN, "--epochs", "1", "--batch", "32")
        run(*last_of_each(*words), "-j", jobs, "-o", f"{jobs}.npz", cwd=tmp_path)
    assert (tmp_path / "1.npz").read_bytes() == (tmp_path / "2.npz").read_bytes()


@pytest.mark.parametrize("source", ["stdin", "pieces", "gzip", "folder", "table"])
def test_same_bytes_for_every_form_of_the_corpus(source, work, tmp_path):
    text = (work / "corpus.txt").read_bytes()
    lines = text.splitlines(keepends=True)
    (tmp_path / "a.txt").write_bytes(b"".join(lines[:50]))
    (tmp_path / "b.txt").write_bytes(b"".join(lines[50:]))
    (tmp_path / "c.txt.gz").write_bytes(gzip.compress(text))
    (tmp_path / "e.tsv").write_bytes(b"text\n" + text)
    (tmp_path / "folder").mkdir()
    for number, line in enumerate(lines):
        (tmp_path / "folder" / f"{number:03}.txt").write_bytes(line)
    inputs = {
        "stdin": (),
        "pieces": ("a.txt", "b.txt"),
        "gzip": ("c.txt.gz",),
        "folder": ("folder",),
        "table": ("e.tsv",),
    }[source]
    run("cooccur", *inputs, *COUNT, "-o", "out.npz", stdin=text if source == "stdin" else b"", cwd=tmp_path)
    assert (tmp_path / "out.npz").read_bytes() == (work / "cooccur.npz").read_bytes()


def test_another_seed_yields_different_bytes(work, tmp_path):
    run(*stage_words("train", work), "--seed", "7", "-o", tmp_path / "out.npz")
    assert (tmp_path / "out.npz").read_bytes() != (work / "model.npz").read_bytes()


def test_scipy_can_load_the_counts(work):
    matrix = sp.load_npz(work / "cooccur.npz")
    assert matrix.shape == (41, 41)
    assert (matrix != matrix.T).nnz == 0


def test_artifacts_contain_no_pickle(work):
    for name in OUTPUTS.values():
        with np.load(work / name, allow_pickle=False) as arrays:
            assert all(arrays[key].dtype != object for key in arrays)


# ---------------------------------------------------------------- summaries


@pytest.mark.parametrize(
    ("stage", "facts"),
    [
        ("cooccur", {"documents": 140, "tokens": 1260, "words": 41}),
        ("pca", {"words": 41, "components": 8}),
        ("train", {"texts": 80, "labels": ["neg", "pos"]}),
    ],
    ids=STAGES,
)
def test_json_summary_is_one_object_and_quiet_suppresses_messages(stage, facts, work, tmp_path):
    result = run(*stage_words(stage, work), "--json", "-q", "-o", tmp_path / "out.npz")
    assert len(result.lines) == 1
    assert {name: result.json[name] for name in facts} == facts
    assert result.json["seconds"] > 0
    assert result.stderr == ""
    assert (tmp_path / "out.npz").read_bytes() == (work / OUTPUTS[stage]).read_bytes()


@pytest.mark.parametrize("stage", STAGES)
def test_json_and_an_artifact_cannot_share_stdout(stage, work):
    refused(*stage_words(stage, work), "--json", "-o", "-", code=2, says="--json")


# ---------------------------------------------------------------- word2vec text


def test_vectors_can_be_written_and_read_as_word2vec_text(work, tmp_path):
    # The text format does not store the weights of the components, so training could not undo the weighting. Therefore
    # the components are not weighted here.
    for file in ("v.txt", "v.npz"):
        run("pca", work / "cooccur.npz", *PCA, "--equalize", 0, "--negative-weight", 1, "-o", file, cwd=tmp_path)
    first, *lines = (tmp_path / "v.txt").read_text().splitlines()
    assert first == f"{len(lines)} 8"
    assert all(len(line.split(" ")) == 9 for line in lines)
    scored = []
    for vectors, model in (("v.txt", "m.npz"), ("v.npz", "n.npz")):
        run("train", work / "train.tsv", "-e", vectors, *TRAIN, "-o", model, cwd=tmp_path)
        scored.append(run("predict", "-m", tmp_path / model, work / "test.tsv").stdout)
    assert scored[0] == scored[1]


def test_a_word_that_is_not_utf8_does_not_stop_word2vec_text(tmp_path):
    """JSON can contain half of a surrogate pair, and cooccur counts it as a word."""
    (tmp_path / "a.jsonl").write_text('{"text": "a \\ud800 b a b"}\n{"text": "b a \\ud800"}\n')
    run("cooccur", "a.jsonl", *COUNT, "-o", "c.npz", cwd=tmp_path)
    run("pca", "c.npz", "--components", "2", "-o", "v.txt", cwd=tmp_path)
    run("neighbors", "v.txt", "a", cwd=tmp_path)


@pytest.mark.parametrize("command", ["predict", "evaluate"])
def test_the_bundled_model_can_be_named(command, work):
    named, default = (run(command, "train.tsv", *words, cwd=work) for words in (("-m", "bundled"), ()))
    assert named.stdout == default.stdout
    assert named.stdout


def test_info_of_the_bundled_model_can_name_it():
    assert run("info", "bundled").stdout == run("info").stdout


def test_a_summary_lists_only_the_first_labels(tmp_path):
    rows = "".join(f"word{number % 7} word{number % 30}\tL{number % 30:02}\n" for number in range(90))
    (tmp_path / "a.tsv").write_text(f"text\tlabel\n{rows}")
    result = run("train", "a.tsv", "--effort", "fast", "--lsa-components", "0", "-o", "m.npz", cwd=tmp_path)
    assert "L19, ... (30 in all)" in " ".join(result.stderr.split())
