"""The options of the stages that make word vectors, each with its default, range and help text."""

from __future__ import annotations

from dataclasses import dataclass

from nlptx.errors import SettingsError
from nlptx.settings.declaration import MAIN, Settings, setting


@dataclass(frozen=True, repr=False)
class CountSettings(Settings):
    """Settings of ``cooccur``."""

    window: int = setting(10, "Number of context words on each side of a word.", MAIN, minimum=1, maximum=1000)
    min_count: int = setting(5, "Drop words that occur fewer than N times.", MAIN, minimum=1)
    max_words: int = setting(50_000, "Maximum vocabulary size; the most frequent words are kept.", MAIN, minimum=1)
    weighting: str = setting(
        "harmonic",
        "Weight of a context word at distance d: 1/d (harmonic), 1 (uniform) or 1 - d/window (linear).",
        "Counting",
        choices=("harmonic", "uniform", "linear"),
    )
    tokenizer: str = setting(
        "negation",
        "words: words and punctuation; expressive: also recognise emoji, emoticons, ratings; negation: like expressive,"
        " and negated words are marked; spaces: split only at white space.",
        "Counting",
        choices=("negation", "expressive", "words", "spaces"),
    )
    lowercase: bool = setting(True, "Convert text to lower case.", "Counting")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.weighting == "linear" and self.window == 1:
            raise SettingsError(
                "`weighting=linear` gives all pairs a weight of 0 if `window=1`", hint="Use `window=2` or more."
            )


@dataclass(frozen=True, repr=False)
class PcaSettings(Settings):
    """Settings of ``pca``."""

    components: int = setting(128, "Length of the word vectors.", MAIN, minimum=1)
    transform: str = setting(
        "ppmi", "Transform of the counts: PPMI, log(1+x) or none.", MAIN, choices=("ppmi", "log", "none")
    )
    smoothing: float = setting(
        1.0, "Exponent of the context counts in PPMI; 1: no smoothing.", "Transform", minimum=0, maximum=1
    )
    standardize: bool = setting(False, "Standardise each matrix row to mean 0, standard deviation 1.", "Transform")
    eigenvalue_weight: float = setting(
        0.5,
        "Scale component i to a mean square of (eigenvalue i)^X; 1: plain PCA, 0: whitening.",
        "Transform",
        minimum=0,
        maximum=1,
    )
    equalize: float = setting(
        0.15,
        "Fraction of the components, those with the largest eigenvalues, that get the same scale; 0: none.",
        "Transform",
        minimum=0,
        maximum=1,
        legacy_value=0.0,
    )
    negative_weight: float = setting(
        0.25,
        "Factor that multiplies components with a negative eigenvalue of the transformed matrix; 1: no change.",
        "Transform",
        minimum=1e-6,
        maximum=1,
        legacy_value=1.0,
    )
    spelling_weight: float = setting(
        10.0,
        "Number of occurrences at which the vector of a word counts as much as the estimate from its spelling; 0: no"
        " estimate.",
        "Transform",
        minimum=0,
        maximum=1e6,
        legacy_value=0.0,
    )
    normalize: bool = setting(False, "Scale each word vector to unit norm.", "Transform")
    tolerance: float = setting(
        1e-3,
        "Maximum relative residual |Av - lv| / l of an eigenpair (l, v).",
        "Power iteration",
        minimum=1e-12,
        maximum=1,
    )
    block: int = setting(
        0, "Number of vectors iterated together; 1: textbook method, 0: automatic.", "Power iteration", minimum=0
    )
    degree: int = setting(
        0, "Degree of the polynomial filter; 1: plain power iteration, 0: automatic.", "Power iteration", minimum=0
    )
    deflation: str = setting(
        "projection",
        "How to remove an eigenpair (l, v): by projection, or by subtraction of l v v' from the matrix, with the same"
        " result up to rounding.",
        "Power iteration",
        choices=("projection", "subtraction"),
    )
    max_products: int = setting(
        10_000, "Maximum number of products of the matrix with a block of vectors.", "Power iteration", minimum=1
    )
