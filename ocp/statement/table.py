"""Tables of measured numbers as expressions: linear or cubic between the points of a grid, in one to three dimensions.

In each dimension the grid is cut into pieces, on which weights are polynomials of t, from 0 to 1:

    f(x, y) = sum_j sum_k B_j(t_x) B_k(t_y) c[i_x + j, i_y + k]        i the piece, B the weights of its coefficients

    linear  pieces between points, c the values, B = (1 - t, t)
    cubic   pieces between knots of the interpolating B-spline ("not a knot" at the ends), c its coefficients

Which piece it is, and what belongs to it, are lookups (`native/compiler/lookup.py`): a node without slopes. The rest is
arithmetic, so that derivatives are exact and the code does not grow with the table.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from ...adjoint import solved, steplike
from ...cached import cached_property
from ...errors import ProblemError, said
from ...floats import checked_floats
from ...native import lookup

KINDS = {"linear": 1, "cubic": 3}  # and their degree
MOST_BUCKETS = 100_000
EVEN = 1e-9  # of a spacing, within which all are the same


class Table:
    """f(x), f(x, y) or f(x, y, z): of SX an expression, of numbers and arrays numbers."""

    def __init__(self, grid: ArrayLike | Sequence[ArrayLike], values: ArrayLike, kind: str = "linear"):
        if not isinstance(kind, str) or kind not in KINDS:
            raise ProblemError(f"table: kind is {said(kind)}, expected {' or '.join(map(repr, KINDS))}")
        coefficients = _numbers("values", values)
        dimensions = coefficients.ndim
        if not 1 <= dimensions <= 3:
            raise ProblemError(f"table: values has {dimensions} dimensions, expected 1 to 3")
        several = dimensions > 1 or _nested(grid)
        if several and (
            not isinstance(grid, (Sequence, np.ndarray)) or (isinstance(grid, np.ndarray) and grid.ndim == 0)
        ):
            raise ProblemError(f"table: grid is {said(grid)}, expected a list of {dimensions} grids, one for each axis")
        grids: list[Any] = list(grid) if several else [grid]  # type: ignore[arg-type]
        if len(grids) != dimensions:
            raise ProblemError(f"table: there are {len(grids)} grids for values of {dimensions} dimensions")
        self.kind, self._axes = kind, []
        for k, each in enumerate(grids):
            points = _points(k, each, coefficients.shape[k], KINDS[kind])
            axis, coefficients = _AXES[kind](points, coefficients, k)
            self._axes.append(axis)
        self._coefficients = coefficients

    def __call__(self, *at: Any) -> Any:
        if len(at) != len(self._axes):
            raise ProblemError(f"table: called with {len(at)} arguments, expected {len(self._axes)}")
        if any(isinstance(x, ca.SX) for x in at):
            return self._expression([x if isinstance(x, ca.SX) else _constant(x) for x in at])
        arrays = [_numbers("an argument", x) for x in at]
        try:
            shape = np.broadcast_shapes(*(array.shape for array in arrays))
        except ValueError:
            shapes = ", ".join(str(array.shape) for array in arrays)
            raise ProblemError(f"table: the arguments have shapes {shapes}, expected the same, or numbers") from None
        if 0 in shape:
            return np.zeros(shape)
        rows = [np.broadcast_to(array, shape).reshape(1, -1) for array in arrays]
        found = np.array(self._function(*rows)).reshape(shape)
        if not np.isfinite(found).all():
            raise ProblemError("table: what is asked for is so far beyond the grid that the number overflows")
        return found if shape else float(found)

    @cached_property
    def _function(self) -> ca.Function:
        symbols = [ca.SX.sym(f"x{k}") for k in range(len(self._axes))]
        return ca.Function("table", symbols, [solved(self._expression(symbols))])

    def _expression(self, at: list[ca.SX]) -> ca.SX:
        for x in at:
            if x.numel() != 1:
                raise ProblemError(f"table: an argument has shape {x.shape}, expected one number")
        read = _Reader()
        pieces = [axis.piece(x) for axis, x in zip(self._axes, at)]
        weights = [axis.weights(x, i, read) for axis, x, i in zip(self._axes, at, pieces)]
        shape = self._coefficients.shape
        strides = [int(np.prod(shape[k + 1 :])) for k in range(len(shape))]
        first = sum((i * stride for i, stride in zip(pieces, strides)), ca.SX(0))

        def summed(k: int, offset: int) -> ca.SX:
            if k == len(weights):
                return read(self._coefficients.ravel(), first + offset)
            terms = [w * summed(k + 1, offset + j * strides[k]) for j, w in enumerate(weights[k])]
            return sum(terms[1:], terms[0])

        found = summed(0, 0)
        read.finish()
        return found


class _Reader:
    """Numbers read from lists, each a symbol: the unknowns of one node without slopes."""

    def __init__(self) -> None:
        self.symbols: list[ca.SX] = []
        self.values: list[ca.SX] = []

    def __call__(self, numbers: np.ndarray, place: ca.SX) -> ca.SX:
        value = _looked_up(numbers, place)
        if value.is_constant():
            return value
        self.symbols.append(ca.SX.sym(f"read{len(self.symbols)}"))
        self.values.append(value)
        return self.symbols[-1]

    def finish(self) -> None:
        if self.symbols:
            steplike("table", ca.vertcat(*self.symbols), ca.vertcat(*self.values))


def table(grid: ArrayLike | Sequence[ArrayLike], values: ArrayLike, kind: str = "linear") -> Table:
    """A table as a function of expressions or numbers.

    grid: points (n,), increasing, in any spacing; of two or three dimensions a list of such, one for each axis of
    `values`. kind: "linear", with slopes that jump from piece to piece, or "cubic", the B-spline through all values
    (four points at least along each axis), whose curvature is continuous: what solvers like. Beyond the grid the last
    piece goes on.

    lift = ts.table(angles, coefficients, "cubic")
    ocp.derivative(v=lift(angle) * v**2)
    """
    return Table(grid, values, kind)


class _Axis:
    """A dimension, cut at `breaks`."""

    def __init__(self, breaks: np.ndarray):
        self.breaks, self.count = breaks, len(breaks) - 1
        self.lengths = np.diff(breaks)
        self.even = bool(np.ptp(self.lengths) <= EVEN * self.lengths.max())
        if not self.even and self._buckets > MOST_BUCKETS:
            raise ProblemError(
                f"table: a grid has spacings from {self.lengths.min():g} to {self.lengths.max():g}, expected less "
                "uneven ones; take the logarithm of what it is a table of, for example"
            )

    @property
    def _width(self) -> float:
        """Of buckets, in each of which at most one piece ends."""
        return float(0.9 * self.lengths.min())

    @property
    def _buckets(self) -> float:
        return float(np.ceil((self.breaks[-1] - self.breaks[0]) / self._width))

    def piece(self, x: ca.SX) -> ca.SX:
        """The number of the piece at x, the first or last beyond the ends."""
        first, last = float(self.breaks[0]), self.count - 1
        if last == 0:
            return ca.SX(0)
        if self.even:
            return _within(ca.floor((x - first) * (self.count / float(self.breaks[-1] - first))), last)
        count = int(self._buckets)
        bucket = _within(ca.floor((x - first) * (1.0 / self._width)), count - 1)
        at_left = np.searchsorted(self.breaks, first + self._width * np.arange(count), side="right") - 1
        here = _looked_up(np.minimum(at_left, last), bucket)
        return _within(here + (x >= _looked_up(self.breaks[1:], here)), last)

    def along(self, x: ca.SX, piece: ca.SX, read: _Reader) -> ca.SX:
        """t of a piece."""
        return (x - read(self.breaks[:-1], piece)) * read(1.0 / self.lengths, piece)

    def weights(self, x: ca.SX, piece: ca.SX, read: _Reader) -> list[ca.SX]:
        """Of the coefficients from the piece's first on."""
        raise NotImplementedError


