"""The region classifier: a convolutional classifier with max-over-time pooling, trained separately from the network.

Each filter finds the region of a text (a few consecutive words) to which it responds most strongly. The training
functions are not imported here, because they need SciPy, which is slow to import.
"""

from nlptx.regions.classifier import RegionClassifier
from nlptx.regions.leave_one_out import region_outputs_without_each
from nlptx.regions.region_ngrams import RegionNgrams
from nlptx.regions.serialization import read_region_classifier, region_arrays

__all__ = [
    "RegionClassifier",
    "RegionNgrams",
    "read_region_classifier",
    "region_arrays",
    "region_outputs_without_each",
]
