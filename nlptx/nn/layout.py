"""The layout of a packed batch: which rows form a text, and which form a window of tokens that attend to each other."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import numpy as np
from numpy.typing import NDArray


class Layout:
    """The layout of a batch whose texts are stored one after the other, without padding, in an (N, D) matrix.

    A text longer than the window is cut into windows of nearly equal length. Attention stays within a window, and
    positions are counted from 0 in each window; pooling spans the whole text. Consecutive windows of equal length form
    a *stack*: a view (n, T, D) of n windows of T tokens, which a single batched matrix product can process. Here is an
    example with texts of 3, 3 and 5 tokens and a window of 4::

        rows      0 1 2   3 4 5   6 7 8   9 10        N = 11 tokens
        texts    [-----] [-----] [------------]       B = 3, lengths 3 3 5
        windows  [-----] [-----] [-----] [----]       W = 4, lengths 3 3 3 2
        stacks   [---------------------] [----]       shapes (3, 3, D) and (1, 2, D)

    Args:
        lengths: (B,) number of tokens in each text, all at least 1.
        window: maximum number of tokens in a window.
        causal: whether a token attends only to itself and to the tokens before it.
        separate_windows: whether matrix products are computed for each window separately. In a joint product of all
            windows, the last bits of the result for a text could depend on the other texts in the batch, because a BLAS
            library may sum in an order that depends on the matrix size.

    Attributes:
        starts: (B,) first row of each text.
        tokens: N, the number of tokens in the batch.
        windows_per_text: (B,) number of windows in each text.
        windows: (W,) number of tokens in each window.
    """

    def __init__(
        self, lengths: NDArray[np.integer], window: int = 1 << 30, causal: bool = False, separate_windows: bool = False
    ) -> None:
        self.lengths = np.asarray(lengths, np.int64)
        self.starts = np.cumsum(self.lengths) - self.lengths
        self.tokens = int(self.lengths.sum())
        self.causal = causal
        self.separate_windows = separate_windows
        self.windows_per_text = per_text = -(-self.lengths // window)
        if len(self.lengths) and int(per_text.max()) > 1:
            windows = np.repeat(self.lengths // per_text, per_text)  # (W,)
            # In each text, the first `longer` windows have one token more than the others.
            longer = np.repeat(self.lengths % per_text, per_text)  # (W,)
            first = np.repeat(np.cumsum(per_text) - per_text, per_text)
            windows += np.arange(len(windows)) - first < longer
        else:
            windows = self.lengths
        self.windows = windows

    @cached_property
    def stack_shapes(self) -> list[tuple[int, int, int]]:
        """Triples (first row, n, T), one for each stack of n consecutive windows with T tokens each."""
        if not len(self.windows):
            return []
        cuts = np.flatnonzero(np.diff(self.windows)) + 1
        edges = [0, *cuts.tolist(), len(self.windows)]
        lengths = [int(self.windows[edge]) for edge in edges[:-1]]
        counts = np.diff(edges).tolist()
        result, row = [], 0
        for count, length in zip(counts, lengths, strict=True):
            result.append((row, count, length))
            row += count * length
        return result

    def stacks(self, x: NDArray) -> Iterator[NDArray]:
        """Yield each stack of windows of ``x`` (N, D) as a view (n, T, D)."""
        for row, count, length in self.stack_shapes:
            yield x[row : row + count * length].reshape(count, length, -1)  # (n, T, D)

    @cached_property
    def pooled(self) -> Layout:
        """The layout of the batch after pooling, which leaves one row per text."""
        return Layout(np.ones_like(self.lengths), separate_windows=self.separate_windows)

    def product(self, x: NDArray, matrix: NDArray) -> NDArray:
        """Return ``x @ matrix``, (N, O), for ``x`` (N, I) and ``matrix`` (I, O).

        If ``separate_windows`` is set, each window is multiplied separately, so that its result does not depend on the
        other windows.
        """
        if not self.separate_windows:
            return x @ matrix  # (N, O)
        y = np.empty((len(x), matrix.shape[1]), np.result_type(x, matrix))  # (N, O)
        for x_stack, y_stack in zip(self.stacks(x), self.stacks(y), strict=True):
            np.matmul(x_stack, matrix, out=y_stack)  # n products of (T, I) and (I, O)
        return y
