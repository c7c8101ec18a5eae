"""What can go wrong with data, artifacts and options: a short message, the documented code, nothing half-written."""

import json
import os
import signal
import time

import numpy as np
import pytest
from command import Running, contents, header_of, refused, run, shell
from conftest import COUNT, PCA, TRAIN

needs_full_device = pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")
ONE_STEP = ("--epochs", "1", "--heads", "2", "--batch", "80")


def train_words(work, *more):
    return ("train", work / "train.tsv", "-e", work / "embeddings.npz", *ONE_STEP, *more)


# ---------------------------------------------------------------- corpora


@pytest.mark.parametrize("content", ["", "\n\n  \n"], ids=["no-bytes", "blank-lines"])
@pytest.mark.parametrize("way", ["file", "stdin"])
def test_an_empty_corpus(way, content, tmp_path):
    (tmp_path / "a.txt").write_text(content)
    inputs = ("a.txt",) if way == "file" else ()
    words = ("cooccur", *inputs, "-o", "out.npz")
    refused(*words, code=3, says="empty", stdin=content, cwd=tmp_path, untouched=tmp_path)


def test_an_empty_folder(tmp_path):
    (tmp_path / "corpus").mkdir()
    refused("cooccur", "corpus", code=3, says=("corpus", ".txt"), cwd=tmp_path, untouched=tmp_path)


def test_words_that_are_all_too_rare(tmp_path):
    words = ("cooccur", "-", "--min-count", "3", "-o", "out.npz")
    refused(*words, code=3, says=("3 times", "'a'", "--min-count"), stdin="a b a", cwd=tmp_path, untouched=tmp_path)


def test_a_corpus_of_one_word(tmp_path):
    run("cooccur", "-", *COUNT, "-o", "one.npz", stdin="word\n", cwd=tmp_path)
    words = ("pca", "one.npz", "--components", "1", "-o", "out.npz")
    refused(*words, code=3, says="near each other", cwd=tmp_path, untouched=tmp_path)


def test_more_components_than_words(work, tmp_path):
    words = ("pca", work / "cooccur.npz", "--components", "500", "-o", "out.npz")
    refused(*words, code=3, says=("500", "41", "--components"), cwd=tmp_path, untouched=tmp_path)


def test_one_document_that_never_ends(model, tmp_path):
    line = "great film " * 95_000
    assert run("predict", "-m", model, stdin=line + "\ndull\n").rows[0][0] == "pos"
    run("cooccur", "-", *COUNT, "-o", tmp_path / "out.npz", stdin=line)
    # The csv module's own limit is an eighth of that.
    (tmp_path / "a.csv").write_text(f"text\n{line[:150_000]}\n")
    assert len(run("predict", "-m", model, tmp_path / "a.csv").lines) == 2


@pytest.mark.parametrize(
    "words",
    [("cooccur",), ("predict", "-m", "model.npz"), ("train", "-e", "embeddings.npz"), ("evaluate", "-m", "model.npz")],
    ids=lambda words: words[0],
)
def test_bytes_of_another_encoding_are_named_with_their_line(words, work, tmp_path):
    command, *options = words
    options = [work / word if str(word).endswith(".npz") else word for word in options]
    (tmp_path / "a.tsv").write_bytes(b"text\tlabel\nna\xc3\xafve\tpos\nna\xefve\tneg\n")
    output = ("-o", "out.npz") if command != "evaluate" else ()
    refused(
        *(command, *options, "a.tsv", *output),
        code=3,
        says=("a.tsv:3", "0xef", "--encoding-errors replace"),
        cwd=tmp_path,
        untouched=tmp_path,
    )


def test_bytes_of_another_encoding_can_be_replaced(model):
    result = run("predict", "-m", model, "--encoding-errors", "replace", stdin=b"great na\xefve\n")
    assert result.rows[0][2] == "great na\N{REPLACEMENT CHARACTER}ve"


