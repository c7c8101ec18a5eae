"""For the fuzz tests: small valid artifacts of all kinds, and functions that use them as the commands do."""

import contextlib
import io

from made_once import made_once
from sample_data import PLAIN, make_rows

import nlptx.artifacts.container as artifacts
from nlptx.classifier.explain import explain
from nlptx.classifier.model import Model
from nlptx.cli.commands.info import info
from nlptx.cooccurrence.matrix import Cooccurrence, count
from nlptx.embeddings.embeddings import Embeddings
from nlptx.pca.fit import fit_pca
from nlptx.settings import CountSettings, PcaSettings, TrainSettings
from nlptx.training.fit import fit

TEXTS = ["great film", "", "awful \0 \ud800 \u202e x", " ".join(PLAIN * 12)]
TRAIN = {"epochs": 1, "warmup": 0, "heads": 2, "width": 8, "attention_window": 32}
MODELS = {
    "model": {},
    "half": {"compact": True, "ngram_min_texts": 5},
    "plain": {"ngrams": 0, "attention": "plain", "loss": "squared-error", "norm": "post", "blocks": 2},
    "flat": {"pool": "flatten", "long_texts": "head", "positions": "learned", "ngrams": 1, "causal": True},
    "wide": {"head_width": "wide", "pool": "attention", "width": 0, "norm_gain": False, "activation": "gelu"},
}


def stored_specimens(tmp_path_factory):
    """Return the bytes of the specimens by name."""
    return {path.name: path.read_bytes() for path in made_once(tmp_path_factory, "specimens", make).iterdir()}


def make(folder):
    """Write the specimens into ``folder``."""
    rows = make_rows(("neg", "pos"), 40, seed=1)
    texts, labels = [text for text, _ in rows], [label for _, label in rows]
    kinds = make_rows(("drama", "comedy", "western"), 30, seed=2)
    counts = count(texts, CountSettings(min_count=1), jobs=1)
    vectors = fit_pca(counts, PcaSettings(components=6), jobs=1)
    made = {"cooccurrence": counts.to_artifact(), "embeddings": vectors.to_artifact()}
    for name, changes in MODELS.items():
        settings = TrainSettings(**(TRAIN | changes))
        made[name] = fit(texts, labels, vectors, settings, jobs=1).to_artifact()
    three = fit(*zip(*kinds, strict=True), vectors, TrainSettings(**TRAIN), jobs=1)
    made["kinds"] = three.to_artifact()
    for name, artifact in made.items():
        artifacts.write(str(folder / name), artifact)
    vectors.save(folder / "vectors.txt")


def use(path):
    """Use an artifact of any kind in every way that the commands do."""
    artifact = artifacts.read(str(path))
    if artifact.kind == "cooccurrence":
        counts = artifacts.build(artifact, Cooccurrence.from_artifact, str(path))
        for settings in (PcaSettings(components=2), PcaSettings(components=2, transform="none", block=1, degree=1)):
            fit_pca(counts, settings, jobs=1)
    elif artifact.kind == "embeddings":
        use_vectors(artifacts.build(artifact, Embeddings.from_artifact, str(path)), path)
    else:
        model = artifacts.build(artifact, Model.from_artifact, str(path))
        probabilities = model.predict_proba(TEXTS, jobs=1)
        assert abs(probabilities.sum(axis=1) - 1).max() < 1e-9
        model.scores(probabilities)
        explain(model, "great film and story", None)
        use_vectors(model.embeddings(), path)
    with contextlib.redirect_stdout(io.StringIO()):
        info.main([str(path)], standalone_mode=False)
        info.main([str(path), "--json"], standalone_mode=False)


def use_vectors(vectors, path):
    """Compute nearest neighbours and an analogy, and write the vectors as text."""
    word = vectors.vocabulary.words[0].lower()
    vectors.nearest(word)
    vectors.analogy(word, word, word)
    vectors.save(f"{path}.txt")
