"""Parts: ``nlptx cooccur --shard`` makes a part from each shard of a corpus, and ``nlptx merge`` combines the parts.

There are two kinds of parts. A part with tokens contains the encoded documents of the shard. A part with pairs contains
the counts of pairs of words from a given vocabulary. This vocabulary comes from a word list, which is made from the
counts of all words in all shards. Each count of a pair is a whole number of units (see :func:`.unit_weights`), so the
order in which parts are added does not matter. Apart from these units, a part with pairs has the same form as the
counts of an entire corpus.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from nlptx.artifacts.artifact import Artifact
from nlptx.artifacts.kinds import PARTS
from nlptx.artifacts.validation import read_vocabulary, require_array
from nlptx.corpus.shard import Shard
from nlptx.errors import CorruptError, DataError
from nlptx.settings import CountSettings
from nlptx.text.token_stream import TokenStream
from nlptx.text.tokenizer import Tokenizer
from nlptx.text.vocabulary import Vocabulary
from nlptx.text.word_ids import EncodedChunk

TOKENS, PAIRS = PARTS
WORDS = "words"


@dataclass(frozen=True)
class TokenPart:
    """The documents of a shard, encoded as word ids.

    Args:
        chunk: the documents.
        details: number of the shard, number of shards, and facts about the whole corpus, such as its digest.
    """

    chunk: EncodedChunk
    details: dict[str, Any]

    @classmethod
    def of(cls, stream: TokenStream, shard: Shard, corpus: dict[str, Any]) -> TokenPart:
        """Return the part that contains the documents of a token stream.

        Args:
            stream: the documents of the shard, with no words dropped (see :func:`check_complete`).
            shard: number of the shard, and the number of shards.
            corpus: facts about the whole corpus, such as its digest.
        """
        words = list(stream.word_ids)
        chunk = EncodedChunk(words, stream.ids.array(), stream.word_counts[: len(words)], stream.lengths.array())
        return cls(chunk, shard_details(shard) | corpus)

    def to_artifact(self, settings: CountSettings) -> Artifact:
        """Return this part as an artifact."""
        arrays = {
            "words": np.frombuffer(b"\n".join(self.chunk.words), np.uint8),
            "word_counts": self.chunk.counts,
            "ids": self.chunk.ids,
            "lengths": self.chunk.lengths,
        }
        return Artifact(TOKENS, settings.to_dict(), arrays, None, self.details)

    @classmethod
    def from_artifact(cls, artifact: Artifact) -> TokenPart:
        """Build a part from an artifact. Raises CorruptError if the artifact's arrays are inconsistent."""
        blob = require_array(artifact, "words", "uint8", (None,)).tobytes()
        words = blob.split(b"\n") if blob else []
        counts = require_array(artifact, "word_counts", "int64", (len(words),))
        ids = require_array(artifact, "ids", "int32", (None,))
        lengths = require_array(artifact, "lengths", "int64", (None,))
        if len(set(words)) != len(words):
            raise CorruptError("a word is listed twice")
        if len(ids) and not 0 <= ids.min() <= ids.max() < len(words):
            raise CorruptError("a document contains a word id that is not in the list of words")
        if (np.bincount(ids, minlength=len(words)) != counts).any():
            raise CorruptError("the word counts are wrong")
        if (lengths < 0).any() or lengths.sum() != len(ids):
            raise CorruptError("the document lengths are wrong")
        return cls(EncodedChunk(words, ids, counts, lengths), check_details(artifact.details))


@dataclass(frozen=True)
class WordList:
    """The vocabulary of a corpus, chosen by the counts of all words in all shards.

    Args:
        vocabulary: the V words.
        details: facts about the whole corpus.
    """

    vocabulary: Vocabulary
    details: dict[str, Any]

    def to_artifact(self, settings: CountSettings) -> Artifact:
        """Return this word list as an artifact."""
        return Artifact(WORDS, settings.to_dict(), self.vocabulary.to_arrays(), None, self.details)

    @classmethod
    def from_artifact(cls, artifact: Artifact) -> WordList:
        """Build a word list from an artifact. Raises CorruptError if the settings or the words are invalid."""
        settings = CountSettings.from_dict(artifact.settings)
        return cls(read_vocabulary(artifact, Tokenizer(settings.tokenizer, settings.lowercase)), artifact.details)


def check_complete(stream: TokenStream) -> None:
    """Raise DataError if words were dropped for lack of memory.

    Different words might be dropped if the whole corpus were counted at once, so the result would depend on how the
    corpus is divided into shards.
    """
    if stream.max_dropped_count:
        raise DataError(
            "there are more distinct words than fit into the memory limit, and parts must keep all of them",
            hint="Raise `memory`.",
        )


def shard_details(shard: Shard) -> dict[str, int]:
    """Return the details that identify the shard from which a part was made."""
    return {"shard": shard.number, "shards": shard.of}


def shard_of(details: dict[str, Any]) -> Shard:
    """Return the shard from which a part was made."""
    return Shard(details["shard"], details["shards"])


def corpus_details(details: dict[str, Any]) -> dict[str, Any]:
    """Return the facts about the whole corpus: all details of a part except ``shard`` and ``shards``."""
    return {name: value for name, value in details.items() if name not in ("shard", "shards")}


def check_details(details: dict[str, Any]) -> dict[str, Any]:
    """Return the details of a part, after checking that they identify its shard and its corpus.

    Raises:
        CorruptError: the shard or the corpus is not recorded.
        SettingsError: the number of the shard or the number of shards is out of range.
    """
    integers = all(type(details.get(name)) is int for name in ("shard", "shards", "documents"))
    if not integers or not isinstance(details.get("sha256"), str):
        raise CorruptError("the shard or the corpus of this part is not recorded")
    shard_of(details)
    return details
