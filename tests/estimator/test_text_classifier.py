"""Tests of ``TextClassifier``: same model as the command line, texts and labels, parameters, errors, pickle."""

import inspect
import pickle
import sys

import numpy as np
import pandas as pd
import pytest
from calling import call
from reviews import make_reviews, small_embeddings
from sample_data import make_rows, write_tsv

import nlptx
from nlptx.cli.terminal import reporter
from nlptx.errors import ArtifactError, LabelError, NotFittedError

TEXTS, LABELS = make_reviews(24)
FLAGS = [label == "pos" for label in LABELS]
PCA = nlptx.PcaSettings(components=4)
SMALL = {"epochs": 1, "width": 8, "heads": 2, "lsa_components": 0, "jobs": 1, "pca": PCA}


def small(**parameters):
    return nlptx.TextClassifier(**SMALL | parameters)


@pytest.fixture(scope="module")
def fitted():
    return small().fit(TEXTS, LABELS)


# ---------------------------------------------------------------- the model


def saved(model, path):
    model.save(path)
    return path.read_bytes()


@pytest.mark.parametrize("more", ["", "unlabelled", "valid", "weights"])
def test_the_model_is_that_of_the_command_line(more, tmp_path):
    rows, others = make_rows(("neg", "pos"), 60, seed=1), make_rows(("neg", "pos"), 8, seed=2)
    texts, labels = zip(*rows, strict=True)
    weights = [number % 4 / 2 for number in range(60)]
    table, options, arguments = write_tsv(tmp_path / "data.tsv", rows), [], {}
    if more == "unlabelled":
        (tmp_path / "more.txt").write_text("".join(f"{text}\n" for text, _ in others))
        options, arguments = ["--unlabelled", tmp_path / "more.txt"], {"unlabelled": [text for text, _ in others]}
    if more == "valid":
        options = ["--valid", write_tsv(tmp_path / "valid.tsv", others)]
        arguments = {"valid": tuple(zip(*others, strict=True))}
    if more == "weights":
        lines = (f"{text}\t{label}\t{w}\n" for (text, label), w in zip(rows, weights, strict=True))
        table.write_text("text\tlabel\tweight\n" + "".join(lines))
        options, arguments = ["--weight-column", "weight"], {"sample_weight": weights}
    config = tmp_path / "c.toml"
    config.write_text("[pca]\ncomponents = 4\n[train]\nepochs = 1\nwidth = 8\nheads = 2\nlsa-components = 0\n")
    call("train", table, *options, "--config", config, "--seed", 3, "-q", "-o", tmp_path / "command.npz")
    classifier = small(seed=3).fit(texts, np.array(labels), **arguments)
    assert saved(classifier.model_, tmp_path / "python.npz") == (tmp_path / "command.npz").read_bytes()


def test_given_word_vectors_are_used():
    embeddings = small_embeddings()
    model = small(embeddings=embeddings, pca=None).fit(TEXTS, LABELS).model_
    settings = nlptx.TrainSettings(epochs=1, width=8, heads=2, lsa_components=0)
    assert np.array_equal(model.flat, nlptx.fit(TEXTS, LABELS, embeddings, settings, jobs=1).flat)
    with pytest.raises(ValueError, match="but `embeddings` are given"):
        small(embeddings=embeddings).fit(TEXTS, LABELS)


def test_training_may_start_from_a_model(fitted):
    texts, labels = make_reviews(40, seed=5)
    classifier = nlptx.TextClassifier(start=fitted.model_, epochs=0, jobs=1).fit(texts, labels)
    settings = nlptx.TrainSettings(epochs=0)
    expected = nlptx.fit(texts, labels, settings=settings, start=fitted.model_, jobs=1)
    assert np.array_equal(classifier.model_.predict_proba(texts), expected.predict_proba(texts))
    again = pickle.loads(pickle.dumps(nlptx.TextClassifier(start=fitted.model_)))
    assert np.array_equal(again.start.predict_proba(texts), fitted.model_.predict_proba(texts))
    with pytest.raises(ValueError, match="but `start` is given"):
        small(start=fitted.model_).fit(texts, labels)


# ---------------------------------------------------------------- texts and labels


