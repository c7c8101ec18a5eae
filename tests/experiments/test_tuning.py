"""Tests of the search for settings: candidates, halving, time limit, resuming. A formula replaces training."""

from collections import Counter
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from sample_data import make_rows

from nlptx import CountSettings, PcaSettings, TrainSettings
from nlptx.embeddings.embeddings import Embeddings
from nlptx.errors import ArtifactError, DataError, DivergenceError, SettingsError
from nlptx.experiments import halving, run, same_effect
from nlptx.experiments.experiment import Experiment, Recipe
from nlptx.experiments.journal import Journal
from nlptx.experiments.measures import Measures
from nlptx.experiments.same_effect import effects_of
from nlptx.experiments.search_space import AdditiveModel, SearchSpace, name_of, values_of, with_values
from nlptx.experiments.settings_file import non_default, write_settings
from nlptx.experiments.tuning import tune
from nlptx.runtime.workers import Workers
from nlptx.text.vocabulary import Vocabulary
from nlptx.training import ngram_features
from nlptx.training.embedding_builder import EmbeddingBuilder

FOLDS = 4
ROWS = make_rows(("neg", "pos"), 40, seed=1)
EXPERIMENT = Experiment([row[0] for row in ROWS], [row[1] for row in ROWS], folds=FOLDS)


def loss_of(recipe, fold):
    """Return a loss whose best settings are known; folds differ in difficulty."""
    values = values_of(recipe)
    loss = 0.1 * fold + 1.0
    loss += 0.2 * (values["cooccur.window"] != 5) + 0.1 * (values["train.epochs"] != 4)
    return loss + 0.05 * (values["train.word_dropout"] != 0.2)


@pytest.fixture
def world(monkeypatch):
    """A fake clock, which each run advances by 10 seconds, and a list of the runs taken."""
    state = SimpleNamespace(now=0.0, runs=[], loss=loss_of, stop_after=None)

    def run_fold(experiment, recipe, seed, fold, workers, on_progress, feature_cache):
        if len(state.runs) == state.stop_after:
            raise KeyboardInterrupt
        state.runs.append((tuple(values_of(recipe).values()), fold))
        state.now += 10.0
        loss = state.loss(recipe, fold)
        return SimpleNamespace(measures=Measures(1 - loss / 10, 0.0, loss, 0.0))

    monkeypatch.setattr(run, "run_fold", run_fold)
    return state


def search(world, seconds=1000.0, **options):
    return tune(EXPERIMENT, **{"seconds": seconds, "clock": lambda: world.now, **options})


def test_the_search_finds_the_best_settings(world):
    result = search(world)
    assert result.best.changes["cooccur.window"] == 5
    assert result.best.changes["train.epochs"] == 4
    assert result.best.changes["train.word_dropout"] == 0.2
    assert result.best.mean("log_loss") == pytest.approx(1.15)
    assert len(result.best.folds) == FOLDS


@pytest.mark.parametrize("seconds", [0.0, 5.0, 10.0, 35.0, 75.0, 123.0, 1000.0])
def test_the_time_limit_is_kept(world, seconds):
    result = search(world, seconds)
    # Only the first run, whose time is unknown, may exceed the limit.
    assert result.seconds <= max(seconds, 10.0)


def test_expensive_candidates_exceed_the_limit_by_less_than_a_step(world):
    def slow(recipe, fold):
        world.now += 90.0 * (recipe.train.blocks == 2)
        return loss_of(recipe, fold)

    world.loss = slow
    for seconds in range(50, 1000, 70):
        world.now = 0.0
        assert search(world, float(seconds)).seconds < seconds + 100.0


def test_the_default_is_chosen_unless_another_is_better(world):
    world.loss = lambda recipe, fold: 1.0
    result = search(world, 500.0)
    assert result.best is result.start
    assert len(result.start.folds) == FOLDS
    assert len(result.trials) > 10


def test_a_candidate_that_is_better_on_some_folds_only_is_not_chosen(world):
    def loss(recipe, fold):
        is_default = recipe.train.epochs == TrainSettings.epochs
        return 1.0 if is_default else [0.9, 0.9, 1.5, 1.5][fold]

    world.loss = loss
    assert search(world).best.mean("log_loss") == 1.0


def test_more_time_continues_the_same_sequence(world):
    search(world, 300.0)
    short, world.runs, world.now = world.runs, [], 0.0
    search(world, 900.0)
    assert world.runs[: len(short)] == short
    world.runs, world.now = [], 0.0
    search(world, 300.0, seed=2)
    assert world.runs[:FOLDS] == short[:FOLDS]  # the runs that test the starting settings
    assert world.runs[: len(short)] != short


