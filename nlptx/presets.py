"""Presets and efforts: named sets of settings, which replace the defaults of the commands.

Presets are the settings used in two articles:

- ``goldstraw``: Goldstraw, "Transformers", an article on building a transformer from scratch for sentiment analysis,
  accompanied by the public repositories RustTransformer and WordEmbeddings.
- ``bloem``: Peter Bloem, "Transformers from scratch", 18 August 2019.

Efforts trade training time for accuracy. The effort ``fast`` trains only linear models on n-grams; ``default`` also
trains the transformer and, if there are enough labelled texts (see :mod:`nlptx.training.automatic`), region
filters (see :mod:`nlptx.regions`); ``best`` trains more region filters, even if there are fewer texts.
"""

from __future__ import annotations

from typing import Any

# The word vectors of ``goldstraw`` have 50 components, computed by plain PCA from standardised raw counts. Its network
# reads the first 12 words of a text, has 2 blocks with 3 heads, each head as wide as the model, and is trained by plain
# SGD.
_GOLDSTRAW: dict[str, dict[str, Any]] = {
    "cooccur": {"window": 4, "weighting": "linear", "min_count": 50},
    "pca": {
        "components": 50,
        "transform": "none",
        "standardize": True,
        "eigenvalue_weight": 1.0,
        "equalize": 0.0,
        "negative_weight": 1.0,
        "spelling_weight": 0.0,
    },
    "train": {
        "width": 0,
        "attention_window": 12,
        "long_texts": "head",
        "blocks": 2,
        "heads": 3,
        "head_width": "wide",
        "hidden": 400,
        "norm": "post",
        "pool": "flatten",
        "loss": "squared-error",
        "ngrams": 0,
        "distill": 0,
        "calibrate": False,
        "freeze": True,
        "optimizer": "sgd",
        "batch": 1,
        "lr": 0.001,
        "schedule": "constant",
        "warmup": 0,
        "clip": 0.0,
        "dropout": 0.0,
        "word_dropout": 0.0,
        "weight_averaging": 0.0,
        "weight_decay": 0.0,
        "epochs": 2,
        "crop": 0,
    },
}

# The network of ``bloem`` reads the first 512 words of a text, has width 128 and 6 blocks with 8 heads, and is trained
# by Adam with a long warm-up.
_BLOEM: dict[str, dict[str, Any]] = {
    "cooccur": {"min_count": 1, "max_words": 50_000},
    "pca": {"components": 128},
    "train": {
        "width": 0,
        "attention_window": 512,
        "long_texts": "head",
        "blocks": 6,
        "heads": 8,
        "norm": "post",
        "pool": "mean",
        "optimizer": "adam",
        "lr": 1e-4,
        "embedding_lr": 1.0,
        "schedule": "constant",
        "warmup": 10_000,
        "batch": 4,
        "clip": 1.0,
        "ngrams": 0,
        "distill": 0,
        "calibrate": False,
        "epochs": 80,
        "crop": 0,
        "word_dropout": 0.0,
        "weight_averaging": 0.0,
    },
}

# Nested dictionaries: name of a preset -> command -> setting -> value.
PRESETS = {"goldstraw": _GOLDSTRAW, "bloem": _BLOEM}
# Nested dictionaries: name of an effort -> command -> setting -> value.
EFFORTS: dict[str, dict[str, dict[str, Any]]] = {
    "fast": {"train": {"epochs": 0}},
    "default": {},
    "best": {"train": {"region_filters": 256}},
}
