"""The settings that ``tune`` changes, the values that it tries, and the changes that it makes to a recipe."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import fields, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nlptx.experiments.experiment import Recipe
from nlptx.experiments.same_effect import Effects
from nlptx.settings import AUTOMATIC, NetworkSettings, Settings
from nlptx.settings.without_network import UNUSED
from nlptx.training.embedding_builder import EmbeddingBuilder

# Settings, as stage.setting -> values to try. Settings in one tuple change together, because some of their combinations
# are useful and others are not. For example, whitening (``eigenvalue_weight`` 0) works best with standardised rows.
_CHOICES: dict[tuple[str, ...], tuple[tuple[Any, ...], ...]] = {
    ("cooccur.window",): ((3,), (5,), (10,), (20,)),
    ("pca.components",): ((64,), (128,), (256,)),
    ("pca.smoothing",): ((0.75,), (1.0,)),
    ("pca.standardize", "pca.eigenvalue_weight"): ((False, 0.5), (False, 0.0), (False, 1.0), (True, 0.0), (True, 0.5)),
    ("train.ngram_min_texts",): ((0,), (1,), (3,)),
    ("train.lsa_components",): ((0,), (100,), (300,)),
    ("train.width",): ((32,), (64,), (128,)),
    ("train.blocks",): ((1,), (2,)),
    ("train.epochs",): ((AUTOMATIC,), (1,), (2,), (3,), (4,), (5,), (6,), (8,)),
    ("train.lr",): ((5e-4,), (1e-3,), (2e-3,), (4e-3,)),
    ("train.word_dropout",): ((0.0,), (0.1,), (0.2,), (0.3,), (0.4,)),
    ("train.dropout",): ((0.0,), (0.1,), (0.2,), (0.3,)),
    ("train.valid_share",): ((0.0,), (0.1,)),
}
# Combinations of changes that often help, which are tried first. With few texts, it helps to train for four epochs, to
# drop more words, and to hold out no texts. A higher learning rate may help, because there are few steps. Rare n-grams
# help if the texts are few and short. If all texts are short, LSA can be left out, because it finds few topics in them.
# Narrow windows and whitening make the word vectors describe how words are used rather than what texts are about. With
# many or long texts, fewer epochs and fewer n-grams give equally good models.
_FEW_TEXTS = {"train.epochs": 4, "train.word_dropout": 0.2, "train.valid_share": 0.0}
_HIGH_RATE = {"train.lr": 2e-3}
_RARE_NGRAMS = {"train.ngram_min_texts": 1}
_NO_LSA = {"train.lsa_components": 0}
_USAGE = {"cooccur.window": 5, "pca.smoothing": 0.75, "pca.standardize": True, "pca.eigenvalue_weight": 0.0}
_LARGE_NETWORK = {"train.width": 128, "train.blocks": 2}
_HELPFUL = (
    _FEW_TEXTS,
    _FEW_TEXTS | _HIGH_RATE,
    _FEW_TEXTS | _HIGH_RATE | _RARE_NGRAMS,
    _FEW_TEXTS | _HIGH_RATE | _NO_LSA | _LARGE_NETWORK,
    _FEW_TEXTS | _RARE_NGRAMS | _NO_LSA | _USAGE | _LARGE_NETWORK,
    {"train.epochs": 1, "train.ngram_min_texts": 3},
)
# New settings are copies of earlier ones with random changes. Average number of changes in a copy, approximately.
_CHANGES = 2
# Number of copies from which the additive model chooses, and the strength of the model's regularisation.
_POOL, _RIDGE = 50, 0.3
# Settings, as stage.setting -> value.
Values = dict[str, Any]


class SearchSpace(NamedTuple):
    """The settings that tuning may change, and the values that it may try.

    Args:
        groups: names of settings that change together -> possible combinations of their values.
        replacements: for each setting, a dictionary that maps a value to the value that is tested instead, because both
            have the same effect. Values with the same effect as the starting value are mapped to the starting value, so
            every change has an effect.
    """

    groups: dict[tuple[str, ...], tuple[tuple[Any, ...], ...]]
    replacements: dict[str, dict[Any, Any]]

    @classmethod
    def of(cls, recipe: Recipe, fixed: Collection[str] = (), effects: Effects | None = None) -> SearchSpace:
        """Return the settings that may change.

        Args:
            recipe: recipe to start from. If the recipe does not make word vectors, the counting and PCA settings stay
                fixed. If training starts from an existing model, the network and n-gram settings stay fixed.
                If there is no network (``epochs=0``), only the n-gram settings and the held-out fraction change.
            fixed: names of settings that must not change, as ``stage.setting``.
            effects: setting -> function of a value of this setting. Values for which the function returns the same
                result have the same effect, so only one of them is tested. Empty by default.
        """
        excluded = set(fixed)
        if not isinstance(recipe.vectors, EmbeddingBuilder) or not recipe.train.epochs:
            excluded |= {name for names in _CHOICES for name in names if not name.startswith("train.")}
        elif recipe.vectors.pca.transform != "ppmi":
            excluded.add("pca.smoothing")
        if recipe.start is not None:
            excluded |= {f"train.{item.name}" for item in fields(NetworkSettings)}
            excluded |= {"train.ngram_min_texts", "train.lsa_components"}
        if not recipe.train.epochs:
            excluded |= {"train.epochs", *(f"train.{name}" for name in UNUSED)}
        if not recipe.train.ngrams:
            excluded |= {"train.ngram_min_texts", "train.lsa_components"}
        groups = {names: values for names, values in _CHOICES.items() if not excluded & set(names)}
        start, replacements = values_of(recipe), dict[str, dict[Any, Any]]()
        for name, effect in (effects or {}).items():
            first_with_effect = dict[Any, Any]()
            choices = (start[name], *(value for (value,) in _CHOICES[name,]))
            replacements[name] = {value: first_with_effect.setdefault(effect(value), value) for value in choices}
        return cls(groups, replacements)

    def helpful(self, center: Values, tried: Collection[str]) -> list[Values]:
        """Return copies of ``center`` that are not in ``tried``, each with a combination of changes that often helps.

        Fixed settings keep their values.
        """
        names = {name for group in self.groups for name in group}
        changed = (center | {name: value for name, value in changes.items() if name in names} for changes in _HELPFUL)
        by_name = {name_of(values): values for values in map(self._with_replacements, changed)}
        return [values for name, values in by_name.items() if name not in tried]

    def neighbours(
        self,
        center: Values,
        tried: Collection[str],
        observed: Sequence[tuple[Values, float]],
        rng: np.random.Generator,
        count: int,
    ) -> list[Values]:
        """Return up to ``count`` copies of ``center`` that are not in ``tried``, each with random changes.

        The first copy is changed at random. For each further copy, several randomly changed copies are made, and the
        copy for which an additive model predicts the lowest loss is chosen; see :class:`AdditiveModel`.

        Args:
            center: settings to change.
            tried: names of the settings that have been tried; see :func:`name_of`.
            observed: settings and their losses, to which the additive model is fitted.
            rng: random number generator.
            count: maximum number of copies to return.
        """
        known, neighbours = set(tried), list[Values]()
        model = AdditiveModel(self, observed)
        for _ in range(count if self.groups else 0):
            pool = [self._change(center, rng) for _ in range(_POOL)]
            pool = [values for values in pool if name_of(values) not in known]
            if not pool:
                break
            chosen = min(pool, key=model.predict) if neighbours else pool[0]
            known.add(name_of(chosen))
            neighbours.append(chosen)
        return neighbours

    def _change(self, center: Values, rng: np.random.Generator) -> Values:
        """Return a copy of the settings, with some of them changed at random."""
        changed = dict(center)
        chosen = rng.random(len(self.groups)) < _CHANGES / len(self.groups)
        chosen[rng.integers(len(self.groups))] = True
        for (names, values), changes in zip(self.groups.items(), chosen.tolist(), strict=True):
            if changes:
                others = [value for value in values if value != tuple(center[name] for name in names)]
                changed |= dict(zip(names, others[rng.integers(len(others))], strict=True))
        return self._with_replacements(changed)

    def _with_replacements(self, values: Values) -> Values:
        """Return settings whose values are replaced according to ``replacements``."""
        return {name: self.replacements.get(name, {}).get(value, value) for name, value in values.items()}


class AdditiveModel:
    """Predicts the loss of settings as a sum of effects, one for the value of each setting, fitted by ridge regression.

    Args:
        space: the settings whose effects are added, each with its possible values.
        observed: settings and their losses, to which the model is fitted.
    """

    def __init__(self, space: SearchSpace, observed: Sequence[tuple[Values, float]]) -> None:
        pairs = [(names, choice) for names, choices in space.groups.items() for choice in choices]
        self._positions = {pair: position for position, pair in enumerate(pairs)}
        self._groups = tuple(space.groups)
        if not observed:
            self._effects = np.zeros(len(pairs))
            return
        x = np.array([self._indicators(values) for values, _ in observed])
        y = np.array([loss for _, loss in observed])
        x, y = x - x.mean(axis=0), y - y.mean()
        self._effects = np.linalg.solve(x.T @ x + _RIDGE * np.eye(x.shape[1]), x.T @ y)

    def predict(self, values: Values) -> float:
        """Return the predicted loss, up to a constant that is the same for all settings."""
        return float(self._indicators(values) @ self._effects)

    def _indicators(self, values: Values) -> NDArray[np.float64]:
        """Return a vector with one entry per combination of values of each group: 1 if ``values`` has it, else 0."""
        indicators = np.zeros(len(self._positions))
        for names in self._groups:
            position = self._positions.get((names, tuple(values[name] for name in names)))
            if position is not None:
                indicators[position] = 1
        return indicators


def values_of(recipe: Recipe) -> Values:
    """Return all settings of a recipe, as ``stage.setting`` -> value."""
    stages: dict[str, Settings] = {"train": recipe.train}
    if isinstance(recipe.vectors, EmbeddingBuilder):
        stages = {"cooccur": recipe.vectors.cooccur, "pca": recipe.vectors.pca, **stages}
    return {
        f"{stage}.{name}": value for stage, settings in stages.items() for name, value in settings.to_dict().items()
    }


def with_values(recipe: Recipe, values: Values) -> Recipe:
    """Return a copy of a recipe with the given settings.

    Raises:
        SettingsError: the settings contradict each other.
    """
    stages: dict[str, dict[str, Any]] = {"cooccur": {}, "pca": {}, "train": {}}
    for name, value in values.items():
        stage, _, setting = name.partition(".")
        stages[stage][setting] = value
    vectors = recipe.vectors
    if isinstance(vectors, EmbeddingBuilder):
        cooccur, pca = replace(vectors.cooccur, **stages["cooccur"]), replace(vectors.pca, **stages["pca"])
        vectors = replace(vectors, cooccur=cooccur, pca=pca)
    return replace(recipe, train=replace(recipe.train, **stages["train"]), vectors=vectors)


def differences(values: Values, default: Values) -> Values:
    """Return the settings that differ from ``default``."""
    return {name: value for name, value in values.items() if value != default[name]}


def name_of(values: Values) -> str:
    """Return a name for settings. Two names are the same if and only if the settings are equal."""
    return repr(sorted(values.items()))
