"""A PyTorch implementation with the same weights yields the same logits, losses and gradients."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from gradcheck import randomise

from nlptx.classifier.network import Network
from nlptx.nn import Gradients, Layout
from nlptx.nn.positions import sinusoids
from nlptx.settings import NetworkSettings

torch = pytest.importorskip("torch", reason="PyTorch is not installed; it is only used as a reference")
F = torch.nn.functional

COMPONENTS = 8
LENGTHS = (3, 1, 9, 2, 2, 6)

NETWORKS: dict[str, dict[str, Any]] = {
    "scaled, narrow, pre-norm, mean": {},
    "wide, post-norm, flatten, squared error": {
        "heads": 3,
        "head_width": "wide",
        "norm": "post",
        "pool": "flatten",
        "long_texts": "head",
        "loss": "squared-error",
        "blocks": 2,
    },
    "causal": {"causal": True, "blocks": 2},
    "gelu": {"activation": "gelu"},
    "tanh, learned positions, max": {"activation": "tanh", "positions": "learned", "pool": "max"},
    "sigmoid, unscaled, first": {"activation": "sigmoid", "attention": "qkv", "pool": "first"},
    "plain, post-norm without gain": {"attention": "plain", "norm": "post", "norm_gain": False, "positions": "none"},
    "attention pool, width of the word vectors": {"pool": "attention", "width": 0, "heads": 1},
}

ACTIVATIONS = {
    "relu": torch.relu,
    "gelu": lambda x: F.gelu(x, approximate="tanh"),
    "tanh": torch.tanh,
    "sigmoid": torch.sigmoid,
}


class TorchNetwork:
    """A PyTorch network with the given settings and weights, which processes one text at a time."""

    def __init__(self, settings: NetworkSettings, weights: dict[str, Any]) -> None:
        self.settings = settings
        self.weights = weights

    def linear(self, name: str, x: Any) -> Any:
        return F.linear(x, self.weights[f"{name}.W"].T, self.weights.get(f"{name}.b"))

    def norm(self, name: str, x: Any) -> Any:
        gain, bias = self.weights.get(f"{name}.g"), self.weights.get(f"{name}.b")
        return F.layer_norm(x, x.shape[-1:], gain, bias, eps=1e-5)

    def attention(self, name: str, x: Any) -> Any:
        causal = self.settings.causal
        if self.settings.attention == "plain":
            return F.scaled_dot_product_attention(x[None], x[None], x[None], is_causal=causal, scale=1.0)[0]
        tokens, heads = len(x), self.settings.heads
        q, k, v = (
            part.reshape(tokens, heads, -1).transpose(0, 1) for part in self.linear(f"{name}.qkv", x).chunk(3, dim=1)
        )
        scale = None if self.settings.attention == "scaled" else 1.0  # None means 1 / sqrt(head width)
        o = F.scaled_dot_product_attention(q, k, v, is_causal=causal, scale=scale)
        return self.linear(f"{name}.out", o.transpose(0, 1).reshape(tokens, -1))

    def feed_forward(self, name: str, x: Any) -> Any:
        return self.linear(f"{name}.outer", ACTIVATIONS[self.settings.activation](self.linear(f"{name}.inner", x)))

    def window(self, x: Any) -> Any:
        if "encoder.projection.W" in self.weights:
            x = self.linear("encoder.projection", x)
        if self.settings.positions == "sinusoidal":
            x = x + torch.tensor(sinusoids(*x.shape), dtype=x.dtype)
        elif self.settings.positions == "learned":
            x = x + self.weights["encoder.positions.s"][: len(x)]
        pre = self.settings.norm == "pre"
        for number in range(self.settings.blocks):
            for part, sublayer in (("attention", self.attention), ("ffn", self.feed_forward)):
                name = f"encoder.block{number}.{part}"
                if pre:
                    x = x + sublayer(f"{name}.f", self.norm(f"{name}.norm", x))
                else:
                    x = self.norm(f"{name}.norm", x + sublayer(f"{name}.f", x))
        return self.norm("encoder.norm", x) if pre else x

    def pool(self, x: Any) -> Any:
        match self.settings.pool:
            case "mean":
                return x.mean(dim=0)
            case "max":
                return x.amax(dim=0)
            case "first":
                return x[0]
            case "attention":
                return torch.softmax(x @ self.weights["pool.w"], dim=0) @ x
            case "flatten":
                return F.pad(x.reshape(-1), (0, (self.settings.attention_window - len(x)) * x.shape[1]))
        raise AssertionError(self.settings.pool)

    def logits(self, x: Any, lengths: list[int]) -> Any:
        rows = []
        for text in x.split(lengths):
            windows = torch.tensor_split(text, -(-len(text) // self.settings.attention_window))
            rows.append(self.linear("head", self.pool(torch.cat([self.window(window) for window in windows]))))
        return torch.stack(rows)

    def loss(self, logits: Any, targets: Any) -> Any:
        if self.settings.loss == "cross-entropy":
            return F.cross_entropy(logits, targets, reduction="none")
        return F.mse_loss(torch.sigmoid(logits[:, 0]), targets.to(logits.dtype), reduction="none")


def compare(settings: NetworkSettings, dtype: Any, tolerance: float) -> None:
    classes = 2 if settings.loss == "squared-error" else 3
    network = Network(settings, COMPONENTS, classes, np.random.default_rng(1))
    grads = Gradients(np.zeros_like(randomise(network, dtype=dtype)))
    longest = settings.attention_window if settings.long_texts == "head" else max(LENGTHS)
    lengths = [min(n, longest) for n in LENGTHS]
    x = np.random.default_rng(2).normal(size=(sum(lengths), COMPONENTS)).astype(dtype)
    targets = np.arange(len(lengths)) % classes

    logits, cache = network.forward(x, Layout(np.array(lengths), settings.attention_window, settings.causal), None)
    loss, gradient = network.loss.value_and_gradient(logits, targets)
    dx = network.backward(gradient, cache, grads)

    weights = {name: torch.tensor(p.value, requires_grad=True) for name, p in network.parameters()}
    words = torch.tensor(x, requires_grad=True)
    reference = TorchNetwork(settings, weights)
    torch_logits = reference.logits(words, lengths)
    torch_loss = reference.loss(torch_logits, torch.tensor(targets))
    torch_loss.sum().backward()

    pairs = {"logits": (logits, torch_logits), "loss": (loss, torch_loss), "word vectors": (dx, words.grad)}
    pairs |= {name: (grads[p], weights[name].grad) for name, p in network.parameters()}
    for name, (ours, theirs) in pairs.items():
        expected = theirs.detach().numpy()
        assert ours.dtype == expected.dtype == dtype
        assert expected.any(), f"{name} is zero, so agreement means nothing"
        error = np.abs(ours - expected).max() / np.abs(expected).max()
        assert error <= tolerance, f"{name} has a relative error of {error:.1e}"


@pytest.mark.parametrize("name", NETWORKS)
@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float64, 1e-11), (np.float32, 1e-5)])
def test_logits_losses_and_gradients_agree_with_torch(name: str, dtype: Any, tolerance: float) -> None:
    small: dict[str, Any] = {"width": 6, "heads": 2, "hidden": 7, "attention_window": 4, "dropout": 0.0}
    compare(NetworkSettings(**(small | NETWORKS[name])), dtype, tolerance)
