"""Scores the texts of a corpus, and writes the predictions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from nlptx.classifier.model import Model
from nlptx.classifier.scoring import score
from nlptx.cli.results.known_words import KnownWords
from nlptx.cli.results.prediction_writer import PredictionWriter
from nlptx.corpus.corpus import Corpus
from nlptx.corpus.labelled import documents_with_text
from nlptx.corpus.left_out import LeftOut
from nlptx.runtime.workers import Workers


@dataclass
class ScoredTexts:
    """Facts to report about the texts that were scored.

    Args:
        known_words: counts of the known words, and of the texts that are unlike the training texts.
        texts: number of texts.
        answered: number of texts that got a label.
        renamed: usual name -> new name, for each prediction column that was renamed because an input column has the
            same name.
        left_out: the rows that were left out: how many, why, and where.
    """

    known_words: KnownWords = field(default_factory=KnownWords)
    texts: int = 0
    answered: int = 0
    renamed: dict[str, str] = field(default_factory=dict)
    left_out: LeftOut = field(default_factory=LeftOut)

    def add(self, other: ScoredTexts, where: Callable[[str], str]) -> None:
        """Add the facts about the next partition of the input.

        Args:
            other: facts about the texts of this partition.
            where: converts a position in the partition to a position in the whole input.
        """
        self.known_words.extend(other.known_words, where)
        self.texts += other.texts
        self.answered += other.answered
        self.renamed |= other.renamed
        self.left_out.extend(other.left_out, where)


def score_corpus(corpus: Corpus, model: Model, rows: PredictionWriter, workers: Workers) -> ScoredTexts:
    """Score the texts of a corpus, and write a row for each.

    Raises:
        ArtifactError, NlptxError: as for ``classifier.scoring.score``.
        DataError: an input cannot be read, or the columns of two tables differ.
    """
    result = ScoredTexts(renamed=rows.renamed, left_out=corpus.left_out)
    pairs = ((document, document.text) for document in documents_with_text(corpus))
    for batch in score(model, pairs, workers):
        for document, scored in batch:
            result.known_words.add(document.where, scored)
            result.texts += 1
            result.answered += scored.is_answered(rows.options.abstain, prior=rows.options.prior)
            rows.write(document, scored)
        rows.flush()
    if corpus.source is not None:
        rows.write_missing_header(corpus.source)
    return result
