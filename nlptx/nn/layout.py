"""Which rows of a packed batch belong together: texts, and the windows within which words attend."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import numpy as np
from numpy.typing import NDArray


class Layout:
    """The shape of a batch whose texts lie one after the other, without padding, in an (N, D) matrix.

    A text longer than the window is cut into windows of nearly equal length. Attention and positions stop
    at a window's edge; pooling spans the whole text. Neighbouring windows of one length form a *run*, a
    dense (n, T, D) view that one batched product can handle.

    Args:
        lengths: (B,) tokens of each text, all at least 1.
        window: largest number of tokens that attend to each other.
        causal: whether a token attends only to itself and those before it.
        apart: whether each window is multiplied on its own. In a matrix of another size a BLAS may sum in another
            order, so only then no bit of a text's result depends on its company.

    Attributes:
        starts: (B,) first row of each text.
        tokens: N.
        pieces: (B,) windows of each text.
        windows: (W,) tokens of each window.
    """

    def __init__(
        self, lengths: NDArray[np.integer], window: int = 1 << 30, causal: bool = False, apart: bool = False
    ) -> None:
        self.lengths = np.asarray(lengths, np.int64)
        self.starts = np.cumsum(self.lengths) - self.lengths
        self.tokens = int(self.lengths.sum())
        self.window = window
        self.causal = causal
        self.apart = apart
        self.pieces = pieces = -(-self.lengths // window)
        if len(self.lengths) and int(pieces.max()) > 1:
            windows = np.repeat(self.lengths // pieces, pieces)
            longer = np.repeat(self.lengths % pieces, pieces)  # the first so many windows take one more
            first = np.repeat(np.cumsum(pieces) - pieces, pieces)
            windows += np.arange(len(windows)) - first < longer
        else:
            windows = self.lengths
        self.windows = windows

    @cached_property
    def runs(self) -> list[tuple[int, int, int]]:
        """(first row, n, T) of each run of n neighbouring windows with T tokens each."""
        cuts = np.flatnonzero(np.diff(self.windows)) + 1
        edges = [0, *cuts.tolist(), len(self.windows)]
        lengths = [int(self.windows[edge]) for edge in edges[:-1]]
        counts = np.diff(edges).tolist()
        result, row = [], 0
        for count, length in zip(counts, lengths, strict=True):
            result.append((row, count, length))
            row += count * length
        return result

    @cached_property
    def pooled(self) -> Layout:
        """The layout of one row a text."""
        return Layout(np.ones_like(self.lengths), apart=self.apart)

    def product(self, x: NDArray, matrix: NDArray) -> NDArray:
        """Return x (N, D) times a matrix (D, E): all rows at once or, if ``apart``, window by window."""
        if not self.apart:
            return x @ matrix
        y = np.empty((len(x), matrix.shape[1]), np.result_type(x, matrix))
        for part, out in zip(self.views(x), self.views(y), strict=True):
            np.matmul(part, matrix, out=out)  # a product for each of the run's windows
        return y

    def views(self, x: NDArray) -> Iterator[NDArray]:
        """Yield each run of ``x`` (N, D) as a view (n, T, D)."""
        for row, count, length in self.runs:
            yield x[row : row + count * length].reshape(count, length, -1)
