"""An algorithm as machine code that is called with the user's arrays.

Plain arrays go straight to the code, checked in the core (`bind_calls.cpp`) at a cost of well under a microsecond. All
else, from lists to states that are refused, is handed to `carefully`, which takes its time and knows the sentences.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeAlias

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from ... import native
from ...errors import ModelError, said
from ...forks import no_fork
from ...native import core
from ..algebra.arrays import Array, given_numbers
from ..joints.joints import UNIT_TOLERANCE

if TYPE_CHECKING:
    from ..model import Model

# Results in the symbols of the arguments.
Expression: TypeAlias = Callable[..., Sequence[Array]]

# What a state with no finite result was expected to be.
INDEPENDENT = (
    "a configuration at which the constraints are independent and every joint moves some mass, and numbers of a "
    "sensible size"
)

ArrayCall = core.ArrayCall


class ArrayCode(ArrayCall):
    """Called with (out, *arguments): an array, or a tuple of several, which are those in `out` unless it is None.

    name: of the algorithm; arguments: names and sizes of its columns, the configuration first; shapes: of its results;
    sought: what a state that gives no finite result was expected to be; groups: of the results, where a tuple holds
    tuples of them, 0 an array and k a tuple of k; limits: (output, entry, most) of outputs beyond those;
    fixed: what the last arguments always are.
    """

    def __init__(
        self,
        model: Model,
        name: str,
        arguments: Mapping[str, int],
        shapes: Sequence[tuple[int, int]],
        code: core.Code,
        sought: str = INDEPENDENT,
        groups: Sequence[int] = (),
        limits: Sequence[tuple[int, int, float]] = (),
        fixed: Sequence[Sequence[float]] = (),
    ):
        self.model, self.name, self.arguments, self.shapes = model, name, dict(arguments), list(shapes)
        self.sought, self.groups = sought, tuple(groups)
        unit = unit_parts(model), UNIT_TOLERANCE
        super().__init__(code, list(self.arguments.values()), self.shapes, True, True, *unit, groups, limits, fixed)

    def carefully(self, out: Any, *given: ArrayLike) -> Any:
        """The same for whatever can be made an array, and a sentence for what cannot."""
        arrays = checked(self.model, self.arguments, given)
        lengths = {name: len(array) for name, array in zip(self.arguments, arrays) if array.ndim == 2}
        count = max((n for n in lengths.values() if n != 1), default=1) if all(lengths.values()) else 0
        for name, length in lengths.items():
            if length not in (1, count):
                raise ModelError(f"{name} has {length} rows, expected {count} like the others, or 1")
        rows = [np.atleast_2d(array) for array in arrays]
        several = self.rows_of(*rows)
        right = np.logical_and.reduce([np.isfinite(result).all(axis=1) for result in several])
        for state in np.flatnonzero(~right).tolist():
            found = self.otherwise(state, [each[state % len(each)] for each in rows])
            for result, part in zip(several, found):
                result[state] = part
        shaped = tuple(_shaped(result, shape) for result, shape in zip(several, self.shapes))
        found = shaped if lengths else tuple(result[0] for result in shaped)
        if len(found) == 1:
            return put(out if out is None else (out,), found)[0]
        return grouped(self.groups, put(out, found))

    def otherwise(self, state: int, given: Sequence[np.ndarray]) -> Sequence[np.ndarray]:
        """The results of one state, of that number, to which the code has given none that is finite."""
        del given
        raise ModelError(
            f"compiled {self.name}: state {state} gives a result that is not finite, expected {self.sought}"
        )

    def rows_of(self, *rows: np.ndarray) -> tuple[np.ndarray, ...]:
        """Results (count, m), whatever they are, for rows (count, n) or (1, n)."""
        plain = [np.ascontiguousarray(each) for each in rows]
        count = 0 if any(len(each) == 0 for each in plain) else max(len(each) for each in plain)
        found = tuple(np.empty((count, n * m)) for n, m in self.shapes)
        strides = [0 if len(each) == 1 else each.shape[1] for each in plain]
        self.rows([each.ctypes.data for each in plain], strides, [each.ctypes.data for each in found], count)
        return found


class MachineCode(ArrayCode):
    """An expression of the arguments as machine code."""

    def __init__(
        self,
        model: Model,
        name: str,
        arguments: Mapping[str, int],
        expression: Expression,
        groups: Sequence[int] = (),
        limits: Sequence[tuple[int, int, float]] = (),
        fixed: Sequence[Sequence[float]] = (),
    ):
        symbols = [ca.SX.sym(f"x{k}", size) for k, size in enumerate(arguments.values())]
        with no_fork():
            outputs = [ca.densify(ca.SX(output)) for output in expression(*symbols)]
            self.function = code = native.compile_function(ca.Function(name, symbols, outputs))
        made = core.CompiledCode(code.address, code.sizes.work)
        shapes = [output.shape for output in outputs]
        super().__init__(model, name, arguments, shapes, made, groups=groups, limits=limits, fixed=fixed)


def put(out: Any, found: tuple[np.ndarray, ...]) -> tuple[np.ndarray, ...]:
    """The results, in the user's arrays if there are any."""
    if out is None:
        return found
    expected = [result.shape for result in found]
    if not isinstance(out, (tuple, list)):
        raise ModelError(f"out is {said(out)}, expected a list of arrays with shapes {expected}")
    several = tuple(out)
    shapes = [array.shape if isinstance(array, np.ndarray) else None for array in several]
    if shapes != expected or any(array.dtype != float or not array.flags.writeable for array in several):
        raise ModelError(f"out has shapes {shapes}, expected writable arrays of float64 with {expected}")
    for array, result in zip(several, found):
        np.copyto(array, result)
    if not all(map(np.array_equal, several, found)):
        raise ModelError("out has arrays that share memory, expected one of its own for every number")
    return several


