"""Finds values of a setting that have the same effect in an experiment, so that ``tune`` tests only one of them.

For example, word vectors have at most as many components as there are words. With 100 words, 128 and 256 components
therefore have the same effect.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from functools import partial
from itertools import accumulate, chain
from typing import Any

from nlptx.experiments.experiment import Experiment, Recipe
from nlptx.ngrams.cross_fit import OUT_OF_CORE_TEXTS
from nlptx.ngrams.lsa import TEXTS_PER_COMPONENT
from nlptx.settings import AUTOMATIC, CountSettings
from nlptx.text.tokenizer import Tokenizer
from nlptx.training.automatic import EPOCHS, FEW_WORDS, epochs_for_large_corpus, is_from_large_corpus
from nlptx.training.embedding_builder import EmbeddingBuilder
from nlptx.training.ngram_features import MAX_LABELS, automatic_min_texts

# Maps the name of a setting, such as "train.epochs", to a function of its value. Values for which the function returns
# the same result are equivalent in all folds.
Effects = dict[str, Callable[[Any], Any]]


def effects_of(experiment: Experiment, recipe: Recipe) -> Effects:
    """Return, for each setting, a function that maps values with the same effect in the experiment to the same result.

    Settings are left out if all their values have different effects.
    """
    vectors = recipe.vectors
    if vectors is None:
        return {"train.epochs": _epochs}  # training starts from a model, and keeps its word vectors and n-grams
    texts = len(experiment.texts) + len(experiment.unlabelled)
    max_components = 0 if len(experiment.label_names) > MAX_LABELS else texts // TEXTS_PER_COMPONENT
    effects: Effects = {"train.lsa_components": lambda value: min(value, max_components)}
    if isinstance(vectors, EmbeddingBuilder):
        tokenizer = Tokenizer(vectors.cooccur.tokenizer, vectors.cooccur.lowercase)
        counted = (experiment.texts, experiment.unlabelled, vectors.more_texts)
        effects["pca.components"] = partial(_components, counted, tokenizer, vectors.cooccur)
        has_large_corpus = _has_many_words(counted, tokenizer)
    else:
        tokenizer = vectors.vocabulary.tokenizer
        has_large_corpus = is_from_large_corpus(vectors.vocabulary)
    # A model is trained on at least about half of the texts: on half with two folds, and on more with more folds.
    if not has_large_corpus or epochs_for_large_corpus(len(experiment.texts) // 2, recipe.train.batch) == EPOCHS:
        effects["train.epochs"] = _epochs
    if (min_texts := _automatic_min_texts(experiment, recipe, tokenizer)) is not None:
        effects["train.ngram_min_texts"] = lambda value: value or min_texts
    return effects


def _automatic_min_texts(experiment: Experiment, recipe: Recipe, tokenizer: Tokenizer) -> int | None:
    """Return the number that ``ngram_min_texts=0`` (automatic) stands for, or None if it may differ between folds."""
    if len(experiment.texts) + len(experiment.unlabelled) >= OUT_OF_CORE_TEXTS:
        return None  # the automatic setting also drops rare n-grams if they need too much memory
    labels = len(experiment.label_names)
    # The training texts of a fold have at most as many words as all texts, so larger numbers of words are not checked.
    words = accumulate(len(tokenizer(text)) for text in experiment.texts)
    for_few_words = automatic_min_texts(0, recipe.train, labels)
    is_same = all(automatic_min_texts(number, recipe.train, labels) == for_few_words for number in words)
    return for_few_words if is_same else None


def _epochs(value: int) -> int:
    """Return the number of epochs for a value of ``epochs``, where the automatic value stands for EPOCHS."""
    return EPOCHS if value == AUTOMATIC else value


def _has_many_words(parts: Iterable[Iterable[str]], tokenizer: Tokenizer) -> bool:
    """Return whether the texts have more than FEW_WORDS words in total."""
    words = accumulate(len(tokenizer(text)) for text in chain.from_iterable(parts))
    return any(number > FEW_WORDS for number in words)


def _components(parts: Iterable[Iterable[str]], tokenizer: Tokenizer, settings: CountSettings, components: int) -> int:
    """Return the number of components of the word vectors: ``components``, but at most one per counted word."""
    counts = Counter[str]()
    frequent = 0
    for text in chain.from_iterable(parts):
        for word in tokenizer(text):
            counts[word] += 1
            frequent += counts[word] == settings.min_count
        if frequent >= components:
            break
    # If fewer than two words reach ``min_count``, all words are counted (see EmbeddingBuilder).
    words = frequent if frequent >= 2 else len(counts)
    return min(components, words, settings.max_words)
