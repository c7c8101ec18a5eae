"""Probabilities are valid, and those of a text depend only on that text."""

import json

import numpy as np
import pytest
from harness import amounts, broken, finish, seeded
from tally import Tally

from nlptx.classifier.model import Model
from nlptx.classifier.scoring import score
from nlptx.runtime.workers import Workers

MODELS = ("two labels", "three labels", "bundled")
BATCHES = (1, 7, 64, 1000)


@pytest.fixture
def tally(request):
    return Tally(request, "numbers")


@pytest.fixture
def path(request, work):
    """The path of a model, or None for the bundled model."""
    return {"two labels": work / "model.npz", "three labels": work / "kinds.npz", "bundled": None}[request.param]


each_model = pytest.mark.parametrize("path", MODELS, indirect=True)


def random_texts(amount, words, rng):
    """Return texts of various lengths with known, unknown or no words; some texts occur several times."""
    signs = ["", " ", "?!", "\u00e9t\u00e9", "\U0001f600", "\u0627\u0644", "e\u0301", "\0", "a\tb", "12", "x" * 3000]
    texts = []
    while len(texts) < amount:
        kind = rng.random()
        length = rng.choice([0, 1, 2, 5, 20, 100]) if kind < 0.99 else rng.randrange(2000)
        parts = rng.choices(words, k=length)
        if kind < 0.3:
            parts += rng.choices(signs, k=rng.randint(1, 3))
            rng.shuffle(parts)
        texts += [" ".join(parts)] * (1 if kind < 0.8 else rng.randint(2, 4))
    return texts[:amount]


def some_words(model, rng):
    return [*rng.sample(model.vocabulary.words, min(500, len(model.vocabulary))), "nosuchword", "asdfgh"]


def probabilities(model, texts, **options):
    """Return the probabilities, one row per text."""
    with Workers() as workers:
        scored = score(model, ((None, text) for text in texts), workers, **options)
        return np.array([row.probabilities for part in scored for _, row in part])


def check_probabilities(model, texts, tally):
    rows = probabilities(model, texts)
    assert rows.shape == (len(texts), len(model.labels))
    assert np.isfinite(rows).all()
    assert rows.min() >= 0
    assert rows.max() <= 1
    assert np.abs(rows.sum(axis=1) - 1).max() <= 1e-6, "a sum is not 1"
    scores = model.scores(rows)
    assert scores is None or np.abs(scores).max() <= 1
    tally.counts["runs"] += 1
    return rows


@each_model
@amounts(quick=100, full=10_000)
def test_probabilities_lie_between_0_and_1_and_sum_to_1(path, amount, tally):
    model = Model.load(path and str(path))
    rng = seeded("probabilities")
    texts = random_texts(amount, some_words(model, rng), rng)
    rows = check_probabilities(model, texts, tally)
    # Predictions are printed with six digits.
    expected = rows.round(6).tobytes()
    for batch in BATCHES:
        tally.same(probabilities(model, texts, batch=batch).round(6).tobytes(), expected, f"batches of {batch}")


def printed(path, texts, tally, nlptx=None):
    """Return the output of ``predict`` for each numbered text: number -> line without the number."""
    tally.ran()
    model = () if path is None else ("-m", path)
    lines = "".join(json.dumps({"number": number, "text": text}) + "\n" for number, text in texts)
    words = ("predict", *model, "-q", "--input-format", "jsonl", "-")
    rows = [json.loads(line) for line in finish(*words, given=lines.encode(), nlptx=nlptx).stdout.splitlines()]
    assert [row["number"] for row in rows] == [number for number, _ in texts]
    return {row.pop("number"): json.dumps(row).encode() for row in rows}


def check_independence(path, texts, others, rng, tally, nlptx=None):
    """Score texts in order, shuffled, and mixed with others; a text and its duplicates must get equal results."""
    numbered = list(enumerate(texts))
    first = printed(path, numbered, tally, nlptx)
    duplicates = {}
    for number, text in numbered:
        tally.same(first[number], duplicates.setdefault(text, first[number]), f"duplicates of text {number}")
    for more in ([], [(-number, text) for number, text in enumerate(others, start=1)]):
        mixed = numbered + more
        rng.shuffle(mixed)
        again = printed(path, mixed, tally, nlptx)
        for number, _ in numbered:
            tally.same(again[number], first[number], f"text {number} among other texts")


@each_model
@amounts(quick=100, full=10_000)
def test_a_score_does_not_depend_on_other_rows(path, amount, tally):
    model = Model.load(path and str(path))
    rng = seeded("neighbours")
    words = some_words(model, rng)
    check_independence(path, random_texts(amount, words, rng), random_texts(amount, words, rng), rng, tally)


# ---------------------------------------------------------------- the tests detect defects


@pytest.mark.parametrize("factor", [1 + 1e-5, -1, np.nan])
def test_wrong_probabilities_are_detected(factor, model, monkeypatch, tally):
    honest = Model.probabilities
    monkeypatch.setattr(Model, "probabilities", lambda *arguments: honest(*arguments) * factor)
    with pytest.raises(AssertionError):
        check_probabilities(Model.load(str(model)), ["the film"], tally)


@pytest.mark.torture
def test_scores_that_depend_on_the_batch_are_detected(model, tally):
    rng = seeded("noticed")
    texts = random_texts(100, ["the", "film", "great", "awful"], rng)
    with pytest.raises(AssertionError, match=r"duplicates|other texts"):
        check_independence(model, texts, texts, rng, tally, nlptx=broken("depends_on_batch"))
