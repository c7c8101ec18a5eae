"""Makes word vectors from the training texts themselves before training starts, by counting words and fitting PCA."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

import numpy as np

from nlptx.arguments.values import check_type
from nlptx.cooccurrence.count import count_corpus
from nlptx.cooccurrence.counts_artifact import Counts
from nlptx.cooccurrence.stored_matrix import StoredCooccurrence
from nlptx.embeddings.embeddings import Embeddings
from nlptx.errors import DataError, SettingsError
from nlptx.io.memory_budget import MemoryBudget
from nlptx.io.paths import FilePath, file_name
from nlptx.pca.fit import fit_pca, limit_components
from nlptx.runtime.progress import counted
from nlptx.runtime.workers import Workers
from nlptx.settings import DEFAULT_MEMORY, CountSettings, PcaSettings, TrainSettings
from nlptx.text.blocks import in_blocks
from nlptx.text.tokenizer import Tokenizer
from nlptx.text.vocabulary import Vocabulary
from nlptx.training.labelled_texts import LabelledTexts
from nlptx.training.progress import Progress


@dataclass(frozen=True)
class EmbeddingBuilder:
    """Makes word vectors from the training texts and the texts without labels.

    The result is the same as with :func:`nlptx.count` and :func:`nlptx.fit_pca`. For a small corpus, the settings are
    adjusted: there are at most as many components as words. If ``min_count`` has its default value, but no two words
    that occur at least ``min_count`` times are near each other, the texts are counted again with ``min_count=1``. If
    every text is a single word, no two words are near each other, so there are no word vectors.

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

    def build(
        self,
        given: LabelledTexts,
        settings: TrainSettings,
        seed: int,
        jobs: int | Workers | None,
        on_progress: Callable[[Progress], None],
        on_note: Callable[[str], None],
    ) -> tuple[Embeddings, TrainSettings]:
        """Count the texts and fit the PCA. Return the word vectors, and the settings for training with them.

        If no two words are near each other, for example because every text is a single word, no word vectors can be
        made, and ``epochs`` is 0 in the returned settings, so that no network is trained. If no network is trained, the
        returned embeddings have no words, because :func:`nlptx.fit` adds the words of the texts. Except for ``given``,
        which contains the texts, the arguments are those of :func:`nlptx.fit`.

        Raises:
            DataError: no word occurs ``min_count`` times; or no word vectors can be made, and ``ngrams`` is 0, so there
                is nothing to train.
            OutputError: the temporary files cannot be written.
            SettingsError: no network is trained, and ``new_word_min_count`` is 0, so there are no words to train on.
        """
        if settings.epochs:
            embeddings = self._vectors(given, seed, jobs, on_progress, on_note)
            if embeddings is not None:
                return embeddings, settings
            near = "no two words are near each other in these texts"
            if not settings.ngrams:
                raise DataError(
                    f"{near}, so there are no word vectors to train a network on",
                    hint="Check that texts and labels are not swapped; or use `embeddings` made from other texts.",
                )
            on_note(f"{near}, so no network is trained, only linear models")
            settings = replace(settings, epochs=0)
        if not settings.new_word_min_count:
            raise SettingsError(
                "there are no word vectors, so all words must come from the texts, but `new_word_min_count=0` adds"
                " none",
                hint="Set `new_word_min_count` to 1 or more.",
            )
        return self._no_words(), settings

    def _vectors(
        self,
        given: LabelledTexts,
        seed: int,
        jobs: int | Workers | None,
        on_progress: Callable[[Progress], None],
        on_note: Callable[[str], None],
    ) -> Embeddings | None:
        """Return the word vectors, or None if no two words are near each other."""
        folder = None if self.tmp_dir is None else file_name(self.tmp_dir)
        with MemoryBudget(self.memory, folder) as budget, Workers.of(jobs, prefer_processes=True) as workers:
            parts = (given.texts, given.unlabelled, self.more_texts)
            counts = self._count(parts, budget, workers, on_progress, on_note)
            if not counts.matrix.indptr[-1]:
                return None
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
        settings = limit_components(self.pca, len(counts.vocabulary), on_note)

        def on_round(found: int, residual: float) -> None:
            state = f"{found} of {settings.components}, largest residual {residual:.1e}"
            on_progress(Progress("principal components", found / settings.components, state))

        return fit_pca(
            counts,
            settings,
            seed=seed if self.seed is None else self.seed,
            # No workers on a cluster: they could read neither the memory nor the temporary files of this process.
            jobs=workers.local(),
            memory=self.memory,
            tmp_dir=self.tmp_dir,
            on_round=on_round,
            on_note=lambda note: on_note(f"pca: {note}"),
        )

    def _no_words(self) -> Embeddings:
        """Return embeddings with an empty vocabulary, to which :func:`nlptx.fit` adds the words of the texts."""
        tokenizer = Tokenizer(self.cooccur.tokenizer, self.cooccur.lowercase)
        words = Vocabulary([], np.zeros(0, np.int64), tokenizer)
        return Embeddings(np.zeros((0, 1), np.float32), words, details={**self.record, "source": "none"})

    def _count(
        self,
        parts: Sequence[Sequence[str]],
        budget: MemoryBudget,
        workers: Workers,
        on_progress: Callable[[Progress], None],
        on_note: Callable[[str], None],
    ) -> StoredCooccurrence:
        total = sum(map(len, parts))

        def report(texts_read: int) -> None:
            on_progress(Progress("counting words", texts_read / total, f"{texts_read:,} of {total:,} texts"))

        def with_settings(settings: CountSettings) -> Counts:
            blocks = in_blocks(counted(chain.from_iterable(parts), report))
            return count_corpus(blocks, settings, budget, workers, self.word_memory)

        is_default = self.cooccur.min_count == CountSettings.min_count
        try:
            counts = with_settings(self.cooccur)
        except DataError as error:
            if not is_default:
                error.hint = error.hint.replace("`min_count`", "`cooccur.min_count`")
                raise
            reason: str | None = error.message
        else:
            too_few = is_default and (len(counts.vocabulary) < 2 or not counts.matrix.indptr()[-1])
            frequent = f"words that occur at least {self.cooccur.min_count} times"
            reason = f"no two {frequent} are near each other" if too_few else None
        if reason:
            counts = with_settings(replace(self.cooccur, min_count=1))
            if counts.matrix.indptr()[-1]:
                on_note(f"{reason}, so all words are counted instead")
        return StoredCooccurrence.of(replace(counts, details={**counts.details, **self.record}))
