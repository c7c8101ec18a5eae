"""The leading eigenpairs of a symmetric matrix by power iteration with deflation.

Textbook form (``block=1, degree=1``): multiply a random vector by A and normalise until it no longer turns;
that is the leading eigenvector. Take it out of A (deflation) and start again for the next.

Two refinements make it fast and change nothing else. A *block* of vectors is iterated together, and a small
eigenproblem inside their span (Rayleigh-Ritz) tells them apart. And the last ``degree`` iterates
A Q, A^2 Q, ... of a round are kept rather than thrown away: Rayleigh-Ritz over all of them finds the best
polynomial filter of that degree by itself. Vectors already found take part in it, so that what they still
lack does not limit those to come.

Sources: Golub & Van Loan, Matrix Computations, ch. 8 and 10; Stathopoulos & Wu (2002) for the orthogonalisation.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nlptx.errors import NlptxError

Product = Callable[[NDArray], NDArray]
# Iterates kept per wanted eigenpair when the degree is chosen automatically.
_BASIS_PER_PAIR = 3
_BLOCK = 32


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
        on_round: called after each round with the number found and the largest residual still open.

    Raises:
        NlptxError: no convergence within ``max_products``.
    """
    block = min(block or _BLOCK, size)
    degree = degree or -(-_BASIS_PER_PAIR * wanted // block)
    values = np.empty(0, dtype)
    residuals = np.empty(0, dtype)
    vectors = np.empty((size, 0), dtype)
    images = np.empty((size, 0), dtype)  # A times the found vectors

    def deflated(b: NDArray) -> NDArray:
        if deflation == "projection":
            return product(b)  # _iterate projects what comes of it
        return product(b) - vectors @ (values[:, None] * (vectors.T @ b))

    def random_block(width: int, against: NDArray) -> NDArray:
        return _orthonormal(rng.standard_normal((size, width)).astype(dtype), against)

    start = random_block(block, vectors)
    start_image = product(start)
    spent, columns = 1, start.shape[1]
    open_residual = 1.0
    while len(values) < wanted:
        if spent >= max_products:
            raise _no_convergence(len(values), wanted, spent, tolerance, open_residual)
        basis, image = _iterate(deflated, start, start_image, degree, vectors)
        spent += -(-basis.shape[1] // block)
        columns += basis.shape[1]
        if deflation == "subtraction":
            image += vectors @ (values[:, None] * (vectors.T @ basis))  # A W again, not A' W
        basis, image = np.concatenate([vectors, basis], axis=1), np.concatenate([images, image], axis=1)
        ritz, turn = _rayleigh_ritz(basis, image)
        candidates, moved = basis @ turn, image @ turn
        missed = np.linalg.norm(moved - candidates * ritz, axis=0)
        # A residual this small is rounding: the eigenvalue is as good as 0 and any vector is as good.
        rounding = max(20 * float(np.finfo(dtype).eps * ritz[0]), float(np.finfo(dtype).tiny))
        good = missed <= np.maximum(tolerance * ritz, rounding)
        # Of an eigenvalue that cannot be told from 0 there is no relative residual; it counts as met.
        relative = missed / np.where(ritz > rounding, ritz, rounding / tolerance)
        found, before = min(_leading(good), wanted), len(values)
        values, residuals = ritz[:found], relative[:found]
        vectors, images = candidates[:, :found], moved[:, :found]
        open_residual = float(relative[found:].max(initial=0))
        if on_round is not None:
            on_round(found, open_residual if found < wanted else 0.0)
        # Of nearly equal eigenvalues, a vector found before may have turned into one not yet good: it stays.
        following = slice(found, max(found, before) + block)
        start, start_image = candidates[:, following], moved[:, following]
        missing = min(block, size - found) - start.shape[1]
        if missing > 0 and found < wanted:
            fresh = random_block(missing, candidates[:, : following.stop])
            start = np.concatenate([start, fresh], axis=1)
            start_image = np.concatenate([start_image, product(fresh)], axis=1)
            spent, columns = spent + 1, columns + missing
    top = np.take_along_axis(vectors, np.abs(vectors).argmax(axis=0)[None], axis=0)
    return Eigenpairs(values, vectors * np.sign(top), residuals, columns)


def _no_convergence(found: int, wanted: int, spent: int, tolerance: float, residual: float) -> NlptxError:
    return NlptxError(
        f"PCA found {found} of {wanted} components in {spent} products;"
        f" the largest residual still open is {residual:.1e}, wanted {tolerance:.1e}",
        hint="Raise --tolerance or --max-products, ask for fewer --components, or leave --block at 0.",
    )


def _iterate(
    product: Product, start: NDArray, start_image: NDArray, degree: int, found: NDArray
) -> tuple[NDArray, NDArray]:
    """Return an orthonormal basis W of the iterates A Q ... A^degree Q of the block Q, and A W, given Q and A Q."""
    first = _orthonormal(start_image, found)
    # Where A is 0 on the whole block, the block itself is its eigenvectors.
    basis = [first if first.shape[1] else _orthonormal(start, found)]
    image: list[NDArray] = []
    while True:
        image.append(product(basis[-1]))
        width = sum(part.shape[1] for part in basis)
        room = len(start) - found.shape[1] - width
        if len(basis) == degree or room <= 0:
            break
        following = _orthonormal(image[-1], np.concatenate([found, *basis], axis=1))[:, :room]
        if not following.shape[1]:
            break
        basis.append(following)
    return np.concatenate(basis, axis=1), np.concatenate(image, axis=1)


def _orthonormal(block: NDArray, against: NDArray) -> NDArray:
    """Return an orthonormal basis of ``block`` with the span of ``against`` taken out.

    Directions that vanish in rounding are dropped, so the result may have fewer columns. Everything is done
    twice, as once leaves errors of the size of the cancellation; what the second time shrinks was only that.
    """
    eps = float(np.finfo(block.dtype).eps)
    for least in (100 * eps, 0.5):
        before = np.linalg.norm(block, axis=0)
        block = block - against @ (against.T @ block)
        norms = np.linalg.norm(block, axis=0)
        kept = norms > least * before
        block = block[:, kept] / norms[kept]
        weights, turn = np.linalg.eigh(block.T.astype(np.float64) @ block)
        kept = weights > 100 * eps * weights.max(initial=0)
        block = block @ (turn[:, kept] / np.sqrt(weights[kept])).astype(block.dtype)
    return block


def _rayleigh_ritz(basis: NDArray, image: NDArray) -> tuple[NDArray, NDArray]:
    """Solve the eigenproblem inside the span of ``basis``: values, largest first, and coefficients."""
    small = (basis.T @ image).astype(np.float64)
    values, turn = np.linalg.eigh((small + small.T) / 2)
    return values[::-1].astype(basis.dtype), turn[:, ::-1].astype(basis.dtype)


def _leading(flags: NDArray) -> int:
    """Count the True values before the first False."""
    return int(np.argmin(flags)) if not flags.all() else len(flags)
