"""The kinds of artifacts, the commands that make them, and the error for an artifact of an unexpected kind."""

from __future__ import annotations

from collections.abc import Sequence

from nlptx.errors import WrongKindError

# Kinds of the artifacts that `nlptx merge` combines into a co-occurrence matrix.
PARTS = ("tokens", "pairs")
# Kind of artifact -> the command that makes it, with only the options that determine the kind.
KINDS = {
    "cooccurrence": "cooccur",
    "tokens": "cooccur --shard I/N",
    "pairs": "cooccur --shard I/N --vocabulary WORDS",
    "words": "merge --words-only",
    "piece": "cooccur",
    "embeddings": "pca",
    "model": "train",
    "checkpoint": "train",
}


def described(kinds: Sequence[str]) -> str:
    """Return the names of kinds of artifacts, each with the command that makes it."""
    return " or ".join(f"{kind} (nlptx {KINDS[kind]})" for kind in kinds)


def check_kind(kind: str, expected: Sequence[str]) -> None:
    """Raise WrongKindError if ``kind`` is not one of ``expected``. If ``expected`` is empty, accept any kind."""
    if kind in expected or not expected:
        return
    is_unfinished = kind in PARTS and tuple(expected) == ("cooccurrence",)
    raise WrongKindError(
        f"holds {'a ' if KINDS[kind] == 'train' else ''}{kind}, the output of nlptx {KINDS[kind]};"
        f" expected {described(expected)}",
        hint="Add up all parts with `nlptx merge` first." if is_unfinished else "",
    )
