"""What the algorithms need beyond `+ - * / @ .T` and slices, on NumPy numbers and on CasADi SX symbols alike.

This file alone knows which of the two it is given. Inside an algorithm every array is two-dimensional (a vector is a
column), because that is what SX is; constants of a model stay NumPy arrays and mix with either.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...errors import ModelError
from ...floats import checked_floats, floats

# The entries are said to be floats: over entries of any type the checker takes minutes for the operators of the two.
Array: TypeAlias = NDArray[np.float64] | ca.SX

# Where a condition on one holds: SX has no type of its own for that.
Truth: TypeAlias = NDArray[np.bool_] | ca.SX

# What a user may give for one.
Given: TypeAlias = ArrayLike | ca.SX

# A pivot this small beside the diagonal entry it started from is rounding: the rows before it say the same thing.
DEPENDENT = 1e-11


def is_symbolic(*arrays: object) -> bool:
    """True if any of the arrays is made of symbols."""
    return any(isinstance(array, ca.SX) for array in arrays)


def given_numbers(what: str, given: ArrayLike, shape: tuple[int, ...] | None = None) -> np.ndarray:
    """The user's numbers as an array, of a shape where one is named; they may be infinite."""
    found = checked_floats(what, given, error=ModelError)
    if shape is not None and found.shape != shape:
        raise ModelError(f"{what} has shape {found.shape}, expected {shape}")
    return found


def finite(x: Given, what: str) -> Array:
    """The user's array: symbols as they are, numbers as floats, finite."""
    if isinstance(x, ca.SX):
        return x
    try:
        found = floats(x)
    except TypeError:
        raise ModelError(f"{what} is of type {type(x).__name__}, expected numbers or CasADi SX symbols") from None
    if not np.isfinite(found).all():
        raise ModelError(f"{what}: entry {int(np.argmin(np.isfinite(found)))} is not finite, expected a number")
    return found


def column(x: Given, size: int, what: str) -> Array:
    """The user's vector as a column (size, 1), checked."""
    found = finite(x, what)
    if isinstance(found, np.ndarray) and found.ndim < 2:
        found = found.reshape(-1, 1)
    if found.shape != (size, 1):
        raise ModelError(f"{what} has shape {tuple(found.shape)}, expected ({size},)")
    return found


def matrix(x: Given, what: str) -> Array:
    """The user's matrix; a flat one is a single row."""
    found = finite(x, what)
    return np.atleast_2d(found) if isinstance(found, np.ndarray) else found


def per_row(x: Given, size: int, what: str) -> Array:
    """A scalar for all rows, or a value a row, as a column (size, 1)."""
    found = finite(x, what)
    if isinstance(found, np.ndarray) and found.size == 1:
        found = np.full(size, found.item())
    return column(found, size, what)


def numbers_only(what: str, *arrays: object) -> None:
    """Refuse symbols."""
    if is_symbolic(*arrays):
        raise ModelError(f"{what} got symbols, expected numbers")


def numbers(x: Array, what: str) -> np.ndarray:
    """An array of numbers; symbols are refused."""
    numbers_only(what, x)
    return np.asarray(x)


def known_norm(x: Array) -> float | None:
    """The norm of numbers, None of symbols."""
    return float(np.linalg.norm(x)) if isinstance(x, np.ndarray) else None


def fingerprint(x: Array) -> bytes:
    """Equal for arrays of equal numbers; of symbols, for the same expression."""
    return str((x.shape, id(x))).encode() if is_symbolic(x) else np.ascontiguousarray(x).tobytes()


def flat(x: Array) -> Array:
    """A column as the user gets it: numbers as (n,), symbols as they are."""
    found = answer(x)
    return found.ravel() if isinstance(found, np.ndarray) else found


def answer(x: Array) -> Array:
    """What the user gets: numbers are finite, whatever was given."""
    if any_not_finite(x):
        raise ModelError("the answer is not finite, expected numbers of a sensible size for q, v and all else given")
    return x


def any_not_finite(*arrays: Array) -> bool:
    """True if numbers among the arrays are not finite; symbols are never looked at."""
    return any(not is_symbolic(array) and not np.isfinite(array).all() for array in arrays)


def rows(blocks: Sequence[Array]) -> Array:
    """Blocks above one another."""
    return ca.vertcat(*blocks) if is_symbolic(*blocks) else np.concatenate(blocks, axis=0)