# ---------------------------------------------------------------- labelled data


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("a.txt", "great film\n", "a.txt:1"),
        ("a.tsv", "text\tlabel\ngreat\tpos\nawful\t\n", "a.tsv:3"),
        ("a.csv", "text,label\ngreat,pos\nawful,\n", "a.csv:3"),
        ("a.jsonl", '{"text": "great", "label": "pos"}\n{"text": "awful"}\n', "a.jsonl:2"),
        ("a.tsv", "text\tlabel\ngreat\tpos\nlovely\tpos\n", "'pos'"),
        ("a.tsv", "text\tlabel\n", "no training texts"),
        ("a.tsv", "text\tlabel\nzzz\tpos\nqqq\tneg\n", ("no training text", "--new-words")),
        ("a.csv", 'text,label\n"great,pos\n', "a.csv:2"),
        ("a.tsv", "text\tlabel\ngreat\tpos\textra\n", ("a.tsv:2", "3 fields", "expected 2")),
        ("a.jsonl", '{"text": "great", "label": "pos"}\n{"text"\n', "a.jsonl:2"),
        ("a.jsonl", '{"text": 5, "label": "pos"}\n', ("a.jsonl:1", "5")),
    ],
    ids=[
        "plain-text",
        "empty-label-tsv",
        "empty-label-csv",
        "no-label-jsonl",
        "one-label",
        "no-rows",
        "no-known-word",
        "open-quote",
        "too-many-fields",
        "broken-json",
        "text-is-a-number",
    ],
)
def test_data_one_cannot_train_on(name, content, says, work, tmp_path):
    (tmp_path / name).write_text(content)
    words = ("train", name, "-e", work / "embeddings.npz", *TRAIN, "-o", "out.npz")
    refused(*words, code=3, says=says, cwd=tmp_path, untouched=tmp_path)


@pytest.mark.parametrize("option", ["--text-column", "--label-column"])
@pytest.mark.parametrize("suffix", ["csv", "tsv", "jsonl"])
def test_a_missing_column_lists_those_there_are(suffix, option, work, tmp_path):
    separator = "," if suffix == "csv" else "\t"
    table = "\n".join(separator.join(row) for row in (("text", "label", "when"), ("great", "pos", "now"))) + "\n"
    if suffix == "jsonl":
        table = json.dumps({"text": "great", "label": "pos", "when": "now"}) + "\n"
    (tmp_path / f"a.{suffix}").write_text(table)
    words = ("train", f"a.{suffix}", "-e", work / "embeddings.npz", option, "stars", "-o", "out.npz")
    says = (f"a.{suffix}:1", "'stars'", "text, label, when", option)
    refused(*words, code=3, says=says, cwd=tmp_path, untouched=tmp_path)


def test_a_validation_label_that_training_lacks(work, tmp_path):
    (tmp_path / "valid.tsv").write_text("text\tlabel\ngreat\tsplendid\n")
    words = train_words(work, "--valid", "valid.tsv", "-o", "out.npz")
    refused(*words, code=3, says=("'splendid'", "neg, pos"), cwd=tmp_path, untouched=tmp_path)


def test_two_texts_are_enough(work, tmp_path):
    (tmp_path / "a.tsv").write_text("text\tlabel\ngreat film\tpos\nawful film\tneg\n")
    run("train", "a.tsv", "-e", work / "embeddings.npz", *TRAIN, "-o", "out.npz", cwd=tmp_path)
    assert len(run("predict", "-m", tmp_path / "out.npz", stdin="great\nzzz\n").lines) == 2


# ---------------------------------------------------------------- artifacts

READERS = {
    "pca": ("pca", "{}", "-o", "out.npz"),
    "train": ("train", "train.tsv", "-e", "{}", "-o", "out.npz"),
    "predict": ("predict", "-m", "{}", "test.tsv", "-o", "out.tsv"),
    "evaluate": ("evaluate", "-m", "{}", "test.tsv"),
    "neighbors": ("neighbors", "{}", "awful"),
    "explain": ("explain", "-m", "{}", "awful"),
    "info": ("info", "{}"),
}
READS = {
    "pca": "cooccur.npz",
    "train": "embeddings.npz",
    "predict": "model.npz",
    "evaluate": "model.npz",
    "neighbors": "embeddings.npz",
    "explain": "model.npz",
    "info": "cooccur.npz",
}


def reader(command, artifact, work):
    """The words that make ``command`` read ``artifact``."""
    words = [word.format(artifact) for word in READERS[command]]
    return [work / word if word in ("train.tsv", "test.tsv") else word for word in words]


