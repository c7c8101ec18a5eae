"""The options of training, each with its default, range and help text."""

from __future__ import annotations

from dataclasses import dataclass

from nlptx.errors import SettingsError
from nlptx.settings.declaration import MAIN, Settings, setting

# This value of a setting is replaced by one that suits the texts, the labels and the word vectors; see
# :mod:`nlptx.training.automatic` and, for ``new_word_min_count``, :mod:`nlptx.training.new_words`.
AUTOMATIC = -1
# Losses that a network can be trained with.
_LOSSES = ("cross-entropy", "squared-error", "binary-cross-entropy")


@dataclass(frozen=True, repr=False)
class NetworkSettings(Settings):
    """Settings that define the transformer, which are part of the settings of ``train``."""

    width: int = setting(64, "Model width d; 0: the length of the word vectors.", "Network", minimum=0, maximum=16_384)
    blocks: int = setting(1, "Number of encoder blocks.", "Network", minimum=0, maximum=1000)
    heads: int = setting(4, "Number of attention heads per block.", "Network", minimum=1, maximum=1024)
    head_width: str = setting(
        "narrow", "Width of a head; narrow: d/heads, wide: d.", "Network", choices=("narrow", "wide")
    )
    attention: str = setting(
        "scaled", "Scores: QK^T/sqrt(head width), QK^T, or XX^T.", "Network", choices=("scaled", "qkv", "plain")
    )
    attention_window: int = setting(
        64, "Maximum number of words per attention window.", "Network", minimum=1, maximum=65_536
    )
    long_texts: str = setting(
        "split", "Split long texts, or keep only the start.", "Network", choices=("split", "head")
    )
    causal: bool = setting(False, "A word attends only to itself and earlier words.", "Network")
    hidden: int = setting(0, "Width of the feed-forward network; 0: 4 times d.", "Network", minimum=0, maximum=65_536)
    activation: str = setting(
        "relu",
        "Activation function: relu, gelu, tanh, sigmoid.",
        "Network",
        choices=("relu", "gelu", "tanh", "sigmoid"),
        metavar="NAME",
    )
    norm: str = setting("pre", "Layer norm before each sublayer, or after it.", "Network", choices=("pre", "post"))
    norm_gain: bool = setting(True, "Learn a gain and a bias in layer norm.", "Network")
    positions: str = setting(
        "sinusoidal",
        "Positions: sinusoidal, learned, none.",
        "Network",
        choices=("sinusoidal", "learned", "none"),
        metavar="KIND",
    )
    pool: str = setting(
        "mean",
        "Pooling: mean, max, first, attention, flatten.",
        "Network",
        choices=("mean", "max", "first", "attention", "flatten"),
        metavar="KIND",
    )
    loss: str = setting("cross-entropy", "Loss function.", "Network", choices=_LOSSES)
    dropout: float = setting(0.1, "Fraction of activations dropped in training.", "Network", minimum=0, maximum=0.95)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.pool == "flatten" and self.long_texts != "head":
            raise SettingsError("`pool=flatten` needs a fixed number of words", hint="Add `long_texts=head`.")

    def width_of_head(self, width: int) -> int:
        """Return the width of each attention head, given the width of the model.

        Raises:
            SettingsError: the heads are narrow, and the width is not a multiple of their number.
        """
        if self.head_width == "wide":
            return width
        if width % self.heads:
            raise SettingsError(
                f"a model of width {width} cannot be divided among {self.heads} narrow heads",
                hint=f"Make `width` a multiple of {self.heads}, change `heads`, or set `head_width=wide`.",
            )
        return width // self.heads

    @property
    def max_tokens(self) -> int | None:
        """Maximum number of words to read from a text, or None for no limit."""
        return self.attention_window if self.long_texts == "head" else None


