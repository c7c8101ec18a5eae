"""The bundled model's network in PyTorch, run on all cores, in padded batches of texts sorted by length."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from torch.nn import functional

from nlptx.classifier.model import Model
from nlptx.nn.positions import sinusoids

BATCH = 32


class TorchScorer:
    """The network of an nlptx model with default settings. Word ids and n-gram features are computed by nlptx.

    A batch has the shape (windows, words of the longest window, width). Windows are padded at the end, and the padding
    is masked. The mean for a text is taken over all its windows.
    """

    def __init__(self, model: Model) -> None:
        self.model = model
        self.weights = {name: torch.from_numpy(p.value.copy()) for name, p in model.network.parameters()}
        self.table = torch.from_numpy(np.vstack([model.table, np.zeros_like(model.table[:1])]))
        self.width = model.network.encoder.width
        self.positions = torch.from_numpy(sinusoids(model.settings.attention_window, self.width).astype(np.float32))

    def probabilities(self, texts: Sequence[str]) -> np.ndarray:
        """Return (texts, C) probabilities; every text must contain a word of the vocabulary."""
        encoded = [self.model.encode(text) for text in texts]
        order = sorted(range(len(texts)), key=lambda row: len(encoded[row]))
        result = np.empty((len(texts), len(self.model.labels)), np.float32)
        for start in range(0, len(order), BATCH):
            rows = order[start : start + BATCH]
            logits = self.logits([encoded[row] for row in rows]) / self.model.temperature
            result[rows] = torch.softmax(logits, dim=1).numpy()
        return result

    @torch.inference_mode()
    def logits(self, encoded: list[np.ndarray]) -> torch.Tensor:
        window, lengths = self.model.settings.attention_window, [len(ids) for ids in encoded]
        ids, token_features, owner = [], [], []
        text_features = None
        if self.model.ngram_features is not None:
            found = self.model.ngram_features.find(np.concatenate(encoded), lengths)
            text_features = torch.from_numpy(self.model.ngram_features.text_features_of(found, lengths))
            known = np.split(self.model.ngram_features.token_features_of(found), np.cumsum(lengths)[:-1])
        for row, text in enumerate(encoded):
            count = -(-len(text) // window)
            ids += [torch.from_numpy(part.astype(np.int64)) for part in np.array_split(text, count)]
            owner += [row] * count
            if text_features is not None:
                token_features += [torch.from_numpy(part) for part in np.array_split(known[row], count)]
        words = torch.nn.utils.rnn.pad_sequence(ids, True, len(self.table) - 1)
        mask = words != len(self.table) - 1
        x = self.table[words]
        if text_features is not None:
            x = x + self._linear("token_projection", torch.nn.utils.rnn.pad_sequence(token_features, True))
        if "encoder.projection.W" in self.weights:
            x = self._linear("encoder.projection", x)
        x = x + self.positions[: words.shape[1]]
        for number in range(self.model.settings.blocks):
            x = self._block(f"encoder.block{number}", x, mask)
        x = self._norm("encoder.norm", x) * mask[..., None]
        pooled = torch.zeros(len(encoded), self.width).index_add_(0, torch.tensor(owner), x.sum(1))
        outputs = self._linear("head", pooled / torch.tensor(lengths)[:, None])
        return outputs if text_features is None else outputs + self._linear("text_projection", text_features)

    def _block(self, name: str, x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        count, tokens, _ = x.shape
        qkv = self._linear(f"{name}.attention.f.qkv", self._norm(f"{name}.attention.norm", x))
        q, k, v = qkv.view(count, tokens, 3, self.model.settings.heads, -1).permute(2, 0, 3, 1, 4)
        seen = None if bool(mask.all()) else mask[:, None, None, :]
        o = functional.scaled_dot_product_attention(q, k, v, attn_mask=seen).transpose(1, 2).reshape(count, tokens, -1)
        x = x + self._linear(f"{name}.attention.f.out", o)
        inner = torch.relu(self._linear(f"{name}.ffn.f.inner", self._norm(f"{name}.ffn.norm", x)))
        return x + self._linear(f"{name}.ffn.f.outer", inner)

    def _linear(self, name: str, x: torch.Tensor) -> torch.Tensor:
        return functional.linear(x, self.weights[f"{name}.W"].T, self.weights.get(f"{name}.b"))

    def _norm(self, name: str, x: torch.Tensor) -> torch.Tensor:
        return functional.layer_norm(x, x.shape[-1:], self.weights[f"{name}.g"], self.weights[f"{name}.b"], eps=1e-5)


def encoder_like_distilbert(lengths: Sequence[int]) -> Callable[[], Any]:
    """Return a function that runs an encoder as large as DistilBERT, with random weights, on a padded batch."""
    layer = torch.nn.TransformerEncoderLayer(768, 12, 3072, 0.0, "gelu", batch_first=True)
    encoder = torch.nn.TransformerEncoder(layer, 6).eval()
    longest = max(lengths)
    x = torch.randn(len(lengths), longest, 768)
    padding = torch.arange(longest) >= torch.tensor(lengths)[:, None]

    def run() -> None:
        with torch.inference_mode():
            encoder(x, src_key_padding_mask=padding)

    return run
