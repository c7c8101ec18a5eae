"""The leading eigenpairs of a symmetric matrix by power iteration with deflation.

Textbook form (``block=1, degree=1``): multiply a random vector by A and normalise until it no longer turns;
that is the leading eigenvector. Take it out of A (deflation) and start again for the next.

Two refinements make it fast and change nothing else. A *block* of vectors is iterated together, and a small
eigenproblem inside their span (Rayleigh-Ritz) tells them apart. And the last ``degree`` iterates
A Q, A^2 Q, ... of a round are kept rather than thrown away: Rayleigh-Ritz over all of them finds the best
polynomial filter of that degree by itself.

Sources: Golub & Van Loan, Matrix Computations, ch. 8 and 10; Stathopoulos & Wu (2002) for the orthogonalisation.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

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
    dtype: type[np.floating] = np.float64,
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
    vectors = np.empty((size, 0), dtype)
    residuals = np.empty(0, dtype)
    largest = 0.0

    def deflated(b: NDArray) -> NDArray:
        result = product(b)
        if deflation == "subtraction":
            result -= vectors @ (values[:, None] * (vectors.T @ b))
        return result

    start = _orthonormal(rng.standard_normal((size, block)).astype(dtype), vectors)
    spent = columns = 0
    while len(values) < wanted:
        basis, image = _iterate(deflated, start, degree, vectors, deflation == "projection")
        spent += basis.shape[1] // block + 1
        columns += basis.shape[1] + start.shape[1]
        ritz, turned = _rayleigh_ritz(basis, image)
        largest = max(largest, float(ritz[0]))
        candidates = basis @ turned
        missed = np.linalg.norm(image @ turned - candidates * ritz, axis=0)
        # An eigenvalue lost in the rounding of the largest is as good as 0; its vector is as good as any.
        floor = largest * np.finfo(dtype).eps * size
        relative = missed / np.maximum(ritz, floor)
        done = _leading(relative <= tolerance)
        new = slice(0, min(done, wanted - len(values)))
        values = np.concatenate([values, ritz[new]])
        vectors = np.concatenate([vectors, candidates[:, new]], axis=1)
        residuals = np.concatenate([residuals, relative[new]])
        if on_round is not None:
            on_round(len(values), float(relative[done:].max(initial=0)) if len(values) < wanted else 0.0)
        if len(values) < wanted and spent >= max_products:
            raise NlptxError(
                f"PCA found {len(values)} of {wanted} components in {spent} products;"
                f" the next has residual {relative[done]:.1e}, wanted {tolerance:.1e}",
                hint="Raise --tolerance or --max-products, ask for fewer --components, or leave --block at 0.",
            )
        start = candidates[:, done : done + block]
        if start.shape[1] < block and len(values) < wanted:
            fresh = rng.standard_normal((size, block - start.shape[1])).astype(dtype)
            known = np.concatenate([vectors, start], axis=1)
            start = np.concatenate([start, _orthonormal(fresh, known)], axis=1)
    order = np.argsort(-values, kind="stable")
    vectors = vectors[:, order]
    top = np.take_along_axis(vectors, np.abs(vectors).argmax(axis=0)[None], axis=0)
    return Eigenpairs(values[order], vectors * np.sign(top), residuals[order], columns)


def _iterate(product: Product, start: NDArray, degree: int, found: NDArray, project: bool) -> tuple[NDArray, NDArray]:
    """Return an orthonormal basis W of the iterates A Q ... A^degree Q of the block Q, and A W."""
    outside = found if project else found[:, :0]
    basis = [_orthonormal(product(start), outside)]
    image: list[NDArray] = []
    while True:
        image.append(product(basis[-1]))
        width = sum(part.shape[1] for part in basis)
        if len(basis) == degree or width + found.shape[1] >= len(start):
            break
        following = _orthonormal(image[-1], np.concatenate([outside, *basis], axis=1))
        following = following[:, : len(start) - found.shape[1] - width]
        if not following.shape[1]:
            break
        basis.append(following)
    return np.concatenate(basis, axis=1), np.concatenate(image, axis=1)


def _orthonormal(block: NDArray, against: NDArray) -> NDArray:
    """Return an orthonormal basis of ``block`` with the span of ``against`` taken out.

    Directions that vanish in rounding are dropped, so the result may have fewer columns. Everything is done
    twice, as once leaves errors of the size of the cancellation.
    """
    for _ in range(2):
        block = block - against @ (against.T @ block)
        norms = np.linalg.norm(block, axis=0)
        block = block[:, norms > 0] / norms[norms > 0]
        weights, turn = np.linalg.eigh(block.T.astype(np.float64) @ block)
        kept = weights > 100 * np.finfo(block.dtype).eps * weights.max(initial=0)
        block = block @ (turn[:, kept] / np.sqrt(weights[kept])).astype(block.dtype)
    return block


def _rayleigh_ritz(basis: NDArray, image: NDArray) -> tuple[NDArray, NDArray]:
    """Solve the eigenproblem inside the span of ``basis``: values, largest first, and coefficients."""
    small = (basis.T @ image).astype(np.float64)
    values, turned = np.linalg.eigh((small + small.T) / 2)
    return values[::-1].astype(basis.dtype), turned[:, ::-1].astype(basis.dtype)


def _leading(flags: NDArray) -> int:
    """Count the True values before the first False."""
    return int(np.argmin(flags)) if not flags.all() else len(flags)
