"""The nlptx network in PyTorch, for timing, written as PyTorch users would write it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

BATCH = 32


def torch_epoch(
    settings: Any, width: int, words: int, texts: Sequence[NDArray[np.int32]], targets: NDArray[np.int64]
) -> Callable[[], Any] | None:
    """Return a function that trains for one epoch, or None if torch is not installed.

    Each batch consists of texts of similar length, padded to the longest one. The batches are taken in random order.
    """
    try:
        import torch
        from torch import nn
    except ImportError:
        print("torch is not installed: skipped", file=sys.stderr)
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

        def forward(self, ids: torch.Tensor, padding: torch.Tensor | None) -> torch.Tensor:
            x = self.encoder(self.embedding(ids), src_key_padding_mask=padding)
            if padding is None:
                return self.head(x.mean(1))
            kept = (~padding).unsqueeze(2)
            return self.head((x * kept).sum(1) / kept.sum(1))

    model = Classifier()
    table = torch.optim.SparseAdam(model.embedding.parameters(), 1e-3)
    rest = torch.optim.AdamW([p for name, p in model.named_parameters() if "embedding" not in name], 1e-3)

    order = np.argsort([len(ids) for ids in texts], kind="stable")
    batches = []
    for start in range(0, len(order), BATCH):
        chosen = order[start : start + BATCH]
        rows = [torch.from_numpy(texts[i].astype(np.int64)) for i in chosen]
        lengths = torch.tensor([len(row) for row in rows])
        ids = nn.utils.rnn.pad_sequence(rows, batch_first=True)
        padding = torch.arange(ids.shape[1]) >= lengths[:, None]
        batches.append((ids, padding if padding.any() else None, torch.from_numpy(targets[chosen])))
    rng = np.random.default_rng(0)

    def epoch() -> None:
        for number in rng.permutation(len(batches)):
            ids, padding, classes = batches[number]
            table.zero_grad()
            rest.zero_grad()
            nn.functional.cross_entropy(model(ids, padding), classes).backward()
            nn.utils.clip_grad_norm_([p for name, p in model.named_parameters() if "embedding" not in name], 1.0)
            table.step()
            rest.step()

    return epoch
