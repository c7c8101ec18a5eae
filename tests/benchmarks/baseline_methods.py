"""Common baseline methods, each in a few lines. Each method takes a task and returns the probabilities of the labels.

All methods except VADER, which has its own tokenizer, use nlptx's tokenizer and lower-case text. Hyperparameters
are chosen on a held-out tenth of the training texts; then the method is trained on all training texts.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
from baseline_linear import nblr, nbsvm, tfidf
from baseline_task import SEED, Absent, Answer, Task, certain, need, need_training

from nlptx.text.tokenizer import Tokenizer


def majority(task: Task) -> Answer:
    """Predict the most frequent label of the training texts; probabilities are the label frequencies."""
    need_training(task)
    shares = np.bincount(task.classes, minlength=len(task.labels)) / len(task.classes)
    return Answer(np.tile(shares, (len(task.test), 1)), len(task.labels))


def vader(task: Task) -> Answer:
    """Apply VADER (Hutto & Gilbert 2014), and split the range of its score, -1 to 1, equally among the labels."""
    if not task.ordered:
        raise Absent("it only rates texts from negative to positive, and these labels do not form a scale")
    analyzer = need("vaderSentiment.vaderSentiment").SentimentIntensityAnalyzer()
    compound = np.array([analyzer.polarity_scores(text)["compound"] for text in task.test])
    count = len(task.labels)
    parts = np.minimum(((compound + 1) / 2 * count).astype(int), count - 1)
    return Answer(certain(parts, count), len(analyzer.lexicon), sure=False)


def fasttext(task: Task) -> Answer:
    """Run the fastText program (Joulin et al. 2017) on words and word pairs, with 10 dimensions.

    The learning rate and the number of epochs are chosen on the held-out part.
    """
    need_training(task)
    if shutil.which("fasttext") is None:
        raise Absent("the program fasttext is not on the PATH")
    inner, true = task.held_out()

    def best(grid: list[dict[str, float]]) -> dict[str, float]:
        hits = [(run_fasttext(inner, **one).probabilities.argmax(axis=1) == true).mean() for one in grid]
        return grid[int(np.argmax(hits))]

    first = best([{"lr": lr, "epoch": 5} for lr in (0.1, 0.25, 0.5, 1.0)])
    chosen = best([first, {**first, "epoch": 25}])
    return replace(run_fasttext(task, **chosen), chosen=chosen)


def run_fasttext(task: Task, **settings: float) -> Answer:
    tokenize = Tokenizer()
    with tempfile.TemporaryDirectory() as name:
        train, test, model = (Path(name) / part for part in ("train", "test", "model"))
        # The texts are shuffled, because fastText reads them in the given order, and archives are sorted by label.
        order = np.random.default_rng(SEED).permutation(len(task.train))
        rows = (f"__label__{task.classes[row]} {' '.join(tokenize(task.train[row]))}\n" for row in order)
        train.write_text("".join(rows))
        test.write_text("".join(" ".join(tokenize(text)) + "\n" for text in task.test))
        options = {"wordNgrams": 2, "dim": 10, "thread": 1, "seed": SEED, "verbose": 0, **settings}
        words = [word for key, value in options.items() for word in (f"-{key}", str(value))]
        call("supervised", "-input", train, "-output", model, *words)
        predictions = call("predict-prob", f"{model}.bin", test, "-1").splitlines()
        kept = int(call("dump", f"{model}.bin", "dict").split(None, 1)[0])
        buckets = dict(line.split(" ", 1) for line in call("dump", f"{model}.bin", "args").splitlines())["bucket"]
    table = np.zeros((len(task.test), len(task.labels)))
    for row, line in enumerate(predictions):
        fields = line.split()
        for label, share in zip(fields[::2], fields[1::2], strict=True):
            table[row, int(label.removeprefix("__label__"))] = float(share)
    table /= table.sum(axis=1, keepdims=True)
    return Answer(table, 10 * (kept + int(buckets)))


def call(*words: object) -> str:
    return subprocess.run(["fasttext", *map(str, words)], check=True, capture_output=True, text=True).stdout


METHODS: dict[str, Callable[[Task], Answer]] = {
    "majority": majority,
    "vader": vader,
    "tfidf": tfidf,
    "nblr": nblr,
    "nbsvm": nbsvm,
    "fasttext": fasttext,
}
