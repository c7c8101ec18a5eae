"""A second classifier, which looks for the strongest regions of a text; trained separately from the network.

The functions for training import SciPy, so they are imported from their own modules.
"""

from nlptx.regions.classifier import RegionClassifier
from nlptx.regions.ngrams import RegionNgrams
from nlptx.regions.serialization import read_region_classifier, region_arrays
from nlptx.regions.without_each import outputs_without_each

__all__ = [
    "RegionClassifier",
    "RegionNgrams",
    "outputs_without_each",
    "read_region_classifier",
    "region_arrays",
]
