"""N-gram features: inputs of the network that are computed from the n-grams of a text and indicate its class.

The token features measure how strongly the n-grams that end at each position indicate a class. These features are
naive-Bayes log-count ratios (:mod:`nlptx.ngrams.naive_bayes`). The text features are the outputs of two linear models
(:mod:`nlptx.ngrams.logistic_regression`): the *ratio model*, on the log-count ratios, and the *LSA model*, on the LSA
components of the texts (:mod:`nlptx.ngrams.lsa`). The features of a training text come from models that are not fitted
on its label (:mod:`nlptx.ngrams.cross_fit`). If there are many texts, the features are fitted by a method that needs
less memory (:mod:`nlptx.ngrams.out_of_core`). If there are many labels, the only features are the outputs of sparse
linear models, one per label (:mod:`nlptx.ngrams.sparse_cross_fit`). A third linear model
(:mod:`nlptx.ngrams.subword_model`) is fitted after the network, and its weights are added to those of the ratio model.

The features of a text are computed from its word ids (T,) as follows::

    word ids (T,) -> n-grams that end at each word (T, order) -> indices in keys (G,) -> token features (T, order E)
                                                                                      -> text features  (M E,)

``order`` is the length of the longest n-gram, and ``keys`` contains a key for each known n-gram. Axis letters, in
addition to those of :mod:`nlptx.nn`: G known n-grams, E numbers per n-gram (1 for two classes of which each text has
exactly one, otherwise one per class), M linear models. ``order E`` and ``M E`` are products.
"""

from nlptx.ngrams.features import NgramFeatures, TextFeatures
from nlptx.ngrams.naive_bayes import feature_width
from nlptx.ngrams.ngram_keys import MAX_VOCABULARY

__all__ = ["MAX_VOCABULARY", "NgramFeatures", "TextFeatures", "feature_width"]
