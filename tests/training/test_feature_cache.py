"""Tests of the cache of n-gram features, which several training runs share."""

from sample_data import make_rows

from nlptx import TrainSettings, fit
from nlptx.training import ngram_features
from nlptx.training.feature_cache import FeatureCache

ROWS = make_rows(("neg", "pos"), 40, seed=1)
TEXTS, LABELS = [row[0] for row in ROWS], [row[1] for row in ROWS]


def train(cache=None, **settings):
    settings = TrainSettings(**{"epochs": 1, "heads": 2, "lsa_components": 5, **settings})
    return fit(TEXTS, LABELS, settings=settings, jobs=1, feature_cache=cache)


def test_features_are_computed_once_and_do_not_change_the_model(tmp_path, monkeypatch):
    calls, original = [], ngram_features.fit_ngram_features

    def counted(*args, **more):
        calls.append(args)
        return original(*args, **more)

    expected = train(lr=0.01).predict_proba(TEXTS)
    monkeypatch.setattr(ngram_features, "fit_ngram_features", counted)
    cache = FeatureCache(tmp_path)
    train(cache)
    assert (train(cache, lr=0.01).predict_proba(TEXTS) == expected).all()
    assert len(calls) == 1
    for change in ({"lsa_components": 4}, {"ngram_min_texts": 1}, {"valid_share": 0.2}):
        train(cache, **change)
    assert len(calls) == 4


def test_the_least_recently_used_files_are_removed(tmp_path):
    cache, made = FeatureCache(tmp_path, max_bytes=2500), []

    def get(number):
        def make():
            made.append(number)
            return bytes([number]) * 1000

        return cache.get(number, make)

    for number in (1, 2, 1, 3, 1, 2):
        assert get(number) == bytes([number]) * 1000
    assert made == [1, 2, 3, 2]
    assert sum(file.stat().st_size for file in tmp_path.iterdir()) <= 2500


def test_results_that_cannot_be_kept_are_computed_again(tmp_path):
    folder = tmp_path / "missing"
    assert FeatureCache(folder).get("x", lambda: 1) == 1
    assert FeatureCache(folder).get("x", lambda: 2) == 2
    assert FeatureCache().get("x", lambda: 3) == 3
