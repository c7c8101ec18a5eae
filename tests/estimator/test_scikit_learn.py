"""Tests of ``TextClassifier`` with scikit-learn: estimator checks, pipelines, cross-validation, searches."""

import warnings

import numpy as np
import pytest
from reviews import make_reviews

import nlptx

TEXTS, LABELS = make_reviews(30)
SMALL = {
    "epochs": 1,
    "width": 8,
    "heads": 2,
    "lsa_components": 0,
    "subwords": "off",
    "jobs": 1,
    "pca": nlptx.PcaSettings(components=4),
}

# Names of the checks that TextClassifier does not pass -> reason.
EXPECTED_FAILURES = {
    "check_estimators_unfitted": "wants the NotFittedError of scikit-learn, which nlptx does not import",
    "check_sample_weights_not_an_array": "weights have to be an iterable of numbers",
    "check_all_zero_sample_weights_error": "wants other words in the message",
    "check_sample_weight_equivalence_on_dense_data": "repeating a text changes batches and random numbers",
    "check_classifiers_regression_target": "numbers with a fraction are labels too, such as 3.5 stars",
    "check_supervised_y_2d": "a column of labels is an error, not a warning",
    "check_class_weight_classifiers": "class_weight is none or balanced, not a dictionary",
    "check_requires_y_none": "wants other words in the message",
}


STATUSES = ("passed", "failed", "xfail")


class NumberClassifier(nlptx.TextClassifier):
    """A TextClassifier that reads the numbers of a matrix as words, because nearly all checks use matrices."""

    def fit(self, X, y, sample_weight=None):
        return super().fit(self._as_texts(X, reset=True), y, sample_weight)

    def score(self, X, y, sample_weight=None):
        return super().score(self._as_texts(X), y, sample_weight)

    def _probabilities(self, X):
        self._fitted()
        is_text = isinstance(X, list) and isinstance(X[0], str)  # `score` has already converted X to texts
        return super()._probabilities(X if is_text else self._as_texts(X))

    def _as_texts(self, X, reset=False):
        from sklearn.utils.validation import validate_data

        rows = validate_data(self, X, reset=reset)
        return [" ".join(f"column{column} {2 * value:.0f}" for column, value in enumerate(row)) for row in rows]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array, tags.input_tags.one_d_array = True, False
        return tags


def test_the_checks_of_scikit_learn_pass():
    from sklearn.utils.estimator_checks import check_estimator

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the base class is not from scikit-learn
        results = check_estimator(
            NumberClassifier(**SMALL), expected_failed_checks=EXPECTED_FAILURES, on_fail=None, on_skip=None
        )
    names = {status: {result["check_name"] for result in results if result["status"] == status} for status in STATUSES}
    assert names["failed"] == set()
    # Older versions of scikit-learn lack some of the checks.
    assert names["xfail"] == set(EXPECTED_FAILURES) & {result["check_name"] for result in results}
    assert len(names["passed"]) > 40


def test_a_classifier_of_texts_is_recognised():
    from sklearn.base import is_classifier
    from sklearn.utils import get_tags
    from sklearn.utils.validation import check_is_fitted

    classifier = nlptx.TextClassifier(**SMALL)
    tags = get_tags(classifier)
    assert is_classifier(classifier)
    assert (tags.input_tags.string, tags.input_tags.one_d_array, tags.input_tags.two_d_array) == (True, True, False)
    with pytest.raises(ValueError, match="not fitted"):
        check_is_fitted(classifier)
    check_is_fitted(classifier.fit(TEXTS, LABELS))


def test_clones_have_the_parameters_and_are_not_fitted():
    from sklearn.base import clone

    classifier = nlptx.TextClassifier(**SMALL).fit(TEXTS, LABELS)
    copy = clone(classifier)
    assert copy.get_params() == classifier.get_params()
    assert not copy.__sklearn_is_fitted__()


def test_clones_have_the_parameters_of_a_subclass():
    from sklearn.base import clone

    class Extended(nlptx.TextClassifier):
        def __init__(self, extra=1, **parameters):
            super().__init__(**parameters)
            self.extra = extra

    copy = clone(Extended(extra=3, epochs=1))
    assert (copy.extra, copy.epochs) == (3, 1)


@pytest.mark.parametrize("make", [list, np.array])
def test_pipelines_and_cross_validation(make):
    from sklearn.model_selection import cross_val_predict, cross_val_score
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer

    lowercase = FunctionTransformer(lambda texts: [text.lower() for text in texts])
    pipeline = make_pipeline(lowercase, nlptx.TextClassifier(**SMALL))
    assert "TextClassifier" in pipeline._repr_html_()
    upper = make([text.upper() for text in TEXTS])
    scores = cross_val_score(pipeline, upper, make(LABELS), cv=2, error_score="raise")
    assert np.array_equal(scores, cross_val_score(nlptx.TextClassifier(**SMALL), make(TEXTS), make(LABELS), cv=2))
    p = cross_val_predict(pipeline, upper, make(LABELS), cv=2, method="predict_proba")
    assert np.allclose(p.sum(axis=1), 1)


def test_searches_over_parameters_of_all_stages():
    from sklearn.model_selection import GridSearchCV

    grid = {"ngrams": [0, 2], "cooccur__window": np.array([2, 5])}
    search = GridSearchCV(nlptx.TextClassifier(**SMALL), grid, cv=2, scoring="neg_log_loss", error_score="raise")
    search.fit(TEXTS, LABELS)
    assert len(search.cv_results_["params"]) == 4
    best = search.best_estimator_.model_
    assert best.settings.ngrams == search.best_params_["ngrams"]
    counted = best.made_from["made_from"]["settings"]
    assert counted["window"] == search.best_params_["cooccur__window"]
    assert set(search.predict(TEXTS)) <= set(LABELS)


def test_calibration():
    from sklearn.calibration import CalibratedClassifierCV

    calibrated = CalibratedClassifierCV(nlptx.TextClassifier(**SMALL), cv=2).fit(TEXTS, LABELS)
    assert np.allclose(calibrated.predict_proba(TEXTS).sum(axis=1), 1)


def test_metadata_routing_passes_the_requested_weights():
    from sklearn import config_context
    from sklearn.base import clone
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.model_selection import GridSearchCV

    classifier = nlptx.TextClassifier(**SMALL | {"epochs": 0})
    weights = np.array([5.0 * (label == "pos") + 1 for label in LABELS])
    with config_context(enable_metadata_routing=True):
        for request in (None, "other"):
            with pytest.raises(ValueError, match="sample_weight"):
                CalibratedClassifierCV(clone(classifier)).fit(TEXTS, LABELS, sample_weight=weights)
            classifier.set_fit_request(sample_weight=request)
        assert clone(classifier).get_metadata_routing().fit.requests["sample_weight"] == "other"
        classifier.set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        search = GridSearchCV(classifier, {"seed": [1, 2]}, cv=2, error_score="raise")
        search.fit(TEXTS, LABELS, sample_weight=weights)
        assert np.array_equal(
            search.best_estimator_.model_.priors, classifier.fit(TEXTS, LABELS, weights).model_.priors
        )
        assert search.best_estimator_.model_.priors[1] > 0.5
        classifier.set_score_request(sample_weight=False)
        CalibratedClassifierCV(classifier, cv=2).fit(TEXTS, LABELS, sample_weight=weights)
        with pytest.raises(TypeError, match="`score` has no argument `valid` that can be requested"):
            classifier.set_score_request(valid=True)
