"""Recognises data on which a model was trained or validated."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nlptx.classifier.model import Model
    from nlptx.evaluation.labelled_predictions import LabelledData

# Notes for data on which the model was trained or validated.
SEEN = {
    "training": "the model was trained on this data: expect worse results on other texts",
    "validation": "the epoch and the temperature of the model were chosen on this data:"
    " expect slightly worse results on other texts",
}


def seen_in(model: Model, data: LabelledData) -> str | None:
    """Return "training" or "validation" if the model was trained or validated on the data.

    Otherwise, return None. If the data repeats all texts for several seeds, in a column ``seed``, the texts of one seed
    are looked up too.
    """
    from nlptx.corpus.corpus import digest
    from nlptx.evaluation.groups import rows_of_one_seed

    digests, rows = {data.sha256}, rows_of_one_seed(data.documents)
    if len(rows) < len(data.documents):
        digests.add(digest(rows))
    for use, names in (("training", ("sha256", "labelled_sha256")), ("validation", ("valid_sha256",))):
        if not digests.isdisjoint(model.source.get(name) for name in names):
            return use
    return None
