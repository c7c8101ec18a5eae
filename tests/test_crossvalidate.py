"""The cross-validation of the benchmarks: arguments are passed to the commands unchanged."""

import sys
from pathlib import Path

import pytest


@pytest.fixture
def crossvalidate(tmp_path, monkeypatch):
    """Return a function that cross-validates a table of ten texts with the given arguments and returns its commands."""
    monkeypatch.syspath_prepend(str(Path(__file__).parent / "benchmarks"))
    import crossvalidate as module

    calls = []

    def nlptx(*arguments):
        calls.append(arguments)
        report = {"texts": 5, "accuracy": 0.5, "log_loss": 0.7}
        return {"seconds": 1.0, "parameters": 3, "peak_memory_mb": 9, **(report if arguments[0] == "evaluate" else {})}

    def run(*words):
        monkeypatch.setattr(sys, "argv", ["crossvalidate.py", *map(str, words)])
        module.main()
        return calls

    monkeypatch.setattr(module, "nlptx", nlptx)
    data = tmp_path / "my data.tsv"
    data.write_text("text\tlabel\n" + "".join(f"text {n}\t{n % 2}\n" for n in range(10)))
    return lambda *words: run(data, "--folds", 2, "--work", tmp_path / "my work", *words)


def test_arguments_with_spaces_are_not_split(crossvalidate, tmp_path, capsys):
    calls = crossvalidate("--embeddings", "word vectors.npz", "--", "--label-column", "my label", "--epochs", "1")
    train = calls[0]
    assert train[:4] == ("train", str(tmp_path / "my work/train.tsv"), "-e", "word vectors.npz")
    assert train[4:8] == ("--label-column", "my label", "--epochs", "1")
    output = capsys.readouterr().out
    assert output.startswith(
        "my data.tsv, 10 texts, 2-fold cross-validation; train: --label-column 'my label' --epochs 1"
    )


@pytest.mark.parametrize("end", [(), ("--",)])
def test_without_further_arguments_training_uses_the_defaults(crossvalidate, end, capsys):
    calls = crossvalidate("--embeddings", "e.npz", *end)
    assert calls[0][4:-2] == ()
    assert "train: defaults" in capsys.readouterr().out
