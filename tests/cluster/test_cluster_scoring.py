"""Tests of scoring on the workers of a cluster."""

import shutil

from sample_data import make_rows

import nlptx
from nlptx.cluster.scoring import load_cached


def test_a_worker_loads_a_model_again_if_its_file_was_replaced(tmp_path):
    texts, labels = zip(*make_rows(("neg", "pos"), 40, seed=1), strict=True)
    settings = nlptx.TrainSettings(epochs=0, lsa_components=0)
    first = nlptx.fit(texts, labels, settings=settings, jobs=1)
    second = nlptx.fit(texts, [*labels[1:], labels[0]], settings=settings, jobs=1)
    path, other = tmp_path / "model.npz", tmp_path / "other.npz"
    first.save(path)
    second.save(other)
    cached = load_cached(str(path))
    assert load_cached(str(path)) is cached
    shutil.copy(other, tmp_path / "copy.npz")
    (tmp_path / "copy.npz").replace(path)
    assert load_cached(str(path)).predict_proba(texts).tolist() == second.predict_proba(texts).tolist()
    assert cached.predict_proba(texts).tolist() == first.predict_proba(texts).tolist()