def grouped(groups: Sequence[int], found: tuple[np.ndarray, ...]) -> tuple[Any, ...]:
    """Results in tuples of so many, or one by itself where that is 0."""
    if not groups:
        return found
    rest = iter(found)
    return tuple(tuple(islice(rest, each)) if each else next(rest) for each in groups)


def unit_parts(model: Model) -> list[tuple[int, int]]:
    """The parts (first, length) of a configuration that have norm 1: quaternions and (cos, sin) pairs."""
    pairs = zip(model.joints, model.q_slices)
    found = [(part.start + joint.unit.start, joint.unit.stop - joint.unit.start) for joint, part in pairs]
    return [(first, length) for first, length in found if length]


def checked(model: Model, arguments: Mapping[str, int], given: Sequence[ArrayLike]) -> list[np.ndarray]:
    """The user's arrays, (n,) or (count, n): finite numbers, the first a configuration with units of norm 1."""
    arrays = []
    for (name, size), value in zip(arguments.items(), given):
        array = given_numbers(name, value)
        if array.ndim not in (1, 2) or array.shape[-1] != size:
            raise ModelError(f"{name} has shape {array.shape}, expected ({size},) or (count, {size})")
        if not np.isfinite(array).all():
            raise ModelError(f"{name} has an entry that is not finite, expected numbers")
        arrays.append(array)
    for joint, part in zip(model.joints, model.q_slices):
        unit = arrays[0][..., part][..., joint.unit]
        if unit.size:
            off = abs(np.linalg.norm(unit, axis=-1) - 1.0)
            if (off > UNIT_TOLERANCE).any():
                row = np.atleast_2d(arrays[0])[int(np.argmax(off))][part]
                joint.check(row.reshape(-1, 1))
    return arrays


def _shaped(result: np.ndarray, shape: tuple[int, int]) -> np.ndarray:
    """Rows of column-major entries as (count, n), or (count, n, m) for a matrix."""
    if shape[1] == 1:
        return result
    return result.reshape(len(result), shape[1], shape[0]).transpose(0, 2, 1)
