"""The region classifier: a second classifier, each of whose filters looks for the region with the largest response.

This classifier is trained separately from the network. The training functions are not imported here, because they need
SciPy, which is slow to import.
"""

from nlptx.regions.classifier import RegionClassifier
from nlptx.regions.leave_one_out import region_outputs_without_each
from nlptx.regions.ngrams import RegionNgrams
from nlptx.regions.serialization import read_region_classifier, region_arrays

__all__ = [
    "RegionClassifier",
    "RegionNgrams",
    "read_region_classifier",
    "region_arrays",
    "region_outputs_without_each",
]
