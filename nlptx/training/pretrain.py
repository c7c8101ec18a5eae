"""Next-word prediction on the training texts: a start for the encoder that needs no labels.

Attention is masked to the left, and each position predicts the word after it with a softmax over the
whole vocabulary; the output layer is thrown away afterwards (Radford et al. 2018).
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor

import numpy as np
from numpy.typing import NDArray

from nlptx.errors import DivergenceError
from nlptx.model import Model
from nlptx.nn import CrossEntropy, Gradients, Layer, Layout, Linear, flatten
from nlptx.settings import TrainSettings
from nlptx.training.batches import Share, cut_shares, random_order
from nlptx.training.optimizers import DenseOptimizer, RowOptimizer, learning_rate
from nlptx.training.prepare import Examples
from nlptx.training.progress import Progress
from nlptx.training.step import batch_gradient, clip

# Positions whose scores over the vocabulary are held at once.
_POSITIONS = 512


class NextWord(Layer):
    """The encoder under a linear layer to the vocabulary.

    Args:
        encoder: of the classifier; its parameters are shared.
        words: V.
        rng: source of the output layer's weights.
    """

    def __init__(self, encoder: Layer, width: int, words: int, rng: np.random.Generator) -> None:
        self.encoder = encoder
        self.out = Linear(width, words, rng)
        self.loss = CrossEntropy(words)

    def sublayers(self) -> list[tuple[str, Layer]]:
        return [("encoder", self.encoder), ("out", self.out)]

    def loss_and_gradient(
        self, x: NDArray, ids: NDArray[np.int32], layout: Layout, grads: Gradients, rng: np.random.Generator | None
    ) -> tuple[float, int, int, NDArray]:
        """Return summed loss, hits, predictions made, and dloss/dx; add parameter gradients.

        Args:
            x: (N, R) word vectors.
            ids: (N,) the words themselves.
            layout: causal.
            grads: gradients to add to.
            rng: for dropout.
        """
        h, cache = self.encoder.forward(x, layout, rng)
        last = np.cumsum(layout.windows) - 1
        asking = np.ones(len(ids), bool)
        asking[last] = False  # nothing follows the last word of a window
        positions = np.flatnonzero(asking)
        dh = np.zeros_like(h)
        total, hits = 0.0, 0
        for start in range(0, len(positions), _POSITIONS):
            chosen = positions[start : start + _POSITIONS]
            outputs, out_cache = self.out.forward(h[chosen])
            targets = ids[chosen + 1]
            loss, doutputs = self.loss.value_and_gradient(outputs, targets)
            hits += int((outputs.argmax(axis=1) == targets).sum())
            dh[chosen] = self.out.backward(doutputs, out_cache, grads)
            total += float(loss.sum())
        return total, hits, len(positions), self.encoder.backward(dh, cache, grads)


def pretrain(
    model: Model,
    train: Examples,
    seed: int,
    pool: Executor,
    on_progress: Callable[[Progress], None],
    stop: Callable[[], bool],
) -> list[dict[str, float]]:
    """Train the model's encoder and word vectors to predict the next word; return loss and hits per epoch.

    Raises:
        DivergenceError: a NaN or an infinity came up.
    """
    settings: TrainSettings = model.settings
    encoder = model.network.encoder
    task = NextWord(encoder, encoder.width, len(model.vocabulary), np.random.default_rng([seed, 1]))
    flat = flatten(task, model.flat.dtype)
    dense, table = DenseOptimizer(flat, task, settings), RowOptimizer(model.table, settings)
    steps = -(-len(train) // settings.batch) * settings.pretrain
    step = 0
    history = []
    for epoch in range(1, settings.pretrain + 1):
        rng = np.random.default_rng([seed, 1, epoch])
        total = hits = predictions = 0.0
        for chosen in random_order(len(train), settings.batch, rng):
            if stop():
                break
            shares = cut_shares([train.ids[i] for i in chosen], train.targets[chosen], 0.0, rng)
            asked = max(1, sum(int((_layout(share, settings).windows - 1).sum()) for share in shares))

            def objective(
                share: Share, grads: Gradients, rng: np.random.Generator, asked: int = asked
            ) -> tuple[float, int, NDArray]:
                layout = _layout(share, settings)
                loss, hits, _, dx = task.loss_and_gradient(model.table[share.ids], share.ids, layout, grads, rng)
                grads.flat[...] /= asked
                return loss, hits, dx / asked

            seeds = np.random.SeedSequence([seed, 1, step]).spawn(len(shares))
            result = batch_gradient(shares, objective, flat.size, flat.dtype, settings.freeze, seeds, pool)
            norm = clip(result, settings.clip)
            if not np.isfinite(result.loss) or not np.isfinite(norm):
                raise DivergenceError(f"pre-training diverged at step {step + 1}", hint="Lower --lr.")
            lr = learning_rate(settings, step, steps)
            dense.step(result.flat, lr)
            if not settings.freeze:
                table.step(result.rows, result.row_gradient, lr * settings.embedding_lr)
            step += 1
            total, hits, predictions = total + result.loss, hits + result.correct, predictions + asked
            on_progress(Progress("pretrain", epoch, settings.pretrain, step, steps, total / predictions, 0.0, 0.0))
        if predictions:
            record = {"epoch": epoch, "loss": round(total / predictions, 5), "accuracy": round(hits / predictions, 5)}
            history.append(record)
    # The encoder's parameters go back into a flat vector of the classifier alone.
    model.flat = flatten(model.network, model.flat.dtype)
    return history


def _layout(share: Share, settings: TrainSettings) -> Layout:
    return Layout(share.lengths, settings.window, causal=True)
