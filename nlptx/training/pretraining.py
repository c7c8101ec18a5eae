"""Pre-training of the encoder, without labels, by next-word prediction on the training texts.

With causal attention, each position predicts the next word with a softmax over the vocabulary (Radford et al. 2018).
The output layer is discarded afterwards.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nlptx.classifier.model import Model
from nlptx.nn import CrossEntropy, Gradients, Layer, Layout, Linear, flatten
from nlptx.runtime.shared_memory import shared_zeros
from nlptx.sampling.rng_streams import Stream, generator
from nlptx.training.batching import Microbatch, cut_microbatches
from nlptx.training.context import TrainingContext
from nlptx.training.dataset import Examples
from nlptx.training.unsupervised import UnsupervisedTrainer

# Number of positions that are processed at a time, to save memory: each has one output per word of the vocabulary.
_POSITIONS = 512


class LanguageModel(Layer):
    """The encoder as a causal language model: a linear layer computes one output per word of the vocabulary.

    Args:
        encoder: the encoder of the classifier itself, not a copy.
        width: D, width of the encoder.
        words: V, number of words in the vocabulary.
        rng: source of randomness for the initial weights of the output layer.
    """

    def __init__(self, encoder: Layer, width: int, words: int, rng: np.random.Generator) -> None:
        self.encoder = encoder
        self.out = Linear(width, words, rng)
        self.loss = CrossEntropy(words)

    def sublayers(self) -> list[tuple[str, Layer]]:
        return [("encoder", self.encoder), ("out", self.out)]

    def loss_and_gradient(
        self,
        x: NDArray,
        ids: NDArray[np.int32],
        layout: Layout,
        grads: Gradients,
        rng: np.random.Generator | None,
        predictions: int = 1,
    ) -> tuple[float, int, NDArray]:
        """Return the summed loss, the number of correct predictions, and dx (N, R).

        All gradients are derivatives of the summed loss divided by ``predictions``.

        Args:
            x: (N, R) word vectors; dx is their gradient.
            ids: (N,) word ids.
            layout: layout of the microbatch, with causal attention.
            grads: gradients of the parameters, to which the gradients of the microbatch are added.
            rng: source of randomness for dropout; None for no dropout.
            predictions: number of predictions in all microbatches of the batch.
        """
        h, cache = self.encoder.forward(x, layout, rng)
        last = np.cumsum(layout.windows) - 1
        has_next = np.ones(len(ids), bool)
        has_next[last] = False  # nothing follows the last word of a window
        positions = np.flatnonzero(has_next)
        dh = np.zeros_like(h)
        total, correct = 0.0, 0
        for start in range(0, len(positions), _POSITIONS):
            chosen = positions[start : start + _POSITIONS]
            outputs, out_cache = self.out.forward(h[chosen])
            targets = ids[chosen + 1]
            loss, doutputs = self.loss.value_and_gradient(outputs, targets)
            doutputs /= predictions
            correct += int((outputs.argmax(axis=1) == targets).sum())
            dh[chosen] = self.out.backward(doutputs, out_cache, grads)
            total += float(loss.sum())
        return total, correct, self.encoder.backward(dh, cache, grads)


def pretrain(model: Model, train: Examples, context: TrainingContext) -> list[dict[str, float]]:
    """Pre-train the encoder, and return one record per epoch.

    Do nothing if the settings disable pre-training, or if training resumes from a checkpoint of a later phase.
    """
    if not model.settings.pretrain or context.checkpoint.is_beyond(Pretraining.name):
        return []
    trainer = Pretraining(model, train, context)
    trainer.run()
    return trainer.history


class Pretraining(UnsupervisedTrainer):
    """Trainer that trains the encoder and the word vectors of a model to predict the next word.

    Args:
        model: model to train; modified in place.
        train: training examples; their classes are ignored.
        context: seed, workers and callbacks.
    """

    name = "pretrain"
    title = "pre-training"
    order_stream = Stream.NEXT_WORD_ORDER
    dropout_stream = Stream.NEXT_WORD_DROPOUT

    def __init__(self, model: Model, train: Examples, context: TrainingContext) -> None:
        encoder = model.network.encoder
        rng = generator(context.seed, Stream.NEXT_WORD_WEIGHTS)
        self.language_model = LanguageModel(encoder, encoder.width, len(model.vocabulary), rng)
        flat = flatten(self.language_model, model.flat.dtype, shared_zeros)
        super().__init__(model, flat, self.language_model, train, model.settings.pretrain, context)

    def run(self) -> None:
        """Train, then move the encoder parameters back to the parameter vector of the classifier."""
        super().run()
        self.model.flat = flatten(self.model.network, self.flat.dtype, shared_zeros)

    def cut(self, chosen: NDArray[np.int64], step: int) -> tuple[list[Microbatch], int]:
        microbatches = cut_microbatches([self.train.ids[i] for i in chosen], self.train.targets[chosen])
        return microbatches, max(
            1, sum(int((self._layout(microbatch).windows - 1).sum()) for microbatch in microbatches)
        )

    def objective(
        self, microbatch: Microbatch, grads: Gradients, rng: np.random.Generator, count: int
    ) -> tuple[float, int, NDArray]:
        x = self.model.table[microbatch.ids]
        return self.language_model.loss_and_gradient(x, microbatch.ids, self._layout(microbatch), grads, rng, count)

    def _layout(self, microbatch: Microbatch) -> Layout:
        return Layout(microbatch.lengths, self.settings.attention_window, causal=True)