@pytest.mark.parametrize(
    "make", [list, tuple, np.array, iter, lambda values: pd.Series(values, index=[-1, *range(90, 113)])]
)
def test_texts_and_labels_may_be_any_collection(make, fitted):
    classifier = small().fit(make(TEXTS), make(LABELS))
    assert np.array_equal(classifier.predict_proba(make(TEXTS)), fitted.predict_proba(TEXTS))
    assert classifier.score(make(TEXTS), make(LABELS)) == fitted.score(TEXTS, LABELS)


@pytest.mark.parametrize(
    "kinds",
    [
        np.array(["no", "yes"]),
        np.array(["no", "yes"], object),
        np.array([-1, 1], np.int8),
        np.array([0.5, 4.5], np.float32),
        np.array([False, True]),
        pd.Series(["b", "a"], dtype="category"),
    ],
    ids=lambda kinds: str(kinds.dtype),
)
def test_labels_keep_their_dtype(kinds):
    y = kinds[[int(flag) for flag in FLAGS]]
    y = y.reset_index(drop=True) if isinstance(y, pd.Series) else y
    classifier = small().fit(TEXTS, y)
    predicted = classifier.predict(TEXTS)
    assert classifier.classes_.tolist() == sorted(kinds)
    assert predicted.dtype == classifier.classes_.dtype == np.asarray(kinds).dtype
    assert set(predicted.tolist()) <= set(kinds)


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64, np.int8, np.int64])
def test_labels_have_the_same_names_as_in_fit(kind):
    y = np.array([0.1, 1.2], kind)[np.array(FLAGS, int)]
    model = small(epochs=0).fit(TEXTS, y).model_
    other = nlptx.fit(TEXTS, y, settings=nlptx.TrainSettings(epochs=0), jobs=1)
    assert model.labels == other.labels
    assert model.label_names == other.label_names
    if kind not in (np.float64, np.int64):
        assert set(map(type, model.labels)) == {kind}
    assert small(epochs=0).fit(TEXTS, y).score(TEXTS, y) == nlptx.evaluate(model, TEXTS, y).accuracy > 0.5


@pytest.mark.parametrize("kinds", [(-1, 2**63), (-1, 2**63 + 1), ("a", "a\0")])
def test_labels_that_numpy_would_change_are_kept(kinds):
    classifier = small(epochs=0).fit(TEXTS, [kinds[flag] for flag in FLAGS])
    predicted = classifier.predict(TEXTS)
    assert classifier.classes_.tolist() == list(kinds)
    assert {type(label) for label in predicted} == {type(kinds[0])}
    assert predicted.tolist() == classifier.model_.predict(TEXTS)
    assert np.array_equal(classifier.classes_[classifier.predict_proba(TEXTS).argmax(axis=1)], predicted)


def test_classes_are_sorted_even_if_the_labels_have_another_order():
    kinds = ("bad", "neutral", "good")
    texts, labels = zip(*make_rows(("neg", "drama", "pos"), 60, seed=3), strict=True)
    labels = [kinds[("neg", "drama", "pos").index(label)] for label in labels]
    classifier = small(epochs=3, lr=0.01).fit(texts, labels)
    assert classifier.model_.labels == list(kinds)
    assert classifier.classes_.tolist() == ["bad", "good", "neutral"]
    best = classifier.classes_[classifier.predict_proba(texts).argmax(axis=1)]
    assert best.tolist() == classifier.predict(texts).tolist() == classifier.model_.predict(texts)
    assert np.array_equal(classifier.classes_[classifier.decision_function(texts).argmax(axis=1)], best)
    assert classifier.score(texts, labels) > 0.5


@pytest.mark.parametrize("class_weight", ["none", "balanced"])
@pytest.mark.parametrize("frequent", ["neg", "pos"])
def test_the_sign_of_the_decision_function_is_the_prediction(class_weight, frequent):
    """This also holds for a text without a known word, which gets the most frequent label."""
    row = LABELS.index(frequent)
    classifier = small(class_weight=class_weight).fit(TEXTS + TEXTS[row : row + 1] * 9, LABELS + [frequent] * 9)
    decision = classifier.decision_function([*TEXTS, "unknown"])
    assert np.array_equal(classifier.classes_[(decision > 0).astype(int)], classifier.predict([*TEXTS, "unknown"]))
    if class_weight == "none":
        p = classifier.predict_proba(TEXTS)
        assert np.allclose(decision[:-1], np.log(p[:, 1] / p[:, 0]))