def test_the_number_of_rounds_can_be_limited(world):
    shown = []
    result = tune(EXPERIMENT, rounds=2, clock=lambda: world.now, on_run=lambda state, fraction: shown.append(fraction))
    assert result.rounds == 2
    assert len(result.trials) == 1 + 5 + 6
    assert sorted(set(shown)) == [0.0, 0.5]
    assert search(world, 15.0, rounds=2).rounds == 0  # the time limit applies even if the number of rounds is limited


def test_the_search_ends_when_all_settings_are_tried(world):
    recipe = Recipe()
    others = [name for name in values_of(recipe) if name != "train.dropout"]
    result = search(world, recipe=recipe, fixed=others, rounds=100)
    assert (result.exhausted, result.rounds < 100) == (True, True)
    assert not search(world, rounds=1).exhausted


def test_no_settings_are_tried_twice(world):
    result = search(world, 1500.0)
    names = [repr(trial.values) for trial in result.trials]
    assert len(set(names)) == len(names)


def test_losing_candidates_cost_one_or_two_folds(world):
    result = search(world, 1000.0)
    first = result.trials[1:7]
    assert sorted(len(trial.folds) for trial in first)[:3] == [1, 1, 1]
    assert sum(len(trial.folds) for trial in first) <= 6 + 3 + 2


def test_settings_that_fail_are_left_out(world):
    def loss(recipe, fold):
        if recipe.train.lr > 1e-3:
            raise DivergenceError("the loss exploded")
        return loss_of(recipe, fold)

    world.loss = loss
    result = search(world)
    assert result.best.changes["cooccur.window"] == 5
    failed = [trial for trial in result.trials if trial.failure]
    assert failed
    assert all(trial.values["train.lr"] > 1e-3 for trial in failed)


def test_settings_to_start_from_must_work(world):
    def fail(recipe, fold):
        raise DivergenceError("the loss exploded")

    world.loss = fail
    with pytest.raises(DivergenceError):
        search(world)


def test_an_interrupted_search_is_resumed(world, tmp_path):
    whole = search(world, 600.0)
    runs, world.runs, world.now = world.runs, [], 0.0
    output = str(tmp_path / "tuned.toml")
    world.stop_after = 13
    with pytest.raises(KeyboardInterrupt), Journal(output) as journal:
        search(world, 600.0, journal=journal)
    world.runs, world.stop_after, world.now = [], None, 5000.0
    with Journal(output, resume=True) as journal:
        resumed = search(world, 600.0, journal=journal)
    assert world.runs == runs[13:]
    assert resumed == whole
    with Journal(output, resume=True) as journal, pytest.raises(ArtifactError, match="`measure` was log_loss"):
        search(world, 600.0, journal=journal, measure="accuracy")


@pytest.mark.parametrize(
    "change",
    [{"spent": "x"}, {"seconds": []}, {"measures": []}, {"measures": dict.fromkeys(Measures._fields, "x")}],
)
def test_a_damaged_record_is_refused(world, tmp_path, change):
    output = str(tmp_path / "tuned.toml")
    with Journal(output) as journal:
        search(world, 10.0, journal=journal)
        (name,) = journal.records
        journal.add(name, journal.records[name] | change)
    with Journal(output, resume=True) as journal, pytest.raises(ArtifactError, match="a record is damaged"):
        search(world, 30.0, journal=journal)


def test_accuracy_as_the_measure(world):
    result = search(world, measure="accuracy")
    assert result.best.mean("accuracy") == pytest.approx(1 - 0.115)
    with pytest.raises(SettingsError, match="expected one of log_loss, accuracy"):
        search(world, measure="f1")


def test_the_space_leaves_out_what_has_no_effect():
    recipe = Recipe()
    groups = {name for names in SearchSpace.of(recipe).groups for name in names}
    assert {"cooccur.window", "train.epochs"} <= groups
    given = replace(recipe, vectors=None)
    found = {name for names in SearchSpace.of(given, ["train.epochs"]).groups for name in names}
    assert groups - found >= {"cooccur.window", "pca.components", "train.epochs"}
    assert "train.lr" in found
    log = Recipe(vectors=EmbeddingBuilder(pca=PcaSettings(transform="log")))
    assert groups - {name for names in SearchSpace.of(log).groups for name in names} == {"pca.smoothing"}
    alone = {name for names in SearchSpace.of(Recipe(TrainSettings(epochs=0))).groups for name in names}
    assert alone == {"train.ngram_min_texts", "train.lsa_components", "train.valid_share"}


