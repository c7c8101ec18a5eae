"""A reference implementation of the transformer (Vaswani et al. 2017) in scalar arithmetic, for given weights."""

import math
from dataclasses import replace

import numpy as np

ACTIVATIONS = {
    "relu": lambda x: max(0.0, x),
    "tanh": math.tanh,
    "sigmoid": lambda x: 1 / (1 + math.exp(-x)),
    "gelu": lambda x: x / 2 * (1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))),
}


def plain_probabilities(model, text, **changes):
    """Return the probabilities of the classes of a text; ``changes`` override settings of the model."""
    return PlainTransformer(model, **changes).probabilities(model.vocabulary.encode(text))


class PlainTransformer:
    def __init__(self, model, **changes):
        self.model = model
        self.settings = replace(model.settings, **changes)
        self.weights = {name: parameter.value for name, parameter in model.network.parameters()}
        self.attention = []  # for the last text, indexed [window][block][head]; each of shape (T, T)

    def probabilities(self, ids):
        s = self.settings
        ids = ids[: s.attention_window] if s.long_texts == "head" else ids
        self.attention = []
        x = np.array([self.model.table[i] for i in ids])
        windows = np.array_split(x, math.ceil(len(ids) / s.attention_window))
        h = np.concatenate([self.encode(window) for window in windows])
        outputs = self.pool(h) @ self.weights["head.W"] + self.weights["head.b"]
        if s.loss == "squared-error":
            p = 1 / (1 + math.exp(-outputs[0]))
            return [1 - p, p]
        return softmax(outputs)

    def encode(self, x):
        """Turn the word vectors of one window into contextual vectors."""
        s, w = self.settings, self.weights
        if "encoder.projection.W" in w:
            x = x @ w["encoder.projection.W"]
        if s.positions == "learned":
            x = x + w["encoder.positions.s"][: len(x)]
        elif s.positions == "sinusoidal":
            x = x + [[sinusoid(t, column, x.shape[1]) for column in range(x.shape[1])] for t in range(len(x))]
        heads = []
        for number in range(s.blocks):
            name = f"encoder.block{number}"
            for part in ("attention", "ffn"):
                work = self.attend if part == "attention" else self.feed_forward
                if s.norm == "post":
                    x = self.normalise(x + work(x, f"{name}.{part}.f"), f"{name}.{part}.norm")
                else:
                    x = x + work(self.normalise(x, f"{name}.{part}.norm"), f"{name}.{part}.f")
            heads.append(self.last_heads)
        self.attention.append(heads)
        return self.normalise(x, "encoder.norm") if s.norm == "pre" else x

    def attend(self, x, name):
        s, w = self.settings, self.weights
        if s.attention == "plain":
            o, p = mix(x, x, x, 1.0, s.causal)
            self.last_heads = [p]
            return o
        width = x.shape[1] if s.head_width == "wide" else x.shape[1] // s.heads
        scale = 1 / math.sqrt(width) if s.attention == "scaled" else 1.0
        w_q, w_k, w_v = np.split(w[f"{name}.qkv.W"], 3, axis=1)
        mixed, self.last_heads = [], []
        for head in range(s.heads):
            columns = slice(head * width, (head + 1) * width)
            o, p = mix(x @ w_q[:, columns], x @ w_k[:, columns], x @ w_v[:, columns], scale, s.causal)
            mixed.append(o)
            self.last_heads.append(p)
        return np.concatenate(mixed, axis=1) @ w[f"{name}.out.W"]

    def feed_forward(self, x, name):
        w, f = self.weights, ACTIVATIONS[self.settings.activation]
        inner = x @ w[f"{name}.inner.W"] + w[f"{name}.inner.b"]
        return np.array([[f(v) for v in row] for row in inner]) @ w[f"{name}.outer.W"] + w[f"{name}.outer.b"]

    def normalise(self, x, name):
        rows = []
        for row in x:
            mean = math.fsum(row) / len(row)
            variance = math.fsum((v - mean) ** 2 for v in row) / len(row)
            rows.append([(v - mean) / math.sqrt(variance + 1e-5) for v in row])
        if not self.settings.norm_gain:
            return np.array(rows)
        return np.array(rows) * self.weights[f"{name}.g"] + self.weights[f"{name}.b"]

    def pool(self, h):
        s = self.settings
        if s.pool == "flatten":
            return np.concatenate([h.ravel(), np.zeros(s.attention_window * h.shape[1] - h.size)])
        if s.pool == "attention":
            return sum(a * row for a, row in zip(softmax(h @ self.weights["pool.w"]), h, strict=True))
        return {"mean": sum(h) / len(h), "max": np.array([max(c) for c in h.T]), "first": h[0]}[s.pool]


def mix(q, k, v, scale, causal):
    """Return the softmax-weighted mean of the values for each query, and the weights."""
    weights = np.zeros((len(q), len(k)))
    for t in range(len(q)):
        visible = t + 1 if causal else len(k)
        weights[t, :visible] = softmax([scale * float(q[t] @ k[j]) for j in range(visible)])
    return np.array([sum(p * value for p, value in zip(row, v, strict=True)) for row in weights]), weights


def softmax(scores):
    top = max(scores)
    exponents = [math.exp(score - top) for score in scores]
    return np.array(exponents) / math.fsum(exponents)


def sinusoid(position, column, width):
    angle = position / 10_000 ** ((column - column % 2) / width)
    return math.cos(angle) if column % 2 else math.sin(angle)