class _LinearAxis(_Axis):
    def weights(self, x: ca.SX, piece: ca.SX, read: _Reader) -> list[ca.SX]:
        t = self.along(x, piece, read)
        return [1 - t, t]


class _CubicAxis(_Axis):
    """bases: (pieces, coefficients of a piece, powers of t)."""

    def __init__(self, breaks: np.ndarray, bases: np.ndarray):
        super().__init__(breaks)
        self.bases = bases

    def weights(self, x: ca.SX, piece: ca.SX, read: _Reader) -> list[ca.SX]:
        t, found = self.along(x, piece, read), []
        for j in range(4):
            cubic, square, slope, constant = (read(self.bases[:, j, power], piece) for power in (3, 2, 1, 0))
            found.append(((cubic * t + square) * t + slope) * t + constant)
        return found


def _linear(points: np.ndarray, values: np.ndarray, axis: int) -> tuple[_Axis, np.ndarray]:
    return _LinearAxis(points), values


def _cubic(points: np.ndarray, values: np.ndarray, axis: int) -> tuple[_Axis, np.ndarray]:
    from scipy.interpolate import PPoly, make_interp_spline

    spline = make_interp_spline(points, values, k=3, axis=axis)
    coefficients = np.moveaxis(spline.c, 0, axis) if values.ndim > 1 else spline.c
    knots, count = spline.t, values.shape[axis]
    breaks = np.unique(knots)
    whole = np.flatnonzero(np.diff(knots) > 0)  # where pieces start among the knots
    lengths = np.diff(breaks)
    bases = np.zeros((len(lengths), 4, 4))
    for j in range(count):
        unit = np.zeros(count)
        unit[j] = 1.0
        powers = PPoly.from_spline((knots, unit, 3)).c[:, whole]  # the highest first
        for piece in range(max(0, j - 3), min(len(lengths), j + 1)):
            bases[piece, j - piece] = powers[::-1, piece] * lengths[piece] ** np.arange(4)
    return _CubicAxis(breaks, bases), coefficients