@dataclass(frozen=True, repr=False)
class TrainSettings(NetworkSettings):
    """Settings of ``train``."""

    # auto: binary-cross-entropy in multi-label classification, otherwise cross-entropy. In the settings of a trained
    # model, auto is replaced by the loss that was used.
    loss: str = setting(
        "auto", "(binary-)cross-entropy or squared-error.", "Network", choices=("auto", *_LOSSES), metavar="NAME"
    )
    epochs: int = setting(
        AUTOMATIC,
        "Number of epochs; 0: no network; -1: automatic.",
        MAIN,
        minimum=AUTOMATIC,
        legacy_value=3,
    )
    lr: float = setting(1e-3, "Maximum learning rate.", "Training", minimum=0)
    valid_share: float = setting(0.1, "Fraction of DATA held out for validation.", "Data", minimum=0, maximum=0.9)
    valid_max: int = setting(1000, "Maximum number of texts to hold out.", "Data", minimum=1)
    label_order: str = setting("auto", "auto: treat numeric labels as ordered.", "Data", choices=("auto", "none"))
    class_weight: str = setting(
        "none", "balanced: predict rare labels more often.", "Data", choices=("none", "balanced")
    )
    passages: int = setting(0, "Cut N extra training texts from each long text.", "Data", minimum=0, maximum=100)
    new_word_min_count: int = setting(
        AUTOMATIC,
        "Minimum count to add a word; 0: never; -1: automatic.",
        "Start",
        minimum=AUTOMATIC,
        legacy_value=2,
    )
    freeze: bool = setting(False, "Do not train the word vectors.", "Start")
    pretrain: int = setting(0, "Pretrain for N epochs of next-word prediction.", "Start", minimum=0)
    ngrams: int = setting(3, "Maximum number of words in an n-gram; 0: no n-grams.", "N-grams", minimum=0, maximum=3)
    ngram_min_texts: int = setting(0, "Drop n-grams found in fewer than N texts; 0: automatic.", "N-grams", minimum=0)
    lsa_components: int = setting(300, "Number of LSA components of the n-grams; 0: none.", "N-grams", minimum=0)
    distill: int = setting(
        AUTOMATIC,
        "N epochs of distillation on unlabelled texts; -1: automatic.",
        "N-grams",
        minimum=AUTOMATIC,
        legacy_value=1,
    )
    region_filters: int = setting(
        AUTOMATIC,
        "Number of region filters per group; 0: none; -1: automatic.",
        "N-grams",
        minimum=AUTOMATIC,
        maximum=4096,
        legacy_value=0,
    )
    subwords: str = setting(
        "auto",
        "Linear model on character n-grams: auto, on, off.",
        "N-grams",
        choices=("auto", "on", "off"),
        metavar="MODE",
        legacy_value="off",
    )
    batch: int = setting(32, "Number of texts per training step.", "Training", minimum=1)
    optimizer: str = setting("adamw", "Optimisation algorithm.", "Training", choices=("adamw", "adam", "sgd"))
    embedding_lr: float = setting(0.3, "Learning rate of word vectors, relative to `lr`.", "Training", minimum=0)
    schedule: str = setting(
        "linear",
        "Learning-rate decay: linear, cosine, constant.",
        "Training",
        choices=("linear", "cosine", "constant"),
        metavar="KIND",
    )
    warmup: int = setting(100, "Reach the maximum learning rate after N steps.", "Training", minimum=0)
    weight_decay: float = setting(0.01, "Weight decay coefficient of AdamW.", "Training", minimum=0)
    clip: float = setting(1.0, "Maximum norm of the gradient; 0: no limit.", "Training", minimum=0)
    crop: int = setting(
        AUTOMATIC, "Train on N words per text; 0: all; -1: automatic.", "Training", minimum=AUTOMATIC, legacy_value=64
    )
    word_dropout: float = setting(
        0.1, "Fraction of words dropped from each training text.", "Training", minimum=0, maximum=0.95
    )
    weight_averaging: float = setting(
        0.99, "Decay of the weight average; 0: no averaging.", "Training", minimum=0, maximum=0.99999
    )
    patience: int = setting(2, "Stop after N epochs without improvement; 0: never.", "Training", minimum=0)
    calibrate: bool = setting(True, "Calibrate probabilities on the held-out texts.", "Training")
    compact: bool = setting(False, "Make a smaller file, with word vectors and n-grams in 8 bits.", "Output")

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.epochs and not self.ngrams:
            raise SettingsError(
                "there is nothing to train: `epochs=0` means no network, and `ngrams=0` means no n-gram features"
            )
        if not self.epochs and self.pretrain:
            raise SettingsError("`pretrain` trains the network, but with `epochs=0` there is no network")
