"""Distillation: the network learns to reproduce the predictions of the linear models on texts without labels.

This is knowledge distillation (Hinton, Vinyals & Dean 2015) at a temperature of 1 and without true labels, with the
linear models as teachers and the network as the student. The linear models treat each n-gram separately. The
probabilities that the linear models predict for texts without labels serve as soft labels. There may be many more
unlabelled than labelled texts. The network learns to predict the soft labels from the words alone, so its predictions
are already useful when training on the labels starts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from nlptx.classifier.model import Model
from nlptx.nn import Gradients
from nlptx.runtime.progress import counted
from nlptx.runtime.workers import Workers
from nlptx.sampling.rng_streams import Stream, generator
from nlptx.training.batching import Microbatch, augment, cut_microbatches
from nlptx.training.context import TrainingContext
from nlptx.training.dataset import Examples
from nlptx.training.loss import loss_and_gradients
from nlptx.training.unsupervised import UnsupervisedTrainer

# Number of texts whose n-grams are looked up at a time.
_BATCH = 64


Records = list[dict[str, float]]


def distill(
    model: Model, unlabelled: Examples, context: TrainingContext, pretraining: Records
) -> tuple[Records, Records]:
    """Distil the linear models into the network if there are unlabelled texts.

    Do nothing if the number of epochs of distillation is 0, if there are no n-gram features, if training was
    interrupted, or if the checkpoint is from a later phase.

    Returns:
        The records of pre-training and the records of distillation, one per epoch. If training resumes within
        distillation, the records of pre-training come from the checkpoint.
    """
    enabled = model.settings.distill and len(unlabelled) and model.ngram_features is not None
    if not enabled or context.interrupted or context.checkpoint.is_beyond(Distillation.name):
        return pretraining, []
    trainer = Distillation(model, unlabelled, context, pretraining)
    trainer.run()
    return trainer.pretraining, trainer.history


class Distillation(UnsupervisedTrainer):
    """Trainer that trains the network, without its n-gram features, on soft labels.

    Args:
        model: model to train; modified in place.
        unlabelled: texts without labels to train on; their classes are placeholders and ignored.
        context: seed, workers and callbacks.
        pretraining: one record per epoch of pre-training, stored in the checkpoint.
    """

    RECORDS = ("history", "pretraining")
    name = "distill"
    title = "distillation"
    order_stream = Stream.DISTILLATION_ORDER
    dropout_stream = Stream.DISTILLATION_DROPOUT

    def __init__(self, model: Model, unlabelled: Examples, context: TrainingContext, pretraining: Records) -> None:
        super().__init__(model, model.flat, model.network, unlabelled, model.settings.distill, context)
        self.pretraining = pretraining
        total = len(unlabelled)
        self.soft = soft_labels(
            model,
            unlabelled.ids,
            context.workers,
            lambda done: context.report("soft labels", done / total, f"{done:,} of {total:,}"),
        )

    def run(self) -> None:
        """Train, then halve the outputs of the network and of the linear models.

        After training, the network and the linear models have about the same outputs. Without halving, the sum of both
        outputs would be about twice as large as it should be.
        """
        super().run()
        if not self.context.interrupted:
            for layer in (self.model.network.head, self.model.network.text_projection):
                for _, parameter in layer.parameters() if layer is not None else ():
                    parameter.value *= 0.5

    def cut(self, chosen: NDArray[np.int64], step: int) -> tuple[list[Microbatch], int]:
        rng = generator(self.context.seed, Stream.DISTILLATION_WORDS, step)
        texts, _ = augment([self.train.ids[i] for i in chosen], None, self.settings, rng)
        return cut_microbatches(texts, self.soft[chosen]), len(chosen)

    def objective(
        self, microbatch: Microbatch, grads: Gradients, rng: np.random.Generator, count: int
    ) -> tuple[float, int, NDArray]:
        return loss_and_gradients(self.model, microbatch, grads, rng, count)


def soft_labels(
    model: Model,
    texts: Sequence[NDArray[np.int32]],
    workers: Workers,
    on_count: Callable[[int], None] = lambda texts: None,
) -> NDArray[np.float32]:
    """Return the probabilities (texts, C) that the linear models predict. Call this before the network is trained.

    Args:
        model: untrained model.
        texts: word ids of each text, at least one id per text.
        workers: threads to use; their number does not change the result.
        on_count: callback for the number of texts processed so far.

    Raises:
        ValueError: the model has no linear models.
    """
    ngram_features, network = model.ngram_features, model.network
    if ngram_features is None or network.text_projection is None:
        raise ValueError("soft labels need linear models, but the model has none")
    projection = network.text_projection

    def work(start: int) -> NDArray[np.float64]:
        part = list(texts[start : start + _BATCH])
        lengths = [len(ids) for ids in part]
        features = ngram_features.text_features_of(ngram_features.find(np.concatenate(part), lengths), lengths)
        outputs, _ = projection.forward(features)
        return network.loss.probabilities(outputs.astype(np.float64))

    starts = counted(range(0, len(texts), _BATCH), lambda done: on_count(done * _BATCH), every=1)
    return np.concatenate(list(workers.map(work, starts))).astype(np.float32)
