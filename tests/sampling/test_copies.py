"""Copies of a text are in the same part of a split."""

import numpy as np
from numpy.testing import assert_array_equal

import nlptx
from nlptx.experiments.experiment import Experiment
from nlptx.sampling.copies import first_copies
from nlptx.sampling.splits import assign_folds, stratified_split

RNG = np.random.default_rng


def test_copies_have_the_index_of_the_first_equal_text():
    texts = [np.array(ids, np.int32) for ids in ([1, 2], [3], [1, 2], [], [], [1, 2, 3], *([n] for n in range(9, 30)))]
    assert first_copies(texts)[:6].tolist() == [0, 1, 0, 3, 4, 5]


def test_texts_that_occur_very_often_are_not_treated_as_copies():
    assert_array_equal(first_copies([b"yes"] * 11 + [bytes([n]) for n in range(189)]), np.arange(200))
    assert first_copies([b"yes"] * 10 + [bytes([n]) for n in range(190)])[:10].tolist() == [0] * 10
    assert_array_equal(first_copies([b"a", b"b", b"a", b"b"]), np.arange(4))
    assert len(first_copies([])) == 0


def test_copies_are_held_out_together_and_no_label_is_held_out_as_a_whole():
    first = np.tile(np.arange(50), 4)
    targets = np.tile(np.repeat([0, 1, 2], [30, 19, 1]), 4)
    for seed in range(10):
        train, held_out = stratified_split(targets, 0.1, RNG(seed), first)
        assert not set(first[train]) & set(first[held_out])
        assert len(held_out) == 4 * (3 + 2)
        assert set(targets[train]) == {0, 1, 2}


def test_a_label_whose_only_text_is_a_copy_stays_in_the_training_part():
    first = np.append(np.arange(60), 7)
    targets = np.append(np.zeros(60, np.int64), 1)
    assert all(1 in targets[stratified_split(targets, 0.1, RNG(seed), first)[0]] for seed in range(60))


def test_copies_are_in_the_same_fold():
    first = np.tile(np.arange(60), 3)
    targets = first % 2
    for seed in range(10):
        fold = assign_folds(targets, 5, RNG(seed), first)
        assert_array_equal(fold, fold[first])
        assert len(set(fold)) == 5


def test_no_fold_is_empty_because_of_copies():
    assert len(set(assign_folds(np.zeros(4, np.int64), 2, RNG(1), np.zeros(4, np.int64)))) == 2


def test_equal_texts_are_in_the_same_fold_of_an_experiment():
    texts = [f"text {number % 40}" for number in range(80)]
    for shuffle in (False, True):
        fold = Experiment(texts, ["a", "b"] * 40, folds=4, shuffle=shuffle).fold_of_each(1)
        assert_array_equal(fold[:40], fold[40:])
        assert np.bincount(fold).tolist() == [20] * 4


def test_a_file_given_twice_does_not_make_the_model_seem_better():
    rng = RNG(0)
    texts = [" ".join(f"w{word}" for word in rng.integers(0, 400, 8)) for _ in range(300)]
    labels = rng.choice(["a", "b"], 300).tolist()  # the labels cannot be predicted
    settings = nlptx.TrainSettings(epochs=0, lsa_components=0)
    model = nlptx.fit(texts * 2, labels * 2, settings=settings)
    (record,) = model.history["epochs"]
    assert record["valid_accuracy"] < 0.7


def test_validation_texts_that_are_training_texts_cause_a_warning():
    texts, labels = [f"w{number} w{number % 7}" for number in range(40)], ["a", "b"] * 20
    settings, notes = nlptx.TrainSettings(epochs=0, new_word_min_count=1, lsa_components=0, subwords="off"), []
    nlptx.fit(texts, labels, settings=settings, valid=(texts[:30], labels[:30]), on_note=notes.append)
    assert [note.startswith("warning: 30 of 30 validation texts are training texts too") for note in notes] == [True]
    others = [f"w{number} w{number % 5}" for number in range(20, 40)]
    nlptx.fit(texts[:20], labels[:20], settings=settings, valid=(others, labels[:20]), on_note=notes.append)
    assert len(notes) == 1


def test_an_ignored_word_does_not_distinguish_texts():
    texts = [np.array(ids, np.int32) for ids in ([1, 2], [9, 1, 2], [1, 9, 2, 9], [2, 1], [9], [])]
    texts += [np.array([number + 20], np.int32) for number in range(40)]
    assert first_copies(texts, 9)[:6].tolist() == [0, 0, 0, 3, 4, 5]
    assert first_copies(texts)[:4].tolist() == [0, 1, 2, 3]
