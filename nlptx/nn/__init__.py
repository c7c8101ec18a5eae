"""The transformer, a layer a file, with every gradient derived by hand. NumPy only.

A layer owns its parameters; a call owns its cache::

    y, cache = layer.forward(x, layout, rng)      # rng is None outside training: no dropout
    dx = layer.backward(dy, cache, grads)         # adds parameter gradients into grads

So one layer may be used twice, or by two threads, before it is differentiated. ``layout`` says which rows
of ``x`` belong together; layers that work row by row ignore it. dtype in is dtype out.

Axis letters, used in all shapes:

    B  texts of a batch           H  attention heads          V  words of the vocabulary
    T  tokens of a window         K  width of a head          C  classes
    N  tokens of a batch          F  width of the FFN         R  components of a word vector
    D  width of the model         W  windows of a batch       P  parameters of a network
"""

from nlptx.nn.activations import ACTIVATIONS
from nlptx.nn.attention import MultiHeadAttention, PlainAttention
from nlptx.nn.block import EncoderBlock
from nlptx.nn.dropout import Dropout
from nlptx.nn.feedforward import FeedForward
from nlptx.nn.layer import Gradients, Layer, Parameter, flatten
from nlptx.nn.layout import Layout
from nlptx.nn.linear import Linear
from nlptx.nn.losses import LOSSES, CrossEntropy, Loss, SquaredError
from nlptx.nn.norm import LayerNorm
from nlptx.nn.pooling import POOLS
from nlptx.nn.positions import LearnedPositions, SinusoidalPositions

__all__ = [
    "ACTIVATIONS",
    "LOSSES",
    "POOLS",
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
    "flatten",
]
