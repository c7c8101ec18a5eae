"""Notes on settings that have no effect on training with the given data."""

from __future__ import annotations

from collections.abc import Callable

from nlptx.classifier.model import Model
from nlptx.settings import TrainSettings
from nlptx.settings.unused import TrainingInputs, unused_notes
from nlptx.training.labelled_texts import LabelledTexts
from nlptx.training.ngram_features import MAX_LABELS


def note_unused_settings(
    settings: TrainSettings, given: LabelledTexts, start: Model | None, on_note: Callable[[str], None]
) -> None:
    """Call ``on_note`` with a note about each group of changed settings that have no effect."""
    inputs = TrainingInputs(
        from_model=start is not None,
        has_unlabelled=bool(given.unlabelled),
        has_valid=given.valid is not None,
        has_label_sets=given.separator is not None,
        has_many_labels=len(given.labels) > MAX_LABELS,
    )
    for note in unused_notes(settings, inputs):
        on_note(note)
