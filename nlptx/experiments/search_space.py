"""The settings that ``tune`` searches, with the values that it tries, and random changes of a recipe."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import fields, replace
from typing import Any, NamedTuple

import numpy as np

from nlptx.experiments.experiment import Recipe
from nlptx.settings import NetworkSettings, Settings
from nlptx.training.own_embeddings import OwnEmbeddings

# Stage and setting -> values. Settings in one tuple change together, because one without the other makes little sense:
# whitening (weight 0) needs standardised rows.
_CHOICES: dict[tuple[str, ...], tuple[tuple[Any, ...], ...]] = {
    ("cooccur.window",): ((3,), (5,), (10,), (20,)),
    ("pca.components",): ((64,), (128,), (256,)),
    ("pca.smoothing",): ((0.75,), (1.0,)),
    ("pca.standardize", "pca.eigenvalue_weight"): ((False, 0.5), (False, 0.0), (False, 1.0), (True, 0.0), (True, 0.5)),
    ("train.ngram_min_texts",): ((0,), (1,), (3,)),
    ("train.lsa_components",): ((0,), (100,), (300,)),
    ("train.label_order",): (("auto",), ("none",)),
    ("train.width",): ((32,), (64,), (128,)),
    ("train.blocks",): ((1,), (2,)),
    ("train.epochs",): ((1,), (2,), (3,), (4,), (6,)),
    ("train.lr",): ((5e-4,), (1e-3,), (2e-3,)),
    ("train.word_dropout",): ((0.0,), (0.1,), (0.2,), (0.3,)),
    ("train.dropout",): ((0.0,), (0.1,), (0.2,)),
    ("train.valid_share",): ((0.0,), (0.05,), (0.1,)),
}
# Mean number of groups of settings that a random change alters.
_CHANGES = 3
# Maximum number of attempts to find a change that has not been tried.
_ATTEMPTS = 100
# Settings by name, as stage.setting -> value.
Values = dict[str, Any]


class SearchSpace(NamedTuple):
    """The groups of settings that may change, each with the values that it can have."""

    groups: dict[tuple[str, ...], tuple[tuple[Any, ...], ...]]

    @classmethod
    def of(cls, recipe: Recipe, fixed: Collection[str] = (), scale: bool = True) -> SearchSpace:
        """Return the settings that may change.

        Args:
            recipe: recipe to start from. Settings for making word vectors change only if it makes them; the shape of
                the network and the n-gram features change only if it starts from no model.
            fixed: names of settings that must not change, as ``stage.setting``.
            scale: whether the labels form a scale; otherwise ``label_order`` has no effect.
        """
        excluded = set(fixed)
        if not isinstance(recipe.vectors, OwnEmbeddings):
            excluded |= {name for names in _CHOICES for name in names if not name.startswith("train.")}
        if recipe.start is not None:
            excluded |= {f"train.{item.name}" for item in fields(NetworkSettings)}
            excluded |= {"train.ngram_min_texts", "train.lsa_components"}
        if not recipe.train.ngrams:
            excluded |= {"train.ngram_min_texts", "train.lsa_components"}
        if not scale:
            excluded.add("train.label_order")
        return cls({names: values for names, values in _CHOICES.items() if not excluded & set(names)})

    def neighbours(self, center: Values, tried: Collection[str], seed: int, round_number: int) -> Iterator[Values]:
        """Yield random changes of settings that have not been tried; ends if none is found.

        Args:
            center: settings to change.
            tried: names (:func:`name_of`) of the settings that were tried before; it may grow while this iterates.
            seed: seed of the search.
            round_number: number of the round, so that each round has different random numbers.
        """
        rng = np.random.default_rng([seed, round_number])
        if not self.groups:
            return
        for _ in range(_ATTEMPTS):
            changed = dict(center)
            chosen = rng.random(len(self.groups)) < _CHANGES / len(self.groups)
            chosen[rng.integers(len(self.groups))] = True
            for (names, values), changes in zip(self.groups.items(), chosen.tolist(), strict=True):
                others = [value for value in values if value != tuple(center[name] for name in names)]
                value = others[rng.integers(len(others))]
                if changes:
                    changed |= dict(zip(names, value, strict=True))
            if name_of(changed) not in tried:
                yield changed


def values_of(recipe: Recipe) -> Values:
    """Return all settings of a recipe, as ``stage.setting`` -> value."""
    stages: dict[str, Settings] = {"train": recipe.train}
    if isinstance(recipe.vectors, OwnEmbeddings):
        stages = {"cooccur": recipe.vectors.cooccur, "pca": recipe.vectors.pca, **stages}
    return {f"{stage}.{name}": value for stage, of in stages.items() for name, value in of.to_dict().items()}


def with_values(recipe: Recipe, values: Values) -> Recipe:
    """Return a recipe with other settings.

    Raises:
        SettingsError: the settings contradict each other.
    """
    stages: dict[str, dict[str, Any]] = {"cooccur": {}, "pca": {}, "train": {}}
    for name, value in values.items():
        stage, _, setting = name.partition(".")
        stages[stage][setting] = value
    vectors = recipe.vectors
    if isinstance(vectors, OwnEmbeddings):
        cooccur, pca = replace(vectors.cooccur, **stages["cooccur"]), replace(vectors.pca, **stages["pca"])
        vectors = replace(vectors, cooccur=cooccur, pca=pca)
    return replace(recipe, train=replace(recipe.train, **stages["train"]), vectors=vectors)


def differences(values: Values, default: Values) -> Values:
    """Return the settings that differ from those of ``default``."""
    return {name: value for name, value in values.items() if value != default[name]}


def name_of(values: Values) -> str:
    """Return a name for settings, which is the same if and only if they are equal."""
    return repr(sorted(values.items()))
