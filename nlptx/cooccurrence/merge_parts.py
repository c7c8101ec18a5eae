"""Merges the parts of a corpus (see :mod:`nlptx.cooccurrence.parts`), which may be given in any order.

The result is the same as if the entire corpus had been counted at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from nlptx.artifacts.artifact import Artifact
from nlptx.artifacts.container import build, read
from nlptx.cooccurrence.count import add_partial, choose_vocabulary, count_stream, stream_details, sum_partials
from nlptx.cooccurrence.counts_artifact import Counts
from nlptx.cooccurrence.matrix import Cooccurrence
from nlptx.cooccurrence.parts import (
    PAIRS,
    TOKENS,
    TokenPart,
    WordList,
    check_complete,
    check_details,
    corpus_details,
    shard_of,
)
from nlptx.cooccurrence.spilled_matrix import SpilledMatrix
from nlptx.cooccurrence.window_pairs import SparseRows, unit_weights
from nlptx.corpus.shard import Shard
from nlptx.errors import ArtifactError, CorruptError, DataError, SettingsError
from nlptx.io.memory_budget import MemoryBudget
from nlptx.io.paths import is_same_file
from nlptx.runtime.workers import Workers
from nlptx.settings import CountSettings
from nlptx.text.token_stream import TokenStream
from nlptx.text.vocabulary import Vocabulary
from nlptx.text.word_ids import EncodedChunk

# Callback that receives the number of parts read so far.
Progress = Callable[[int], None]


def merge_parts(
    paths: Sequence[str], budget: MemoryBudget, workers: Workers, on_part: Progress = lambda parts: None
) -> Counts:
    """Return the counts of a corpus, given all its parts. The parts must all contain tokens, or all contain pairs.

    Args:
        paths: files of the parts, in any order.
        budget: memory limit, and folder for temporary files. Each part must fit in memory; only one part is in memory
            at a time.
        workers: pool of threads or processes; the number of workers does not change the counts.
        on_part: called after a part has been read, with the number of parts read so far.

    Raises:
        ArtifactError: a file is not a part or is damaged, or the parts are incompatible, for example counted with
            different settings.
        DataError: a part is missing or occurs twice; no word occurs ``min_count`` times; or there are more distinct
            words than fit in memory.
        OutputError: the temporary files cannot be written.
        SettingsError: a file does not exist, or there are no parts.
    """
    stream, partials = TokenStream(budget), list[SpilledMatrix]()
    vocabulary: Vocabulary | None = None
    artifact: Artifact  # always assigned in the loop: `_parts` raises an error if there is no part
    for number, (path, artifact) in enumerate(_parts(paths), start=1):
        if artifact.kind == TOKENS:
            stream.add(build(artifact, TokenPart.from_artifact, path).chunk)
            check_complete(stream)
        else:
            part = build(artifact, _pairs, path)
            vocabulary = vocabulary or part.vocabulary
            if part.vocabulary.words != vocabulary.words or (part.vocabulary.counts != vocabulary.counts).any():
                raise ArtifactError(f"its words differ from those of {paths[0]}", where=path)
            lengths = np.diff(part.matrix.indptr).astype(np.int64)
            partial = SpilledMatrix(len(vocabulary), budget)
            partial.append(SparseRows(part.matrix.indices, part.matrix.data, lengths))
            del part
            partial.spill(budget, 1 / len(paths), 1 - (number - 1) / len(paths))
            partials = add_partial(partials, partial, budget, workers)
        artifact.arrays.clear()  # with `del part`, frees the part before the next one is read
        on_part(number)
    settings, details = CountSettings.from_dict(artifact.settings), corpus_details(artifact.details)
    if vocabulary is None:
        counts = count_stream(stream, settings, budget, workers)
        return Counts(counts.matrix, counts.vocabulary, settings, counts.details | details)
    units_per_count = unit_weights(settings.weighting, settings.window)[1]
    return Counts(sum_partials(partials, budget, workers, units_per_count), vocabulary, settings, details)


def merge_words(
    paths: Sequence[str], budget: MemoryBudget, on_part: Progress = lambda parts: None
) -> tuple[WordList, CountSettings]:
    """Return the vocabulary of a corpus and the settings of its parts. The parts must contain tokens.

    For the arguments and errors, see :func:`merge_parts`.
    """
    stream = TokenStream(budget)
    artifact: Artifact  # always assigned in the loop: `_parts` raises an error if there is no part
    for number, (path, artifact) in enumerate(_parts(paths, TOKENS), start=1):
        chunk = build(artifact, TokenPart.from_artifact, path).chunk
        stream.add(EncodedChunk(chunk.words, np.empty(0, np.int32), chunk.counts, np.empty(0, np.int64)))
        check_complete(stream)
        on_part(number)
    settings = CountSettings.from_dict(artifact.settings)
    vocabulary = choose_vocabulary(stream, settings)
    return WordList(vocabulary, stream_details(stream, vocabulary) | corpus_details(artifact.details)), settings


def _parts(paths: Sequence[str], *kinds: str) -> Iterator[tuple[str, Artifact]]:
    """Yield the path and the artifact of each part, after checking that the part is compatible with the first one."""
    first: Artifact | None = None
    path_of: dict[Shard, str] = {}
    for path in paths:
        artifact = read(path, *(kinds or (TOKENS, PAIRS)))
        shard = build(artifact, _shard, path)
        if first is None:
            first = artifact
            _check_number(len(paths), shard)
        _check_compatible(artifact, first, path, paths[0])
        if shard in path_of:
            raise DataError(_repeated(path, path_of[shard], shard), where=path, hint="Pass each shard once.")
        path_of[shard] = path
        yield path, artifact
    if first is None:
        raise SettingsError("there are no parts to merge")


def _repeated(path: str, first: str, shard: Shard) -> str:
    """Return the error message for a file that contains the same shard as an earlier file."""
    if not is_same_file(path, first):
        return f"contains shard {shard}, as does {first}"
    return "the file is given twice" if path == first else f"the file is given twice, first as {first}"


def _shard(artifact: Artifact) -> Shard:
    try:
        return shard_of(check_details(artifact.details))
    except SettingsError as error:
        raise CorruptError(error.message) from error


def _pairs(artifact: Artifact) -> Cooccurrence:
    part = Cooccurrence.from_artifact(artifact)
    if (part.matrix.data != np.floor(part.matrix.data)).any():
        raise CorruptError("the matrix contains a sum that is not an integer")
    return part


def _check_number(given: int, shard: Shard) -> None:
    if given != shard.of:
        parts = "is 1 part" if given == 1 else f"are {given} parts"
        raise DataError(f"there {parts}; expected {shard.of}, because the corpus was divided into {shard.of} shards")


def _check_compatible(artifact: Artifact, first: Artifact, path: str, first_path: str) -> None:
    """Raise DataError if two parts differ in kind, nlptx version, number of shards, settings or corpus."""
    for name, this, other in (
        ("kind", artifact.kind, first.kind),
        ("nlptx version", artifact.version, first.version),
        ("number of shards", artifact.details["shards"], first.details["shards"]),
    ):
        if this != other:
            raise ArtifactError(f"its {name} differs from that of {first_path}: {this} and {other}", where=path)
    for name, value in artifact.settings.items():
        if value != first.settings.get(name):
            others = f"`{name}` is {value} here and {first.settings.get(name)} there"
            hint = "Count all parts with the same settings."
            raise ArtifactError(f"its settings differ from those of {first_path}: {others}", where=path, hint=hint)
    if corpus_details(artifact.details) != corpus_details(first.details):
        raise ArtifactError(f"its corpus differs from that of {first_path}", where=path)
