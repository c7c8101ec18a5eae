"""A training run killed at any moment and continued with ``--resume`` writes the same bytes."""

import pytest
from harness import amounts, seeded
from killing import survives
from tally import Tally


@pytest.fixture
def tally(request):
    return Tally(request, "resume")


@amounts(quick=2, full=100)
def test_resuming_a_killed_training_run_writes_the_same_bytes(amount, stages, tmp_path, tally):
    random = seeded("resume")
    fractions = [0.8, *(random.uniform(0.3, 1) for _ in range(amount - 1))]
    survives(fractions, (*stages["train"].words, "--checkpoint-minutes", "1e-9"), "model.npz", tmp_path)
    for _ in fractions:
        tally.injected()
        tally.survived()
