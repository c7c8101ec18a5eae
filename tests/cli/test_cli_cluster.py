"""Commands with ``--cluster`` write the same bytes and the same notes as on a single machine.

Each task runs twice in this process, and tasks run one after the other; ``tests/cluster`` tests real worker processes.
"""

import gzip
import json
import os
import pickle
import threading
import time
from contextlib import nullcontext
from dataclasses import replace

import numpy as np
import pytest
from calling import call, failure
from sample_data import make_rows, write_tsv

from nlptx.artifacts.container import read, write
from nlptx.cli.cluster import cooccur, predict, training
from nlptx.cli.cluster.training import _with_epochs
from nlptx.cli.options.cluster import ClusterOptions, shared_folder
from nlptx.cluster import scoring
from nlptx.cooccurrence.matrix import Cooccurrence
from nlptx.ngrams import cross_fit, occurrence_blocks, out_of_core
from nlptx.settings import TrainSettings
from nlptx.training import linear_combination

TEXT = b"I loved this film .\nIt was awful , and too long .\n\nzzqx\nGood actors .\n" * 12


class Twice:
    """Runs each task twice, in another working folder and on a copy of its arguments, as can happen on a cluster."""

    def map(self, work, items, *, isolated=False):
        for given in items:
            item = pickle.loads(pickle.dumps(given))
            here = os.getcwd()
            os.chdir("/")
            try:
                work(item)
                yield work(item)
            finally:
                os.chdir(here)


@pytest.fixture(autouse=True)
def in_this_process(monkeypatch, tmp_path):
    monkeypatch.setattr(ClusterOptions, "open", lambda options, paths, run, per_worker=2: nullcontext(Twice()))
    monkeypatch.setattr(cooccur, "partition_size", lambda inputs: 200)
    monkeypatch.setattr(predict, "_PARTITION", 200)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "texts.txt").write_bytes(TEXT)


def written(folder):
    return sorted(path.name for path in folder.iterdir())


def notes(stderr):
    return [line for line in stderr.splitlines() if line.startswith(("note", "left out")) or "no known word" in line]


# ---------------------------------------------------------------- cooccur


def test_counts_have_the_bytes_of_one_machine(tmp_path):
    options = ("--min-count", "1", "--window", "4", "-q")
    call("cooccur", "texts.txt", *options, "-o", "one.npz")
    call("cooccur", "texts.txt", *options, "--cluster", "local:2", "-o", "cluster.npz")
    assert (tmp_path / "cluster.npz").read_bytes() == (tmp_path / "one.npz").read_bytes()
    assert written(tmp_path) == ["cluster.npz", "one.npz", "texts.txt"]  # intermediate results are removed


def test_counts_of_several_inputs_in_any_format(tmp_path):
    (tmp_path / "packed.txt.gz").write_bytes(gzip.compress(TEXT))
    (tmp_path / "rows.csv").write_text("Text,label\n" + 'a "good" film,pos\n"two\nlines",neg\n' * 20)
    (tmp_path / "reviews/train/pos").mkdir(parents=True)
    (tmp_path / "reviews/train/pos/1.txt").write_text("a very good film")
    inputs = ("texts.txt", "packed.txt.gz", "rows.csv", "reviews", "texts.txt")  # texts.txt is given and counted twice
    options = ("--min-count", "1", "--encoding-errors", "replace", "-q")
    call("cooccur", *inputs, *options, "-o", "one.npz")
    call("cooccur", *inputs, *options, "--cluster", "local:2", "-o", "cluster.npz")
    assert (tmp_path / "cluster.npz").read_bytes() == (tmp_path / "one.npz").read_bytes()


def test_intermediate_results_go_where_all_workers_see_them(tmp_path, monkeypatch):
    folders = []
    monkeypatch.setattr(
        ClusterOptions,
        "open",
        lambda options, paths, run, per_worker=2: folders.append(paths[-1]) or nullcontext(Twice()),
    )
    (tmp_path / "out").mkdir()
    (tmp_path / "shared").mkdir()
    call("cooccur", "texts.txt", "-q", "--min-count", "1", "--cluster", "local:1", "-o", "out/counts.npz")
    call("cooccur", "texts.txt", "-q", "--min-count", "1", "--cluster", "local:1", "--tmp-dir", "shared", "-o", "b.npz")
    assert [os.path.dirname(folder) for folder in folders] == [str(tmp_path / "out"), str(tmp_path / "shared")]
    assert written(tmp_path / "shared") == []