@pytest.mark.parametrize(
    ("command", "given", "says"),
    [
        ("pca", "embeddings.npz", ("embeddings", "nlptx pca", "expected cooccurrence", "nlptx cooccur")),
        ("train", "cooccur.npz", ("cooccurrence", "nlptx cooccur", "expected embeddings", "nlptx pca")),
        ("predict", "embeddings.npz", ("embeddings", "nlptx pca", "expected model", "nlptx train")),
        ("evaluate", "cooccur.npz", "expected model"),
        ("explain", "cooccur.npz", "expected model"),
        ("neighbors", "cooccur.npz", "expected embeddings"),
        ("info", "test.tsv", "not an nlptx artifact"),
        ("predict", "test.tsv", "not an nlptx artifact"),
    ],
)
def test_an_artifact_of_another_kind(command, given, says, work, tmp_path):
    says = (given, *([says] if isinstance(says, str) else says))
    refused(*reader(command, work / given, work), code=4, says=says, cwd=tmp_path, untouched=tmp_path)


@pytest.mark.parametrize("command", READERS)
def test_a_truncated_artifact(command, work, tmp_path):
    data = (work / READS[command]).read_bytes()
    (tmp_path / "a.npz").write_bytes(data[: len(data) // 2])
    refused(*reader(command, "a.npz", work), code=4, says="a.npz", cwd=tmp_path, untouched=tmp_path)


@pytest.mark.parametrize("size", [0, 1, -1])
def test_an_artifact_cut_at_its_ends(size, work, tmp_path):
    (tmp_path / "a.npz").write_bytes((work / "model.npz").read_bytes()[:size])
    refused("predict", "-m", "a.npz", code=4, says="a.npz", stdin="great\n", cwd=tmp_path)


def test_an_empty_pipe_is_no_artifact(tmp_path):
    refused("pca", "-", "-o", "out.npz", code=4, says="<stdin>", cwd=tmp_path, untouched=tmp_path)


@pytest.mark.parametrize("share", [0.01, 0.3, 0.6, 0.95])
def test_a_flipped_bit_is_noticed(share, work, tmp_path):
    data = bytearray((work / "model.npz").read_bytes())
    data[int(share * len(data))] ^= 4
    (tmp_path / "a.npz").write_bytes(data)
    expected = run("predict", "-m", work / "model.npz", stdin="great film\n").stdout
    result = run("predict", "-m", tmp_path / "a.npz", stdin="great film\n", code=None)
    # A bit that means nothing (a date, padding) may pass, if nothing comes of it.
    assert result.code == 4 or (result.code == 0 and result.stdout == expected)


@pytest.mark.parametrize("command", ["pca", "train", "predict", "info"])
def test_an_artifact_of_a_newer_format(command, work, tmp_path):
    with np.load(work / READS[command]) as arrays:
        parts = dict(arrays)
    header = header_of(work / READS[command]) | {"format": 99, "nlptx": "7.0", "surprise": []}
    parts["header"] = np.frombuffer(json.dumps(header).encode(), np.uint8)
    np.savez(tmp_path / "a.npz", **parts)
    says = ("a.npz", "99", "7.0", "upgrade")
    refused(*reader(command, "a.npz", work), code=4, says=says, cwd=tmp_path, untouched=tmp_path)


@pytest.mark.parametrize("command", ["pca", "train", "predict", "neighbors"])
def test_a_folder_for_an_artifact(command, work, tmp_path):
    (tmp_path / "folder").mkdir()
    refused(*reader(command, "folder", work), code=2, says="folder", cwd=tmp_path, untouched=tmp_path)


@pytest.mark.parametrize("command", READERS)
def test_a_missing_artifact(command, work, tmp_path):
    words = reader(command, "missing.npz", work)
    refused(*words, code=2, says="missing.npz: no such file", cwd=tmp_path, untouched=tmp_path)


# ---------------------------------------------------------------- usage


@pytest.mark.parametrize(
    "words",
    [
        ("cooccur", "missing.txt"),
        ("cooccur", "there.txt", "missing.txt"),
        ("cooccur", "missing.tar.gz"),
        ("train", "missing.tsv", "-e", "{embeddings}"),
        ("train", "{train}", "-e", "missing.txt"),
        ("train", "{train}", "-e", "{embeddings}", "--valid", "missing.tsv"),
        ("predict", "-m", "{model}", "missing.txt"),
        ("evaluate", "-m", "{model}", "missing.csv"),
        ("neighbors", "missing.txt", "word"),
    ],
    ids=" ".join,
)
def test_a_missing_file(words, work, tmp_path):
    (tmp_path / "there.txt").write_text("a b a b a b a b a b a b\n")
    places = {"embeddings": work / "embeddings.npz", "train": work / "train.tsv", "model": work / "model.npz"}
    words = [word.format(**places) for word in words]
    says = (next(word for word in words if word.startswith("missing")), "no such file")
    refused(*words, code=2, says=says, cwd=tmp_path, untouched=tmp_path)


@pytest.mark.parametrize(
    ("command", "option", "value"),
    [
        ("cooccur", "--window", "-1"),
        ("cooccur", "--window", "many"),
        ("cooccur", "--min-count", "0"),
        ("cooccur", "--weighting", "strange"),
        ("cooccur", "--jobs", "0"),
        ("pca", "--components", "0"),
        ("pca", "--smoothing", "nan"),
        ("pca", "--smoothing", "1.5"),
        ("pca", "--tolerance", "nan"),
        ("pca", "--seed", "-1"),
        ("train", "--lr", "-1"),
        ("train", "--lr", "nan"),
        ("train", "--lr", "inf"),
        ("train", "--clip", "nan"),
        ("train", "--clip", "inf"),
        ("train", "--dropout", "1"),
        ("train", "--epochs", "0"),
        ("train", "--valid-share", "nan"),
        ("train", "--heads", "3"),
        ("train", "--pool", "flatten"),
    ],
)
def test_an_impossible_option(command, option, value, work, tmp_path):
    words = {
        "cooccur": ("cooccur", work / "corpus.txt"),
        "pca": ("pca", work / "cooccur.npz", *PCA),
        "train": train_words(work),
    }[command]
    refused(*words, option, value, "-o", "out.npz", code=2, says=option[2:], cwd=tmp_path, untouched=tmp_path)


# ---------------------------------------------------------------- outputs


@pytest.mark.parametrize("target", ["missing/out.npz", "file/out.npz", "folder"])
@pytest.mark.parametrize("command", ["pca", "train", "predict"])
def test_a_target_that_cannot_be_written(command, target, work, tmp_path):
    (tmp_path / "file").write_text("a file\n")
    (tmp_path / "folder").mkdir()
    words = {
        "pca": ("pca", work / "cooccur.npz", *PCA),
        "train": train_words(work),
        "predict": ("predict", "-m", work / "model.npz", work / "test.tsv"),
    }[command]
    refused(*words, "-o", target, code=1, says=target, cwd=tmp_path, untouched=tmp_path)


@needs_full_device
def test_a_full_disk_under_an_artifact(work):
    refused("pca", work / "cooccur.npz", *PCA, "-q", "-o", "/dev/full", code=1, says=("/dev/full", "full"))


@needs_full_device
@pytest.mark.parametrize(
    "words",
    [
        "cooccur corpus.txt -o -",
        "predict -m model.npz test.tsv",
        "predict -m model.npz corpus.txt --format jsonl",
        "evaluate -m model.npz test.tsv",
        "neighbors embeddings.npz awful --json",
        "info model.npz",
        "--help",
    ],
)
def test_a_full_disk_under_standard_output(words, work):
    result = shell(f"nlptx {words} > /dev/full", cwd=work, code=1)
    assert result.stderr.startswith("nlptx: error: ")
    # One failure is told once.
    assert result.stderr.count("nlptx:") == 1


@pytest.mark.parametrize("words", ["cooccur corpus.txt --min-count 1", "predict -m model.npz corpus.txt"])
def test_a_limit_reached_while_writing_leaves_the_old_file(words, work, tmp_path):
    (tmp_path / "out").write_text("old\n")
    result = shell(f"ulimit -f 1; nlptx {words} -q -o {tmp_path}/out", cwd=work, code=1)
    assert result.stderr.startswith("nlptx: error: ")
    assert contents(tmp_path) == {"out": b"old\n"}


@pytest.mark.parametrize(
    "words", ["cooccur corpus.txt -o -", "pca cooccur.npz --components 8 -o -", "predict -m model.npz test.tsv"]
)
def test_a_reader_that_is_gone(words, work):
    result = shell(f"{{ sleep 0.2; nlptx {words} -q; }} | true; exit ${{PIPESTATUS[0]}}", cwd=work, code=141)
    assert result.stderr == ""


# ---------------------------------------------------------------- training that goes wrong


def diverging(work):
    return ("train", work / "train.tsv", "-e", work / "embeddings.npz", *TRAIN, "--lr", "1e30", "-o", "out.npz")


def test_divergence_names_the_step_and_what_to_do(work, tmp_path):
    result = run(*diverging(work), code=1, cwd=tmp_path)
    assert "diverged at step 2" in result.stderr
    assert "Lower --lr (now 1e+30)" in result.stderr
    assert contents(tmp_path) == {}


def test_divergence_says_nothing_else(work, tmp_path):
    refused(*diverging(work), "-q", code=1, says="diverged", cwd=tmp_path, untouched=tmp_path)


# ---------------------------------------------------------------- interruptions

ENDLESS = ("--epochs", "100000", "--patience", "0", "--heads", "2")


def interrupted(work, tmp_path, signal_name, *words, terminal=(), mark=b"epoch 2/"):
    """Train without end, send a signal once ``mark`` shows, and return what came of it."""
    words = ("train", work / "train.tsv", "-e", work / "embeddings.npz", *ENDLESS, *words, "-o", tmp_path / "out.npz")
    with Running(*words, terminal=terminal) as running:
        seen = running.read_until(mark, None if terminal else running.process.stderr)
        running.process.send_signal(getattr(signal, signal_name))
        result = running.finish()
    return result, seen.decode() + result.stderr


def test_ctrl_c_keeps_the_best_model_so_far_and_says_so(work, tmp_path):
    result, said = interrupted(work, tmp_path, "SIGINT")
    assert result.code == 130
    assert "out.npz holds the best model so far" in said
    assert list(contents(tmp_path)) == ["out.npz"]
    history = header_of(tmp_path / "out.npz")["details"]["history"]
    assert history["interrupted"]
    assert f"(epoch {history['best_epoch']})" in said
    assert len(run("predict", "-m", tmp_path / "out.npz", stdin="great\n").lines) == 1


def test_ctrl_c_before_the_first_step_keeps_the_old_file(work, tmp_path):
    """While the encoder is pre-trained there is no classifier yet to keep."""
    (tmp_path / "out.npz").write_text("old\n")
    # Only a terminal is told of the progress of pre-training.
    result, said = interrupted(work, tmp_path, "SIGINT", "--pretrain", "100000", terminal=(2,), mark=b"step ")
    assert result.code == 130
    assert "interrupted" in said
    assert "best model" not in said
    assert contents(tmp_path) == {"out.npz": b"old\n"}


def test_sigterm_leaves_no_litter(work, tmp_path):
    (tmp_path / "out.npz").write_text("old\n")
    result, _ = interrupted(work, tmp_path, "SIGTERM")
    assert result.code == 143
    assert contents(tmp_path) == {"out.npz": b"old\n"}


@pytest.mark.parametrize(
    "words",
    [("cooccur", "-"), ("pca", "-"), ("train", "-", "--input-format", "tsv", "-e", "embeddings.npz")],
    ids=lambda words: words[0],
)
def test_ctrl_c_while_waiting_for_input(words, work, tmp_path):
    with Running(*words, "-v", "-o", tmp_path / "out.npz", cwd=work) as running:
        running.read_until(b"settings", running.process.stderr)
        time.sleep(0.5)  # the modules that read are imported after this line
        running.process.send_signal(signal.SIGINT)
        assert running.process.wait(30) == 130
        assert b"interrupted" in running.process.stderr.read()
    assert contents(tmp_path) == {}


# ---------------------------------------------------------------- debugging


@pytest.mark.parametrize("words", ["info missing.npz", "info test.tsv", "cooccur missing.txt"])
def test_a_traceback_only_where_it_is_asked_for(words, work):
    run(*words.split(), code=None, cwd=work)
    run(*words.split(), code=None, cwd=work, env={"NLPTX_DEBUG": "1"}, traceback=True)
