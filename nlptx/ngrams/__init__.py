"""What the n-grams of a text say of its class: ngram_features for the network to build on.

For each place of a text, how strongly the n-grams that end there speak for a class (naive Bayes, :mod:`ngrams`); and
for the text as a whole, what two linear models of all its n-grams say: one of the same ratios, one of the principal
components of the texts (:mod:`linear`, :mod:`components`). A training text never sees numbers its own label went into
(:mod:`fit`). From word ids (T,) of a text to what the network is given::

    word ids (T,) -> n-grams that end at each word (T, order) -> places in keys (G,) -> ratios      (T, order E)
                                                                                     -> two sums    (M E,)

Axis letters, beside those of :mod:`nlptx.nn`: G known n-grams, E numbers an n-gram has (1 for two classes, else one
for each), M linear models.
"""

from nlptx.ngrams.features import NgramFeatures, TextFeatures
from nlptx.ngrams.naive_bayes import LARGEST_VOCABULARY, feature_width

__all__ = ["LARGEST_VOCABULARY", "NgramFeatures", "TextFeatures", "feature_width"]
