"""Stage 3: labelled texts + word vectors -> a trained model. Nothing here prints."""

from nlptx.training.checkpoint import Checkpoint
from nlptx.training.fit import fit
from nlptx.training.progress import Progress

__all__ = ["Checkpoint", "Progress", "fit"]