def test_a_label_whose_texts_all_have_weight_0_is_not_a_class():
    weights = [1.0] * len(TEXTS) + [0.0]
    classifier = small().fit([*TEXTS, "another text"], [*LABELS, "other"], weights)
    assert classifier.classes_.tolist() == ["neg", "pos"]
    with pytest.raises(ValueError, match="only one class, 'neg'"):
        small().fit(TEXTS, LABELS, [float(not flag) for flag in FLAGS])


def test_the_score_is_the_fraction_of_correct_labels(fitted):
    hits = fitted.predict(TEXTS) == LABELS
    assert fitted.score(TEXTS, LABELS) == hits.mean()
    assert fitted.score(TEXTS, LABELS, hits + 1) == pytest.approx(np.average(hits, weights=hits + 1))
    assert fitted.score(TEXTS, ["other"] * len(TEXTS)) == 0


def test_scores_for_labels_of_another_type_are_refused(fitted):
    with pytest.raises(LabelError, match=r"`y\[0\]` is 1 \(int\); expected one of 'neg', 'pos'"):
        fitted.score(TEXTS, [1] * len(TEXTS))
    numbers = small().fit(TEXTS, np.array(FLAGS, int))
    with pytest.raises(LabelError, match=r"`y\[1\]` is '1' \(str\); expected one of 0, 1"):
        numbers.score(TEXTS, np.array([0, *"1" * 23], object))
    assert numbers.score(TEXTS, FLAGS) == numbers.score(TEXTS, np.array(FLAGS, float)) > 0


def test_no_texts_give_no_predictions(fitted):
    assert fitted.predict([]).dtype == fitted.classes_.dtype
    assert fitted.predict_proba([]).shape == (0, 2)
    assert fitted.decision_function([]).shape == (0,)


def test_frames_get_the_columns_of_the_model(fitted):
    frame = pd.DataFrame({"review": TEXTS})
    assert fitted.predict_frame(frame, "review")["label"].tolist() == fitted.predict(TEXTS).tolist()


# ---------------------------------------------------------------- refused data

MATRIX = np.ones((24, 3))


@pytest.mark.parametrize(
    ("X", "y", "kind", "message"),
    [
        (MATRIX, LABELS, TypeError, "`X` is a numpy.ndarray with 2 dimensions; expected a list or other"),
        (pd.DataFrame({"text": TEXTS}), LABELS, TypeError, "`X` is a pandas.DataFrame with 2 dimensions; expected a"),
        (MATRIX[:, 0], LABELS, TypeError, r"`X\[0\]` is .* expected a str"),
        ([*TEXTS[:23], None], LABELS, TypeError, r"`X\[23\]` is None; expected a str"),
        ([float("nan"), *TEXTS[1:]], LABELS, TypeError, r"`X\[0\]` is nan"),
        ([b"bytes", *TEXTS[1:]], LABELS, TypeError, r"`X\[0\]` is b'bytes'"),
        ("one text", LABELS, TypeError, "`X` is 'one text'"),
        (TEXTS, LABELS[:-1], ValueError, "`X` has 24 elements, `y` has 23; expected one label per text"),
        ([], [], ValueError, "there are no training texts"),
        (TEXTS, ["pos"] * 24, ValueError, "`y` has only one class, 'pos'; expected two or more"),
        (TEXTS, [1, *LABELS[1:]], TypeError, r"`y\[0\]` is 1 \(int\) and `y\[1\]` is 'pos' \(str\); expected one type"),
        (TEXTS, [None, *LABELS[1:]], ValueError, r"`y\[0\]` is None; expected a label"),
        (TEXTS, np.array([np.nan, *[1.0, 0.0] * 11, 1.0]), ValueError, r"`y\[0\]` is .*nan.*; expected a label"),
        (TEXTS, np.array(LABELS)[:, None], TypeError, "`y` is a numpy.ndarray with 2 dimensions"),
        (TEXTS, np.array(1), TypeError, "`y` is a numpy.ndarray with 0 dimensions"),
        (TEXTS, None, TypeError, "`y` is None; expected a list or other iterable of labels"),
    ],
)
def test_unusable_data_is_refused_and_nothing_is_fitted(X, y, kind, message, fitted):
    classifier = pickle.loads(pickle.dumps(fitted))
    with pytest.raises(kind, match=message) as caught:
        classifier.fit(X, y)
    assert isinstance(caught.value, nlptx.NlptxError)
    assert not classifier.__sklearn_is_fitted__()


