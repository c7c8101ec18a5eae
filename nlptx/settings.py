"""Every option of every stage: its default, its range and its help, written once and nowhere else.

The command line draws its options from these classes, the library takes them as arguments, and each
artifact stores the ones it was made with.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass, field, fields
from textwrap import shorten
from typing import Any, TypeVar

from nlptx.errors import CorruptError, SettingsError

T = TypeVar("T")

SEED = 1
# Bytes a stage keeps to, beside the interpreter and its libraries, and the fewest it can do with.
DEFAULT_MEMORY, LEAST_MEMORY = 4 << 30, 64 << 20
CHECKPOINT_MINUTES = 5.0
# Characters shown of the settings that are not at their default.
_LONGEST_REPR = 90


def setting(
    default: T,
    help: str,
    *,
    choices: tuple[str, ...] | None = None,
    low: float | None = None,
    high: float | None = None,
) -> T:
    """Declare one option: a dataclass field with its help and its range (both ends included)."""
    return field(default=default, metadata={"help": help, "choices": choices, "low": low, "high": high})


@dataclass(frozen=True)
class Settings:
    """Base: checks every field against its declared range."""

    def __post_init__(self) -> None:
        for item in fields(self):
            check_value(item, getattr(self, item.name))

    def __repr__(self) -> str:
        values = ((item.name, getattr(self, item.name), item.default) for item in fields(self))
        changed = ", ".join(f"{name}={value!r}" for name, value, default in values if value != default)
        return f"{type(self).__name__}({shorten(changed, _LONGEST_REPR, placeholder=' ...')})"

    def to_dict(self) -> dict[str, Any]:
        return dataclasses.asdict(self)

    @classmethod
    def from_dict(cls: type[S], values: dict[str, Any]) -> S:
        """Build from the values stored in an artifact.

        Raises:
            CorruptError: an unknown name or an impossible value. Not the user's options are wrong, but the file.
        """
        unknown = sorted(set(values) - {item.name for item in fields(cls)})
        if unknown:
            raise CorruptError(f"it stores an unknown setting {unknown[0]!r}")
        try:
            return cls(**values)
        except SettingsError as error:
            raise CorruptError(f"a stored setting is impossible: {error.message}") from error


S = TypeVar("S", bound=Settings)


def check_value(item: dataclasses.Field[Any], value: Any) -> None:
    """Raise SettingsError unless ``value`` has the type and range declared for ``item``."""
    name, wanted = f"`{item.name}`", type(item.default)
    whole = wanted is float and type(value) is int
    if type(value) is not wanted and not whole:
        raise SettingsError(f"{name} is {value!r}; expected {wanted.__name__}")
    choices, low, high = (item.metadata[key] for key in ("choices", "low", "high"))
    if choices is not None and value not in choices:
        raise SettingsError(f"{name} is {value!r}; expected one of {', '.join(choices)}")
    if wanted is float and not math.isfinite(value):
        raise SettingsError(f"{name} is {value}; expected a finite number")
    if (low is not None and not value >= low) or (high is not None and not value <= high):
        bounds = f"at least {low}" if high is None else f"from {low} to {high}"
        raise SettingsError(f"{name} is {value}; expected {bounds}")


@dataclass(frozen=True, repr=False)
class CountSettings(Settings):
    """Settings of ``cooccur``."""

    window: int = setting(10, "Words to each side that count as context.", low=1, high=1000)
    weighting: str = setting(
        "harmonic",
        "Weight of a pair at distance d: 1/d, 1, or 1 - d/window, which is 0 at the window's edge.",
        choices=("harmonic", "uniform", "linear"),
    )
    min_count: int = setting(5, "Leave out words seen fewer times than this.", low=1)
    max_words: int = setting(50_000, "Keep at most this many words, the most frequent.", low=1)
    tokenizer: str = setting(
        "words",
        "words: words and punctuation marks apart; spaces: the text is tokenised already.",
        choices=("words", "spaces"),
    )
    lowercase: bool = setting(True, "Fold text to lower case.")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.weighting == "linear" and self.window == 1:
            raise SettingsError("`weighting=linear` leaves nothing of a window of 1", hint="Give `window=2` or more.")


@dataclass(frozen=True, repr=False)
class PcaSettings(Settings):
    """Settings of ``pca``."""

    components: int = setting(128, "Length of the word vectors.", low=1)
    transform: str = setting(
        "ppmi",
        "What is done to the counts first: positive pointwise mutual information, log(1+x), or nothing.",
        choices=("ppmi", "log", "none"),
    )
    smoothing: float = setting(1.0, "PPMI: exponent that smooths the context counts; 1 leaves them.", low=0, high=1)
    standardize: bool = setting(False, "Give each row mean 0 and standard deviation 1.")
    eigenvalue_weight: float = setting(
        0.5, "Power of the eigenvalue's root that scales a component: 1 is plain PCA, 0 whitens.", low=0, high=1
    )
    normalize: bool = setting(False, "Give each word vector length 1.")
    tolerance: float = setting(1e-3, "Largest relative residual |Av - lv| / l of an eigenpair.", low=1e-12, high=1)
    block: int = setting(0, "Vectors iterated together; 1 is the textbook method, 0 chooses.", low=0)
    degree: int = setting(
        0, "Iterates combined per round, a polynomial filter; 1 is plain power iteration, 0 chooses.", low=0
    )
    deflation: str = setting(
        "projection",
        "How found eigenvectors are taken out: by projection, or by subtracting l v v' from the matrix.",
        choices=("projection", "subtraction"),
    )
    max_products: int = setting(10_000, "Give up after this many products of the matrix with a block.", low=1)


@dataclass(frozen=True, repr=False)
class NetworkSettings(Settings):
    """The shape of the transformer; a part of the settings of ``train``."""

    width: int = setting(64, "Model width d; 0 takes the length of the word vectors.", low=0, high=16_384)
    blocks: int = setting(1, "Encoder blocks.", low=0, high=1000)
    heads: int = setting(4, "Attention heads.", low=1, high=1024)
    head_width: str = setting("narrow", "Width of a head: d/heads, or d for every head.", choices=("narrow", "wide"))
    attention: str = setting(
        "scaled",
        "plain: softmax(x x') x; qkv: learned queries, keys and values; scaled: those over sqrt(width).",
        choices=("scaled", "qkv", "plain"),
    )
    causal: bool = setting(False, "Let a word attend only to itself and the words before it.")
    hidden: int = setting(0, "Hidden width of the feed-forward network; 0 takes 4 d.", low=0, high=65_536)
    activation: str = setting("relu", "Its activation.", choices=("relu", "gelu", "tanh", "sigmoid"))
    norm: str = setting("pre", "Normalise before each sublayer, or after the residual sum.", choices=("pre", "post"))
    norm_gain: bool = setting(True, "Layer norm learns a gain and a bias.")
    positions: str = setting(
        "sinusoidal", "Position signal added to the word vectors.", choices=("sinusoidal", "learned", "none")
    )
    pool: str = setting(
        "mean",
        "How a text's words become one vector.",
        choices=("mean", "max", "first", "attention", "flatten"),
    )
    loss: str = setting(
        "cross-entropy",
        "Softmax and cross-entropy, or (two classes) one sigmoid neuron and squared error.",
        choices=("cross-entropy", "squared-error"),
    )
    attention_window: int = setting(128, "Words that attend to each other.", low=1, high=65_536)
    long_texts: str = setting(
        "split",
        "Texts longer than the window: split them into windows, or read only their head.",
        choices=("split", "head"),
    )
    dropout: float = setting(0.1, "Share of activations dropped while training.", low=0, high=0.95)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.pool == "flatten" and self.long_texts != "head":
            raise SettingsError("`pool=flatten` needs a fixed number of words", hint="Add `long_texts=head`.")

    @property
    def most_words(self) -> int | None:
        """Words of a text that are read at all; None for all of them."""
        return self.attention_window if self.long_texts == "head" else None


@dataclass(frozen=True, repr=False)
class TrainSettings(NetworkSettings):
    """Settings of ``train``."""

    epochs: int = setting(2, "Passes over the training texts.", low=1)
    batch: int = setting(32, "Texts per step.", low=1)
    optimizer: str = setting("adamw", "Update rule.", choices=("adamw", "adam", "sgd"))
    lr: float = setting(1e-3, "Highest learning rate.", low=0)
    embedding_lr: float = setting(0.3, "Learning rate of the word vectors, as a multiple of `lr`.", low=0)
    freeze: bool = setting(False, "Leave the word vectors as PCA made them.")
    schedule: str = setting(
        "linear", "How the rate falls to 0 after warm-up.", choices=("linear", "cosine", "constant")
    )
    warmup: int = setting(100, "Steps over which the rate rises.", low=0)
    weight_decay: float = setting(0.01, "AdamW: decay of weight matrices per unit of learning rate.", low=0)
    clip: float = setting(1.0, "Largest norm of the gradient; 0 for no limit.", low=0)
    word_dropout: float = setting(0.1, "Share of words left out of a training text.", low=0, high=0.95)
    weight_averaging: float = setting(
        0.99, "Decay of the running average of the weights; 0 for none.", low=0, high=0.99999
    )
    patience: int = setting(2, "Stop after this many epochs without improvement; 0 never.", low=0)
    valid_share: float = setting(0.1, "Share of the training data held out for validation.", low=0, high=0.9)
    valid_max: int = setting(1000, "Hold out about this many texts at most.", low=1)
    new_word_min_count: int = setting(
        2, "Learn vectors for training words the embeddings lack, seen this often; 0 for none.", low=0
    )
    calibrate: bool = setting(True, "Fit the temperature of the probabilities on the held-out texts.")
    class_weight: str = setting(
        "none",
        "balanced: all labels have the same total weight in the loss, and the label predicted is the one most probable"
        " relative to its share of the training texts, for the best mean recall; the probabilities stay calibrated.",
        choices=("none", "balanced"),
    )
    label_order: str = setting("auto", "Whether labels that are numbers form a scale.", choices=("auto", "none"))
    ngrams: int = setting(
        3,
        "Add the naive-Bayes evidence of word n-grams up to this length to the word vectors; 0 for none.",
        low=0,
        high=3,
    )
    lsa_components: int = setting(
        300, "Principal components of the texts, of their n-grams, to learn from as well; 0 for none.", low=0
    )
    distill: int = setting(
        1,
        "Epochs over the texts without labels, if there are any, in which the network learns what the n-grams say.",
        low=0,
    )
    ngram_min_texts: int = setting(2, "Leave out n-grams found in fewer training texts than this.", low=1)
    float16: bool = setting(False, "Store word vectors and n-grams in half precision, for a smaller file.")
    passages: int = setting(
        0,
        "Passages of each long training text, of 10 to 40 words, that are learned as texts of their own; 0 for none.",
        low=0,
        high=100,
    )
    pretrain: int = setting(0, "Epochs of next-word prediction on the texts before training on the labels.", low=0)