def test_intermediate_results_are_removed_although_a_worker_still_writes(tmp_path):
    started, folders = threading.Event(), []

    def write():
        for number in range(300):
            try:
                (folders[0] / f"{number}").write_bytes(b"x")
            except FileNotFoundError:
                return
            started.set()
            time.sleep(0.001)

    worker = threading.Thread(target=write)
    with shared_folder("result.npz", None) as folder:
        folders.append(tmp_path / folder)
        worker.start()
        started.wait()
    worker.join()
    assert written(tmp_path) == ["texts.txt"]


def test_an_error_leaves_nothing_behind(tmp_path):
    (tmp_path / "texts.txt").write_bytes(TEXT + b"caf\xe9\n" + TEXT)
    code, message = failure("cooccur", "texts.txt", "--cluster", "local:2", "-o", "counts.npz")
    assert code == 3
    assert message.startswith("texts.txt:61: byte 0xe9 is not UTF-8")
    assert written(tmp_path) == ["texts.txt"]


# ---------------------------------------------------------------- predict


@pytest.mark.parametrize(
    "options",
    [
        (),
        ("--details",),
        ("--format", "jsonl"),
        ("--format", "csv"),
        ("--abstain", "0.9"),
        ("--prior",),
        ("--skip-bad",),
        ("-o", "scores.tsv.gz"),
    ],
    ids=" ".join,
)
def test_scores_have_the_bytes_of_one_machine(options, model, tmp_path):
    if options:  # use the bundled model only once, because it is slow to load
        options = (*options, "-m", model)
    one = call("predict", "texts.txt", *options)
    files = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    cluster = call("predict", "texts.txt", *options, "--cluster", "local:2")
    assert cluster.stdout == one.stdout
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == files
    assert notes(cluster.stderr) == notes(one.stderr)


def test_tables_get_one_header(model, tmp_path):
    for name, rows in (
        ("a.csv", 'Text,id\n"good, film",1\n'),
        ("b.csv", '\ufeffText,id\n"bad\nfilm",2\n'),
        ("c.csv", "Text,id\n"),
    ):
        (tmp_path / name).write_text(rows)
    (tmp_path / "other.csv").write_text("text,number\n")
    (tmp_path / "empty.csv").write_text("")
    for names in (("a", "b", "c"), ("b", "a"), ("empty", "other", "a"), ("a", "other"), ("c", "empty"), ("c", "other")):
        inputs = (*(f"{name}.csv" for name in names), "-m", model)
        assert call("predict", *inputs, "--cluster", "local:2").stdout == call("predict", *inputs).stdout


@pytest.mark.parametrize("name", ["rows.csv", "rows.tsv"])
def test_partitions_of_a_table(name, model, tmp_path):
    header, row = {
        "rows.csv": ("\ufeffText;id\n", '"a good\nfilm; 5"" wide";{}\n'),
        "rows.tsv": ("Text\tid\n", '"a good film\t{}\n'),
    }[name]
    (tmp_path / name).write_text(header + "".join(map(row.format, range(40))))
    words = ("predict", name, "-m", model)
    one, cluster = call(*words), call(*words, "--cluster", "local:2")
    assert cluster.stdout == one.stdout
    assert one.stdout.count(b"good") == 40
    assert one.stdout.startswith(header[:4].encode())
    assert notes(cluster.stderr) == notes(one.stderr)
    (tmp_path / name).write_text(header + "".join(map(row.format, range(40))) + '"x"y\t\t')
    for more in ((), ("--cluster", "local:2")):
        code, message = failure(*words, *more, "-o", "scores.csv")
        assert code == 3
        assert f"error: {name}:{82 if name == 'rows.csv' else 42}: " in message


def test_only_the_first_partition_of_a_text_begins_with_a_byte_order_mark(model, tmp_path):
    (tmp_path / "marked.txt").write_text("\ufeff" + "a good film\n" * 40)
    words = ("predict", "marked.txt", "-m", model, "--format", "csv")
    one = call(*words).stdout
    assert call(*words, "--cluster", "local:2").stdout == one
    assert one.startswith("\ufefftext,".encode())


