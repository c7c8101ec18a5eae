"""Bad data, artifacts and options cause a short message and the documented exit code, and leave no partial output."""

import json

import numpy as np
import pytest
from command import header_of, refused, run
from sample_data import COUNT, PCA, TRAIN, one_step

# ---------------------------------------------------------------- corpora


@pytest.mark.parametrize(("source", "content"), [("file", "\n\n  \n"), ("stdin", "")], ids=["blank-lines", "no-bytes"])
def test_an_empty_corpus(source, content, tmp_path):
    (tmp_path / "a.txt").write_text(content)
    inputs = ("a.txt",) if source == "file" else ()
    words = ("cooccur", *inputs, "-o", "out.npz")
    refused(*words, code=3, says="empty", stdin=content, cwd=tmp_path, untouched=tmp_path)


@pytest.mark.parametrize("command", ["train", "check", "evaluate", "crossvalidate"])
def test_messages_about_an_empty_pipe_name_standard_input(command, tmp_path):
    refused(command, code=3, says="nlptx: error: <stdin>: there ", stdin="", cwd=tmp_path, untouched=tmp_path)


def test_an_empty_folder(tmp_path):
    (tmp_path / "corpus").mkdir()
    refused("cooccur", "corpus", code=3, says=("corpus", ".txt"), cwd=tmp_path, untouched=tmp_path)


def test_a_corpus_of_only_rare_words(tmp_path):
    words = ("cooccur", "-", "--min-count", "3", "-o", "out.npz")
    refused(*words, code=3, says=("3 times", "'a'", "--min-count"), stdin="a b a", cwd=tmp_path, untouched=tmp_path)


def test_a_corpus_of_one_word(tmp_path):
    run("cooccur", "-", *COUNT, "-o", "one.npz", stdin="word\n", cwd=tmp_path)
    words = ("pca", "one.npz", "--components", "1", "-o", "out.npz")
    refused(*words, code=3, says="near each other", cwd=tmp_path, untouched=tmp_path)


def test_more_components_than_words(work, tmp_path):
    words = ("pca", work / "cooccur.npz", "--components", "500", "-o", "out.npz")
    refused(*words, code=3, says=("500", "41", "--components"), cwd=tmp_path, untouched=tmp_path)


def test_a_very_long_document(model, tmp_path):
    line = f"great {'x' * 43} " * 20_000
    assert run("predict", "-m", model, stdin=line + "\ndull\n").rows[0][0] == "pos"
    # The line is more than seven times as long as the longest field that the csv module accepts by default.
    (tmp_path / "a.csv").write_text(f"text\n{line}\n")
    assert run("cooccur", "a.csv", *COUNT, "--json", cwd=tmp_path).json["tokens"] == 40_000


@pytest.mark.parametrize(
    "words",
    [("cooccur",), ("predict", "-m", "model.npz"), ("train", "-e", "embeddings.npz")],
    ids=lambda words: words[0],
)
def test_the_message_about_invalid_utf_8_names_the_line(words, work, tmp_path):
    command, *options = words
    options = [work / word if str(word).endswith(".npz") else word for word in options]
    (tmp_path / "a.tsv").write_bytes(b"text\tlabel\nna\xc3\xafve\tpos\nna\xefve\tneg\n")
    refused(
        *(command, *options, "a.tsv", "-o", "out.tsv" if command == "predict" else "out.npz"),
        code=3,
        says=("a.tsv:3", "0xef", "--encoding-errors replace"),
        cwd=tmp_path,
        untouched=tmp_path,
    )


def test_invalid_utf_8_can_be_replaced(model):
    result = run("predict", "-m", model, "--encoding-errors", "replace", stdin=b"great na\xefve\n")
    assert result.rows[0][2] == "great na\N{REPLACEMENT CHARACTER}ve"