def test_the_additive_model_finds_the_effects_of_settings():
    space, rng = SearchSpace.of(Recipe()), np.random.default_rng(1)
    center = values_of(Recipe())
    candidates = space.neighbours(center, [], [], rng, 60)
    assert len({name_of(values) for values in candidates}) == 60
    model = AdditiveModel(space, [(values, loss_of(with_values(Recipe(), values), 0)) for values in candidates])
    better, worse = center | {"cooccur.window": 5}, center | {"cooccur.window": 20}
    assert model.predict(better) < model.predict(worse) - 0.05
    assert AdditiveModel(space, []).predict(center) == 0


def test_every_value_is_valid():
    recipe = Recipe()
    values = values_of(recipe)
    for names, choices in SearchSpace.of(recipe).groups.items():
        defaults = {name: values[name] for name in names}
        assert tuple(defaults.values()) in choices
        for choice in choices:
            changed = with_values(recipe, values | dict(zip(names, choice, strict=True)))
            assert values_of(changed) == values | dict(zip(names, choice, strict=True))


def test_the_settings_file_can_be_read(tmp_path):
    recipe = Recipe(
        TrainSettings(epochs=4, lr=5e-4, norm_gain=False, pool="max"),
        EmbeddingBuilder(CountSettings(window=5), PcaSettings(standardize=True)),
    )
    path = tmp_path / "tuned.toml"
    write_settings(path, non_default(values_of(recipe)), ["one", "two"])
    assert path.read_text() == (
        "# one\n# two\n\n[cooccur]\nwindow = 5\n\n[pca]\nstandardize = true\n\n"
        '[train]\nnorm-gain = false\npool = "max"\nepochs = 4\nlr = 0.0005\n'
    )


def test_a_sample_keeps_the_fractions_of_the_labels():
    labels = ["b" if number % 4 == 0 else "a" for number in range(400)]
    found = Experiment(["x"] * 400, labels).sample(100, seed=1)
    assert len(found.texts) == 100
    assert found.labels.count("b") == 25


def test_a_sample_has_at_most_the_given_number_of_texts():
    labels = ["a"] * 500 + [f"rare {number // 3}" for number in range(90)]
    found = Experiment([f"text {number}" for number in range(590)], labels).sample(300, seed=1)
    assert len(found.texts) == 300
    assert len(set(found.labels)) == 31