def test_a_delimiter_decides_the_format_of_the_output(model, tmp_path):
    (tmp_path / "rows.tsv").write_text("text;id\n" + "a good film;1\n" * 40)
    words = ("predict", "rows.tsv", "--delimiter", ";", "-m", model)
    assert call(*words, "--cluster", "local:2").stdout == call(*words).stdout


def test_tables_with_other_columns_are_refused(tmp_path):
    (tmp_path / "a.csv").write_text("text,id\ngood,1\n")
    (tmp_path / "b.csv").write_text("text,number\ngood,1\n")
    code, message = failure("predict", "a.csv", "b.csv", "--cluster", "local:2", "-o", "scores.csv")
    assert code == 3
    assert message.startswith("b.csv: its columns differ")
    assert written(tmp_path) == ["a.csv", "b.csv", "texts.txt"]


def test_json_lines_and_folders(model, tmp_path):
    (tmp_path / "rows.jsonl").write_text("".join(f'{{"text": "film {n}", "label": "old"}}\n' for n in range(40)))
    (tmp_path / "reviews").mkdir()
    for number in range(3):
        (tmp_path / f"reviews/{number}.txt").write_text("a good film")
    for name in ("rows.jsonl", "reviews", "./reviews/"):
        words = ("predict", name, "-m", model)
        one, cluster = call(*words), call(*words, "--cluster", "local:2")
        assert cluster.stdout == one.stdout
        assert notes(cluster.stderr) == notes(one.stderr)


def test_an_error_names_the_line_in_the_file(tmp_path):
    (tmp_path / "rows.jsonl").write_text('{"text": "a good film"}\n' * 30 + "{broken\n")
    code, message = failure("predict", "rows.jsonl", "--cluster", "local:2", "-o", "scores.jsonl")
    assert code == 3
    assert message.startswith("rows.jsonl:31: ")
    assert not (tmp_path / "scores.jsonl").exists()


# ---------------------------------------------------------------- pca


@pytest.mark.parametrize(
    "options", [(), ("--standardize", "--transform", "log"), ("--transform", "none")], ids=" ".join
)
def test_word_vectors_have_the_bytes_of_one_machine(options, tmp_path):
    call("cooccur", "texts.txt", "--min-count", "1", "-q", "-o", "counts.npz")
    options = (*options, "--components", "3", "-q")
    call("pca", "counts.npz", *options, "-o", "one.npz")
    call("pca", "counts.npz", *options, "--cluster", "local:2", "-o", "cluster.npz")
    assert (tmp_path / "cluster.npz").read_bytes() == (tmp_path / "one.npz").read_bytes()
    assert written(tmp_path) == ["cluster.npz", "counts.npz", "one.npz", "texts.txt"]


def test_pca_names_settings_without_effect():
    call("cooccur", "texts.txt", "--min-count", "1", "-q", "-o", "counts.npz")
    arguments = ("pca", "counts.npz", "--components", "3", "--transform", "log", "--smoothing", "0.5", "-o", "v.npz")
    for more in ((), ("--cluster", "local:2"), ("--cluster", "local:2", "--dry-run")):
        assert "--transform is log, not ppmi, so --smoothing has no effect" in call(*arguments, *more).stderr


def test_pca_says_that_the_memory_limit_has_no_effect():
    call("cooccur", "texts.txt", "--min-count", "1", "-q", "-o", "counts.npz")
    arguments = ("pca", "counts.npz", "--components", "3", "--cluster", "local:2", "-o", "v.npz")
    assert "--memory has no effect with --cluster" in call(*arguments, "--memory", "1G").stderr
    assert "--memory" not in call(*arguments).stderr