def columns(blocks: Sequence[Array]) -> Array:
    """Blocks beside one another."""
    return ca.horzcat(*blocks) if is_symbolic(*blocks) else np.concatenate(blocks, axis=1)


def grid(blocks: Sequence[Sequence[Array]]) -> Array:
    """A matrix of blocks."""
    return rows([columns(line) for line in blocks])


def block_diagonal(blocks: Sequence[Array]) -> Array:
    """Square blocks along the diagonal, zeros elsewhere."""
    n = range(len(blocks))
    return grid([[blocks[i] if i == j else np.zeros((blocks[i].shape[0], blocks[j].shape[1])) for j in n] for i in n])


def add(terms: Sequence[Array]) -> Array:
    """The sum of one or more arrays."""
    total = terms[0]
    for term in terms[1:]:
        total = total + term
    return total


def entry(x: Array, i: int, j: int) -> Array:
    """x[i, j] as a 1 x 1 matrix."""
    return x[i : i + 1, j : j + 1]


def pick(x: Array, chosen: Sequence[int]) -> Array:
    """The chosen rows of x."""
    return x[list(chosen), :]


def put(x: Array, chosen: Sequence[int], size: int) -> Array:
    """The rows of x put at the chosen places of `size` rows, zeros elsewhere."""
    selection = np.zeros((size, len(chosen)))
    selection[list(chosen), range(len(chosen))] = 1.0
    return selection @ x


def symmetric(x: Array) -> Array:
    """A matrix known to be symmetric, said so: the lower triangle becomes the upper one, and symbols are spent once."""
    return ca.triu2symm(ca.triu(ca.densify(x))) if is_symbolic(x) else x


def sin(x: Array) -> Array:
    return ca.sin(x) if is_symbolic(x) else np.sin(x)


def cos(x: Array) -> Array:
    return ca.cos(x) if is_symbolic(x) else np.cos(x)


def tanh(x: Array) -> Array:
    return ca.tanh(x) if is_symbolic(x) else np.tanh(x)


def sqrt(x: Array) -> Array:
    return ca.sqrt(x) if is_symbolic(x) else np.sqrt(x)


def arctan2(y: Array, x: Array) -> Array:
    return ca.atan2(y, x) if is_symbolic(y, x) else np.arctan2(y, x)


def where(condition: Truth, yes: Array | float, no: Array | float) -> Array:
    """`yes` where the condition holds, else `no`; both are evaluated."""
    return ca.if_else(condition, yes, no) if is_symbolic(condition, yes, no) else np.where(condition, yes, no)


def at_least(x: Array, low: float | Array) -> Array:
    return ca.fmax(x, low) if is_symbolic(x) else np.maximum(x, low)


def at_most(x: Array, high: float) -> Array:
    return ca.fmin(x, high) if is_symbolic(x) else np.minimum(x, high)


def nonzero(x: Array) -> Array:
    """x, or the smallest normal number where x is zero."""
    return where(x == 0, np.finfo(float).tiny, x)


def dot(x: Array, y: Array) -> Array:
    """Inner product of two columns, 1 x 1."""
    return x.T @ y


def largest(x: Array) -> Array:
    """The largest magnitude in an array, 1 x 1."""
    return np.max(np.abs(x)).reshape(1, 1) if isinstance(x, np.ndarray) else ca.norm_inf(x)


def sample(x: Array, rng: np.random.Generator) -> np.ndarray:
    """x as numbers: its symbols, if it has any, drawn at random."""
    if isinstance(x, np.ndarray):
        return x
    symbols = ca.symvar(x)
    return np.array(ca.Function("sample", symbols, [x]).call(list(rng.uniform(-1.0, 1.0, len(symbols))))[0])


def independent(d: Array, scale: Array, share: float, least: float = 0.0) -> Array:
    """A pivot that must be more than a share of its scale, and more than the least: where it is not, numbers raise
    ZeroDivisionError, and symbols become NaN, so that an answer which rests on rounding never looks like one.
    """
    if is_symbolic(d, scale):
        return where(d > ca.fmax(share * scale, least), d, np.nan)
    if not (d > share * scale and d > least):
        raise ZeroDivisionError("the matrix is singular")
    return d


def pivot(d: Array, scale: Array) -> Array:
    """A pivot of a positive definite matrix; a number that has vanished beside its scale raises ZeroDivisionError."""
    if not is_symbolic(d, scale) and not d > DEPENDENT * scale:
        raise ZeroDivisionError("the matrix is singular")
    return d
