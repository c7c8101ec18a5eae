"""Fingerprint of a training run: two runs with the same fingerprint train the same weights."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from nlptx.artifacts.artifact import Artifact
from nlptx.classifier.model import Model
from nlptx.embeddings.embeddings import Embeddings
from nlptx.settings import TrainSettings
from nlptx.training.labelled_texts import LabelledTexts
from nlptx.version import __version__


@dataclass(frozen=True)
class Fingerprint:
    """Everything that determines the result of a training run.

    Args:
        settings: all training settings.
        seed: seed for all random number generators.
        digests: name of each input -> its SHA-256.
        version: nlptx version.
    """

    settings: dict[str, Any]
    seed: int
    digests: dict[str, str]
    version: str = __version__

    @classmethod
    def of(cls, given: LabelledTexts, start: Embeddings | Model, settings: TrainSettings, seed: int) -> Fingerprint:
        """Return the fingerprint of a call to :func:`nlptx.fit`; ``start`` is the initial model or the word vectors."""
        digests = {
            "training data": digest_rows(given.texts, given.names, *_weights(given)),
            "validation data": "" if given.valid is None else digest_rows(*given.valid),
            "unlabelled data": digest_rows(given.unlabelled) if given.unlabelled else "",
            "lexicon": digest_rows(list(given.lexicon), list(map(repr, given.lexicon.values())))
            if given.lexicon
            else "",
            "model to start from" if isinstance(start, Model) else "embeddings": digest_artifact(start.to_artifact()),
        }
        return cls(settings.to_dict(), seed, digests)

    def differences(self, other: Fingerprint) -> list[str]:
        """Return descriptions of the differences between this training run and another, earlier one."""
        changes = []
        if other.version != self.version:
            changes.append(f"nlptx was {other.version} and is now {self.version}")
        changes += [
            f"`{name}` was {other.settings.get(name)} and is now {self.settings.get(name)}"
            for name in sorted(self.settings.keys() | other.settings.keys())
            if self.settings.get(name) != other.settings.get(name)
        ]
        if other.seed != self.seed:
            changes.append(f"`seed` was {other.seed} and is now {self.seed}")
        changes += [f"the {name} differs" if name != "embeddings" else "the embeddings differ" for name in self.digests
                 if self.digests[name] != other.digests.get(name, "")]  # fmt: skip
        return changes


def _weights(given: LabelledTexts) -> list[list[str]]:
    """Return a list that contains the column of weights, or an empty list if there are no weights."""
    return [] if given.weights is None else [list(map(repr, given.weights.tolist()))]


def digest_rows(*columns: Sequence[str]) -> str:
    """Return the SHA-256 of a table, given its columns."""
    digest = hashlib.sha256()
    for row in zip(*columns, strict=True):
        for part in row:
            data = part.encode("utf-8", "surrogatepass")
            digest.update(len(data).to_bytes(8, "big") + data)
    return digest.hexdigest()


def digest_artifact(artifact: Artifact) -> str:
    """Return the SHA-256 of the header and the arrays of an artifact."""
    digest = hashlib.sha256(json.dumps(artifact.header, sort_keys=True).encode())
    for name, array in sorted(artifact.arrays.items()):
        digest.update(f"{name} {array.dtype} {array.shape}".encode())
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()
