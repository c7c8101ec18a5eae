"""Tests of the notes about settings that were changed but have no effect."""

from dataclasses import fields

import pytest

from nlptx.settings import NetworkSettings, PcaSettings, TrainSettings
from nlptx.settings.unused import TrainingInputs, unused_notes, unused_pca_notes
from nlptx.settings.without_network import DEFAULTS, EMPTY_ENCODER, UNUSED, without_network

INPUTS = {item.name for item in fields(TrainingInputs)}


def notes(**values):
    """Return the notes about settings and inputs."""
    inputs = {name: values.pop(name) for name in INPUTS & values.keys()}
    return unused_notes(TrainSettings(**values), TrainingInputs(**inputs))


@pytest.mark.parametrize(
    ("values", "note"),
    [
        ({"ngrams": 0, "lsa_components": 8}, "(`ngrams=0`), so these settings have no effect: `lsa_components`"),
        ({"blocks": 0, "heads": 2}, "(`blocks=0`), so these settings have no effect: `heads`"),
        ({"attention": "plain", "head_width": "wide"}, "(`attention=plain`), so these settings have no effect: "),
        ({"freeze": True, "embedding_lr": 1.0}, "(`freeze=True`), so these settings have no effect: `embedding_lr`"),
        ({"optimizer": "sgd", "weight_decay": 1.0}, "`optimizer` is sgd, not adamw, so these settings have no effect"),
        ({"valid_share": 0.0, "patience": 1}, "(`valid_share=0`), so these settings have no effect: `patience`"),
        ({"lsa_components": 8, "has_many_labels": True}, "so many labels are sparse, so these settings have no effect"),
        ({"label_order": "none", "has_label_sets": True}, "may have several labels, so these settings have no effect"),
        ({"distill": 2}, "`distill` has no effect, because there are no texts without labels to learn from"),
        ({"epochs": 0, "lr": 0.5, "blocks": 3}, "(`epochs=0`), so these settings have no effect: `blocks`, `lr`"),
    ],
)
def test_a_note_gives_the_reason_and_names_the_settings(values, note):
    (found,) = notes(**values)
    assert note in found


@pytest.mark.parametrize(
    "values",
    [
        {},
        {"ngrams": 0, "lsa_components": 0, "distill": 0},
        {"optimizer": "sgd", "weight_decay": 0.0},
        {"epochs": 0, "blocks": 0, "width": 0},
        {"distill": 2, "has_unlabelled": True},
        {"has_label_sets": True, "has_many_labels": True},
        {"lsa_components": 0, "has_many_labels": True},
        # The network has the shape of the model with which training starts.
        {"from_model": True, "blocks": 0, "heads": 2},
        {"from_model": True, "epochs": 0, "heads": 2},
    ],
)
def test_there_is_no_note_if_the_setting_has_an_effect_or_turns_something_off(values):
    assert notes(**values) == []


def test_given_validation_texts_make_the_split_unused():
    assert notes(valid_max=9) == []
    (note,) = notes(valid_max=9, has_valid=True)
    assert note == "validation texts are given, so these settings have no effect: `valid_max`"


def test_the_start_from_a_model_does_not_distil():
    assert notes(distill=1, from_model=True) == ["`distill` has no effect, because training starts from a model"]


def test_settings_of_pca_without_effect_are_noted():
    for used in ({"transform": "log"}, {"smoothing": 0.75}, {"eigenvalue_weight": 0, "equalize": 0}):
        assert unused_pca_notes(PcaSettings(**used)) == []
    (note,) = unused_pca_notes(PcaSettings(transform="log", smoothing=0.75))
    assert note == "`transform` is log, not ppmi, so `smoothing` has no effect"
    (note,) = unused_pca_notes(PcaSettings(eigenvalue_weight=0, equalize=0.5))
    assert note == "all components get the same scale (`eigenvalue_weight=0`), so `equalize` has no effect"


def test_without_a_network_unused_settings_have_fixed_values():
    given = TrainSettings(epochs=0, blocks=3, lr=0.5, lsa_components=7, loss="squared-error", heads=2)
    settings = without_network(given)
    assert (settings.epochs, settings.lsa_components, settings.loss) == (0, 7, "squared-error")
    assert {name: getattr(settings, name) for name in UNUSED} == {
        name: EMPTY_ENCODER.get(name, DEFAULTS[name]) for name in UNUSED
    }
    assert without_network(settings) == settings
    assert set(EMPTY_ENCODER) <= set(NetworkSettings().to_dict())
