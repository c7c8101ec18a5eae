"""A second classifier, which looks for the strongest regions of a text; trained apart from the network."""

from nlptx.regions.classifier import RegionClassifier
from nlptx.regions.contexts import context_weights
from nlptx.regions.learning import TrainingTexts, fit_region_classifier
from nlptx.regions.ngrams import RegionNgrams
from nlptx.regions.serialization import read_region_classifier, region_arrays, rounded
from nlptx.regions.vectors import fit_vectors
from nlptx.regions.without_each import outputs_without_each

__all__ = [
    "RegionClassifier",
    "RegionNgrams",
    "TrainingTexts",
    "context_weights",
    "fit_region_classifier",
    "fit_vectors",
    "outputs_without_each",
    "read_region_classifier",
    "region_arrays",
    "rounded",
]