def test_errors_of_pca(tmp_path):
    call("cooccur", "texts.txt", "--min-count", "1", "-q", "-o", "counts.npz")
    code, message = failure("pca", "counts.npz", "--components", "99", "--cluster", "local:2", "-o", "vectors.npz")
    assert code == 3
    assert "99 components were requested" in message
    code, message = failure("pca", "texts.txt", "--cluster", "local:2", "-o", "vectors.npz")
    assert code == 4
    assert message.startswith("texts.txt: ")
    artifact = read("counts.npz")
    data = artifact.arrays["data"]
    for changed, reason in ((data + (np.arange(len(data)) == 1), "is not symmetric"), (-data, "contains a count")):
        artifact.arrays["data"] = changed
        write("counts.npz", artifact)
        code, message = failure("pca", "counts.npz", "--components", "3", "--cluster", "local:2", "-o", "vectors.npz")
        assert code == 4
        assert message.startswith("counts.npz: the matrix")
        assert reason in message
    assert written(tmp_path) == ["counts.npz", "texts.txt"]


# ---------------------------------------------------------------- evaluate, crossvalidate, tune


def test_evaluation_gives_the_same_report(tmp_path, monkeypatch):
    monkeypatch.setattr(scoring, "BATCH", 7)
    write_tsv(
        tmp_path / "rows.tsv", [(f"a good film {number}", ("pos", "neg")[number % 3 == 0]) for number in range(30)]
    )
    one = json.loads(call("evaluate", "rows.tsv", "--json").stdout)
    cluster = json.loads(call("evaluate", "rows.tsv", "--json", "--cluster", "local:2").stdout)
    for report in (one, cluster):
        del report["seconds"], report["peak_memory_mb"]
    assert cluster == one
    assert written(tmp_path) == ["rows.tsv", "texts.txt"]


def test_equal_results_of_different_tasks(tmp_path, monkeypatch):
    """The test finishes all tasks before it reads and removes the first result."""
    monkeypatch.setattr(scoring, "BATCH", 5)
    monkeypatch.setattr(Twice, "map", lambda mapper, work, items, isolated: iter([work(item) for item in items]))
    write_tsv(tmp_path / "rows.tsv", [("I loved it", "pos")] * 20)
    report = json.loads(call("evaluate", "rows.tsv", "--json", "--cluster", "local:2").stdout)
    assert report["texts"] == 20
    assert written(tmp_path) == ["rows.tsv", "texts.txt"]


SMALL = ("--epochs", "1", "--width", "8", "--blocks", "1", "--heads", "2")
QUICK = ("--folds", "2", *SMALL, "--lsa-components", "0")


def test_cross_validation_gives_the_same_predictions(tmp_path):
    write_tsv(tmp_path / "rows.tsv", make_rows(("neg", "pos"), 30, seed=1))
    arguments = ("crossvalidate", "rows.tsv", *QUICK, "--seeds", "2", "--json", "--predictions")
    one = json.loads(call(*arguments, "one.csv").stdout)
    cluster = json.loads(call(*arguments, "cluster.csv", "--cluster", "local:2").stdout)
    assert (tmp_path / "cluster.csv").read_bytes() == (tmp_path / "one.csv").read_bytes()
    assert cluster["measures"] == one["measures"]
    assert written(tmp_path) == ["cluster.csv", "one.csv", "rows.tsv", "texts.txt"]


def test_an_error_in_a_fold(tmp_path):
    write_tsv(tmp_path / "rows.tsv", make_rows(("neg", "pos"), 30, seed=1))
    code, message = failure("crossvalidate", "rows.tsv", *QUICK, "--lr", "1e30", "--cluster", "local:2")
    assert code == 1
    assert "diverged" in message
    assert written(tmp_path) == ["rows.tsv", "texts.txt"]


def test_a_search_on_a_cluster_finds_settings(tmp_path):
    write_tsv(tmp_path / "rows.tsv", make_rows(("neg", "pos"), 30, seed=1))
    arguments = ("tune", "rows.tsv", *QUICK, "--minutes", "0.02", "--json", "-o", "tuned.toml")
    found = json.loads(call(*arguments, "--cluster", "local:2").stdout)
    assert found["settings"]["train.epochs"] == 1
    assert written(tmp_path) == ["rows.tsv", "texts.txt", "tuned.toml", "tuned.toml.checkpoint"]


# ---------------------------------------------------------------- train


