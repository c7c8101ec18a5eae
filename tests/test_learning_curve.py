"""Tests of the benchmark of ``--start``: all methods learn from the same rows and are tested on all other rows."""

from pathlib import Path

import pandas as pd
import pytest
from sample_data import make_rows

TABLE = pd.DataFrame(make_rows(("neg", "pos"), 30, seed=1), columns=["text", "label"])
TABLE["text"] += [f" {number}" for number in range(len(TABLE))]


@pytest.fixture
def module(monkeypatch):
    monkeypatch.syspath_prepend(str(Path(__file__).parent / "benchmarks"))
    import learning_curve

    return learning_curve


def test_all_methods_get_the_same_rows_and_are_tested_on_all_others(module):
    calls = {"a": [], "b": []}
    methods = {
        name: (lambda train, test, name=name: calls[name].append((train, test)) or len(calls[name])) for name in calls
    }
    found = module.curve(TABLE, methods, [5, 10], draws=3)
    assert calls["a"] == calls["b"]
    assert found["a"] == {5: [1, 2, 3], 10: [4, 5, 6]}
    for train, test in calls["a"]:
        assert sorted(train[0] + test[0]) == sorted(TABLE["text"])
    assert len({tuple(train[0]) for train, _ in calls["a"]}) == 6


def test_every_row_is_tested_on_once_in_ten_folds(module):
    tested = []
    module.cross_validated(TABLE, lambda train, test: tested.extend(test[0]) or 0.0)
    assert sorted(tested) == sorted(TABLE["text"])


def test_the_table_and_the_picture_show_means_and_deviations(module, tmp_path):
    found = {"one": {50: [0.5, 0.6], 1000: [0.8, 0.9]}}
    assert module.as_markdown(found, [50, 1000]).splitlines()[-1] == "| one | 55.0 ± 7.1 | 85.0 ± 7.1 |"
    pytest.importorskip("matplotlib")
    for name in ("a.svg", "b.svg"):
        module.plot(found, [50, 1000], tmp_path / name)
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()
