"""Recognises data on which a model was trained or validated."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from nlptx.cli.terminal.reporter import Reporter

if TYPE_CHECKING:
    from nlptx.classifier.model import Model
    from nlptx.corpus.training_data import TrainingTexts
    from nlptx.evaluation.labelled_data import LabelledData

# Notes for data on which the model was trained or validated.
SEEN = {
    "training": "the model was trained on this data; expect worse results on other texts",
    "validation": "the epoch and the temperature of the model were chosen on this data;"
    " expect slightly worse results on other texts",
}


def seen_in(model: Model, data: LabelledData) -> str | None:
    """Return "training" or "validation" if the model was trained or validated on the data.

    Otherwise, return None. If the training started from another model, the training texts of that model count too. A
    table with a column ``seed`` can contain every text once per seed. For such a table, the training texts are compared
    with all rows, and also with the rows of a single seed.
    """
    from nlptx.corpus.corpus import digest
    from nlptx.evaluation.seeds import rows_of_one_seed

    digests, rows = {data.sha256}, rows_of_one_seed(data.documents)
    if len(rows) < len(data.documents):
        digests.add(digest(rows))
    if not digests.isdisjoint(_training_digests(model)):
        return "training"
    return "validation" if model.source.get("valid_sha256") in digests else None


def cautions(names: Iterable[str], seen: Mapping[str, str | None]) -> list[str]:
    """Return a sentence for each of the named models that has used the data.

    Args:
        names: names of models.
        seen: name -> how the model has used the data; see :func:`seen_in`.
    """
    return [f"Caution: {name}: {SEEN[use]}." for name in names if (use := seen.get(name))]


def warn_if_start_is_trained_on(training: TrainingTexts, start: Model | None, reporter: Reporter) -> None:
    """Print a warning if ``start`` was trained on the labelled texts, or on the texts of ``--valid``."""
    known = set() if start is None else set(_training_digests(start))
    for name, data in (("sha256", "this data"), ("valid_sha256", "the texts of --valid")):
        if training.source.get(name) in known:
            reporter.note(
                f"warning: the model to start from was trained on {data}, so the results on held-out texts will be too"
                " good; use other texts, or leave out --start"
            )
            return


def _training_digests(model: Model) -> Iterator[str]:
    """Yield the digests of the training texts of a model, of the model from which its training started, and so on."""
    yield from _digests_of(model.source)
    before = model.made_from
    while before is not None and before["kind"] == "model":
        yield from _digests_of(before["details"].get("source"))
        before = before.get("made_from")


def _digests_of(source: Any) -> list[str]:
    """Return the digests of labelled texts in a record of training data; an empty list if the record is damaged."""
    names = ("sha256", "labelled_sha256")
    return [str(source[name]) for name in names if name in source] if isinstance(source, dict) else []