@pytest.mark.parametrize("labels", [2, 21], ids=["few-labels", "many-labels"])
def test_a_model_has_the_bytes_of_one_machine(labels, tmp_path):
    rows = make_rows(("neg", "pos"), 75, seed=1)
    if labels > 2:
        rows = [(f"{text} topic{number % labels}", f"l{number % labels}") for number, (text, _) in enumerate(rows)]
    write_tsv(tmp_path / "rows.tsv", rows)
    arguments = ("train", "rows.tsv", *SMALL, "-q", "-o")
    call(*arguments, "one.npz")
    call(*arguments, "cluster.npz", "--cluster", "local:2")
    assert (tmp_path / "cluster.npz").read_bytes() == (tmp_path / "one.npz").read_bytes()
    assert written(tmp_path) == ["cluster.npz", "one.npz", "rows.tsv", "texts.txt"]


@pytest.mark.parametrize("components", [0, 4])
def test_a_model_of_many_texts_has_the_bytes_of_one_machine(components, tmp_path, monkeypatch):
    monkeypatch.setattr(cross_fit, "OUT_OF_CORE_TEXTS", 0)
    monkeypatch.setattr(occurrence_blocks, "_ENTRIES", 800)
    monkeypatch.setattr(linear_combination, "_FEW_TEXTS", 0)
    parts, fit_part = [], out_of_core.fit_fold_models

    def fitted(data, part):
        parts.append(part)
        return fit_part(data, part)

    monkeypatch.setattr(out_of_core, "fit_fold_models", fitted)
    write_tsv(tmp_path / "rows.tsv", make_rows(("neg", "pos"), 100, seed=1))
    arguments = ("train", "rows.tsv", "--effort", "fast", "--lsa-components", str(components), "-q", "-o")
    call(*arguments, "one.npz")
    assert parts == [0, 1, 2]  # parts 0 and 1 are folds, and part 2 is all texts
    parts.clear()
    call(*arguments, "cluster.npz", "--cluster", "local:2", "--memory", "64M")
    assert parts == [0, 0, 1, 1, 2, 2]
    assert (tmp_path / "cluster.npz").read_bytes() == (tmp_path / "one.npz").read_bytes()
    assert written(tmp_path) == ["cluster.npz", "one.npz", "rows.tsv", "texts.txt"]


# ---------------------------------------------------------------- options


