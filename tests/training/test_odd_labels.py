"""Labels nobody hopes for: rare ones, single texts, a thousand of them; and what train says of them."""

import numpy as np
import pytest
from command import refused, run
from numpy.testing import assert_allclose
from reviews import make_reviews, small_embeddings
from sample_data import TRAIN, write_tsv

import nlptx
from nlptx.classifier.explain import explain
from nlptx.classifier.scoring import score
from nlptx.errors import CorruptError, DataError, LabelError
from nlptx.metrics import log_loss
from nlptx.nn import Gradients
from nlptx.runtime.workers import SERIAL, Workers
from nlptx.settings import TrainSettings
from nlptx.training import dataset, ngram_features
from nlptx.training.batching import Microbatch
from nlptx.training.loss import balanced_weights, classify, validate


def fit(texts, labels, valid=None, **settings):
    """Return a model and the notes taken, except for warnings that it is useless: some labels here mean nothing."""
    notes = []
    settings = TrainSettings(**{"epochs": 2, "batch": 8, "width": 0} | settings)
    model = nlptx.fit(texts, labels, small_embeddings(), settings, valid=valid, jobs=1, on_note=notes.append)
    assert np.isfinite(model.flat).all()
    assert np.isfinite(model.predict_proba(texts[:5], jobs=1)).all()
    return model, [note for note in notes if not note.startswith("warning: ")]


# ---------------------------------------------------------------- weights of the labels


@pytest.mark.parametrize("counts", [(1, 1), (30, 10), (5, 1, 94), (7, 0, 3)])
def test_balanced_weights_are_those_of_the_formula(counts):
    targets = np.repeat(np.arange(len(counts)), counts)
    weights = balanced_weights(targets, len(counts))
    for weight, count in zip(weights, counts, strict=True):
        assert weight == pytest.approx(len(targets) / (len(counts) * count) if count else 0)


def test_balanced_weights_are_those_of_scikit_learn():
    reference = pytest.importorskip("sklearn.utils.class_weight").compute_class_weight
    targets = np.random.default_rng(1).choice(6, 500, p=[0.5, 0.3, 0.1, 0.05, 0.03, 0.02])
    wanted = reference("balanced", classes=np.arange(6), y=targets)
    assert_allclose(balanced_weights(targets, 6), wanted, rtol=1e-6)


@pytest.mark.parametrize("loss", ["cross-entropy", "squared-error"])
def test_weights_repeat_texts(loss):
    """A label of weight 3 counts as if each of its texts stood there three times; in training and in validation."""
    texts, labels = make_reviews(6)
    model, _ = fit(texts, labels, loss=loss, ngrams=0)
    ids = [model.encode(text) for text in texts]
    targets = np.array([model.labels.index(label) for label in labels])
    tripled = [row for row in range(6) for _ in range(3 if targets[row] else 1)]

    def gradient(rows, weights):
        share = Microbatch(
            np.concatenate([ids[row] for row in rows]), np.array([len(ids[row]) for row in rows]), targets[rows]
        )
        grads = Gradients(np.zeros_like(model.flat))
        total, _, _ = classify(model, share, grads, None, 6, weights)
        return total, grads.flat

    weights = np.array([1, 3], np.float32)
    (total, flat), (wanted_total, wanted_flat) = gradient(np.arange(6), weights), gradient(tripled, None)
    assert total == pytest.approx(wanted_total, rel=1e-5)
    assert np.abs(wanted_flat).max() > 0
    assert_allclose(flat, wanted_flat, atol=1e-6)
    examples = dataset.Examples(ids, targets)
    repeated = dataset.Examples([ids[row] for row in tripled], targets[tripled])
    one, all_of_them = validate(model, examples, SERIAL, weights), validate(model, repeated, SERIAL)
    assert one[0] * 6 == pytest.approx(all_of_them[0] * len(tripled), rel=1e-5)


@pytest.mark.parametrize("ngrams", [0, 3])
def test_balanced_weights_find_more_of_a_rare_label(ngrams):
    texts, labels = make_reviews(600, seed=2)
    rare = [row for row, label in enumerate(labels) if label == "pos"][::12]
    rows = sorted([row for row, label in enumerate(labels) if label == "neg"] + rare)
    held_out, truth = make_reviews(200, seed=3)
    recall, more = {}, {"ngrams": ngrams, "epochs": 6, "lr": 0.01}
    for weight in ("none", "balanced"):
        model, _ = fit([texts[r] for r in rows], [labels[r] for r in rows], class_weight=weight, **more)
        guessed = model.predict(held_out, jobs=1)
        recall[weight] = np.mean(
            [guess == "pos" for guess, label in zip(guessed, truth, strict=True) if label == "pos"]
        )
    assert TrainSettings().class_weight == "none"
    assert recall["balanced"] > recall["none"] + 0.15, recall


