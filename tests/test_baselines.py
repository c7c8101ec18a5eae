"""Tests of the baseline methods in the benchmarks: input data, and methods whose requirements are missing."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from nlptx.metrics import wilson_interval

BENCHMARKS = Path(__file__).parent / "benchmarks"
LINEAR = ("tfidf", "nblr", "nbsvm")


@pytest.fixture
def shared(tmp_path):
    return make_shared(tmp_path)


@pytest.fixture(scope="module")
def reports(tmp_path_factory):
    """The reports of all linear baselines, run in a single process, because importing scikit-learn takes long."""
    pytest.importorskip("sklearn", reason="baselines need the bench extra")
    shared = make_shared(tmp_path_factory.mktemp("linear"))
    run(shared, LINEAR, "sst2")
    return {method: report_of(shared, method) for method in LINEAR}


def make_shared(folder):
    """Return a folder structured like the real data; 3 of 4 training texts and 1 of 4 test texts are positive."""
    rows = [
        f"good film number {n}\tpos\nfine story {n}\tpos\nlovely actors {n}\tpos\nbad film {n}\tneg" for n in range(20)
    ]
    (folder / "sst2").mkdir()
    (folder / "sst2/train.tsv").write_text("text\tlabel\n" + "\n".join(rows) + "\n")
    test = ["a good one\tpos", "a bad one\tneg", "bad , bad\tneg", "really bad\tneg"]
    (folder / "sst2/dev.tsv").write_text("text\tlabel\n" + "\n".join(test) + "\n")
    return folder


def run(shared, methods, data):
    """Run the baselines; return what they print to standard error."""
    words = [sys.executable, BENCHMARKS / "baselines.py", "--data", data, "--shared", shared, "--out", shared / "out"]
    for method in methods:
        words += ["--method", method]
    env = {"PATH": "", "PYTHONPATH": str(BENCHMARKS.parents[1])}
    return subprocess.run([*map(str, words)], capture_output=True, text=True, check=True, env=env).stderr


def report_of(shared, method):
    path = shared / f"out/{method}.json"
    return json.loads(path.read_text()) if path.exists() else None


def score(shared, method, data="sst2"):
    message = run(shared, [method], data)
    return report_of(shared, method), message


def test_the_majority_label_is_determined_on_the_training_texts(shared):
    report, _ = score(shared, "majority")
    assert report["accuracy"] == 0.25
    assert report["interval"] == list(wilson_interval(1, 4))
    assert report["log_loss"] == pytest.approx(-(np.log(0.75) + 3 * np.log(0.25)) / 4)


@pytest.mark.parametrize("method", LINEAR)
def test_linear_baselines_learn(reports, method):
    report = reports[method]
    assert report["accuracy"] == 1
    assert (report["log_loss"] is None) == (report["ece"] is None) == (method == "nbsvm")
    assert report["parameters"] > 10
    assert report["chosen"]["C"] > 0


def test_a_missing_program_is_skipped_with_a_message(shared):
    report, message = score(shared, "fasttext")
    assert report is None
    assert message == "sst2: fasttext is left out: the program fasttext is not on the PATH\n"


def test_a_method_that_needs_training_is_skipped_without_training_data(shared):
    (shared / "cr").mkdir()
    (shared / "sst2/dev.tsv").rename(shared / "cr/cr.tsv")
    report, message = score(shared, "majority", "cr")
    assert report is None
    assert "nothing to train on" in message


def test_log_count_ratios_follow_the_article(monkeypatch):
    from scipy.sparse import csr_array

    monkeypatch.syspath_prepend(str(BENCHMARKS))
    from baseline_linear import log_count_ratios

    # The first n-gram occurs in 2 positive texts and 1 negative text, the second in 0 and 3; smoothing adds 1 to each
    # count.
    counts = csr_array(np.array([[1, 0], [1, 0], [1, 1], [0, 1], [0, 1]], float))
    ratios = log_count_ratios(counts, np.array([True, True, False, False, False]))
    np.testing.assert_allclose(ratios, [np.log((3 / 4) / (2 / 6)), np.log((1 / 4) / (4 / 6))])
