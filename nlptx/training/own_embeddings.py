"""Makes word vectors from the training texts themselves, by counting words and PCA, before training starts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

import numpy as np

from nlptx.cooccurrence.count import count_corpus
from nlptx.cooccurrence.stored import Counts
from nlptx.cooccurrence.stored_matrix import StoredCooccurrence
from nlptx.embeddings.embeddings import Embeddings
from nlptx.errors import DataError
from nlptx.io.paths import FilePath, file_name
from nlptx.io.spill import MemoryBudget
from nlptx.pca.fit import fit_pca
from nlptx.runtime.progress import counted
from nlptx.runtime.workers import Workers
from nlptx.settings import DEFAULT_MEMORY, CountSettings, PcaSettings
from nlptx.text.arguments import check_type
from nlptx.text.blocks import in_blocks
from nlptx.text.tokenizer import Tokenizer
from nlptx.text.vocabulary import Vocabulary
from nlptx.training.progress import Progress


@dataclass(frozen=True)
class OwnEmbeddings:
    """Settings for making word vectors from the training texts and the texts without labels.

    The result is the same as with :func:`nlptx.count` and :func:`nlptx.fit_pca`. For a small corpus, the settings are
    adjusted: there are at most as many components as words. If ``min_count`` has its default, and no two words that
    occur ``min_count`` times are near each other, all words are counted instead.

    Args:
        cooccur: settings for counting.
        pca: settings for PCA.
        seed: seed for PCA; by default the seed of the training run.
        memory: memory limit for counting and for PCA, in bytes; data that exceeds it is written to temporary files.
        tmp_dir: folder of the temporary files.
        word_memory: memory limit for the distinct words, in bytes; by default half of ``memory``.
        more_texts: additional texts to count.
        record: information about the corpus to record in the counts, such as its digest.
        on_result: callback that is called with the counts, and then with the embeddings.
    """

    cooccur: CountSettings = CountSettings()
    pca: PcaSettings = PcaSettings()
    seed: int | None = None
    memory: int = DEFAULT_MEMORY
    tmp_dir: FilePath | None = None
    word_memory: int | None = None
    more_texts: Sequence[str] = ()
    record: Mapping[str, Any] = field(default_factory=dict)
    on_result: Callable[[StoredCooccurrence | Embeddings], None] = lambda result: None

    def __post_init__(self) -> None:
        check_type(self.cooccur, CountSettings, "cooccur")
        check_type(self.pca, PcaSettings, "pca")

    def make(
        self,
        texts: Sequence[str],
        unlabelled: Sequence[str],
        seed: int,
        jobs: int | Workers | None,
        on_progress: Callable[[Progress], None],
        on_note: Callable[[str], None],
    ) -> Embeddings:
        """Count the texts and fit the PCA; the arguments are those of :func:`nlptx.fit`.

        Raises:
            DataError: no word occurs ``min_count`` times, or no two words occur near each other.
            OutputError: the temporary files cannot be written.
        """
        folder = None if self.tmp_dir is None else file_name(self.tmp_dir)
        with MemoryBudget(self.memory, folder) as space, Workers.of(jobs, long=True) as workers:
            counts = self._count((texts, unlabelled, self.more_texts), space, workers, on_progress, on_note)
            self.on_result(counts)
            embeddings = self._fit_pca(counts, seed, workers, on_progress, on_note)
        self.on_result(embeddings)
        return embeddings

    def _fit_pca(
        self,
        counts: StoredCooccurrence,
        seed: int,
        workers: Workers,
        on_progress: Callable[[Progress], None],
        on_note: Callable[[str], None],
    ) -> Embeddings:
        settings, words = self.pca, len(counts.vocabulary)
        if settings.components > words:
            on_note(f"the vocabulary has only {words:,} words, so their vectors have {words:,} components")
            settings = replace(settings, components=words)

        def on_round(found: int, residual: float) -> None:
            state = f"{found} of {settings.components}, largest residual {residual:.1e}"
            on_progress(Progress("principal components", found / settings.components, state))

        try:
            return fit_pca(
                counts,
                settings,
                seed=seed if self.seed is None else self.seed,
                # Only workers on this machine, because a cluster cannot read the memory and the files of this process.
                jobs=workers.at_most(workers.jobs),
                memory=self.memory,
                tmp_dir=self.tmp_dir,
                on_round=on_round,
            )
        except DataError as error:
            error.hint = (
                "Check that these are the texts and not the labels. To train on texts of a single word, set"
                " `epochs=0` (linear models alone), or use `embeddings` made from other texts."
            )
            raise

    def no_words(self) -> Embeddings:
        """Return embeddings without words, for training without a network, which adds the words of the texts itself."""
        tokenizer = Tokenizer(self.cooccur.tokenizer, self.cooccur.lowercase)
        words = Vocabulary([], np.zeros(0, np.int64), tokenizer)
        return Embeddings(np.zeros((0, 1), np.float32), words, details={**self.record, "source": "none"})

    def _count(
        self,
        parts: Sequence[Sequence[str]],
        space: MemoryBudget,
        workers: Workers,
        on_progress: Callable[[Progress], None],
        on_note: Callable[[str], None],
    ) -> StoredCooccurrence:
        total = sum(map(len, parts))

        def report(texts_read: int) -> None:
            on_progress(Progress("counting words", texts_read / total, f"{texts_read:,} of {total:,} texts"))

        def with_settings(settings: CountSettings) -> Counts:
            blocks = in_blocks(counted(chain.from_iterable(parts), report))
            return count_corpus(blocks, settings, space, workers, self.word_memory)

        every_word = replace(self.cooccur, min_count=1)
        is_default = self.cooccur.min_count == CountSettings.min_count
        try:
            counts = with_settings(self.cooccur)
        except DataError as error:
            if not is_default:
                error.hint = error.hint.replace("`min_count`", "`cooccur.min_count`")
                raise
            counts = with_settings(every_word)
            on_note(f"{error.message}, so all words are counted instead")
        else:
            if is_default and (len(counts.vocabulary) < 2 or not counts.matrix.indptr()[-1]):
                counts = with_settings(every_word)
                frequent = f"words that occur at least {self.cooccur.min_count} times"
                on_note(f"no two {frequent} are near each other, so all words are counted instead")
        return StoredCooccurrence.of(replace(counts, details={**counts.details, **self.record}))