@pytest.mark.parametrize("loss", ["cross-entropy", "squared-error"])
def test_probabilities_of_a_balanced_model_mean_what_they_say(loss):
    """One text in ten is positive, so P(pos) is .1 on average, whatever the weights of the labels."""
    more = {"lr": 0.005, "ngrams": 1, "lsa_components": 0, "valid_share": 0.25}
    model, _ = fit(*make_skewed_reviews(600, seed=2), class_weight="balanced", loss=loss, **more)
    texts, labels = make_skewed_reviews(800, seed=3)
    p, positive = model.predict_proba(texts, jobs=1), np.array(labels) == "pos"
    as_if_equal = p / model.priors
    as_if_equal /= as_if_equal.sum(axis=1, keepdims=True)
    assert p[:, 1].mean() == pytest.approx(0.1, abs=0.03)
    assert log_loss(p, positive.astype(int)) < log_loss(as_if_equal, positive.astype(int)) - 0.03
    right, most_probable = model.choose(p) == positive, p.argmax(axis=1) == positive
    recall, usual = (np.mean([hits[positive].mean(), hits[~positive].mean()]) for hits in (right, most_probable))
    assert recall > usual + 0.03


def make_skewed_reviews(count, seed):
    """Return texts and labels, one in ten of them positive."""
    pairs = list(zip(*make_reviews(2 * count, seed=seed), strict=True))
    negative, positive = ([pair for pair in pairs if pair[1] == label] for label in ("neg", "pos"))
    rows = [(positive if row % 10 == 0 else negative)[row] for row in range(count)]
    return [text for text, _ in rows], [label for _, label in rows]


def balanced_model(priors):
    """A model, trained for a step, of other priors."""
    model, _ = fit(*make_reviews(12), class_weight="balanced", epochs=1)
    model.priors = np.array(priors)
    return model


def test_a_balanced_model_predicts_the_label_most_probable_beside_its_share():
    model = balanced_model([0.9, 0.1])
    p = np.array([[0.95, 0.05], [0.91, 0.09], [0.89, 0.11], [0.5, 0.5], [0.9, 0.1]])
    assert model.choose(p).tolist() == [0, 0, 1, 1, 0], "of equals, the most probable one"
    model.settings = TrainSettings()
    assert model.choose(p).tolist() == [0, 0, 0, 0, 0]


def test_a_balanced_model_says_the_same_everywhere():
    """One decision is behind label and explanation; a text without known words gets the most frequent label."""
    model = balanced_model([0.9, 0.1])
    texts = [*make_reviews(20, seed=5)[0], "unknown"]
    p = model.predict_proba(texts, jobs=1)
    best = model.choose(p)
    assert 0 < best[:-1].mean() <= 1
    assert (best != p.argmax(axis=1)).any(), "the case should hold a label of a probability below one half"
    assert model.predict(texts, jobs=1) == [model.labels[place] for place in best]
    assert [one.best for _, one in next(score(model, [(None, text) for text in texts], Workers(1)))] == best.tolist()
    assert [explain(model, text).label for text in texts[:-1]] == best[:-1].tolist()
    assert best[-1] == 0


def test_a_balanced_model_with_an_impossible_label_is_refused(tmp_path):
    balanced_model([1.0, 0.0]).save(str(tmp_path / "model.npz"))
    with pytest.raises(CorruptError, match="prior probability 0"):
        nlptx.Model.load(str(tmp_path / "model.npz"))


# ---------------------------------------------------------------- few texts of a label, or none


@pytest.mark.parametrize("class_weight", ["none", "balanced"])
def test_a_label_with_a_single_text_is_trained_on_and_never_held_out(class_weight):
    texts, labels = make_reviews(40)
    model, notes = fit([*texts, "w1 w2 bad1"], [*labels, "odd"], class_weight=class_weight, valid_share=0.5)
    assert model.labels == ["neg", "odd", "pos"]
    assert model.history["train_texts"] == 21
    assert model.priors[1] == 1 / 41
    assert notes == []


def test_a_label_that_the_held_out_texts_lack():
    texts, labels = make_reviews(40)
    model, notes = fit(texts, labels, valid=([texts[0]] * 3, [labels[0]] * 3))
    assert model.labels == ["neg", "pos"]
    assert model.history["valid_texts"] == 3
    assert notes == []


def test_a_label_that_training_lacks_is_refused():
    texts, labels = make_reviews(40)
    with pytest.raises(LabelError, match="`valid` has the label 'odd' at position 0; the training data has neg, pos"):
        fit(texts, labels, valid=(texts[:1], ["odd"]))


