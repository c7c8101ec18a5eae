"""Tests of cross-validation: folds, out-of-fold predictions, seeds, and finished folds that are not computed again."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sample_data import make_rows

import nlptx
from nlptx import PcaSettings, TrainSettings
from nlptx.errors import ArtifactError, DataError, LabelError
from nlptx.experiments import crossvalidation
from nlptx.experiments.crossvalidation import cross_validate
from nlptx.experiments.experiment import Experiment, Recipe
from nlptx.experiments.journal import Journal
from nlptx.runtime.workers import Workers
from nlptx.training.embedding_builder import EmbeddingBuilder

RECIPE = Recipe(
    TrainSettings(epochs=2, lr=0.01, warmup=0, heads=2, width=8, lsa_components=4),
    EmbeddingBuilder(pca=PcaSettings(components=6)),
)


def experiment(labels=("neg", "pos"), count=60, **more):
    rows = make_rows(labels, count, seed=1)
    return Experiment(*([row[column] for row in rows] for column in (0, 1)), **{"folds": 3, **more})


@pytest.fixture(scope="module")
def result():
    return cross_validate(experiment(), RECIPE, seeds=[1, 2])


def test_each_text_is_tested_once_per_seed(result):
    assert [(fold.seed, fold.fold) for fold in result.results] == [(1, 0), (1, 1), (1, 2), (2, 0), (2, 1), (2, 2)]
    for seed in (1, 2):
        rows = np.concatenate([fold.rows for fold in result.results if fold.seed == seed])
        assert_array_equal(np.sort(rows), np.arange(60))


def test_a_fold_is_predicted_by_a_model_trained_on_the_others(result):
    fold, texts = result.results[4], result.experiment
    rest = sorted(set(range(60)) - set(fold.rows.tolist()))
    labels = texts.labels
    model = nlptx.fit(
        [texts.texts[row] for row in rest], [labels[row] for row in rest], RECIPE.vectors, RECIPE.train, seed=2
    )
    tested = [texts.texts[row] for row in fold.rows]
    assert_array_equal(fold.probabilities, model.predict_proba(tested))
    report = nlptx.evaluate(model, tested, [labels[row] for row in fold.rows])
    assert fold.measures == (report.accuracy, report.macro_f1, report.log_loss, report.ece)


@pytest.mark.parametrize("change", [str, str.upper, lambda text: f" {text}\t"], ids=["equal", "case", "white space"])
def test_copies_that_differ_only_in_case_or_white_space_are_in_the_same_fold(change):
    """Otherwise, a model would be tested on texts that it has seen in training."""
    made = experiment(count=60)
    texts = [*made.texts, *map(change, made.texts)]
    for shuffle in (False, True):
        folds = replace(made, texts=texts, labels=made.labels * 2, shuffle=shuffle).fold_of_each(1)
        assert_array_equal(folds[:60], folds[60:])


def test_the_number_of_workers_does_not_change_the_result(result):
    parallel = cross_validate(experiment(), RECIPE, seeds=[1], workers=Workers(2))
    for one, other in zip(result.results[:3], parallel.results, strict=True):
        assert_array_equal(one.probabilities, other.probabilities)


def test_finished_folds_are_not_computed_again(tmp_path, monkeypatch, result):
    output = str(tmp_path / "p.csv")
    run_fold = crossvalidation.run_fold
    done = []

    def interrupted(*arguments):
        if len(done) == 2:
            raise KeyboardInterrupt
        done.append(arguments[2:4])
        return run_fold(*arguments)

    monkeypatch.setattr(crossvalidation, "run_fold", interrupted)
    with pytest.raises(KeyboardInterrupt), Journal(output) as journal:
        cross_validate(experiment(), RECIPE, journal=journal)
    assert [path.name for path in tmp_path.iterdir()] == ["p.csv.checkpoint"]
    done.clear()
    notes = []
    with Journal(output, resume=True, on_note=notes.append) as journal:
        resumed = cross_validate(experiment(), RECIPE, journal=journal)
        journal.remove()
    assert done == [(1, 2)]
    assert notes == ["resuming from p.csv.checkpoint; finished parts: 2"]
    for one, other in zip(result.results[:3], resumed.results, strict=True):
        assert one.measures == other.measures
        for name in ("rows", "probabilities", "predicted", "confidence"):
            assert_array_equal(getattr(one, name), getattr(other, name))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("texts", "recipe", "says"),
    [
        (experiment(count=59), RECIPE, "the data differs"),
        (experiment(shuffle=True), RECIPE, "`shuffle` was False and is now True"),
        (experiment(groups=["a"] * 59 + ["b"]), RECIPE, "the group column differs"),
        (experiment(), replace(RECIPE, train=replace(RECIPE.train, epochs=1)), "`epochs` was 2 and is now 1"),
        (experiment(), replace(RECIPE, vectors=EmbeddingBuilder()), "`pca.components` was 6 and is now 128"),
    ],
)
def test_a_journal_of_another_experiment_is_refused(tmp_path, texts, recipe, says):
    path = str(tmp_path / "p.csv")
    with Journal(path) as journal:
        journal.begin(experiment().fingerprint(RECIPE))
        journal.add("seed 1, fold 1", {})
    with pytest.raises(ArtifactError) as caught, Journal(path, resume=True) as journal:
        journal.begin(texts.fingerprint(recipe))
    assert says in str(caught.value)


@pytest.mark.parametrize("content", ["", "{", "[]", '{"fingerprint": {}, "records": {}}'])
def test_a_damaged_journal_is_refused(tmp_path, content):
    (tmp_path / "p.csv.checkpoint").write_text(content)
    says = r"^p\.csv\.checkpoint: cannot be read"
    with Journal(str(tmp_path / "p.csv"), resume=True) as journal, pytest.raises(ArtifactError, match=says):
        journal.begin(experiment().fingerprint(RECIPE))


@pytest.mark.parametrize("damage", ["missing", "twice", "other fold", "label"])
def test_a_damaged_record_is_refused(tmp_path, result, damage):
    record = result.results[damage == "other fold"].to_record()
    if damage == "missing":
        del record["rows"]
    elif damage == "twice":
        record["rows"][-1] = record["rows"][0]
    elif damage == "label":
        record["predicted"][0] = 2
    path = str(tmp_path / "p.csv")
    with Journal(path) as journal:
        journal.begin(experiment().fingerprint(RECIPE))
        journal.add("seed 1, fold 1", record)
    with Journal(path, resume=True) as journal, pytest.raises(ArtifactError, match="seed 1, fold 1 is damaged"):
        cross_validate(experiment(), RECIPE, journal=journal)


def test_groups_stay_together():
    groups = [f"film {number // 2 % 9}" for number in range(60)]
    result = cross_validate(experiment(groups=groups), RECIPE)
    members = [{groups[row] for row in fold.rows} for fold in result.results]
    assert sum(map(len, members)) == 9


def test_several_labels_per_text():
    rows = make_rows(("drama", "comedy"), 60, seed=2)
    labels = [() if number % 5 == 0 else (row[1],) for number, row in enumerate(rows)]
    result = cross_validate(Experiment([row[0] for row in rows], labels, folds=2, separator=";"), RECIPE)
    for fold in result.results:
        assert fold.predicted.shape == fold.probabilities.shape == (len(fold.rows), 2)
        targets = result.experiment.targets[fold.rows]
        assert fold.measures.accuracy == (fold.predicted == targets).all(axis=1).mean()


def test_a_label_that_the_training_part_lacks_has_probability_0():
    texts = experiment(count=40)
    rare = replace(texts, labels=["odd", *texts.labels[1:]])
    notes = []
    result = cross_validate(rare, RECIPE, on_note=notes.append)
    column = rare.label_names.index("odd")
    (fold,) = [fold for fold in result.results if 0 in fold.rows]
    assert (fold.probabilities[:, column] == 0).all()
    assert "labels with fewer texts than there are folds are missing from some test folds: 'odd'" in notes


def test_notes_of_several_folds_that_differ_only_in_numbers_are_reported_once():
    """Each training part has its own number of texts with the label POS."""
    texts = experiment(count=40)
    notes = []
    cross_validate(replace(texts, labels=["POS", *texts.labels[1:]]), RECIPE, on_note=notes.append)
    assert len([note for note in notes if "are read as different labels" in note]) == 1


def test_too_few_texts():
    with pytest.raises(DataError, match="4 texts for 9 folds"):
        cross_validate(experiment(count=4, folds=9), RECIPE)


def test_weights_count_in_training_only():
    weights = [1.0 + number % 2 for number in range(60)]
    weighted = cross_validate(experiment(weights=weights), RECIPE)
    plain = cross_validate(experiment(), RECIPE)
    assert [len(fold.rows) for fold in weighted.results] == [len(fold.rows) for fold in plain.results]
    assert (weighted.results[0].probabilities != plain.results[0].probabilities).any()
    for fold in weighted.results:
        assert fold.measures.accuracy == (fold.predicted == weighted.experiment.targets[fold.rows]).mean()


def test_a_fold_that_leaves_a_single_label_is_named():
    labels = ["a"] * 10 + ["b"] * 10
    grouped = Experiment([f"text {n}" for n in range(20)], labels, folds=2, groups=labels)
    with pytest.raises(LabelError, match="without the texts of fold 1, the data has only the label"):
        cross_validate(grouped, Recipe(TrainSettings(epochs=0)))
