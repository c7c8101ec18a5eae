"""Measures whether predictions really depend on the words to which ``nlptx explain`` assigns the largest effects.

    python tests/benchmarks/faithfulness.py data/test.tsv cr.tsv aclImdb_dev.tar.gz --work build/faithfulness

For each text, each method sorts the words by their effect on the predicted label. Then the most important words are
removed, or only the most important words are kept, and the text is scored again.

Comprehensiveness is the decrease in the probability of the label, in percentage points, if the most important words are
removed (higher is better). Sufficiency is the decrease in the probability if only the most important words are kept
(lower is better). Comprehensiveness and sufficiency are averaged over 1, 5, 10, 20 and 50% of the words (DeYoung et
al. 2020, "ERASER"). Deletion AUC is the mean probability of the label while 0 to 100% of the words are removed (lower
is better).

The printed tables show comprehensiveness, sufficiency and deletion AUC with standard errors, and the mean difference in
comprehensiveness between ``explain`` and each other method. The numbers and a picture are written to the work folder.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import nlptx
from nlptx.classifier.explain import explain
from nlptx.classifier.inference import network_inputs
from nlptx.classifier.remaining_words import RemainingWords
from nlptx.corpus.corpus import Corpus
from nlptx.corpus.read_options import ReadOptions
from nlptx.nn import Gradients
from nlptx.runtime.workers import Workers

ERASER = (0.01, 0.05, 0.1, 0.2, 0.5)
FRACTIONS = np.array(sorted({*ERASER, *np.linspace(0, 1, 21).round(2).tolist()}))
_BATCH = 256

Scores = NDArray[np.float64]
Method = Callable[["Text"], Scores]


class Text:
    """A text with known words, and its predicted label.

    Args:
        model: the classifier.
        text: the text.
        rng: source of randomness for methods that need one.
    """

    def __init__(self, model: nlptx.Model, text: str, rng: np.random.Generator) -> None:
        self.model, self.text, self.rng = model, text, rng
        self.words = RemainingWords(model.vocabulary, model.vocabulary.tokenizer.split(text))
        self.ids = self.words.ids
        self.probabilities = model.probabilities([self.ids])[0]
        self.label = int(self.probabilities.argmax())

    def probability(self, parts: list[NDArray[np.intp]]) -> Scores:
        """Return the probability of the label for each array of positions; only the words at these positions are kept.

        If a negation is removed, the words after it are no longer marked as negated.
        """
        everything = frozenset(range(len(self.ids)))
        texts = [self.words.without(everything.difference(part.tolist())) for part in parts]
        batches = [texts[start : start + _BATCH] for start in range(0, len(texts), _BATCH)]
        return np.concatenate([self.model.probabilities(batch)[:, self.label] for batch in batches])


def explained(text: Text) -> Scores:
    """Return the leave-one-out effect of each word, as ``nlptx explain`` shows it."""
    return explain(text.model, text.text, text.model.labels[text.label], attention=False).effects


def attention(text: Text) -> Scores:
    """Return the attention that each word gets, averaged over blocks, heads and query words."""
    seen = explain(text.model, text.text, attention=False)
    return np.asarray(np.mean([block.mean(axis=1) for block in seen.received], axis=0))


def at_random(text: Text) -> Scores:
    return text.rng.random(len(text.ids))


def plain_leave_one_out(text: Text) -> Scores:
    """Score the text once for each word, with this word removed, as if it were a new text."""
    everything = np.arange(len(text.ids))
    return -text.probability([np.delete(everything, position) for position in everything])


def gradient_times_input(text: Text) -> Scores:
    """Return gradient times input for each word, plus what the word contributes to the linear models.

    Gradient times input is x . dz/dx, where x is the input vector of the word, and z is the log-odds of the label (for
    two labels). The contribution of an n-gram to a linear model is divided evenly among the occurrences of the n-gram
    and their words.
    """
    model, network = text.model, text.model.network
    x, layout, token_features, text_features = network_inputs(model, [text.ids], separate_windows=True)
    _, cache = network.forward(x, layout, None, token_features, text_features)
    dy = np.full((1, len(text.probabilities)), -1.0, x.dtype)
    dy[0, text.label] = 1
    dx = network.backward(dy, cache, Gradients(np.zeros_like(model.flat)))
    if token_features is not None and network.token_projection is not None:
        x = x + network.token_projection.apply(token_features, layout)
    return np.asarray((dx * x).sum(axis=1) + _linear_parts(text, dy), np.float64)


def _linear_parts(text: Text, dy: NDArray) -> Scores:
    features, projection = text.model.ngram_features, text.model.network.text_projection
    result = np.zeros(len(text.ids))
    if features is None or projection is None:
        return result
    found = features.find(text.ids, [len(text.ids)])
    present, counts = np.unique(found[found < len(features.keys)], return_counts=True)
    weights = next(iter(projection.direct_parameters())).value @ dy[0]  # (M E,)
    values = features.ratio_weights[present] @ weights[: features.ratio_weights.shape[1]] / np.sqrt(len(text.ids))
    if features.lsa_weights is not None and features.importance is not None and len(present):
        norm = np.linalg.norm(features.importance[present])
        values = values + features.lsa_weights[present] @ weights[features.ratio_weights.shape[1] :] / (norm or 1)
    for end, size in zip(*np.nonzero(found < len(features.keys)), strict=True):
        place = np.searchsorted(present, found[end, size])
        words = np.arange(max(end - size, 0), end + 1)
        result[words] += values[place] / counts[place] / len(words)
    return result


def shapley(permutations: int) -> Method:
    """Return a method that estimates Shapley values of the log-odds by removing words in random order."""

    def values(text: Text) -> Scores:
        total = np.zeros(len(text.ids))
        for _ in range(permutations):
            order = text.rng.permutation(len(text.ids))
            p = np.clip(text.probability([np.sort(order[n:]) for n in range(len(order) + 1)]), 1e-12, 1 - 1e-12)
            total[order] -= np.diff(np.log(p / (1 - p)))
        return total / permutations

    return values


def curves(text: Text, scores: Scores) -> tuple[Scores, Scores]:
    """Return the decreases in probability if fractions of the words are removed, and if only these words are kept."""
    order = np.argsort(-scores, kind="stable")
    cuts = np.ceil(FRACTIONS * len(order)).astype(int)
    before = text.probabilities[text.label]
    parts = [np.sort(order[cut:]) for cut in cuts] + [np.sort(order[:cut]) for cut in cuts]
    removed, kept = np.split(before - text.probability(parts), 2)
    return removed, kept


def measure(texts: list[str], methods: dict[str, Method], seed: int) -> dict[str, dict[str, NDArray]]:
    """Return the curves (texts, fractions), the probabilities of the full texts, and the time of each method."""
    # Gradients and attention cannot explain region filters, so the model is used without them.
    model = replace(nlptx.Model.load(), regions=None).overflow_safe()
    found: dict[str, dict[str, list]] = {name: {"removed": [], "kept": [], "seconds": []} for name in methods}
    before = []
    with Workers(1):
        for number, content in enumerate(texts):
            if len(model.encode(content)) < 2:
                continue
            for name, method in methods.items():
                text = Text(model, content, np.random.default_rng([seed, number]))
                started = time.process_time()
                scores = method(text)
                found[name]["seconds"].append(time.process_time() - started)
                removed, kept = curves(text, scores)
                found[name]["removed"].append(removed)
                found[name]["kept"].append(kept)
            before.append(text.probabilities[text.label])
    return {
        name: {"before": np.array(before), **{part: np.array(rows) for part, rows in parts.items()}}
        for name, parts in found.items()
    }


def measures(parts: dict[str, NDArray]) -> dict[str, Scores]:
    """Return the measures of each text, (texts,), in percentage points."""
    eraser = np.isin(FRACTIONS, ERASER)
    even = np.isin(FRACTIONS, np.linspace(0, 1, 21).round(2))
    probability = parts["before"][:, None] - parts["removed"][:, even]
    return {
        "comprehensiveness": 100 * parts["removed"][:, eraser].mean(axis=1),
        "sufficiency": 100 * parts["kept"][:, eraser].mean(axis=1),
        "deletion AUC": 100 * ((probability[:, 1:] + probability[:, :-1]) / 2).mean(axis=1),
    }


def summary(parts: dict[str, NDArray]) -> dict[str, list[float]]:
    """Return the mean probability curves, in percent, with their standard errors."""
    result = {"fractions": (100 * FRACTIONS).tolist()}
    for part in ("removed", "kept"):
        p = 100 * (parts["before"][:, None] - parts[part])
        result |= {part: p.mean(axis=0).tolist(), f"{part}_error": (p.std(axis=0, ddof=1) / len(p) ** 0.5).tolist()}
    return result


def with_error(values: Scores) -> str:
    return f"{values.mean():.1f} ± {values.std(ddof=1) / np.sqrt(len(values)):.1f}"


def as_markdown(found: dict[str, dict[str, NDArray]], reference: str) -> str:
    """Return a table of all methods, with standard errors, and differences in comprehensiveness from ``reference``."""
    base = measures(found[reference])
    lines = [f"| method | {' | '.join(base)} | difference in comprehensiveness | CPU ms per text |", "|---" * 6 + "|"]
    for name, parts in found.items():
        own = measures(parts)
        difference = "" if name == reference else with_error(base["comprehensiveness"] - own["comprehensiveness"])
        cells = [name, *map(with_error, own.values()), difference, f"{1000 * parts['seconds'].mean():.1f}"]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="+", help="tables or archives with texts")
    parser.add_argument("--texts", type=int, default=500, help="maximum number of random texts from a table")
    parser.add_argument("--films", type=int, default=100, help="maximum number of texts from an archive")
    parser.add_argument("--permutations", type=int, default=5, help="permutations for Shapley values; 0 omits them")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--work", type=Path, required=True, help="folder for the results")
    arguments = parser.parse_args()
    methods: dict[str, Method] = {
        "explain": explained,
        "plain leave-one-out": plain_leave_one_out,
        "gradient x input": gradient_times_input,
        "attention": attention,
        "random": at_random,
    }
    if arguments.permutations:
        methods["Shapley sampling"] = shapley(arguments.permutations)
    arguments.work.mkdir(parents=True, exist_ok=True)
    everything = {}
    for name in arguments.data:
        texts = [document.text for document in Corpus([name], ReadOptions(splits=("test",)))]
        max_texts = arguments.films if ".tar" in name else arguments.texts
        order = np.random.default_rng(arguments.seed).permutation(len(texts))[:max_texts]
        found = measure([texts[row] for row in np.sort(order)], methods, arguments.seed)
        everything[Path(name).name] = found
        print(
            f"\n{Path(name).name}, {len(found['explain']['before'])} texts\n\n{as_markdown(found, 'explain')}",
            flush=True,
        )
    report = {data: {name: summary(parts) for name, parts in found.items()} for data, found in everything.items()}
    (arguments.work / "faithfulness.json").write_text(json.dumps(report) + "\n")
    try:
        from faithfulness_picture import plot
    except ImportError as error:
        print(f"no picture: {error}")
        return
    plot(report, arguments.work / "faithfulness.svg")


if __name__ == "__main__":
    main()
