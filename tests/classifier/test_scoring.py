"""Scoring a stream: scores do not depend on other texts, results keep the order, and read-ahead is bounded."""

import re
import threading
import time
from copy import deepcopy
from functools import cache

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from reviews import ARTICLE, make_reviews, small_fit
from tricky_texts import tricky_texts

from nlptx.classifier import inference, scoring
from nlptx.classifier.explain import explain
from nlptx.classifier.scoring import score
from nlptx.classifier.token_ids import pieces
from nlptx.cli.results.formulas import escape_formula
from nlptx.cli.results.prediction_writer import round_distribution, round_each
from nlptx.errors import ArtifactError
from nlptx.nn import POOLS, Layout, flatten
from nlptx.runtime.workers import Workers
from nlptx.text.tokenizer import Tokenizer

WINDOW = 6
MODELS = {
    "default": {"ngrams": 3},
    "post-norm, wide heads, first": {**ARTICLE, "head_width": "wide", "pool": "first", "blocks": 2},
    "plain attention, max": {"attention": "plain", "pool": "max", "positions": "none"},
    "causal, gelu, attention pool": {"causal": True, "activation": "gelu", "pool": "attention", "width": 12},
    "flatten, squared error": {"pool": "flatten", "long_texts": "head", "loss": "squared-error", "ngrams": 2},
}
every_model = pytest.mark.parametrize("name", MODELS)


def model_of(name):
    """Return a copy of a model that the test may change."""
    model = deepcopy(_trained(name))
    model.flat = flatten(model.network, np.float32)  # in a deep copy, the parameters are no longer views of one array
    return model


@cache
def _trained(name):
    texts, labels = make_reviews(40)
    model = small_fit(texts, labels, **{"attention_window": WINDOW, "heads": 4} | MODELS[name])
    # After one epoch the weights are still close to their initial values. Larger weights make rounding errors visible.
    model.flat += np.random.default_rng(1).normal(0, 0.3, model.flat.shape).astype(np.float32)
    return model


def random_texts(count, longest=40, seed=3):
    rng = np.random.default_rng(seed)
    words = " ".join(make_reviews(60)[0]).split()
    return [" ".join(rng.choice(words, rng.integers(0, longest + 1))) for _ in range(count)]


def bits(model, texts, jobs=2, **options):
    with Workers(jobs) as workers:
        batches = score(model, ((None, text) for text in texts), workers, **options)
        return [scored for batch in batches for _, scored in batch]


# ---------------------------------------------------------------- scores do not depend on other texts


@every_model
def test_no_bit_of_a_score_depends_on_the_other_texts(name):
    model = model_of(name)
    texts = random_texts(60)
    together = bits(model, texts, jobs=1)
    assert together == [bits(model, [text], jobs=1)[0] for text in texts]
    assert len({tuple(scored.probabilities) for scored in together}) > 40


@pytest.mark.parametrize("options", [{"batch": 1}, {"batch": 7}, {"jobs": 3}, {"jobs": 2, "batch": 3}], ids=str)
def test_batch_size_and_jobs_change_no_bit(options):
    model = model_of("default")
    texts = random_texts(90)
    assert bits(model, texts, **options) == bits(model, texts, jobs=1)


def test_order_and_duplicates_change_no_bit():
    model = model_of("default")
    texts = random_texts(60)
    indices = np.random.default_rng(5).integers(0, len(texts), 200)
    expected = bits(model, texts, jobs=1)
    assert bits(model, [texts[i] for i in indices], jobs=1) == [expected[i] for i in indices]


@every_model
def test_separate_and_joint_products_differ_only_by_rounding(name):
    model = model_of(name)
    encoded = [ids for ids in map(model.encode, random_texts(40)) if len(ids)]
    together = inference.network_outputs(model, encoded)
    assert_allclose(inference.network_outputs(model, encoded, separate_windows=True), together, rtol=1e-4, atol=1e-5)


def test_explain_and_predict_give_the_same_probabilities():
    model = model_of("default")
    for text in (text for text in random_texts(20) if len(model.encode(text))):
        assert explain(model, text).probabilities.tolist() == bits(model, ["w1", text], jobs=1)[1].probabilities


# ---------------------------------------------------------------- long texts


@every_model
def test_splitting_a_long_text_does_not_change_its_score(name, monkeypatch):
    model = model_of(name)
    encoded = [model.encode(text) for text in random_texts(30, 200) if text]
    unsplit = inference.infer(model, encoded)
    monkeypatch.setattr(inference, "CHUNK", 25)
    assert_allclose(inference.infer(model, encoded), unsplit, rtol=1e-4, atol=1e-5)