@pytest.mark.parametrize("valid", ["texts", (TEXTS, LABELS[1:]), (TEXTS, ["other"] * 24)])
def test_unusable_validation_data_is_refused(valid):
    with pytest.raises(ValueError, match="valid"):
        small().fit(TEXTS, LABELS, valid=valid)


def test_scores_of_nothing_are_refused(fitted):
    with pytest.raises(ValueError, match="`X` is empty"):
        fitted.score([], [])
    with pytest.raises(ValueError, match="`X` has 24 elements, `y` has 1"):
        fitted.score(TEXTS, ["pos"])


def test_if_the_number_of_weights_is_wrong_the_message_names_the_arguments(fitted):
    says = "`X` has 24 elements, `sample_weight` has 3; expected one weight per text"
    with pytest.raises(ValueError, match=says):
        fitted.score(TEXTS, LABELS, [1, 2, 3])
    with pytest.raises(ValueError, match=says):
        small().fit(TEXTS, LABELS, [1, 2, 3])


@pytest.mark.parametrize("method", ["predict", "predict_proba", "decision_function", "score", "predict_frame"])
def test_prediction_needs_fit(method):
    arguments = {"score": (TEXTS, LABELS)}.get(method, (TEXTS,))
    with pytest.raises(NotFittedError, match="this TextClassifier is not fitted") as caught:
        getattr(nlptx.TextClassifier(), method)(*arguments)
    assert isinstance(caught.value, ValueError)
    assert isinstance(caught.value, AttributeError)


def test_an_interrupted_fit_leaves_the_classifier_unfitted(fitted, monkeypatch):
    def interrupted(*arguments, **more):
        raise KeyboardInterrupt

    classifier = pickle.loads(pickle.dumps(fitted))
    monkeypatch.setattr("nlptx.estimator.text_classifier.fit", interrupted)
    with pytest.raises(KeyboardInterrupt) as caught:
        classifier.fit(TEXTS, LABELS)
    assert caught.value.__notes__ == ["TextClassifier.fit was interrupted; the classifier is not fitted"]
    with pytest.raises(NotFittedError):
        classifier.predict(TEXTS)


# ---------------------------------------------------------------- parameters


def test_every_training_setting_is_a_parameter_with_its_default():
    parameters = inspect.signature(nlptx.TextClassifier).parameters
    assert {name: parameters[name].default for name in nlptx.TrainSettings().to_dict()} == (
        nlptx.TrainSettings().to_dict()
    )
    assert set(parameters) == set(nlptx.TextClassifier().get_params())
    assert all(parameter.kind is parameter.KEYWORD_ONLY for parameter in parameters.values())


def test_parameters_are_set_by_name():
    classifier = nlptx.TextClassifier(epochs=4)
    assert classifier.set_params(lr=0.1, cooccur__window=2, pca=PCA, pca__tolerance=0.1) is classifier
    expected = {"epochs": 4, "lr": 0.1, "cooccur__window": 2, "pca__components": 4, "pca__tolerance": 0.1}
    assert {name: classifier.get_params()[name] for name in expected} == expected
    assert "pca__components" not in classifier.get_params(deep=False)
    assert classifier.cooccur == nlptx.CountSettings(window=2)
    assert classifier.pca == nlptx.PcaSettings(components=4, tolerance=0.1)
    assert repr(nlptx.TextClassifier(epochs=4, seed=2)) == "TextClassifier(epochs=4, seed=2)"


class Extended(nlptx.TextClassifier):
    def __init__(self, extra__one=1, *, epochs=2, **parameters):
        super().__init__(epochs=epochs, **parameters)
        self.extra__one = extra__one


class Narrow(Extended):
    def __init__(self, lr=0.1):
        super().__init__(lr=lr)


def test_parameters_of_a_subclass_are_parameters():
    classifier = Extended(extra__one=3, lr=0.1)
    assert set(classifier.get_params()) == {"extra__one"} | set(nlptx.TextClassifier().get_params())
    assert Extended(**classifier.get_params(deep=False)).get_params() == classifier.get_params()
    assert repr(classifier) == "Extended(lr=0.1, extra__one=3)"
    assert classifier.set_params(extra__one=4, pca__components=2).extra__one == 4
    assert Narrow(lr=0.2).get_params() == {"lr": 0.2}
    with pytest.raises(TypeError, match="Extended has no parameter `extra`"):
        classifier.set_params(extra=4)


