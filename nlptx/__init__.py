"""Text classification from raw text to a trained transformer, in NumPy and SciPy alone.

    >>> import nlptx
    >>> counts = nlptx.count(texts)                          # sparse word-by-word co-occurrence
    >>> embeddings = nlptx.fit_pca(counts)                   # power-iteration PCA
    >>> model = nlptx.fit(texts, labels, embeddings)         # encoder transformer
    >>> model.predict(["I loved it"])
    >>> nlptx.Model.load("model.npz").predict_proba(["I loved it"])

Everything is imported on first use, so that importing nlptx costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from nlptx.classifier.model import Model as Model
    from nlptx.cooccurrence.matrix import Cooccurrence as Cooccurrence
    from nlptx.cooccurrence.matrix import count as count
    from nlptx.corpus.training_data import read_training_data as read_training_data
    from nlptx.embeddings.embeddings import Embeddings as Embeddings
    from nlptx.embeddings.embeddings import load_embeddings as load_embeddings
    from nlptx.errors import NlptxError as NlptxError
    from nlptx.pca.fit import fit_pca as fit_pca
    from nlptx.settings import CountSettings as CountSettings
    from nlptx.settings import PcaSettings as PcaSettings
    from nlptx.settings import TrainSettings as TrainSettings
    from nlptx.training.fit import fit as fit

_HOMES = {
    "Cooccurrence": "cooccurrence.matrix",
    "CountSettings": "settings",
    "Embeddings": "embeddings.embeddings",
    "Model": "classifier.model",
    "NlptxError": "errors",
    "PcaSettings": "settings",
    "TrainSettings": "settings",
    "count": "cooccurrence.matrix",
    "fit": "training.fit",
    "fit_pca": "pca.fit",
    "load_embeddings": "embeddings.embeddings",
    "read_training_data": "corpus.training_data",
}

__all__ = [*_HOMES, "__version__"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'nlptx' has no attribute {name!r}")
    return getattr(import_module(f"nlptx.{_HOMES[name]}"), name)