@pytest.mark.parametrize("size", [1, 7])
def test_a_sample_contains_whole_groups(size):
    groups = [str(number // size) for number in range(700)]
    experiment = Experiment(["x"] * 700, ["b" if number % 4 == 0 else "a" for number in range(700)], groups=groups)
    found = experiment.sample(200, seed=1)
    assert 180 <= len(found.texts) == len(found.groups) <= 200
    assert found.labels.count("b") / len(found.texts) == pytest.approx(0.25, abs=0.03)
    assert set(Counter(found.groups).values()) == {size}


def test_a_sample_that_has_too_few_groups_is_refused():
    groups = [str(number // 50) for number in range(400)]
    experiment = Experiment(["x"] * 400, ["a", "b"] * 200, groups=groups)
    assert len(experiment.sample(250, seed=1).texts) == 250
    for count, whole in ((200, 4), (49, 0)):
        with pytest.raises(DataError, match=f"contains only {whole} whole groups; expected one for each of the 5"):
            experiment.sample(count, seed=1)


def test_the_number_of_workers_does_not_change_the_result(world):
    only = {"cooccur.window", "train.epochs", "train.word_dropout"}
    fixed = set(values_of(Recipe())) - only
    alone = search(world, 1e9, fixed=fixed)
    beside = search(world, 1e9, fixed=fixed, workers=Workers(3))
    assert len(alone.trials) > 20
    for first, second in zip(alone.trials, beside.trials, strict=True):
        assert (first.values, first.folds) == (second.values, second.folds)
    assert alone.best.values == beside.best.values


def test_changes_that_often_help_are_tried_first(world):
    result = search(world, 300.0)
    space, start = SearchSpace.of(Recipe(), (), effects_of(EXPERIMENT, Recipe())), values_of(Recipe())
    helpful = space.helpful(start, [])
    assert [trial.values for trial in result.trials[1 : 1 + len(helpful)]] == helpful
    assert space.helpful(helpful[0], [name_of(helpful[0])]) != helpful
    given = SearchSpace.of(replace(Recipe(), vectors=None), ["train.epochs"]).helpful(start, [])
    assert all((values["train.epochs"], values["cooccur.window"]) == (TrainSettings.epochs, 10) for values in given)


@pytest.mark.parametrize("min_texts", [0, 1])
@pytest.mark.parametrize("transform", ["ppmi", "log"])
def test_changes_without_effect_are_not_tried(world, min_texts, transform):
    vectors = EmbeddingBuilder(pca=PcaSettings(transform=transform))
    trials = search(world, recipe=Recipe(TrainSettings(ngram_min_texts=min_texts), vectors), rounds=12).trials
    assert len({name_of(trial.values) for trial in trials}) == len(trials)
    found = {name: {trial.values[name] for trial in trials} for name in trials[0].values}
    assert found["train.ngram_min_texts"] == {min_texts, 3}  # 0 means 1
    assert found["train.lsa_components"] == {300, 0}  # at most one component for every four of the 80 texts
    assert found["pca.components"] == {128}  # because there are fewer than 64 words
    assert found["pca.smoothing"] == ({1.0, 0.75} if transform == "ppmi" else {1.0})
    assert found["train.width"] == {32, 64, 128}


def test_with_many_words_the_automatic_minimum_of_ngrams_is_two_texts(world, monkeypatch):
    assert trials_of_min_texts(world) == {0, 3}
    monkeypatch.setattr(ngram_features, "FEW_WORDS", 10)
    assert trials_of_min_texts(world) == {0, 1, 3}


def trials_of_min_texts(world):
    world.now = 0.0
    fixed = set(values_of(Recipe())) - {"train.ngram_min_texts"}
    return {trial.values["train.ngram_min_texts"] for trial in search(world, fixed=fixed).trials}


def test_values_with_the_same_effect(monkeypatch):
    monkeypatch.setattr(same_effect, "FEW_WORDS", 2_000)

    def same(experiment, recipe=Recipe()):  # noqa: B008
        return SearchSpace.of(recipe, (), effects_of(experiment, recipe)).replacements

    epochs = {-1: -1, 1: 1, 2: 2, 3: -1, 4: 4, 5: 5, 6: 6, 8: 8}
    few = Experiment(["a b c"] * 3 + ["a b d e"] * 5, ["x", "y"] * 4, unlabelled=["a"] * 800)
    assert same(few) == {
        "train.lsa_components": {300: 300, 0: 0, 100: 100},
        "train.ngram_min_texts": {0: 0, 1: 0, 3: 3},
        "pca.components": {128: 128, 64: 128, 256: 128},
        "train.epochs": epochs,
    }
    assert same(few, Recipe(vectors=None)) == {"train.epochs": epochs}
    other_program = Embeddings(np.ones((2, 2), np.float32), Vocabulary(["a", "b"], np.zeros(2, np.int64)))
    assert "train.epochs" not in same(few, Recipe(vectors=other_program))
    assert "train.epochs" not in same(replace(few, unlabelled=["a " * 100] * 21))
    many = Experiment(["a"] * 22_000, ["x", "y"] * 11_000)
    assert same(many, Recipe(vectors=other_program))["train.epochs"] == epochs
    many_labels = replace(few, labels=[f"label {number}" for number in range(800)], texts=["a b"] * 800)
    assert same(many_labels)["train.lsa_components"] == {300: 300, 0: 300, 100: 300}
    no_network = Recipe(TrainSettings(epochs=0, ngram_min_texts=2))
    assert same(few, no_network)["train.ngram_min_texts"] == {2: 2, 0: 2, 1: 1, 3: 3}
    words = [f"word{number}" for number in range(100)]
    assert same(replace(few, texts=[" ".join(words)] * 5))["pca.components"] == {128: 128, 64: 64, 256: 128}
    # Because no word occurs five times, all words are counted.
    rare = Experiment([" ".join(words), " ".join(words).replace("word", "other")], ["x", "y"], folds=2)
    assert same(rare)["pca.components"] == {128: 128, 64: 64, 256: 256}
    limited = Recipe(vectors=EmbeddingBuilder(CountSettings(max_words=60)))
    assert same(rare, limited)["pca.components"] == {128: 128, 64: 128, 256: 128}


def test_rungs_hold_every_fold_once():
    for folds in range(2, 9):
        for first in (0, 3):
            assert sorted(fold for part in halving.rungs(folds, first) for fold in part) == list(range(folds))
            assert halving.rungs(folds, first)[0] == [first % folds]