@every_model
@pytest.mark.parametrize("span", [1, 7, 60])
def test_the_span_of_ngram_lookups_changes_no_bit(name, span, monkeypatch):
    model = model_of(name)
    encoded = [model.encode(text) for text in random_texts(12, 200) if text]
    unsplit = inference.infer(model, encoded)
    monkeypatch.setattr(inference, "SPAN", span)
    assert_array_equal(inference.infer(model, encoded), unsplit)


@pytest.mark.parametrize("pool", sorted(set(POOLS) - {"flatten"}))
def test_merging_pooled_parts_equals_pooling_the_entire_text(pool):
    rng = np.random.default_rng(1)
    layer = POOLS[pool](5, 8)
    for _, parameter in layer.parameters():
        parameter.value = rng.normal(size=parameter.value.shape)
    x = rng.normal(size=(30, 5))
    parts = Layout(np.array([4, 1, 16, 9]))
    merged = layer.merge(layer.apply(x, parts), layer.log_weights(x, parts), Layout(np.array([1, 3])))
    assert_allclose(merged, layer.apply(x, Layout(np.array([4, 26]))), rtol=1e-12)


def test_a_long_text_passes_through_the_network_in_chunks(monkeypatch):
    model = model_of("default")
    sizes = []
    apply = model.network.encoder.apply

    def recording_apply(x, layout):
        sizes.append(len(x))
        return apply(x, layout)

    monkeypatch.setattr(model.network.encoder, "apply", recording_apply)
    ids = np.random.default_rng(1).integers(0, len(model.vocabulary), 100_000, np.int32)
    inference.infer(model, [ids])
    assert sum(sizes) == len(ids)
    assert max(sizes) <= inference.CHUNK


def test_extra_white_space_changes_no_bit():
    model = model_of("default")
    text = " ".join(random_texts(60, 120))
    spaced = "  \n" * 50 + re.sub(" ", "   \t ", text) + " " * 1000
    assert bits(model, [spaced]) == bits(model, [text])


@settings(max_examples=100)
@given(
    st.text(st.sampled_from("ab<br/> \n\t\u00a0'\u2019nNtTsS_.1\u0301\u0391\u03a3\u4e2d\u200b\u2028\x1c"), max_size=80)
    | tricky_texts,
    st.integers(1, 8),
)
@example("&#60;br &#47;&#62;", 1)
@example("<br \u200d/>", 1)
def test_pieces_of_a_text_have_the_same_tokens_as_the_text(text, size):
    parts = list(pieces(text, size))
    assert "".join(parts) == text
    for tokenizer in (Tokenizer(), Tokenizer("spaces")):
        assert [token for part in parts for token in tokenizer(part)] == tokenizer(text)


# ---------------------------------------------------------------- numbers


@given(st.lists(st.floats(1e-12, 1), min_size=2, max_size=30))
def test_printed_probabilities_sum_to_one_and_keep_their_order(weights):
    probabilities = (np.array(weights) / np.sum(weights)).tolist()
    printed = round_distribution(probabilities)
    assert abs(sum(q for q in printed if q == round(q, 6)) - 1) < 1e-9 + 1e-6 * printed.count(1e-6)
    assert all(abs(q - p) < 1e-6 for q, p in zip(printed, probabilities, strict=True))
    assert all(
        q == round(q, 6) or q == pytest.approx(p, rel=0.005) for q, p in zip(printed, probabilities, strict=True)
    )
    assert printed[int(np.argmax(probabilities))] == max(printed)


def test_printed_probabilities_are_0_or_1_only_if_the_originals_are():
    assert round_distribution([1 - 3.2149e-9, 3.2149e-9]) == [1, 3.21e-9]
    assert round_each([0, 1e-300, 4.5678e-8, 0.1234567, 1 - 2.5e-8, 1]) == [0, 1e-300, 4.57e-8, 0.123457, 1 - 2.5e-8, 1]


