"""The leading eigenpairs of a symmetric matrix by power iteration with deflation.

Textbook form (``block=1, degree=1``): multiply a random vector by A and normalise until it no longer turns;
that is the leading eigenvector. Take it out of A (deflation) and start again for the next.

Two refinements make it fast and change nothing else. A *block* of vectors is iterated together, and a small
eigenproblem inside their span (Rayleigh-Ritz) tells them apart. And the last ``degree`` iterates
A Q, A^2 Q, ... of a round are kept rather than thrown away: Rayleigh-Ritz over all of them finds the best
polynomial filter of that degree by itself (the block Lanczos method). Vectors already found take part in it,
so that what they still lack does not limit those to come. A round ends as soon as all that is wanted is found;
the degree chosen by default is so high that this is nearly always the first.

Sources: Golub & Van Loan, Matrix Computations, ch. 8 and 10; Stathopoulos & Wu (2002) for the orthogonalisation.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nlptx.errors import NlptxError
from nlptx.pca.row_blocks import by_rows, inner
from nlptx.runtime.workers import SERIAL, Workers

Product = Callable[[NDArray], NDArray]
# Wide enough for an efficient product; the wider, the more vectors are multiplied for the same degree.
_BLOCK = 16
# Iterates kept when the degree is chosen automatically: vectors per wanted eigenpair, and blocks at least.
_BASIS_PER_PAIR = 6
_LEAST_DEGREE = 8


@dataclass(frozen=True)
class Eigenpairs:
    """The result.

    Args:
        values: (R,) eigenvalues, largest first.
        vectors: (V, R) orthonormal columns; the largest entry of each is positive.
        residuals: (R,) |A v - l v| / l.
        products: how many vectors A was multiplied with.
    """

    values: NDArray
    vectors: NDArray
    residuals: NDArray
    products: int


def power_iteration(
    product: Product,
    size: int,
    wanted: int,
    *,
    tolerance: float,
    rng: np.random.Generator,
    dtype: Any = np.float64,
    block: int = 0,
    degree: int = 0,
    deflation: str = "projection",
    max_products: int = 10_000,
    workers: Workers = SERIAL,
    on_round: Callable[[int, float], None] | None = None,
) -> Eigenpairs:
    """Find the ``wanted`` leading eigenpairs of a positive semi-definite matrix A.

    Args:
        product: returns A b for b of shape (size, k).
        size: rows of A.
        wanted: eigenpairs to find, at most ``size``.
        tolerance: largest relative residual |A v - l v| / l.
        rng: source of the starting block.
        dtype: float32 or float64.
        block: vectors iterated together; 0 chooses.
        degree: iterates kept per round; 0 chooses.
        deflation: ``projection`` against the found vectors, or ``subtraction`` of l v v' from A.
        max_products: products with a block before giving up.
        workers: threads for all but ``product``; they do not change the result.
        on_round: called after each Rayleigh-Ritz with the number found and the largest residual still open.

    Raises:
        NlptxError: no convergence within ``max_products``.
    """
    block = min(block or _BLOCK, size)
    degree = degree or max(_LEAST_DEGREE, -(-_BASIS_PER_PAIR * wanted // block))
    found = progress = spent = columns = 0
    open_residual = 1.0
    values = np.empty(0, dtype)
    vectors = images = np.empty((size, 0), dtype)  # found, and A times them

    def multiply(b: NDArray) -> NDArray:
        nonlocal spent, columns
        spent, columns = spent + 1, columns + b.shape[1]
        return product(b)

    start = rng.standard_normal((size, block)).astype(dtype)
    start_image = multiply(start)
    while found < wanted:
        if spent >= max_products:
            raise _no_convergence(found, wanted, spent, tolerance, open_residual)
        end = min(size, found + degree * start.shape[1])
        goal = min(end, 2 * (wanted + block))
        basis = _Basis(vectors, images, end, 2 * block, workers)
        iterate = basis.remainder(start_image)
        if not iterate.shape[1]:  # A is 0 on the whole block, so the block itself is its eigenvectors
            iterate = basis.remainder(start)
        before, iterate = found, iterate[:, : end - found]
        while True:
            image = multiply(iterate)
            basis.append(iterate, image)
            ended = basis.width >= end or spent >= max_products
            if not ended:
                if deflation == "subtraction":
                    image = image - vectors @ (values[:, None] * (vectors.T @ iterate))
                iterate = basis.remainder(image)[:, : end - basis.width]
                ended = not iterate.shape[1]
            if not ended and basis.width < goal:
                continue
            ritz, candidates, moved, missed = basis.rayleigh_ritz(wanted + block)
            good, relative = _check_residuals(ritz, missed, tolerance)
            reached = min(_leading(good), wanted)
            open_residual = float(relative[reached:].max(initial=0)) if reached < wanted else 0.0
            progress = max(progress, reached)
            if on_round is not None:
                on_round(progress, open_residual)
            if ended or reached == wanted:
                break
            goal = min(end, basis.width + 2 * max(block, wanted - reached))
        found = reached
        values, residuals = ritz[:found], relative[:found]
        vectors, images = candidates[:, :found], moved[:, :found]
        # Of nearly equal eigenvalues, a vector found before may have turned into one not yet good: it stays.
        following = slice(found, max(found, before) + block)
        start, start_image = candidates[:, following], moved[:, following]
        missing = min(block, size - found) - start.shape[1]
        if missing > 0 and found < wanted:
            fresh = rng.standard_normal((size, missing)).astype(dtype)
            start = np.concatenate([start, fresh], axis=1)
            start_image = np.concatenate([start_image, multiply(fresh)], axis=1)
    top = np.take_along_axis(vectors, np.abs(vectors).argmax(axis=0)[None], axis=0)
    return Eigenpairs(values, vectors * np.sign(top), residuals, columns)


def _check_residuals(values: NDArray, missed: NDArray, tolerance: float) -> tuple[NDArray[np.bool_], NDArray]:
    """Tell which eigenpairs are good enough, and how large their residuals are relative to their values.

    An eigenvalue so small that it cannot be told from 0 has no relative residual, and any vector is as good: it counts
    as met. Of a larger one, too, a residual that is but rounding is accepted.

    Args:
        values: (k,) largest first.
        missed: (k,) |A v - l v|.
        tolerance: largest relative residual.
    """
    limits = np.finfo(values.dtype)
    rounding = max(float(limits.eps * values[0]), float(limits.tiny))
    zero = values <= 20 * rounding
    good = missed <= np.where(zero, 20 * rounding, np.maximum(tolerance * values, 2 * rounding))
    return good, missed / np.where(zero, 20 * rounding / tolerance, values)


def _no_convergence(found: int, wanted: int, spent: int, tolerance: float, residual: float) -> NlptxError:
    still = f"; the largest residual still open is {residual:.1e}, wanted {tolerance:.1e}" if residual else ""
    return NlptxError(
        f"PCA found {found} of {wanted} components in {spent} products{still}",
        hint="Raise --tolerance or --max-products, ask for fewer --components, or leave --block at 0.",
    )


class _Basis:
    """The vectors of a round, orthonormal: those found before, then the iterates W; with their images A W.

    Args:
        found: (V, F) vectors found before.
        images: (V, F) A times them.
        room: columns there will ever be.
        recent: how many columns the last two blocks have, at most.
        workers: threads.
    """

    def __init__(self, found: NDArray, images: NDArray, room: int, recent: int, workers: Workers) -> None:
        self.width = 0
        self._found, self._recent, self._workers = found.shape[1], recent, workers
        self._vectors = np.empty((len(found), room), found.dtype, order="F")  # so the part in use is contiguous
        self._images = np.empty_like(self._vectors)
        self._small = np.empty((room, room))  # W'A W; below the diagonal it is not filled in
        self.append(found, images)

    def append(self, block: NDArray, image: NDArray) -> None:
        """Take a block into the basis, given A times it."""
        new = slice(self.width, self.width + block.shape[1])
        self.width = new.stop
        self._vectors[:, new], self._images[:, new] = block, image
        self._small[: new.stop, new] = inner(self._vectors[:, : new.stop], image, self._workers)

    def remainder(self, block: NDArray) -> NDArray:
        """Return an orthonormal basis of what ``block`` has outside the span of this one.

        Directions that vanish in rounding are dropped, so the result may have fewer columns. Everything is done
        twice, as once leaves errors of the size of the cancellation; what the second time shrinks was only that.
        The first time needs but few columns: A times a block has a part in the blocks before the last two only
        as far as it has one in the vectors found, as A is symmetric.
        """
        eps = float(np.finfo(block.dtype).eps)
        recent = slice(max(self._found, self.width - self._recent), self.width)
        for least, spans in (100 * eps, (slice(self._found), recent)), (0.5, (slice(self.width),)):
            before = np.linalg.norm(block, axis=0)
            for span in spans:
                block = self._without(block, self._vectors[:, span])
            gram = inner(block, block, self._workers)
            norms = np.sqrt(np.diag(gram))
            kept = norms > least * before
            norms = norms[kept]
            weights, turn = np.linalg.eigh(gram[np.ix_(kept, kept)] / np.multiply.outer(norms, norms))
            full = weights > 100 * eps * weights.max(initial=0)
            block = self._turned(block[:, kept], turn[:, full] / np.sqrt(weights[full]) / norms[:, None])
        return block

    def rayleigh_ritz(self, most: int) -> tuple[NDArray, NDArray, NDArray, NDArray]:
        """Solve the eigenproblem inside the span: at most ``most`` values l, vectors v, A v, and |A v - l v|."""
        small = self._small[: self.width, : self.width]
        values, turn = np.linalg.eigh(small, UPLO="U")
        values, turn = values[::-1][:most].astype(self._vectors.dtype), turn[:, ::-1][:, :most]
        vectors = self._turned(self._vectors[:, : self.width], turn)
        images = self._turned(self._images[:, : self.width], turn)
        missed = by_rows(lambda rows: images[rows] - vectors[rows] * values, images, len(values), self._workers)
        return values, vectors, images, np.linalg.norm(missed, axis=0)

    def _without(self, block: NDArray, span: NDArray) -> NDArray:
        """Return block - span (span' block)."""
        part = inner(span, block, self._workers).astype(block.dtype)
        return by_rows(lambda rows: block[rows] - span[rows] @ part, block, block.shape[1], self._workers)

    def _turned(self, block: NDArray, turn: NDArray) -> NDArray:
        """Return block turn."""
        turn = turn.astype(block.dtype)
        return by_rows(lambda rows: block[rows] @ turn, block, turn.shape[1], self._workers)


def _leading(flags: NDArray) -> int:
    """Count the True values before the first False."""
    return int(np.argmin(flags)) if not flags.all() else len(flags)
