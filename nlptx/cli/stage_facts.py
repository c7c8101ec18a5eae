"""Statistics of counts and of word vectors, for the summaries of the commands that produce them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nlptx.embeddings.embeddings import Embeddings

# Details of counts that are not shown.
_HIDDEN = ("sha256", "reading", "memory")


def count_facts(details: dict[str, Any], words: int, entries: int) -> dict[str, Any]:
    """Return the summary of a counts artifact: its details, and the numbers of words and matrix entries."""
    shown = {name: value for name, value in details.items() if name not in _HIDDEN}
    return {**shown, "words": words, "entries": entries}


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
            f"more distinct words than fit into --memory: words seen up to {details['dropped_up_to']} times"
            " were dropped while counting, and counted from 0 when they occurred again"
        )
