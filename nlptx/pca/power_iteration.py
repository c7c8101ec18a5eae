"""Finds the leading eigenpairs of a symmetric matrix by power iteration with deflation.

The textbook form (``block=1, degree=1``) repeatedly multiplies a random vector by A and normalises it until its
direction no longer changes; the vector is then the leading eigenvector. This eigenvector is removed from A (deflation),
and the next eigenvector is found in the same way.

Two refinements make power iteration fast without changing the result. First, a *block* Q of k vectors is iterated, and
a small eigenproblem within the span of the block (Rayleigh-Ritz) separates the eigenvectors. Second, the block is
multiplied by A up to ``degree`` times per round, and all iterates A Q, A^2 Q, ... are kept: Rayleigh-Ritz within the
span of all iterates finds the best polynomial filter of the degree reached (block Lanczos). A round ends early if all
requested eigenpairs have been found. The span also contains the eigenvectors found in earlier rounds, so that their
remaining errors do not limit the accuracy of later eigenvectors. The iteration ends when all requested eigenpairs are
found. With the default degree, a single round nearly always finds all requested eigenpairs.

In the span of the iterates of a block of k vectors, an eigenvalue has at most k linearly independent eigenvectors. If k
equal eigenvalues are among those found, more of them may be missing, so the iteration continues with a random block.
(If a single vector is multiplied several times per round, ``block=1`` and ``degree`` above 1, every eigenvalue would be
such a case, so copies of an eigenvalue may be missing.)

Source: Golub & Van Loan, Matrix Computations, ch. 8 and 10.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nlptx.errors import NlptxError
from nlptx.pca.basis import Basis
from nlptx.runtime.workers import SERIAL, Workers
from nlptx.settings import PcaSettings

Product = Callable[[NDArray], NDArray]
# For the automatic choice of the block size: a number of vectors that is enough for an efficient product. A wider block
# would take more work to reach the same polynomial degree.
_BLOCK = 16
# For the automatic choice of the degree: number of vectors kept per requested eigenpair, and minimum degree.
_BASIS_PER_PAIR = 6
_MIN_DEGREE = 8
# Two eigenvalues are considered equal if the smaller one is at least this fraction of the larger one.
_EQUAL = 1 - 1e-4


@dataclass(frozen=True)
class Eigenpairs:
    """The leading eigenpairs of a matrix A: A v = l v.

    Args:
        values: (R,) eigenvalues l, largest first.
        vectors: (V, R) orthonormal eigenvectors v in the columns; of each, the entry with the largest absolute value is
            positive.
        residuals: (R,) relative residuals |A v - l v| / l. If l is 0 up to rounding, the residual is divided by a
            larger number, so that the result is at most the tolerance if the pair has converged.
        vectors_multiplied: number of vectors that were multiplied by A.
    """

    values: NDArray
    vectors: NDArray
    residuals: NDArray
    vectors_multiplied: int


def power_iteration(
    product: Product,
    size: int,
    count: int,
    *,
    tolerance: float,
    rng: np.random.Generator,
    dtype: Any = np.float64,
    block: int = 0,
    degree: int = 0,
    deflation: str = PcaSettings.deflation,
    max_products: int = PcaSettings.max_products,
    first_check: float = 2.0,
    workers: Workers = SERIAL,
    on_round: Callable[[int, float], None] | None = None,
) -> Eigenpairs:
    """Find the ``count`` leading eigenpairs of a positive semi-definite matrix A.

    Args:
        product: function that returns A b, (V, k), for b of shape (V, k).
        size: V, the number of rows of A.
        count: R, the number of eigenpairs to find, at most ``size``.
        tolerance: maximum relative residual |A v - l v| / l.
        rng: random generator for the starting block.
        dtype: float32 or float64.
        block: number of vectors iterated together; 0 for an automatic choice.
        degree: number of iterates kept per round; 0 for an automatic choice.
        deflation: how the eigenvectors v found so far, with eigenvalues l, are removed. ``projection`` makes the block
            orthogonal to them; ``subtraction`` subtracts l v v^T from A, and then removes rounding errors by the same
            projection. Both methods give the same results up to rounding.
        max_products: maximum number of products of A with a block.
        first_check: size of the basis when the residuals are first checked, as a multiple of (R + block size).
        workers: thread pool for everything except ``product``; the number of threads does not change the result.
        on_round: callback after each Rayleigh-Ritz step, called with the number of eigenpairs found so far and the
            largest relative residual of the remaining ones.

    Raises:
        NlptxError: the iteration does not converge within ``max_products``.
    """
    chosen_block = block
    block, degree = automatic(size, count, block, degree)
    found = progress = spent = columns = 0
    certain = 0  # number of eigenpairs that were found before the last random block; none of their copies are missing
    open_residual = 1.0
    values = np.empty(0, dtype)
    vectors = images = np.empty((size, 0), dtype)  # the eigenvectors v found so far, (V, F), and A v

    def multiply(b: NDArray) -> NDArray:
        nonlocal spent, columns
        spent, columns = spent + 1, columns + b.shape[1]
        return product(b)

    def deflated(image: NDArray, b: NDArray) -> NDArray:
        """Return A' b, given A b. With "subtraction", A' is A minus l v v^T for each v found; otherwise, A' is A."""
        return image - vectors @ (values[:, None] * (vectors.T @ b)) if deflation == "subtraction" else image

    start = rng.standard_normal((size, block)).astype(dtype)
    start_image = multiply(start)
    while found < count:
        if spent >= max_products:
            raise _no_convergence(found, count, spent, tolerance, open_residual, chosen_block)
        end = min(size, found + degree * start.shape[1])
        goal = min(end, int(first_check * (count + block)))
        basis = Basis(vectors, images, end, 2 * block, workers)
        iterate = basis.remainder(deflated(start_image, start))
        if not iterate.shape[1]:  # A times the part of `start` outside the basis is 0
            iterate = basis.remainder(start)
        before, iterate = found, iterate[:, : end - found]
        while True:
            image = multiply(iterate)
            basis.append(iterate, image)
            ended = basis.width >= end or spent >= max_products
            if not ended:
                iterate = basis.remainder(deflated(image, iterate))[:, : end - basis.width]
                ended = not iterate.shape[1]
            if not ended and basis.width < goal:
                continue
            ritz, candidates, candidate_images, absolute = basis.rayleigh_ritz(count + block)
            converged, relative = _check_residuals(ritz, absolute, tolerance)
            reached = min(_leading(converged), count)
            open_residual = float(relative[reached:count].max(initial=0))
            progress = max(progress, reached)
            if on_round is not None:
                on_round(progress, open_residual)
            if ended or reached == count:
                break
            goal = min(end, basis.width + 2 * max(block, count - reached))
        found, begins_anew = reached, False
        if found == count and min(block, degree) > 1 and spent < max_products:
            copies = _end_of_copies(ritz[:found], certain, block)
            if copies < count:  # copies may be missing, which only a random block can find
                found = certain = copies
                begins_anew = True
        values, residuals = ritz[:found], relative[:found]
        vectors, images = candidates[:, :found], candidate_images[:, :found]
        # If eigenvalues are nearly equal, an eigenvector that converged in an earlier round may now fail the check.
        # Such an eigenvector becomes part of the next block.
        following = slice(found, found if begins_anew else max(found, before) + block)
        start, start_image = candidates[:, following], candidate_images[:, following]
        missing = min(block, size - found) - start.shape[1]
        if missing > 0 and found < count:
            fresh = rng.standard_normal((size, missing)).astype(dtype)
            start = np.concatenate([start, fresh], axis=1)
            start_image = np.concatenate([start_image, multiply(fresh)], axis=1)
    top = np.take_along_axis(vectors, np.abs(vectors).argmax(axis=0)[None], axis=0)
    return Eigenpairs(values, vectors * np.sign(top), residuals, columns)