# ---------------------------------------------------------------- labelled data


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("a.txt", "great film\n", "a.txt:1"),
        ("a.tsv", "text\tlabel\ngreat\tpos\nawful\t\n", "a.tsv:3"),
        ("a.jsonl", '{"text": "great", "label": "pos"}\n{"text": "awful"}\n', "a.jsonl:2"),
        ("a.tsv", "text\tlabel\ngreat\tpos\nlovely\tpos\n", "'pos'"),
        ("a.tsv", "text\tlabel\n", "no training texts"),
        ("a.tsv", "text\tlabel\nzzz\tpos\nqqq\tneg\n", ("no training text", "--new-word-min-count")),
    ],
    ids=[
        "plain-text",
        "empty-label-tsv",
        "no-label-jsonl",
        "one-label",
        "no-rows",
        "no-known-word",
    ],
)
def test_data_that_cannot_be_trained_on(name, content, says, work, tmp_path):
    (tmp_path / name).write_text(content)
    words = ("train", name, "-e", work / "embeddings.npz", *TRAIN, "--new-word-min-count", "2", "-o", "out.npz")
    refused(*words, code=3, says=says, cwd=tmp_path, untouched=tmp_path)


@pytest.mark.parametrize(
    ("suffix", "option"), [("csv", "--text-column"), ("csv", "--label-column"), ("jsonl", "--label-column")]
)
def test_the_message_about_a_missing_column_lists_the_columns(suffix, option, work, tmp_path):
    table = "text,label,when\ngreat,pos,now\n"
    if suffix == "jsonl":
        table = json.dumps({"text": "great", "label": "pos", "when": "now"}) + "\n"
    (tmp_path / f"a.{suffix}").write_text(table)
    words = ("train", f"a.{suffix}", "-e", work / "embeddings.npz", option, "stars", "-o", "out.npz")
    says = (f"a.{suffix}:", "'stars'", "text, label, when", option)
    refused(*words, code=3, says=says, cwd=tmp_path, untouched=tmp_path)


def test_a_validation_label_that_does_not_occur_in_the_training_data(work, tmp_path):
    (tmp_path / "valid.tsv").write_text("text\tlabel\ngreat\tsplendid\n")
    words = one_step(work, "--valid", "valid.tsv", "-o", "out.npz")
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
    """Return the arguments with which ``command`` reads ``artifact``."""
    words = [word.format(artifact) for word in READERS[command]]
    return [work / word if word in ("train.tsv", "test.tsv") else word for word in words]


@pytest.mark.parametrize(
    ("command", "given", "says"),
    [
        ("pca", "embeddings.npz", ("embeddings", "nlptx pca", "expected cooccurrence", "nlptx cooccur")),
        ("train", "cooccur.npz", ("cooccurrence", "nlptx cooccur", "expected embeddings", "nlptx pca")),
        ("predict", "embeddings.npz", ("embeddings", "nlptx pca", "expected model", "nlptx train")),
        ("predict", "test.tsv", "not an nlptx artifact"),
    ],
)
def test_an_artifact_of_another_kind(command, given, says, work, tmp_path):
    says = (given, *([says] if isinstance(says, str) else says))
    refused(*reader(command, work / given, work), code=4, says=says, cwd=tmp_path, untouched=tmp_path)