@pytest.mark.parametrize("size", [1e6, 1e20, 1e30, 3e38])
@pytest.mark.parametrize("part", ["flat", "table", "head", "ffn", "ratio_weights", "lsa_weights"])
def test_huge_weights_give_finite_probabilities_or_an_error(part, size):
    model = model_of("default")
    spans = {"head": "head.W", "ffn": "encoder.block0.ffn.f.inner.W"}
    if part in spans:
        dict(model.network.parameters())[spans[part]].value[...] = size
    else:
        array = getattr(model.ngram_features if part in ("ratio_weights", "lsa_weights") else model, part)
        array[...] = size * np.sign(array + 1e-30)
    if (part, size) == ("ratio_weights", 3e38):  # the sum over n-grams is computed in float32 and overflows
        with pytest.raises(ArtifactError, match="overflow"):
            bits(model, random_texts(10))
        return
    actual = bits(model, random_texts(10))
    assert np.isfinite([scored.probabilities for scored in actual]).all()
    exact = bits(model.as_float64(), random_texts(10))
    assert_allclose([s.probabilities for s in actual], [s.probabilities for s in exact], atol=1e-5)
    attention = np.stack(explain(model, "w1 w2 w3").attention)
    assert_allclose(attention.sum(axis=-1), 1, atol=1e-5)


def test_only_spreadsheet_formulas_are_escaped():
    for text in ("=1+1", "+1+1", "-A1", "-", "-1e9", "@SUM(A1)", "\t=1", "\r=1"):
        assert escape_formula(text) == "'" + text
    for text in ("", "a=1", " =1", "'=1", "1-1", "-1", "+1", "-0.5"):
        assert escape_formula(text) == text


# ---------------------------------------------------------------- the stream


def test_the_object_passed_with_a_text_is_returned_with_its_score():
    model, texts = model_of("default"), random_texts(20)
    keys = [object() for _ in texts]
    with Workers(2) as workers:
        actual = [pair for batch in score(model, zip(keys, texts, strict=True), workers, batch=3) for pair in batch]
    assert [key for key, _ in actual] == keys
    assert [scored for _, scored in actual] == bits(model, texts)


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_text_is_scored_before_the_source_continues(jobs):
    model, answered = model_of("default"), threading.Event()

    def source():
        yield "first", "w1"
        assert answered.wait(30)
        yield "second", "w2"

    with Workers(jobs) as workers:
        for batch in score(model, source(), workers):
            answered.set()
            assert len(batch) == 1


@pytest.mark.parametrize("jobs", [1, 2])
def test_an_error_of_the_source_is_raised_after_the_scores_of_earlier_texts(jobs):
    model, seen = model_of("default"), []

    def source():
        yield from enumerate(["w1", "w2", "w3"])
        raise OSError("gone")

    def take():
        with Workers(jobs) as workers:
            for batch in score(model, source(), workers, batch=1):
                seen.extend(batch)

    with pytest.raises(OSError, match="gone"):
        take()
    assert [number for number, _ in seen] == [0, 1, 2]


def test_a_single_string_is_rejected():
    with pytest.raises(TypeError, match="expected a list or other iterable of texts"):
        model_of("default").predict("good")


@pytest.mark.parametrize("jobs", [1, 2])
def test_no_batch_after_a_failed_one_is_returned(jobs, monkeypatch):
    model, texts = model_of("default"), [f"w{number}" for number in range(20)]
    texts[7] = "bad"
    score_batch = scoring._score_batch

    def fails(model, part, *tools):
        if "bad" in part:
            time.sleep(0.2)  # the following batches finish first
            raise ArtifactError("overflow")
        return score_batch(model, part, *tools)

    monkeypatch.setattr(scoring, "_score_batch", fails)
    seen = []

    def take():
        with Workers(jobs) as workers:
            for batch in score(model, ((None, text) for text in texts), workers, batch=1):
                seen.extend(scored for _, scored in batch)

    with pytest.raises(ArtifactError, match="overflow"):
        take()
    assert seen == bits(model, texts[:7])


def test_long_texts_from_an_iterator_are_scored_in_small_groups():
    sizes = [len(texts) for _, texts in scoring._in_groups(((None, "x" * 100_000) for _ in range(12)), 2048)]
    assert sizes == [5, 5, 2]
    assert [len(texts) for _, texts in scoring._in_groups(((None, "x") for _ in range(5)), 2)] == [2, 2, 1]
    assert not list(scoring._in_groups([], 2))


def test_wide_pooled_vectors_are_computed_for_a_few_texts_at_a_time(monkeypatch):
    texts = make_reviews(40)[0]
    model = small_fit(pool="flatten", long_texts="head")
    expected = model.predict_proba(texts, 1)
    monkeypatch.setattr(inference, "_MAX_POOLED", 3 * model.network.pool.width)
    assert_array_equal(model.predict_proba(texts, 1), expected)