@pytest.mark.parametrize("name", ["epoch", "pca__component", "pca__", "train__epochs", "nothing at all like it"])
def test_unknown_parameters_are_refused(name):
    for call_it in (nlptx.TextClassifier, nlptx.TextClassifier().set_params):
        with pytest.raises(TypeError, match=f"TextClassifier has no parameter `{name}`") as caught:
            call_it(**{name: 1})
        assert isinstance(caught.value, ValueError)
    with pytest.raises(TypeError, match="Did you mean `epochs`"):
        nlptx.TextClassifier(epoch=1)


def test_parameters_without_names_are_refused():
    with pytest.raises(TypeError, match=r"TextClassifier takes only keyword arguments, but 3 \(int\)") as caught:
        nlptx.TextClassifier(3)
    assert isinstance(caught.value, nlptx.NlptxError)


@pytest.mark.parametrize(
    ("name", "value"),
    [("epochs", -2), ("lr", "fast"), ("pca", {"components": 4}), ("seed", -1), ("jobs", 0), ("embeddings", "e.npz")],
)
def test_fit_checks_the_values_of_parameters(name, value):
    classifier = small(pca=None).set_params(**{name: value})
    assert classifier.get_params()[name] == value
    with pytest.raises(ValueError, match=f"`{name}` is"):
        classifier.fit(TEXTS, LABELS)


def test_values_of_numpy_are_accepted(fitted):
    numpy_values = {"epochs": np.int64(1), "lr": np.float64(1e-3), "norm_gain": np.True_, "seed": np.int32(1)}
    classifier = small(**numpy_values).set_params(pca__components=np.int64(4)).fit(TEXTS, LABELS)
    assert np.array_equal(classifier.model_.flat, fitted.model_.flat)
    pickle.dumps(classifier)


# ---------------------------------------------------------------- pickle


def test_a_pickle_is_the_same_classifier(fitted):
    copy = pickle.loads(pickle.dumps(fitted))
    assert np.array_equal(copy.predict_proba(TEXTS), fitted.predict_proba(TEXTS))
    assert copy.get_params() == fitted.get_params()
    assert copy.predict(TEXTS).dtype == fitted.predict(TEXTS).dtype
    assert copy.model_.to_artifact().header == fitted.model_.to_artifact().header
    unfitted = pickle.loads(pickle.dumps(small()))
    assert not unfitted.__sklearn_is_fitted__()


def test_parameters_that_an_old_pickle_lacks_have_their_defaults(fitted):
    state = fitted.__getstate__()
    del state["compact"]
    copy = nlptx.TextClassifier.__new__(nlptx.TextClassifier)
    copy.__setstate__(state)
    assert copy.get_params() == fitted.get_params()


def test_masked_labels_are_missing():
    masked = np.ma.array(LABELS, mask=[True] + [False] * (len(LABELS) - 1))
    with pytest.raises(LabelError, match=r"`y\[0\]` is masked"):
        small().fit(TEXTS, masked)


def test_a_damaged_pickle_is_refused(fitted):
    state = fitted.__getstate__()
    state["model_"].arrays["priors"] = np.array([2.0, 2.0])
    with pytest.raises(ArtifactError, match="prior probabilities"):
        nlptx.TextClassifier().__setstate__(state)


# ---------------------------------------------------------------- progress


@pytest.mark.parametrize("notebook", [False, True])
def test_verbose_shows_progress_without_a_terminal(notebook, capsys, monkeypatch):
    monkeypatch.setattr(reporter, "_in_notebook", lambda: notebook)
    small(verbose=True, epochs=2).fit(TEXTS, LABELS)
    shown = capsys.readouterr()
    assert "training  epoch 2/2  loss" in shown.err
    assert shown.out == ""
    small().fit(TEXTS, LABELS)
    assert capsys.readouterr() == ("", "")


def test_a_notebook_is_recognised_by_its_kernel(monkeypatch):
    assert not reporter._in_notebook()
    monkeypatch.setitem(sys.modules, "ipykernel", sys)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: name == "ipywidgets" or None)
    assert reporter._in_notebook()


def test_labels_of_another_float_type_are_the_same_labels():
    y = np.array([0.1, 0.5], np.float32)[[int(flag) for flag in FLAGS]]
    classifier = small().fit(TEXTS, y)
    expected = classifier.score(TEXTS, y)
    assert classifier.score(TEXTS, [0.5 if flag else 0.1 for flag in FLAGS]) == expected > 0.5
