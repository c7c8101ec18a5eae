"""The same network in PyTorch, as its users would write it, for timing."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any

import numpy as np


def torch_step(settings: Any, width: int, tokens: int, words: int = 20_000) -> Callable[[], Any] | None:
    """Return a function that takes one training step on 32 full texts; None where torch is absent."""
    try:
        import torch
        from torch import nn
    except ImportError:
        print("torch is not installed: left out", file=sys.stderr)
        return None
    torch.set_num_threads(os.cpu_count() or 1)
    torch.manual_seed(0)

    class Classifier(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.embedding = nn.Embedding(words, width, sparse=True)
            layer = nn.TransformerEncoderLayer(
                width, settings.heads, settings.hidden or 4 * width, 0.0, batch_first=True, norm_first=True
            )
            self.encoder = nn.TransformerEncoder(
                layer, settings.blocks, nn.LayerNorm(width), enable_nested_tensor=False
            )
            self.head = nn.Linear(width, 2)

        def forward(self, ids: torch.Tensor) -> torch.Tensor:
            return self.head(self.encoder(self.embedding(ids)).mean(1))

    model = Classifier()
    table = torch.optim.SparseAdam(model.embedding.parameters(), 1e-3)
    rest = torch.optim.AdamW([p for name, p in model.named_parameters() if "embedding" not in name], 1e-3)
    rng = np.random.default_rng(0)
    ids = torch.from_numpy(rng.integers(0, words, (32, tokens)))
    targets = torch.from_numpy(rng.integers(0, 2, 32))

    def step() -> None:
        table.zero_grad()
        rest.zero_grad()
        nn.functional.cross_entropy(model(ids), targets).backward()
        nn.utils.clip_grad_norm_([p for name, p in model.named_parameters() if "embedding" not in name], 1.0)
        table.step()
        rest.step()

    return step
