"""``train`` without word vectors: one command yields the same model as the commands of the three stages."""

import gzip
import tarfile
from functools import cache

import pytest
from calling import call, failure
from command import contents, header_of, run
from killing import STEP, signalled_at
from sample_data import make_rows, write_tsv

from nlptx.artifacts.container import read

# Settings that make the stages small and fast; the content of the --config file.
CONFIG = """
[cooccur]
min-count = 2
[pca]
components = 8
[train]
epochs = 2
lr = 0.01
width = 8
blocks = 1
heads = 2
lsa-components = 8
"""
TRAIN = ("--epochs", "1", "--width", "8", "--lsa-components", "8")


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A working folder with a table of 50 texts, texts without labels, held-out texts, and a file for --config."""
    monkeypatch.chdir(tmp_path)
    write_tsv(tmp_path / "DATA", make_rows(("neg", "pos"), 50, seed=1)).rename("DATA.tsv")
    (tmp_path / "UNLABELLED.txt").write_text("".join(f"{text}\n" for text, _ in make_rows(("pos",), 20, seed=2)))
    write_tsv(tmp_path / "VALID.tsv", make_rows(("neg", "pos"), 10, seed=3))
    (tmp_path / "c.toml").write_text(CONFIG)
    return tmp_path


def in_three_steps(counted, trained, *more):
    """Run the three commands with the settings of the --config file; return the bytes of the model."""
    config = ("--config", "c.toml", "-q")
    call("cooccur", *counted, *config, "-o", "cooccur.npz")
    call("pca", "cooccur.npz", *config, "-o", "embeddings.npz")
    call("train", *trained, "-e", "embeddings.npz", *config, *more, "-o", "three.npz")
    return contents_of("three.npz")


def in_one_step(*words, **options):
    call("train", *words, "-q", "-o", "one.npz", **options)
    return contents_of("one.npz")


def contents_of(name):
    with open(name, "rb") as file:
        return file.read()


# ---------------------------------------------------------------- the same bytes


def test_the_defaults_of_the_stages_are_used(here):
    # The 200 words occur often enough to be counted, so that the default number of components is possible.
    rows = [
        f"w{number % 200} w{number % 197} w{number % 191}\t{'pos' if number % 2 else 'neg'}" for number in range(1200)
    ]
    (here / "DATA.tsv").write_text("text\tlabel\n" + "\n".join(rows))
    one = in_one_step("DATA.tsv", *TRAIN)
    call("cooccur", "DATA.tsv", "-q", "-o", "c.npz")
    call("pca", "c.npz", "-q", "-o", "e.npz")
    call("train", "DATA.tsv", "-e", "e.npz", *TRAIN, "-q", "-o", "three.npz")
    assert one == contents_of("three.npz")
    assert call("info", "one.npz", "--json").json["commands"] == [
        "nlptx train DATA --width 8 --epochs 1 --lsa-components 8 -o model.npz"
    ]


def test_unlabelled_texts_and_skipped_rows_are_counted_but_held_out_files_are_not(here):
    with open("DATA.tsv", "a") as file:
        file.write("a row that has no label\t\n" * 3)
    words = ("DATA.tsv", "--skip-bad", "--unlabelled", "UNLABELLED.txt", "--valid", "VALID.tsv")
    one = in_one_step(*words, "--config", "c.toml")
    assert one == in_three_steps(("DATA.tsv", "UNLABELLED.txt"), words)
    assert header_of("one.npz")["made_from"]["made_from"]["details"]["documents"] == 73


@cache
def made_from_files():
    """Return the bytes of a model made from the files in the working folder; every test has the same files."""
    return in_one_step("DATA.tsv", "--unlabelled", "UNLABELLED.txt", "--config", "c.toml", "-j", "2")


@pytest.mark.parametrize("source", ["stdin", "gzip", "unlabelled from stdin", "jobs"])
def test_the_model_does_not_depend_on_source_and_jobs(source, here):
    plain = made_from_files()
    (here / "z.tsv.gz").write_bytes(gzip.compress((here / "DATA.tsv").read_bytes()))
    data, free, options = {
        "stdin": (("-", "--input-format", "tsv"), "UNLABELLED.txt", {"stdin": (here / "DATA.tsv").read_bytes()}),
        "gzip": (("z.tsv.gz",), "UNLABELLED.txt", {}),
        "unlabelled from stdin": (("DATA.tsv",), "-", {"stdin": (here / "UNLABELLED.txt").read_bytes()}),
        "jobs": (("DATA.tsv", "-j", "1"), "UNLABELLED.txt", {}),
    }[source]
    if source == "stdin":  # standard input needs --input-format, which applies to all inputs
        (here / "UNLABELLED.tsv").write_text("text\n" + (here / "UNLABELLED.txt").read_text())
        free = "UNLABELLED.tsv"
    assert in_one_step(*data, "--unlabelled", free, "--config", "c.toml", **options) == plain


def test_folders_and_archives_with_splits(here):
    for part, count in {"train/pos": 12, "train/neg": 12, "unsup": 9, "test/pos": 3, "test/neg": 3}.items():
        (here / "corpus" / part).mkdir(parents=True)
        label = part.rpartition("/")[2].replace("unsup", "pos")
        for number, (text, _) in enumerate(make_rows((label,), count, seed=4)):
            (here / "corpus" / part / f"{number}.txt").write_text(text)
    with tarfile.open("corpus.tar.gz", "w:gz") as archive:
        archive.add("corpus")
    for name in ("corpus", "corpus.tar.gz"):
        assert in_one_step(name, "--config", "c.toml") == in_three_steps((name,), (name,))
    one = in_one_step("corpus", "--split", "train", "--config", "c.toml")
    assert one == in_three_steps(("corpus", "--split", "train"), ("corpus", "--split", "train"))
    # Only the `unsup` part of the archive of unlabelled texts is read, and its texts are counted.
    in_one_step("DATA.tsv", "--unlabelled", "corpus.tar.gz", "--config", "c.toml")
    assert header_of("one.npz")["made_from"]["made_from"]["details"]["documents"] == 59


def test_the_seed_and_the_preset_apply_to_all_stages(here):
    options = ("--preset", "bloem", "--seed", "7")
    small = ("--epochs", "1", "--blocks", "1", "--width", "16", "--batch", "25")
    one = in_one_step("DATA.tsv", *options, *small)
    size = header_of("one.npz")["made_from"]["settings"]["components"]
    call("cooccur", "DATA.tsv", "--preset", "bloem", "-q", "-o", "c.npz")
    call("pca", "c.npz", *options, "--components", str(size), "-q", "-o", "e.npz")
    call("train", "DATA.tsv", "-e", "e.npz", *options, *small, "-q", "-o", "three.npz")
    assert one == contents_of("three.npz")


@pytest.mark.parametrize(
    "words",
    [
        ("DATA.tsv", "--config", "c.toml", "--seed", "3"),
        ("DATA.tsv", "--unlabelled", "UNLABELLED.txt", "--valid", "VALID.tsv", *TRAIN),
        ("DATA.tsv", "--text-column", "name", "--label-column", "label", "--encoding-errors", "replace", *TRAIN),
    ],
    ids=["settings", "small corpus", "columns"],
)
def test_the_commands_shown_by_info_reproduce_the_same_bytes(words, here):
    if "--text-column" in words:  # texts of a single word, in which no two words co-occur
        rows = [f"{text}\t{label} {label}\t{label}" for text, label in make_rows(("neg", "pos"), 50, seed=1)]
        (here / "DATA.tsv").write_text("text\tname\tlabel\n" + "\n".join(rows))
    one = in_one_step(*words)
    for line in call("info", "one.npz", "--json").json["commands"]:
        for name, ending in (("UNLABELLED", ".txt"), ("DATA", ".tsv"), ("VALID", ".tsv")):
            line = line.replace(f" {name} ", f" {name}{ending} ")
        call(*line.split()[1:], "-q")
    assert contents_of("model.npz") == one


# ---------------------------------------------------------------- messages


def test_progress_of_each_stage_is_shown(here):
    result = call("train", "DATA.tsv", "--config", "c.toml", "--json", "-o", "one.npz")
    lines = result.stderr.splitlines()
    assert "no word vectors are given (-e)" in lines[0]
    assert [line.split()[0] for line in lines[1:3]] == ["counting", "PCA"]
    assert lines[3].startswith("training  epoch 1/2")
    summary = result.json
    assert (summary["cooccur"]["documents"], summary["pca"]["components"], summary["texts"]) == (50, 8, 50)
    assert summary["cooccur"]["words"] == summary["pca"]["words"]
    assert call("train", "DATA.tsv", "--config", "c.toml", "-q", "-o", "one.npz").stderr == ""


def test_a_small_corpus_gets_shorter_vectors_and_all_of_its_words(here):
    (here / "DATA.tsv").write_text("text\tlabel\na good film\tpos\na bad film\tneg\nso good\tpos\nso bad\tneg\n")
    message = call("train", "DATA.tsv", *TRAIN, "-o", "one.npz").stderr
    assert "occurs 2 times, so all words are counted instead" in message
    assert "the vocabulary has only 5 words, so their vectors have 5 components" in message


@pytest.mark.parametrize(
    ("table", "options", "code", "says"),
    [
        ("", (), 3, "DATA.tsv: there are no training texts"),
        ("good film\tpos\nbad film\tpos\n", (), 3, "only the label 'pos'"),
        ("good\tpos\nbad\tneg\n", ("--ngrams", "0"), 3, "--embeddings made from other texts"),
        ("good film\tpos\nbad film\tneg\n", ("--preset", "goldstraw"), 3, "Lower min-count in the section [cooccur]"),
        ("...\tpos\n\tneg\n", (), 3, "the corpus is empty"),
        ("good film\tpos\nbad film\tneg\n", ("-o", "none/m.npz"), 1, "its folder does not exist"),
        ("good film\tpos\nbad film\tneg\n", ("-o", "DATA.tsv/none/m.npz"), 1, "DATA.tsv is a file, not a folder"),
    ],
    ids=["empty", "one label", "one word per text", "preset", "no word", "no folder", "no folder but a file"],
)
def test_invalid_training_data_are_rejected(table, options, code, says, here):
    (here / "DATA.tsv").write_text(f"text\tlabel\n{table}".replace("...", "\u200b"))
    before = contents(here)
    exit_code, message = failure("train", "DATA.tsv", *options)
    assert (exit_code, says in message) == (code, True), message
    assert contents(here) == before


def test_labels_are_checked_before_counting(here):
    (here / "DATA.tsv").write_text("text\tlabel\ngood film\tpos\nbad film\tpos\n")
    assert "counting  " not in call("train", "DATA.tsv", code=3).stderr


def test_section_options_without_effect_on_train_are_named(here):
    (here / "o.toml").write_text('[cooccur]\nmin-count = 2\njobs = 1\noutput = "c.npz"\n[pca]\ncomponents = 4\n')
    message = call("train", "DATA.tsv", *TRAIN, "--config", "o.toml", "-o", "one.npz").stderr
    assert message.splitlines()[0] == "o.toml: train ignores jobs, output in [cooccur]"
    assert not (here / "c.npz").exists()
    message = call("crossvalidate", "DATA.tsv", *TRAIN, "--folds", "2", "--config", "o.toml").stderr
    assert message.splitlines()[0] == "o.toml: crossvalidate ignores jobs, output in [cooccur]"


@pytest.mark.parametrize("command", [("train", "-o", "one.npz"), ("crossvalidate", "--folds", "2")], ids=lambda c: c[0])
def test_settings_of_pca_without_effect_are_named(command, here, monkeypatch):
    (here / "p.toml").write_text('[cooccur]\nmin-count = 2\n[pca]\ncomponents = 4\ntransform = "log"\n')
    monkeypatch.setenv("NLPTX_PCA_SMOOTHING", "0.5")
    lines = call(*command, "DATA.tsv", *TRAIN, "--config", "p.toml").stderr.splitlines()
    assert lines.count("pca: --transform is log, not ppmi, so --smoothing has no effect") == 1


def test_environment_variables_of_the_stages_apply(here, monkeypatch):
    monkeypatch.setenv("NLPTX_COOCCUR_MIN_COUNT", "3")
    monkeypatch.setenv("NLPTX_PCA_COMPONENTS", "6")
    in_one_step("DATA.tsv", *TRAIN)
    embeddings = header_of("one.npz")["made_from"]
    assert (embeddings["settings"]["components"], embeddings["made_from"]["settings"]["min_count"]) == (6, 3)
    monkeypatch.setenv("NLPTX_PCA_COMPONENTS", "many")
    assert "(from NLPTX_PCA_COMPONENTS)" in failure("train", "DATA.tsv")[1]


# ---------------------------------------------------------------- stopping and resuming


@pytest.mark.parametrize(
    ("point", "name"),
    [
        (("nlptx.cooccurrence.count", "", "build_index"), "SIGINT"),
        (("nlptx.pca.fit", "", "power_iteration"), "SIGTERM"),
    ],
    ids=["counting", "PCA"],
)
def test_stopping_before_training_keeps_nothing(point, name, here):
    before = contents(here)
    code, message = signalled_at([(point, 1, name)], "train", "DATA.tsv", "--config", "c.toml", cwd=here)
    stopped = "interrupted" if name == "SIGINT" else f"stopped by {name}"
    assert code == {"SIGINT": 130, "SIGTERM": 143}[name]
    assert message.splitlines()[-1] == f"nlptx: {stopped}: nothing had been trained yet, so nothing was saved"
    assert contents(here) == before


def test_resuming_a_stopped_training_run_yields_the_same_bytes(here):
    words = ("train", "DATA.tsv", "--config", "c.toml", "--batch", "10", "-o", "out.npz")
    signalled_at([(STEP, 3, "SIGTERM")], *words, cwd=here)
    point = ("nlptx.pca.fit", "", "power_iteration")
    _, message = signalled_at([(point, 1, "SIGTERM")], *words, "--resume", cwd=here)
    assert "nothing was saved; --resume continues from out.npz.checkpoint as before" in message
    assert "resuming from out.npz.checkpoint" in run(*words, "--resume", cwd=here).stderr
    resumed = contents(here)
    run(*words, cwd=here)
    assert contents(here) == resumed
    assert read("out.npz").kind == "model"
