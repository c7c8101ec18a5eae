"""A second classifier, trained separately from the network: its filters look for the strongest regions of a text.

The functions for training need SciPy, which is slow to import. They are therefore not imported here.
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
