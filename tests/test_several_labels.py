"""Tests of the benchmark with several labels per text: its data and its measures."""

from pathlib import Path

import numpy as np
import pytest

TYPES = ("HUM", "LOC", "NUM")


@pytest.fixture
def several_labels(monkeypatch):
    monkeypatch.syspath_prepend(str(Path(__file__).parent / "benchmarks"))
    import several_labels as module

    return module


def questions(count):
    rng = np.random.default_rng(1)
    words = [f"w{number}" for number in range(60)]
    return [
        (TYPES[number % 3], " ".join([f"question{number}", *rng.choice(words, 5, p=np.arange(60, 0, -1) / 1830)]))
        for number in range(count)
    ]


def test_no_question_occurs_twice_and_labels_follow_from_the_questions(several_labels):
    given = questions(200)
    data = several_labels.make_data(given, 8, seed=1)
    numbers = [word for text in (*data.train, *data.test) for word in text.split() if word.startswith("question")]
    assert sorted(numbers) == sorted(text.split()[0] for _, text in given)
    kind_of = {text.split()[0]: kind for kind, text in given}
    for text, labels in zip((*data.train, *data.test), (*data.train_sets, *data.test_sets), strict=True):
        kinds = {kind_of[word] for word in text.split() if word in kind_of}
        assert {label for label in labels if " " not in label} == kinds
        assert all(label.split()[0] in kinds and label.split()[1] in text.split() for label in labels - kinds)
    assert len(set().union(*data.train_sets)) == 8


def test_the_measures_equal_those_of_scikit_learn(several_labels):
    metrics = pytest.importorskip("sklearn.metrics")
    rng = np.random.default_rng(1)
    true, predicted = rng.random((50, 4)) < 0.4, rng.random((50, 4)) < 0.4
    expected = [metrics.f1_score(true, predicted, average=average) for average in ("micro", "macro")]
    assert several_labels.measures(true, predicted) == pytest.approx(
        [*expected, metrics.accuracy_score(true, predicted)]
    )
