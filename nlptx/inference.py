"""A trained network over encoded texts: each as if it were alone, and in bounded memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from nlptx.nn import Layout

if TYPE_CHECKING:
    from nlptx.model import Model

# Words that go through the network together: enough to keep NumPy busy, and few enough for a core's cache.
CHUNK = 2048


def infer(model: Model, encoded: Sequence[NDArray[np.int32]]) -> NDArray:
    """Return the outputs (B, outputs) for texts of at least one known word.

    No bit of a text's outputs depends on the texts beside it. Short texts share a pass of up to CHUNK words. A
    longer text of several windows goes through the encoder some windows at a time, as windows only meet in the
    pool, which merges what it made of each part.
    """
    result = np.empty((len(encoded), model.network.loss.outputs), model.flat.dtype)
    with np.errstate(all="ignore"):  # the caller looks at the outputs
        for rows in _passes([len(ids) for ids in encoded]):
            texts = [encoded[row] for row in rows]
            if len(texts[0]) > max(CHUNK, model.settings.window):
                result[rows] = _in_parts(model, texts[0])
            else:
                result[rows], _, _ = model.outputs(texts, apart=True)
    return result


def _passes(lengths: list[int]) -> Iterator[list[int]]:
    """Group texts into passes by length, so that equal ones stand side by side; a text above CHUNK stands alone."""
    rows: list[int] = []
    words = 0
    for row in sorted(range(len(lengths)), key=lengths.__getitem__):
        if rows and words + lengths[row] > CHUNK:
            yield rows
            rows, words = [], 0
        rows.append(row)
        words += lengths[row]
    yield rows


def _in_parts(model: Model, ids: NDArray[np.int32]) -> NDArray:
    """Return the outputs (1, outputs) of a text, of which only some windows are in memory at a time."""
    settings, network, evidence = model.settings, model.network, model.evidence
    windows = Layout(np.array([len(ids)]), settings.window).windows
    some = max(1, CHUNK // settings.window)
    pooled, log_weights = [], []
    heard = np.zeros(0 if evidence is None else len(evidence.keys) + 1, bool)
    start = 0
    for first in range(0, len(windows), some):
        layout = Layout(windows[first : first + some], settings.window, settings.causal, apart=True)
        end = start + layout.tokens
        places = None
        if evidence is not None:
            before = max(0, start - evidence.order + 1)  # n-grams reach back across the cut
            found = evidence.find(ids[before:end], [end - before])[start - before :]
            heard[found] = True
            places = evidence.of_places(found)
        x = model.table[ids[start:end]].astype(model.flat.dtype, copy=False)
        x, _ = network.encode(x, layout, None, places)
        part, _ = network.pool.forward(x, Layout(np.array([layout.tokens])), None)
        pooled.append(part[0])
        log_weights.append(network.pool.log_weight(x))
        start = end
    y = network.pool.merge(np.stack(pooled), np.array(log_weights))[None]
    distinct = np.flatnonzero(heard[:-1])[:, None]
    whole = None if evidence is None else evidence.of_texts(distinct, [len(distinct)])
    outputs, _ = network.decide(y, Layout(np.ones(1, np.int64), apart=True), whole)
    return outputs
