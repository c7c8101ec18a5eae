"""The baselines of the benchmarks: input data, and methods that are skipped because a requirement is missing."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from nlptx.metrics import wilson_interval

BENCHMARKS = Path(__file__).parent / "benchmarks"


@pytest.fixture
def shared(tmp_path):
    """Return a folder structured like the real data; 3 of 4 training texts and 1 of 4 test texts are positive."""
    rows = [
        f"good film number {n}\tpos\nfine story {n}\tpos\nlovely actors {n}\tpos\nbad film {n}\tneg" for n in range(20)
    ]
    (tmp_path / "sst2").mkdir()
    (tmp_path / "sst2/train.tsv").write_text("text\tlabel\n" + "\n".join(rows) + "\n")
    test = ["a good one\tpos", "a bad one\tneg", "bad , bad\tneg", "really bad\tneg"]
    (tmp_path / "sst2/dev.tsv").write_text("text\tlabel\n" + "\n".join(test) + "\n")
    return tmp_path


def score(shared, method, data="sst2"):
    words = [sys.executable, BENCHMARKS / "baselines.py", "--data", data, "--method", method]
    words += ["--shared", shared, "--out", shared / "out"]
    env = {"PATH": "", "PYTHONPATH": str(BENCHMARKS.parents[1])}
    done = subprocess.run([*map(str, words)], capture_output=True, text=True, check=True, env=env)
    path = shared / f"out/{method}.json"
    return json.loads(path.read_text()) if path.exists() else None, done.stderr


def test_the_majority_label_is_determined_on_the_training_texts(shared):
    report, _ = score(shared, "majority")
    assert report["accuracy"] == 0.25
    assert report["interval"] == list(wilson_interval(1, 4))
    assert report["log_loss"] == pytest.approx(-(np.log(0.75) + 3 * np.log(0.25)) / 4)


@pytest.mark.parametrize("method", ["tfidf", "nblr", "nbsvm"])
def test_linear_baselines_learn(shared, method):
    pytest.importorskip("sklearn", reason="baselines need the bench extra")
    report, _ = score(shared, method)
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

    # The two n-grams occur in 2 and 0 positive texts and in 1 and 3 negative ones; smoothing adds 1 to each count.
    counts = csr_array(np.array([[1, 0], [1, 0], [1, 1], [0, 1], [0, 1]], float))
    ratios = log_count_ratios(counts, np.array([True, True, False, False, False]))
    np.testing.assert_allclose(ratios, [np.log((3 / 4) / (2 / 6)), np.log((1 / 4) / (4 / 6))])
