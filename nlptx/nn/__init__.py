"""The transformer, one kind of layer per file, with every gradient derived by hand. NumPy only.

The guided tour in ``README.md`` in this folder starts with six words and ends with a trained transformer.

A layer stores only its parameters. What ``backward`` needs from a call of ``forward`` is returned as a cache::

    y, cache = layer.forward(x, layout, rng)      # rng is None outside training, which turns dropout off
    dx = layer.backward(dy, cache, grads)         # adds the gradients of the parameters to grads

A layer keeps no state between calls, so ``forward`` may be called several times, even by several threads, before
``backward`` is called. ``layout`` records which rows of ``x`` belong to the same text. Layers that process each row
independently ignore it, except for Linear, which can multiply each window separately (see :class:`Layout`). The output
has the dtype of the input: float32 for training, float64 for gradient checks.

In comments, ``dy`` is the derivative of the loss with respect to ``y``, ``∂y/∂x`` the derivative of ``y`` with respect
to ``x``, and ``X^T`` the transpose of ``X``. The product ``a * b`` of two vectors is elementwise. A line of code that
changes the shape of an array ends with a comment that gives the new shape. Axis letters:

    B  texts in a batch            H  attention heads          V  words in the vocabulary
    T  tokens in a text            K  width of a head          C  classes
    N  tokens in a packed batch    F  width of the FFN         R  components of a word vector
    D  width of the model          W  windows in a batch       P  parameters of a network

A text longer than the attention window is cut into several windows. Inside attention, n windows of T tokens each are
stacked in one array; there, T is the number of tokens in a window.
"""

from nlptx.nn.activations import ACTIVATIONS
from nlptx.nn.attention import Attention, MultiHeadAttention, PlainAttention
from nlptx.nn.block import EncoderBlock
from nlptx.nn.dropout import Dropout
from nlptx.nn.feedforward import FeedForward
from nlptx.nn.layer import Gradients, Layer, Parameter, flatten
from nlptx.nn.layout import Layout
from nlptx.nn.linear import Linear
from nlptx.nn.losses import LOSSES, BinaryCrossEntropy, CrossEntropy, Loss, SquaredError
from nlptx.nn.norm import LayerNorm
from nlptx.nn.pooling import POOLS
from nlptx.nn.positions import LearnedPositions, SinusoidalPositions
from nlptx.nn.weighted_sum import WeightedSum

__all__ = [
    "ACTIVATIONS",
    "LOSSES",
    "POOLS",
    "Attention",
    "BinaryCrossEntropy",
    "CrossEntropy",
    "Dropout",
    "EncoderBlock",
    "FeedForward",
    "Gradients",
    "Layer",
    "LayerNorm",
    "Layout",
    "LearnedPositions",
    "Linear",
    "Loss",
    "MultiHeadAttention",
    "Parameter",
    "PlainAttention",
    "SinusoidalPositions",
    "SquaredError",
    "WeightedSum",
    "flatten",
]
