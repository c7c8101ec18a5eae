"""Counts a single shard of a corpus; the result is called a part (see :mod:`nlptx.cooccurrence.parts`)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from nlptx.artifacts.artifact import Artifact
from nlptx.artifacts.container import build, read
from nlptx.cooccurrence.count import count_vocabulary_pairs, read_stream, vocabulary_ids_of
from nlptx.cooccurrence.counts_artifact import Counts
from nlptx.cooccurrence.parts import PAIRS, WORDS, TokenPart, WordList, check_complete, shard_details
from nlptx.corpus.shard import Shard
from nlptx.errors import DataError, SettingsError
from nlptx.io.memory_budget import MemoryBudget
from nlptx.runtime.workers import Workers
from nlptx.settings import CountSettings


def count_shard(
    blocks: Iterable[bytes],
    shard: Shard,
    words: WordList | None,
    settings: CountSettings,
    corpus: Callable[[], dict[str, Any]],
    budget: MemoryBudget,
    workers: Workers,
) -> Artifact:
    """Return a part with the tokens of a shard or, given a word list, with the counts of the word pairs in the shard.

    Args:
        blocks: the whole corpus as blocks of lines.
        shard: number of the shard, and number of shards.
        words: the words whose pairs are counted; None for a part with tokens.
        settings: settings for counting.
        corpus: function that returns facts about the whole corpus (number of documents, digest, options); called after
            all blocks have been read.
        budget: memory limit, and folder for temporary files. The part is valid until ``budget`` is closed.
        workers: pool of threads or processes; the number of workers does not change the part.

    Raises:
        DataError: the word list belongs to another corpus, or there are more distinct words than fit in memory.
        OutputError: the temporary files cannot be written.
    """
    stream = read_stream(shard.blocks(blocks), settings, budget, workers)
    check_complete(stream)
    about = corpus()
    if words is None:
        return TokenPart.of(stream, shard, about).to_artifact(settings)
    if any(words.details.get(name) != value for name, value in about.items()):
        raise DataError(
            "the word list was made from another corpus", hint="Use the same input and options as for the first pass."
        )
    vocabulary_ids = vocabulary_ids_of(stream, words.vocabulary)
    matrix = count_vocabulary_pairs(
        stream, vocabulary_ids, len(words.vocabulary), settings, budget, workers, in_units=True
    )
    return Counts(matrix, words.vocabulary, settings, shard_details(shard) | words.details).to_artifact(PAIRS)


def read_word_list(path: str, settings: CountSettings) -> WordList:
    """Read a word list written by ``nlptx merge --words-only``.

    Raises:
        ArtifactError: the file is not a word list or is damaged.
        SettingsError: the file does not exist, or its words were counted with other settings.
    """
    artifact = read(path, WORDS)
    words = build(artifact, WordList.from_artifact, path)
    for name, value in settings.to_dict().items():
        if artifact.settings[name] != value:
            raise SettingsError(
                f"{path}: the word list was made with `{name}={artifact.settings[name]}`, not `{name}={value}`",
                hint="Use the settings with which the word list was made.",
            )
    return words
