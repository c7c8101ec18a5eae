"""Trains transformers to classify text. NumPy and SciPy do all the numerical work.

    >>> import nlptx
    >>> nlptx.Model.load().predict(["I loved it"])           # the model that comes with nlptx
    ['pos']

There are three ways to train your own model: with a scikit-learn estimator, with a single function, or in three steps:

    >>> texts, labels = ["a good film", "a bad film", "so good", "so bad"] * 5, [1, 0, 1, 0] * 5
    >>> nlptx.TextClassifier(epochs=5, lr=0.01, warmup=0).fit(texts, labels).predict(["so good"])
    array([1])
    >>> model = nlptx.fit(texts, labels)
    >>> counts = nlptx.count(texts)                          # sparse word-by-word co-occurrence
    >>> embeddings = nlptx.fit_pca(counts, nlptx.PcaSettings(components=4))     # power-iteration PCA
    >>> model = nlptx.fit(texts, labels, embeddings)         # encoder transformer
    >>> model
    <Model: labels 0, 1; 5 words, ... parameters>
    >>> model.save("model.npz")
    >>> nlptx.evaluate(nlptx.Model.load("model.npz"), texts, labels)
    <Report: 20 texts, accuracy ...>

Submodules are imported on first use, so that ``import nlptx`` is fast.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from nlptx.version import __version__ as __version__

if TYPE_CHECKING:
    from nlptx.classifier.explain import explain as explain
    from nlptx.classifier.model import Model as Model
    from nlptx.cooccurrence.matrix import Cooccurrence as Cooccurrence
    from nlptx.cooccurrence.matrix import count as count
    from nlptx.corpus.read_options import ReadOptions as ReadOptions
    from nlptx.corpus.training_data import read_training_data as read_training_data
    from nlptx.embeddings.embeddings import Embeddings as Embeddings
    from nlptx.embeddings.embeddings import load_embeddings as load_embeddings
    from nlptx.errors import NlptxError as NlptxError
    from nlptx.estimator.text_classifier import TextClassifier as TextClassifier
    from nlptx.evaluation.evaluate import evaluate as evaluate
    from nlptx.pca.fit import fit_pca as fit_pca
    from nlptx.settings import CountSettings as CountSettings
    from nlptx.settings import PcaSettings as PcaSettings
    from nlptx.settings import TrainSettings as TrainSettings
    from nlptx.training.fit import fit as fit

# Public name -> name of the module that defines it, without the prefix ``nlptx.``.
_MODULE_OF = {
    "Cooccurrence": "cooccurrence.matrix",
    "CountSettings": "settings",
    "Embeddings": "embeddings.embeddings",
    "Model": "classifier.model",
    "NlptxError": "errors",
    "PcaSettings": "settings",
    "ReadOptions": "corpus.read_options",
    "TextClassifier": "estimator.text_classifier",
    "TrainSettings": "settings",
    "count": "cooccurrence.matrix",
    "evaluate": "evaluation.evaluate",
    "explain": "classifier.explain",
    "fit": "training.fit",
    "fit_pca": "pca.fit",
    "load_embeddings": "embeddings.embeddings",
    "read_training_data": "corpus.training_data",
}

__all__ = [*_MODULE_OF, "__version__"]


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'nlptx' has no attribute {name!r}")
    return getattr(import_module(f"nlptx.{_MODULE_OF[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})
