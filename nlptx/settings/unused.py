"""Notes about changed settings of training and of PCA that have no effect because of other settings or the data."""

from __future__ import annotations

from dataclasses import dataclass, fields

from nlptx.settings.training import NetworkSettings, TrainSettings
from nlptx.settings.without_network import DEFAULTS, EMPTY_ENCODER, UNUSED
from nlptx.settings.word_vectors import PcaSettings


@dataclass(frozen=True)
class TrainingInputs:
    """What the effect of settings depends on, besides other settings.

    Args:
        from_model: whether training starts from an existing model. In that case, the model determines the shape of the
            network, and the notes do not name the settings that define the shape.
        has_unlabelled: whether there are texts without labels.
        has_valid: whether there are texts to validate on.
        has_label_sets: whether a text may have several labels.
        has_many_labels: whether there are so many labels that the n-gram features are sparse.
    """

    from_model: bool = False
    has_unlabelled: bool = False
    has_valid: bool = False
    has_label_sets: bool = False
    has_many_labels: bool = False


def unused_notes(settings: TrainSettings, inputs: TrainingInputs) -> list[str]:
    """Return notes about settings that differ from their defaults, but have no effect."""
    from_model = inputs.from_model
    notes = []
    if not settings.epochs and (unused := _without_network(settings, from_model)):
        notes.append(f"no network is trained (`epochs=0`), so these settings have no effect: {_listed(unused)}")
    for reason, holds, names in _conditions(settings, inputs):
        unused = [name for name in names if getattr(settings, name) not in (DEFAULTS[name], 0, "off")]
        if holds and unused:
            notes.append(f"{reason}, so these settings have no effect: {_listed(unused)}")
    if settings.ngrams and settings.epochs and settings.distill > 0 and not inputs.has_unlabelled:
        reason = "training starts from a model" if from_model else "there are no texts without labels to learn from"
        notes.append(f"`distill` has no effect, because {reason}")
    return notes


def unused_pca_notes(settings: PcaSettings) -> list[str]:
    """Return notes about settings of PCA that differ from their defaults, but have no effect."""
    notes = []
    if settings.transform != "ppmi" and settings.smoothing != PcaSettings.smoothing:
        notes.append(f"`transform` is {settings.transform}, not ppmi, so `smoothing` has no effect")
    if not settings.eigenvalue_weight and settings.equalize not in (PcaSettings.equalize, 0):
        notes.append("all components get the same scale (`eigenvalue_weight=0`), so `equalize` has no effect")
    return notes


def _conditions(settings: TrainSettings, inputs: TrainingInputs) -> list[tuple[str, bool, tuple[str, ...]]]:
    """For each reason why settings can have no effect, return its text, whether it applies, and the setting names."""
    from_model, has_valid = inputs.from_model, inputs.has_valid
    is_new, is_trained = bool(settings.epochs) and not from_model, bool(settings.epochs)
    heads = "heads", "head_width"
    blocks = "attention", *heads, "hidden", "activation", "causal"
    return [
        (
            "there are no n-gram features (`ngrams=0`)",
            not settings.ngrams,
            ("ngram_min_texts", "lsa_components", "distill", "subwords"),
        ),
        ("training starts from a model", from_model and settings.ngrams > 0, ("subwords",)),
        (
            "the n-gram features of so many labels are sparse",
            inputs.has_many_labels and settings.ngrams > 0 and not from_model,
            ("lsa_components",),
        ),
        ("a text may have several labels", inputs.has_label_sets, ("label_order",)),
        ("the encoder has no blocks (`blocks=0`)", is_new and not settings.blocks, blocks),
        (
            "attention has neither heads nor parameters (`attention=plain`)",
            is_new and settings.blocks > 0 and settings.attention == "plain",
            heads,
        ),
        (
            "the word vectors are not trained (`freeze=True`)",
            is_trained and settings.freeze,
            ("embedding_lr",) if settings.ngrams else ("embedding_lr", "new_word_min_count"),
        ),
        (
            f"`optimizer` is {settings.optimizer}, not adamw",
            is_trained and settings.optimizer != "adamw",
            ("weight_decay",),
        ),
        ("validation texts are given", has_valid, ("valid_share", "valid_max")),
        (
            "no texts are held out (`valid_share=0`)",
            not has_valid and not settings.valid_share,
            ("valid_max", "patience") if is_trained else ("valid_max",),
        ),
    ]


def _without_network(settings: TrainSettings, from_model: bool) -> list[str]:
    """Return the names of the settings that were changed, but have no effect without a network."""
    kept = [item.name for item in fields(NetworkSettings) if item.name != "dropout"] if from_model else []
    unused = [name for name in UNUSED if name not in kept]
    return [name for name in unused if getattr(settings, name) not in (DEFAULTS[name], EMPTY_ENCODER.get(name))]


def _listed(names: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)