_AXES = {"linear": _linear, "cubic": _cubic}


def _looked_up(numbers: np.ndarray, place: ca.SX) -> ca.SX:
    """A lookup, or the number that it would always give."""
    return ca.SX(float(numbers[0])) if np.ptp(numbers) == 0 else lookup(numbers)(place)


def _within(place: ca.SX, last: int) -> ca.SX:
    return ca.fmin(ca.fmax(place, 0), last)


def _constant(given: ArrayLike) -> ca.SX:
    number = _numbers("an argument", given)
    if number.size != 1:
        raise ProblemError(f"table: an argument has shape {number.shape}, expected one number")
    return ca.SX(number.item())


def _nested(grid: Any) -> bool:
    return isinstance(grid, (list, tuple)) and len(grid) == 1 and np.ndim(grid[0]) == 1


def _points(k: int, given: ArrayLike, size: int, degree: int) -> np.ndarray:
    points = _numbers(f"grid {k}", given)
    if points.shape != (size,):
        raise ProblemError(f"table: grid {k} has shape {points.shape}, but values has {size} along it")
    if size <= degree:
        raise ProblemError(f"table: grid {k} has {size} points, expected at least {degree + 1}")
    if not (np.diff(points) > 0).all():
        where = int(np.argmax(~(np.diff(points) > 0)))
        raise ProblemError(
            f"table: grid {k} has {points[where]:g} before {points[where + 1]:g}, expected it to increase"
        )
    return points


def _numbers(what: str, given: ArrayLike) -> np.ndarray:
    array = checked_floats(f"table: {what}", given)
    if not np.isfinite(array).all():
        raise ProblemError(f"table: {what} has an entry that is not finite")
    return array