@pytest.mark.parametrize("command", ["cooccur", "predict"])
def test_the_plan_is_printed_and_nothing_is_done(command, tmp_path):
    arguments = (command, "texts.txt", "--cluster", "local:3", "--dry-run")
    plan = json.loads(call(*arguments, "--json").stdout)
    assert plan["partitions"] == -(-len(TEXT) // 200)
    assert plan["bytes"] == len(TEXT)
    assert plan["memory_per_worker"] > 10**7
    assert plan["seconds_on_one_worker"] >= plan["seconds"] >= 0
    assert b"partitions" in call(*arguments).stdout
    assert written(tmp_path) == ["texts.txt"]


def test_the_plan_for_a_folder(tmp_path):
    (tmp_path / "texts" / "more").mkdir(parents=True)
    for name in ("a.txt", "more/b.txt"):
        (tmp_path / "texts" / name).write_bytes(TEXT)
    plan = json.loads(call("cooccur", "texts", "--cluster", "local:3", "--dry-run", "--json").stdout)
    assert (plan["partitions"], plan["bytes"]) == (1, 2 * len(TEXT))


@pytest.mark.parametrize("content", ["", "text,label\n"])
def test_the_plan_for_an_input_without_texts(content, tmp_path):
    (tmp_path / "none.csv").write_text(content)
    plan = json.loads(call("predict", "none.csv", "--cluster", "local:2", "--dry-run", "--json").stdout)
    assert plan["seconds_on_one_worker"] == 0


def test_the_plans_of_the_other_commands(tmp_path):
    write_tsv(tmp_path / "rows.tsv", make_rows(("neg", "pos"), 30, seed=1))
    call("cooccur", "texts.txt", "--min-count", "1", "-q", "-o", "counts.npz")
    before = written(tmp_path)
    dry_run = ("--cluster", "local:2", "--dry-run", "--json")
    plan = json.loads(call("pca", "counts.npz", "--components", "3", *dry_run).stdout)
    assert plan["slices"] == 8
    assert plan["memory_per_worker"] > 10**7
    plan = json.loads(call("evaluate", "rows.tsv", *dry_run).stdout)
    assert plan["texts"] == 30
    assert plan["memory_per_worker"] > 10**7
    plan = json.loads(call("crossvalidate", "rows.tsv", *QUICK, "--seeds", "2", *dry_run).stdout)
    assert plan["models_to_train"] == 4
    plan = json.loads(call("train", "rows.tsv", *dry_run).stdout)
    assert plan["models_on_the_cluster"] == 6
    limited = json.loads(call("train", "rows.tsv", "--memory", "64M", *dry_run).stdout)
    assert plan["memory_per_worker"] > limited["memory_per_worker"] == 64 << 20
    plan = json.loads(call("tune", "rows.tsv", *QUICK, *dry_run).stdout)
    assert plan["seconds_per_model"] >= 0
    assert written(tmp_path) == before


def test_the_plan_of_pca_makes_the_checks_of_the_run(tmp_path):
    call("cooccur", "texts.txt", "--min-count", "1", "-q", "-o", "counts.npz")
    words = len(Cooccurrence.load("counts.npz").vocabulary)
    dry_run = ("--cluster", "local:2", "--dry-run", "--json")
    result = call("pca", "counts.npz", *dry_run)
    assert f"the vocabulary has only {words} words" in result.stderr
    assert (
        result.json["memory_of_this_process"]
        == call("pca", "counts.npz", "--components", words, *dry_run).json["memory_of_this_process"]
    )
    code, message = failure("pca", "counts.npz", "--components", "99", *dry_run)
    assert code == 3
    assert "99 components were requested" in message
    (tmp_path / "word.txt").write_text("word\n" * 5)
    call("cooccur", "word.txt", "-q", "-o", "word.npz")
    code, message = failure("pca", "word.npz", *dry_run)
    assert code == 3
    assert "no two words occur near each other" in message


def test_the_plan_of_pca_has_the_precision_of_the_run():
    call("cooccur", "texts.txt", "--min-count", "1", "-q", "-o", "counts.npz")
    arguments = ("pca", "counts.npz", "--components", "3", "--cluster", "local:2", "--dry-run", "--json")
    single, double = (call(*arguments, "--tolerance", tolerance).json for tolerance in ("1e-4", "1e-5"))
    assert double["memory_of_this_process"] == 2 * single["memory_of_this_process"]
    assert double["memory_per_worker"] > single["memory_per_worker"]


def test_the_time_of_training_is_estimated_from_a_sample_with_every_label(tmp_path, monkeypatch):
    """The sample contains every label, even if labels alternate or one of them is rare."""
    monkeypatch.setattr(training, "_SAMPLE", 12)
    for name, labels in (("alternating.tsv", ["neg", "pos"] * 12), ("rare.tsv", ["pos"] * 30 + ["neg"] * 3)):
        write_tsv(tmp_path / name, [(f"a good film {number}", label) for number, label in enumerate(labels)])
        plan = call("train", name, "--effort", "fast", "--cluster", "local:2", "--dry-run", "--json").json
        assert plan["texts"] == len(labels)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("predict", "texts.txt", "--dry-run"), "--dry-run needs --cluster"),
        (("predict", "texts.txt", "--cluster", "host"), "--cluster is 'host'; expected local:N"),
        (("predict", "-", "--cluster", "local:2"), "cannot read standard input"),
        (("cooccur", "texts.txt", "--cluster", "local:2", "--shard", "1/2"), "both divide the input"),
        (("pca", "-", "--cluster", "local:2"), "cannot read standard input"),
        (("cooccur", "missing.txt", "--cluster", "local:2"), "missing.txt: no such file"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_impossible_options(arguments, message):
    code, printed = failure(*arguments)
    assert code == 2
    assert message in printed


def test_pipes_are_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    code, printed = failure("cooccur", "pipe", "--cluster", "local:2")
    assert (code, "the workers of a cluster cannot read a pipe" in printed) == (2, True)


def test_the_sample_is_trained_for_as_many_epochs_as_all_texts():
    automatic = TrainSettings()
    assert _with_epochs(automatic, 20_000).epochs == 3
    assert _with_epochs(automatic, 1000) == automatic
    assert _with_epochs(replace(automatic, epochs=5), 20_000).epochs == 5
