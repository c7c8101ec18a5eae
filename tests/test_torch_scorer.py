"""Tests that the PyTorch network of the benchmark of scoring predicts what the bundled model predicts."""

import sys
from dataclasses import replace
from pathlib import Path

import pytest
from numpy.testing import assert_allclose

from nlptx.classifier.model import Model

pytest.importorskip("torch", reason="PyTorch is not installed; it is only used as a reference")


def test_probabilities_equal_those_of_the_bundled_model(monkeypatch):
    monkeypatch.setattr(sys, "path", [str(Path(__file__).parent / "benchmarks"), *sys.path])
    from torch_scorer import TorchScorer

    model = replace(Model.load(), regions=None)  # the network in PyTorch has no region filters
    texts = ["I loved it", "an overheated film that never deepens its ideas", "not good, not funny " * 200]
    assert_allclose(TorchScorer(model).probabilities(texts), model.predict_proba(texts), atol=1e-5)
