"""Recognises data on which a model was trained or validated."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nlptx.classifier.model import Model

# Notes for data on which the model was trained or validated.
SEEN = {
    "training": "the model was trained on this data: expect worse results on other texts",
    "validation": "the epoch and the temperature of the model were chosen on this data:"
    " expect slightly worse results on other texts",
}


def seen_in(model: Model, sha256: str) -> str | None:
    """Return "training" or "validation" if the model was trained or validated on the data with this digest.

    Otherwise, return None.
    """
    for use, names in (("training", ("sha256", "labelled_sha256")), ("validation", ("valid_sha256",))):
        if sha256 in [model.source.get(name) for name in names]:
            return use
    return None