@pytest.mark.parametrize("command", ["pca", "train", "predict"])
def test_a_truncated_artifact(command, work, tmp_path):
    data = (work / READS[command]).read_bytes()
    (tmp_path / "a.npz").write_bytes(data[: len(data) // 2])
    refused(*reader(command, "a.npz", work), code=4, says="a.npz", cwd=tmp_path, untouched=tmp_path)


@pytest.mark.parametrize("size", [0, -1])
def test_an_empty_artifact_and_one_without_its_last_byte(size, work, tmp_path):
    (tmp_path / "a.npz").write_bytes((work / "model.npz").read_bytes()[:size])
    refused("predict", "-m", "a.npz", code=4, says="a.npz", stdin="great\n", cwd=tmp_path)


def test_an_empty_pipe_is_not_an_artifact(tmp_path):
    refused("pca", "-", "-o", "out.npz", code=4, says="<stdin>", cwd=tmp_path, untouched=tmp_path)


@pytest.mark.parametrize("position", [0.01, 0.5, 0.95])
def test_a_flipped_bit_is_detected(position, work, tmp_path):
    data = bytearray((work / "model.npz").read_bytes())
    data[int(position * len(data))] ^= 4
    (tmp_path / "a.npz").write_bytes(data)
    refused("predict", "-m", "a.npz", code=4, says="a.npz", stdin="great film\n", cwd=tmp_path)


@pytest.mark.parametrize("command", ["train", "info"])
def test_an_artifact_of_a_newer_format(command, work, tmp_path):
    with np.load(work / READS[command]) as arrays:
        parts = dict(arrays)
    header = header_of(work / READS[command]) | {"format": 99, "nlptx": "7.0", "surprise": []}
    parts["header"] = np.frombuffer(json.dumps(header).encode(), np.uint8)
    np.savez(tmp_path / "a.npz", **parts)
    says = ("a.npz", "99", "7.0", "upgrade")
    refused(*reader(command, "a.npz", work), code=4, says=says, cwd=tmp_path, untouched=tmp_path)


@pytest.mark.parametrize("words", ["pca folder", "neighbors folder/ the", "info folder"])
def test_a_folder_instead_of_an_artifact(words, tmp_path):
    (tmp_path / "folder").mkdir()
    refused(*words.split(), code=2, says="folder", cwd=tmp_path, untouched=tmp_path)


@pytest.mark.parametrize("command", ["pca", "evaluate", "info"])
def test_a_missing_artifact(command, work, tmp_path):
    words = reader(command, "missing.npz", work)
    refused(*words, code=2, says="missing.npz: no such file", cwd=tmp_path, untouched=tmp_path)


# ---------------------------------------------------------------- usage


@pytest.mark.parametrize(
    "words",
    [
        ("cooccur", "there.txt", "missing.txt"),
        ("train", "missing.tsv", "-e", "{embeddings}"),
        ("train", "{train}", "-e", "missing.txt"),
        ("train", "{train}", "-e", "{embeddings}", "--valid", "missing.tsv"),
        ("predict", "-m", "{model}", "missing.txt"),
        ("neighbors", "missing.txt", "word"),
    ],
    ids=" ".join,
)
def test_a_missing_file(words, work, tmp_path):
    (tmp_path / "there.txt").write_text("a b a b a b a b a b a b\n")
    paths = {"embeddings": work / "embeddings.npz", "train": work / "train.tsv", "model": work / "model.npz"}
    words = [word.format(**paths) for word in words]
    says = (next(word for word in words if word.startswith("missing")), "no such file")
    refused(*words, code=2, says=says, cwd=tmp_path, untouched=tmp_path)


@pytest.mark.parametrize(
    ("command", "option", "value"),
    [
        ("cooccur", "--window", "-1"),
        ("cooccur", "--min-count", "0"),
        ("cooccur", "--jobs", "0"),
        ("pca", "--components", "0"),
        ("pca", "--smoothing", "nan"),
        ("pca", "--tolerance", "nan"),
        ("pca", "--seed", "-1"),
        ("train", "--lr", "-1"),
        ("train", "--lr", "nan"),
        ("train", "--lr", "inf"),
        ("train", "--clip", "inf"),
        ("train", "--heads", "3"),
        ("train", "--pool", "flatten"),
    ],
)
def test_an_impossible_option(command, option, value, work, tmp_path):
    words = {
        "cooccur": ("cooccur", work / "corpus.txt"),
        "pca": ("pca", work / "cooccur.npz", *PCA),
        "train": one_step(work),
    }[command]
    refused(*words, option, value, "-o", "out.npz", code=2, says=option[2:], cwd=tmp_path, untouched=tmp_path)


# ---------------------------------------------------------------- debugging


@pytest.mark.parametrize("words", ["info test.tsv", "cooccur missing.txt"])
def test_a_traceback_is_shown_only_with_nlptx_debug(words, work):
    plain = run(*words.split(), code=None, cwd=work)
    assert "Traceback" not in run(*words.split(), code=plain.code, cwd=work, env={"NLPTX_DEBUG": "0"}).stderr
    shown = run(*words.split(), code=plain.code, cwd=work, env={"NLPTX_DEBUG": "1"}, traceback=True).stderr
    assert shown.endswith(plain.stderr)
