"""Tests of the comparison of programs on the same texts: bootstrap, tests, alignment, verdict."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from nlptx.corpus.document import Document
from nlptx.errors import DataError, LabelError
from nlptx.evaluation.alignment import align
from nlptx.evaluation.bootstrap import percentile_interval, resample
from nlptx.evaluation.comparison import compare_predictions, group_numbers
from nlptx.evaluation.differences import disagreements, only_first_correct
from nlptx.evaluation.labelled_predictions import NO_ANSWER, LabelledPredictions, evaluate_predictions
from nlptx.evaluation.significance import mcnemar, sign_flip_test, texts_needed
from nlptx.evaluation.verdict import verdict
from nlptx.metrics import compute_report, wilson_interval


def made(source, targets, predicted, names=("neg", "pos"), probabilities=None):
    documents = [Document(f"text {row}", source=source, line=row + 1) for row in range(len(targets))]
    confidence = None if probabilities is None else probabilities[np.arange(len(targets)), predicted]
    return LabelledPredictions(
        source, list(names), False, documents, np.array(targets), np.array(predicted), probabilities, confidence
    )


def random_pair(texts=400, seed=0, better=0.9):
    rng = np.random.default_rng(seed)
    targets = rng.integers(0, 2, texts)
    result = []
    for name, accuracy in (("A", 0.7), ("B", better)):
        confidence = rng.uniform(0.5, 1, texts)
        predicted = np.where(rng.random(texts) < accuracy, targets, 1 - targets)
        probabilities = np.where(np.arange(2) == predicted[:, None], confidence[:, None], 1 - confidence[:, None])
        result.append(made(name, targets, predicted, probabilities=probabilities))
    return result


def test_copies_of_the_texts_do_not_lower_the_noise_floor():
    once, twice = random_pair(), [each.take(np.tile(np.arange(400), 2)) for each in random_pair()]
    floors = [
        [each.ece_floor.mean for each in compare_predictions(align(pair), resamples=10).candidates]
        for pair in (once, twice)
    ]
    assert floors[0] == pytest.approx(floors[1])


@pytest.mark.parametrize(("first", "second"), [(0, 0), (1, 0), (3, 4), (5, 5), (2, 20), (300, 241)])
def test_mcnemar_is_the_binomial_test(first, second):
    stats = pytest.importorskip("scipy.stats")
    expected = stats.binomtest(first, first + second).pvalue if first + second else 1
    assert mcnemar(first, second) == pytest.approx(expected, rel=1e-9)
    assert mcnemar(second, first) == mcnemar(first, second)


def test_sign_flips_of_single_texts_are_close_to_mcnemar():
    differences = np.array([1.0] * 14 + [-1.0] * 5 + [0.0] * 80)
    assert sign_flip_test(differences) == pytest.approx(mcnemar(5, 14), abs=0.01)
    assert sign_flip_test(np.zeros(3)) == 1


def test_with_few_groups_all_combinations_of_signs_are_tried():
    assert sign_flip_test(np.full(6, 2.0)) == 2 / 2**6  # only if all signs are equal is the sum as far from 0
    differences = np.array([4.0, 5, 8, 4, 1, -3, 3, -1, 4])
    sums = [np.dot(signs, differences) for signs in itertools.product((-1, 1), repeat=9)]
    assert sign_flip_test(differences) == np.mean(np.abs(sums) >= differences.sum())


def test_texts_needed():
    assert texts_needed(0.1, 0.0) is None
    assert texts_needed(0.1, 0.02) == texts_needed(0.1, -0.02)
    assert texts_needed(0.1, 0.01) > texts_needed(0.1, 0.02)


def test_no_test_can_show_a_difference_on_fewer_than_six_texts():
    assert texts_needed(1.0, 1.0) == 6
    assert mcnemar(0, 6) < 0.05 < mcnemar(0, 5)


def test_bootstrap_has_the_standard_error_of_a_mean_and_does_not_depend_on_blocks(monkeypatch):
    values = csr_matrix(np.random.default_rng(3).normal(size=(500, 1)))
    means = resample(values, lambda sums: sums / 500, resamples=2000)
    assert means.shape == (2000, 1)
    assert means.std() == pytest.approx(values.toarray().std() / 500**0.5, rel=0.06)
    low, high = percentile_interval(means[:, 0])
    assert low < values.mean() < high
    monkeypatch.setattr("nlptx.evaluation.bootstrap._BLOCK", 500 * 7)
    assert resample(values, lambda sums: sums / 500, resamples=2000).std() == pytest.approx(means.std(), rel=0.1)


def test_groups_widen_the_interval():
    first, second = random_pair(100)
    five = [made(each.source, np.repeat(each.targets, 5), np.repeat(each.predicted, 5)) for each in (first, second)]
    groups = np.repeat(np.arange(100), 5)
    alone = compare_predictions(five, resamples=2000).pairs[0]
    grouped = compare_predictions(five, groups, resamples=2000)
    pair = grouped.pairs[0]
    assert grouped.groups == 100
    assert pair.accuracy.high - pair.accuracy.low > 1.8 * (alone.accuracy.high - alone.accuracy.low)
    assert pair.p_value > alone.p_value
    assert pair.texts_needed is None
    assert verdict(pair)
    low, high = grouped.candidates[0].accuracy_interval
    assert (low, high) == pytest.approx(wilson_interval(int(first.correct.sum()), 100), abs=0.02)


def test_measures_are_those_of_evaluate():
    predictions = random_pair()
    comparison = compare_predictions(predictions, resamples=500)
    for candidate, each in zip(comparison.candidates, predictions, strict=True):
        report = compute_report(each.probabilities, each.targets, each.label_names, False, each.predicted)
        assert candidate.accuracy == pytest.approx(report.accuracy)
        assert candidate.macro_f1 == pytest.approx(report.macro_f1)
        assert candidate.log_loss == pytest.approx(report.log_loss)
        assert candidate.ece == report.ece
    pair = comparison.pairs[0]
    assert pair.both + pair.neither + pair.only_first + pair.only_second == comparison.texts
    assert (pair.only_second - pair.only_first) / comparison.texts == pytest.approx(pair.accuracy.value)
    assert pair.accuracy.low < pair.accuracy.value < pair.accuracy.high
    assert pair.differs
    assert verdict(pair).startswith("B is better than A: its accuracy is ")
    bounds = f"{100 * pair.accuracy.low:+.2f} to {100 * pair.accuracy.high:+.2f}"
    assert bounds in verdict(pair)
    swapped = compare_predictions(predictions[::-1], resamples=500).pairs[0]
    assert verdict(swapped).startswith("B is better than A: its accuracy is ")
    assert bounds in verdict(swapped)
    assert compare_predictions(predictions, resamples=500).pairs == comparison.pairs


def test_no_difference():
    pair = compare_predictions(random_pair(60, better=0.72), resamples=500).pairs[0]
    assert not pair.differs
    assert verdict(pair).startswith("No difference can be shown")
    assert f"about {float(f'{pair.texts_needed:.2g}'):,.0f} texts are needed" in verdict(pair)


def test_the_p_value_decides_if_the_interval_does_not_contain_0():
    targets = np.zeros(60, int)
    pair = compare_predictions([made("A", targets, np.arange(60) < 5), made("B", targets, targets)]).pairs[0]
    assert (pair.only_second, pair.p_value) == (5, 0.0625)
    assert pair.accuracy.low > 0
    assert "The interval does not contain 0, but the verdict follows the p-value." in verdict(pair)
    assert "does not contain 0" not in verdict(compare_predictions(random_pair(60, better=0.72)).pairs[0])


def random_losses(texts, groups, seed):
    """Return two equally good models whose losses depend on the group, and the group of each text."""
    rng = np.random.default_rng(seed)
    group = np.arange(texts) % groups
    targets = rng.integers(0, 2, texts)
    result = []
    for name in "AB":
        p = 1 / (1 + np.exp(-(2 * targets - 1 + rng.normal(0, 1, groups)[group] + rng.normal(0, 1, texts))))
        result.append(made(name, targets, (p > 0.5).astype(int), probabilities=np.stack([1 - p, p], axis=1)))
    return result, group


def test_a_lower_log_loss_is_not_claimed_for_few_groups():
    claims = 0
    for seed in range(20):
        predictions, group = random_losses(60, 3, seed)
        claims += "log-loss" in verdict(compare_predictions(predictions, group, resamples=200).pairs[0])
    assert claims == 0  # the p-value with three groups is at least 0.25


def test_the_p_value_of_the_log_losses():
    predictions, _ = random_losses(400, 400, 1)
    better = predictions[0].probabilities * 0.2 + 0.8 * np.eye(2)[predictions[0].targets]
    second = made("B", predictions[0].targets, better.argmax(axis=1), probabilities=better)
    pair = compare_predictions([predictions[0], second], resamples=1000).pairs[0]
    assert pair.log_loss_p_value == pytest.approx(2 / 1001)
    assert "The log-loss of B is lower" in verdict(pair)
    same = compare_predictions([predictions[0], predictions[0]], resamples=100).pairs[0]
    assert same.log_loss_p_value == 1


def test_models_without_probabilities_do_not_change_the_p_values_of_log_losses():
    predictions, group = random_losses(60, 12, 3)
    without = [replace(each, source=each.source + "2", probabilities=None, confidence=None) for each in predictions]
    alone = compare_predictions(predictions, group, resamples=100).pairs[0]
    pairs = compare_predictions([*predictions, *without], group, resamples=100).pairs
    assert [pair.log_loss_p_value for pair in pairs] == [alone.log_loss_p_value, None, None]


def test_the_verdict_names_models_that_are_correct_equally_often():
    first, second = made("A", [0, 1, 1], [0, 1, 0]), made("B", [0, 1, 1], [0, 0, 1])
    pair = compare_predictions([first, second], resamples=100).pairs[0]
    assert verdict(pair).startswith("No difference can be shown between A and B: both are correct equally often.")


def test_no_answer_and_no_probabilities():
    first, second = made("A", [0, 1, 1], [NO_ANSWER, 1, 0]), made("B", [0, 1, 1], [0, 1, NO_ANSWER])
    comparison = compare_predictions([first, second], resamples=100)
    assert [each.accuracy for each in comparison.candidates] == pytest.approx([1 / 3, 2 / 3])
    assert comparison.candidates[0].log_loss is None
    assert comparison.pairs[0].log_loss is None
    rows = list(disagreements([first, second]))
    assert [(row["predicted_1"], row["predicted_2"]) for row in rows] == [("?", "neg"), ("neg", "?")]


def test_more_than_two_are_corrected():
    first, second = random_pair()
    third = made("C", first.targets, 1 - first.targets)
    comparison = compare_predictions([first, second, third], resamples=200)
    assert [pair.second for pair in comparison.pairs] == ["B", "C"]
    assert all(pair.corrected_p_value >= pair.p_value for pair in comparison.pairs)
    assert comparison.differences.shape == (3, 3)
    assert comparison.differences[1, 0] == pytest.approx(comparison.pairs[0].accuracy.value)
    with pytest.raises(DataError, match="at least two"):
        compare_predictions([first])


def test_sets_of_labels():
    targets = [[True, False], [True, True], [False, False]]
    first, second = made("A", targets, targets), made("B", targets, [[True, False], [True, False], [False, True]])
    comparison = compare_predictions([first, second], resamples=100)
    assert [each.accuracy for each in comparison.candidates] == pytest.approx([1, 1 / 3])
    assert comparison.candidates[0].macro_f1 == 1


def test_rows_and_labels_are_aligned():
    first = made("A", [0, 1, 1], [0, 1, 0])
    other = made("B", [1, 0, 0], [1, 0, NO_ANSWER], names=("Pos", "Neg")).take(np.array([2, 0, 1]))
    notes = []
    a, b = align([first, other], notes.append)
    assert a.label_names == b.label_names == ["neg", "pos"]
    assert b.texts == a.texts
    assert b.targets.tolist() == [0, 1, 1]
    assert b.predicted.tolist() == [0, 1, NO_ANSWER]
    assert len(notes) == 1


def test_different_true_labels_are_refused():
    with pytest.raises(LabelError, match=r"B:2: the text 'text 1' has the label 'neg' here, but 'pos' in A:2"):
        align([made("A", [0, 1], [0, 1]), made("B", [0, 0], [0, 1])])
    with pytest.raises(DataError, match="no row for the text 'text 1' of A:2"):
        align([made("A", [0, 1], [0, 1]), made("B", [0], [0])])
    with pytest.raises(LabelError, match="one is single-label and the other is multi-label"):
        align([made("A", [0, 1], [0, 1]), made("B", [[True, False]] * 2, [[True, False]] * 2)])


def test_examples_are_the_most_confident():
    first, second = random_pair()
    rows = only_first_correct(second, first, 5)
    assert len(rows) == 5
    assert second.correct[rows].all()
    assert not first.correct[rows].any()
    assert (np.diff(second.confidence[rows]) <= 0).all()


def test_groups_are_numbered():
    assert group_numbers(["b", "a", 1, "b"]).tolist() == [2, 1, 0, 2]


def test_texts_without_a_prediction_do_not_count_as_calibrated():
    """A text without a prediction has confidence 0 and is wrong, which would otherwise be a calibrated prediction."""
    first, second = random_pair(texts=100)
    answered = np.arange(100) < 40
    partial = replace(
        second, predicted=np.where(answered, second.predicted, NO_ANSWER), confidence=second.confidence * answered
    )
    partial = replace(partial, answered=answered)
    candidate = compare_predictions(align([first, partial]), resamples=10).candidates[1]
    report, kept = evaluate_predictions(partial), evaluate_predictions(second.take(answered))
    assert (candidate.ece, report.ece) == (pytest.approx(kept.ece), pytest.approx(kept.ece))
    assert candidate.confidence == pytest.approx(second.confidence[:40].mean())
    assert report.accuracy == pytest.approx(kept.accuracy * 0.4)
    none = replace(partial, answered=answered & False, predicted=np.full(100, NO_ANSWER), confidence=np.zeros(100))
    candidate = compare_predictions(align([first, none]), resamples=10).candidates[1]
    assert (candidate.confidence, candidate.ece, candidate.ece_floor) == (None, None, None)
    assert np.isnan(evaluate_predictions(none).ece)


def test_three_models_may_spell_the_labels_in_three_ways():
    targets = [0, 1, 0, 1]
    numbers, words = made("numbers", targets, [0, 1, 1, 1], ("0", "1")), made("words", targets, [0, 1, 0, 0])
    cases = made("cases", targets, targets, ("Negative", "Positive"))
    for given in ([numbers, words, numbers], [numbers, words, cases], [words, cases, numbers]):
        notes = []
        aligned = align(given, notes.append)
        assert [each.correct.tolist() for each in aligned] == [each.correct.tolist() for each in given]
        assert len({tuple(each.label_names) for each in aligned}) == 1
        assert any("0 as neg, 1 as pos" in note for note in notes)
