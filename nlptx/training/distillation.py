"""Imitation: the network learns from texts without labels what the linear models say of them.

The linear models know single n-grams; of texts that nobody labelled they give probabilities, soft labels, of which
there may be many more than there are labels. A network that learns to say the same from the words alone comes to the
labelled texts with a view of its own, made of other things than theirs: knowledge distillation (Hinton, Vinyals &
Dean 2015), with the linear models as teachers.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nlptx.classifier.model import Model
from nlptx.nn import Gradients
from nlptx.runtime.parallel import in_order
from nlptx.sampling.rng_streams import Stream, generator
from nlptx.training.batching import Share, cut_shares, drop_words
from nlptx.training.context import Control
from nlptx.training.dataset import Examples
from nlptx.training.loss import classify
from nlptx.training.trainer import Preparation

# Texts whose n-grams are looked up together.
_TOGETHER = 64


class Imitation(Preparation):
    """Training of the network, without its evidence, on soft labels.

    Args:
        model: trained in place.
        unlabelled: the texts; their classes play no part.
        control: seed, jobs, and whom to tell.
    """

    name = "imitate"
    title = "imitation"
    order = Stream.IMITATION_ORDER
    dropout = Stream.IMITATION_DROPOUT

    def __init__(self, model: Model, unlabelled: Examples, control: Control) -> None:
        super().__init__(model, model.flat, model.network, unlabelled, model.settings.imitate, control)
        self.soft = soft_labels(model, unlabelled.ids, control.jobs)

    def run(self) -> None:
        """Train, and give network and linear models half a say each: by now they say the same."""
        super().run()
        if not self.interrupted:
            for layer in (self.model.network.head, self.model.network.whole):
                for _, parameter in layer.parameters() if layer is not None else ():
                    parameter.value *= 0.5

    def cut(self, chosen: NDArray[np.int64], step: int) -> tuple[list[Share], int]:
        texts = [self.train.ids[i] for i in chosen]
        if self.settings.word_dropout:
            rng = generator(self.control.seed, Stream.IMITATION_WORDS, step)
            texts, _ = drop_words(texts, None, self.settings.word_dropout, rng)
        return cut_shares(texts, self.soft[chosen]), len(chosen)

    def objective(
        self, share: Share, grads: Gradients, rng: np.random.Generator, count: int
    ) -> tuple[float, int, NDArray]:
        return classify(self.model, share, grads, rng, count)


def soft_labels(model: Model, texts: list[NDArray[np.int32]], jobs: int) -> NDArray[np.float32]:
    """Return what the linear models of an untrained model say of texts of at least one known word: (texts, C).

    Raises:
        ValueError: it has none.
    """
    evidence, network = model.evidence, model.network
    if evidence is None or network.whole is None:
        raise ValueError("soft labels come from linear models, and there are none")
    mix = network.whole.weight.value

    def work(start: int) -> NDArray[np.float64]:
        part = texts[start : start + _TOGETHER]
        lengths = [len(ids) for ids in part]
        outputs = evidence.of_texts(evidence.find(np.concatenate(part), lengths), lengths) @ mix
        return network.loss.probabilities(outputs.astype(np.float64))

    return np.concatenate(list(in_order(work, range(0, len(texts), _TOGETHER), jobs))).astype(np.float32)
