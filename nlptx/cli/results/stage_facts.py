"""Statistics of counts and of word vectors, for the summaries of the commands that produce them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nlptx.artifacts.artifact import Artifact
    from nlptx.embeddings.embeddings import Embeddings

# Keys of ``details`` that the summary of counts leaves out.
_HIDDEN = ("sha256", "reading", "memory")


def count_facts(details: dict[str, Any], words: int, entries: int | None) -> dict[str, Any]:
    """Return the summary of counts: ``details``, the number of words and, if known, the number of matrix entries."""
    shown = {name: value for name, value in details.items() if name not in _HIDDEN}
    return {**shown, "words": words} | ({} if entries is None else {"entries": entries})


def part_facts(artifact: Artifact) -> dict[str, Any]:
    """Return the summary of one part of the counts, made with ``cooccur --shard``."""
    from nlptx.cooccurrence.parts import shard_of

    sizes = {"documents": "lengths", "tokens": "ids", "entries": "data", "words": "word_counts"}
    facts = {name: len(artifact.arrays[array]) for name, array in sizes.items() if array in artifact.arrays}
    return {"shard": str(shard_of(artifact.details)), **facts}


def pca_facts(embeddings: Embeddings) -> dict[str, Any]:
    """Return the summary of word vectors made by PCA."""
    return {
        "words": len(embeddings.vocabulary),
        "components": embeddings.vectors.shape[1],
        "explained_variance": float(embeddings.explained.sum()),
        "largest_residual": float(embeddings.residuals.max()),
        "vectors_multiplied": embeddings.details["products"],
    }


def note_dropped_words(details: dict[str, Any], on_note: Callable[[str], None]) -> None:
    """Report that words were dropped because there was not enough memory for all distinct words."""
    if "dropped_up_to" in details:
        on_note(
            "there are more distinct words than fit into --memory: during counting, words with at most"
            f" {details['dropped_up_to']} occurrences so far were dropped; if they occurred again, they were counted"
            " from 0"
        )