@pytest.mark.parametrize(("more", "fewer"), [(3, 0), (0, 3)])
def test_a_label_for_each_text_is_demanded(more, fewer):
    texts, labels = make_reviews(40)
    some, theirs = texts[: 40 - more], labels[: 40 - fewer]
    with pytest.raises(DataError, match=f"`texts` has {40 - more} elements, `labels` has {40 - fewer}"):
        fit(some, theirs)
    with pytest.raises(DataError, match=rf"`valid\[0\]` has {40 - more} elements, `valid\[1\]` has {40 - fewer}"):
        fit(texts, labels, valid=(some, theirs))


@pytest.mark.parametrize("labels", [2, 3, 20])
@pytest.mark.parametrize("components", [0, 4])
def test_a_model_of_any_number_of_labels_is_read_back(tmp_path, labels, components):
    texts, _ = make_reviews(10 * labels)
    names = [f"label{number % labels}" for number in range(10 * labels)]
    model, _ = fit(texts, names, epochs=1, lsa_components=components, ngrams=1)
    model.save(str(tmp_path / "m.npz"))
    assert nlptx.Model.load(str(tmp_path / "m.npz")).predict(texts[:9], jobs=1) == model.predict(texts[:9], jobs=1)


def test_a_label_without_a_known_word_is_told_of():
    texts, labels = make_reviews(40)
    model, notes = fit([*texts, "zzz"], [*labels, "odd"], new_word_min_count=0)
    assert notes == ["not learned, because no text with a known word has the label: 'odd'"]
    assert "odd" not in model.predict(texts, jobs=1)


def test_two_labels_of_one_text_each_are_learned_by_heart():
    """Nothing can be held out, and no text has another to take evidence from."""
    texts = ["good1 w1 w2", "bad1 w1 w3"]
    model, notes = fit(texts, ["pos", "neg"], epochs=30, lr=0.01)
    assert model.predict(texts, jobs=1) == ["pos", "neg"]
    assert model.ngram_features is None
    assert (model.history["valid_texts"], model.history["best_epoch"]) == (0, 30)
    assert notes == [
        "too few texts to hold any out for validation: the weights of the last epoch are kept",
        "no n-gram features: they need two labels with two texts each",
    ]


def test_holding_out_nothing_on_purpose_is_not_noted():
    assert fit(*make_reviews(40), valid_share=0.0)[1] == []


# ---------------------------------------------------------------- many labels


@pytest.mark.parametrize(("count", "evidence"), [(20, True), (21, False)])
def test_evidence_is_for_twenty_labels_and_train_says_so(count, evidence):
    texts, _ = make_reviews(63)
    model, notes = fit(texts, [f"l{row % count}" for row in range(63)], epochs=1, valid_share=0.4)
    assert (model.ngram_features is not None) == evidence
    assert notes == ([] if evidence else ["no n-gram features: there are 21 labels, and at most 20 are possible"])


def test_evidence_is_for_so_many_words_and_train_says_so(monkeypatch):
    monkeypatch.setattr(ngram_features, "LARGEST_VOCABULARY", 10)
    model, notes = fit(*make_reviews(40), epochs=1)
    assert model.ngram_features is None
    assert notes == [f"no n-gram features: there are {len(model.vocabulary)} words, and at most 10 are possible"]
    assert fit(*make_reviews(40), epochs=1, ngrams=0)[1] == []


def test_a_thousand_labels():
    words = " ".join(f"w{number}" for number in range(9))
    texts = [f"{words} good{row % 8}" for row in range(1000)]
    model, _ = fit(texts, [f"{row:03}" for row in range(1000)], epochs=1, batch=100)
    assert len(model.labels) == 1000
    assert_allclose(model.predict_proba(texts[:3], jobs=1).sum(axis=1), 1, rtol=1e-12)
    assert model.values is not None  # numbers are a scale


# ---------------------------------------------------------------- as a user meets them


def test_train_says_what_it_leaves_out(work, tmp_path):
    rows = [(text, f"l{row}") for row, text in enumerate(make_reviews(30)[0])]
    write_tsv(tmp_path / "many.tsv", rows)
    words = ("train", "many.tsv", "-e", work / "embeddings.npz", *TRAIN, "--new-word-min-count", "1", "-o", "m.npz")
    said = run(*words, cwd=tmp_path).stderr
    assert "no n-gram features: there are 30 labels" in said
    assert "too few texts to hold any out" in said
    assert run(*words, "--quiet", cwd=tmp_path).stderr == ""


def test_one_label_alone_is_refused(work, tmp_path):
    write_tsv(tmp_path / "one.tsv", [("great film", "pos")] * 3)
    words = ("train", "one.tsv", "-e", work / "embeddings.npz", "-o", "m.npz")
    refused(*words, code=3, says="only the label 'pos'", cwd=tmp_path, untouched=tmp_path)
