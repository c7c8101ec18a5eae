"""What naive Bayes knows of a text: evidence of word n-grams, for the network to build on.

Two kinds, both counted on the training texts: for each place of a text, how strongly the n-grams that end
there speak for a class (:mod:`ngrams`); and for the text as a whole, the output of a linear model of all
its n-grams (:mod:`linear`). A training text never sees numbers its own label went into (:mod:`fit`).
"""

from nlptx.evidence.known import Evidence, TextEvidence
from nlptx.evidence.ngrams import LARGEST_VOCABULARY, evidence_width

__all__ = ["LARGEST_VOCABULARY", "Evidence", "TextEvidence", "evidence_width"]