def automatic(size: int, count: int, block: int, degree: int) -> tuple[int, int]:
    """Return the block size and the degree; a value of 0 is replaced by the automatic choice."""
    block = min(block or _BLOCK, size)
    return block, degree or max(_MIN_DEGREE, -(-_BASIS_PER_PAIR * count // block))


def basis_bytes(size: int, count: int, block: int, degree: int, dtype: Any) -> int:
    """Return the maximum size in bytes of a basis W and of A W. For the arguments, see :func:`power_iteration`."""
    block, degree = automatic(size, count, block, degree)
    return 2 * size * min(size, count + degree * block) * np.dtype(dtype).itemsize


def _end_of_copies(values: NDArray, certain: int, block: int) -> int:
    """Return how many values, (F,), precede the end of the first group of equal values that may be incomplete.

    Return F if there is no such group. A group may be incomplete if at least ``block`` of its values were found since
    the last random block; before that, ``certain`` values were found.
    """
    new = values[certain:]
    crowded = np.flatnonzero(new[block - 1 :] > _EQUAL * new[: max(len(new) - block + 1, 0)])
    return int(np.count_nonzero(values > _EQUAL * new[crowded[0]])) if len(crowded) else len(values)


def _check_residuals(values: NDArray, residuals: NDArray, tolerance: float) -> tuple[NDArray[np.bool_], NDArray]:
    """Return whether each eigenpair has converged, (k,), and its relative residual, (k,).

    An eigenpair also counts as converged if its absolute residual is within rounding error, because the relative
    residual is not meaningful for an eigenvalue that is 0 up to rounding.

    Args:
        values: (k,) eigenvalues l, largest first.
        residuals: (k,) absolute residuals |A v - l v|.
        tolerance: maximum relative residual.
    """
    limits = np.finfo(values.dtype)
    rounding = max(float(limits.eps * values[0]), float(limits.tiny))
    zero = values <= 20 * rounding
    converged = residuals <= np.where(zero, 20 * rounding, np.maximum(tolerance * values, 2 * rounding))
    return converged, residuals / np.where(zero, 20 * rounding / tolerance, values)


def _no_convergence(
    found: int, count: int, spent: int, tolerance: float, residual: float, chosen_block: int
) -> NlptxError:
    advice = "ask for fewer `components`, or leave `block` at 0" if chosen_block else "or ask for fewer `components`"
    largest = f"; the largest residual of the remaining components is {residual:.1e}, above {tolerance:.1e}"
    return NlptxError(
        f"PCA found {found} of {count} components in {spent} matrix products{largest if residual else ''}",
        hint=f"Raise `tolerance` or `max_products`, {advice}.",
    )


def _leading(flags: NDArray) -> int:
    """Count the True values before the first False."""
    return int(np.argmin(flags)) if not flags.all() else len(flags)
