"""The algorithms as machine code: SX expressions through the compiler of `native`, kept for each use.

Arguments are as at the model's own methods, (n,) for one state, or (count, n) for a batch, in which an argument (n,)
or (1, n) stands for all states; results have the leading axis `count` then. A batch runs its states as lanes of
vector instructions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias, overload

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from ...errors import ModelError
from ...forks import no_fork
from ..algebra.arrays import Array
from ..constraints.constraint import Constraint, listed
from ..forward_problem import ForwardProblem
from ..joints.joints import UNIT_TOLERANCE
from ..methods import PROXIMAL, choose, delassus_matrix, expression
from ..proximal.settings import DEFAULT, Proximal, ProximalReport

if TYPE_CHECKING:
    from ...native import CompiledFunction
    from ..model import Model
    from .compiled_proximal import Code

Key: TypeAlias = tuple[object, ...]

# Results in the symbols of the arguments.
Expression: TypeAlias = Callable[..., Sequence[Array]]


class Compiled:
    """`model.compiled`: the model's methods as machine code."""

    def __init__(self, model: Model):
        self.model = model
        self.proximal: dict[Key, Code] = {}
        self._functions: dict[Key, tuple[CompiledFunction, list[tuple[int, int]]]] = {}

    @overload
    def forward_dynamics(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike,
        constraints: Sequence[Constraint],
        method: str | None = None,
        external: Mapping[str, ArrayLike] | None = None,
    ) -> tuple[np.ndarray, tuple[np.ndarray, ...]]: ...
    @overload
    def forward_dynamics(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike,
        constraints: tuple[()] = (),
        method: str | None = None,
        external: Mapping[str, ArrayLike] | None = None,
    ) -> np.ndarray: ...
    def forward_dynamics(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike,
        constraints: Sequence[Constraint] = (),
        method: str | None = None,
        external: Mapping[str, ArrayLike] | None = None,
    ) -> np.ndarray | tuple[np.ndarray, tuple[np.ndarray, ...]]:
        """Accelerations (nv,) or (count, nv); with constraints also a tuple of their forces.

        The proximal methods iterate until they converge, as with `proximal_dynamics`, which has the report.
        """
        held, pushes = listed(constraints), dict(external or {})
        name = choose(self.model, held)[0] if method is None else method
        if held and name in PROXIMAL:
            return self.proximal_dynamics(q, v, tau, held, name, external=external)[:2]

        def sweep(q: ca.SX, v: ca.SX, tau: ca.SX, *forces: ca.SX) -> list[Array]:
            bodies = self.model.on_bodies(dict(zip(pushes, forces)))
            a, found = expression(ForwardProblem(self.model, q, v, tau, held, bodies), method)
            return [a, *found]

        key = ("forward_dynamics", tuple(row.key for row in held), method, tuple(pushes))
        a, *forces = self._call(key, sweep, {"q": q, "v": v, "tau": tau}, pushes)
        return (a, tuple(forces)) if held else a

    def proximal_dynamics(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike,
        constraints: Sequence[Constraint],
        method: str | None = None,
        settings: Proximal | None = None,
        forces: Sequence[ArrayLike] | None = None,
        external: Mapping[str, ArrayLike] | None = None,
    ) -> tuple[np.ndarray, tuple[np.ndarray, ...], ProximalReport]:
        """Accelerations (nv,) or (count, nv), the constraints' forces, and a report, whose entries are (count,) for a
        batch. See `Model.proximal_dynamics`.
        """
        from .compiled_proximal import proximal_dynamics

        if not constraints:
            a = self.forward_dynamics(q, v, tau, external=external)
            return a, (), ProximalReport("aba", np.inf, 1, 0.0, 0.0, True)
        pushes = dict(external or {})
        state = self.arguments({"q": q, "v": v, "tau": tau}, pushes)
        return proximal_dynamics(self, state, tuple(pushes), listed(constraints), method, settings or DEFAULT, forces)

    def inverse_dynamics(
        self, q: ArrayLike, v: ArrayLike, a: ArrayLike, external: Mapping[str, ArrayLike] | None = None
    ) -> np.ndarray:
        """Joint forces (nv,) or (count, nv). See `Model.inverse_dynamics`."""
        pushes = dict(external or {})

        def sweep(q: ca.SX, v: ca.SX, a: ca.SX, *forces: ca.SX) -> list[Array]:
            return [self.model.inverse_dynamics(q, v, a, dict(zip(pushes, forces)))]

        return self._call(("inverse_dynamics", tuple(pushes)), sweep, {"q": q, "v": v, "a": a}, pushes)[0]

    def mass_matrix(self, q: ArrayLike) -> np.ndarray:
        """M (nv, nv) or (count, nv, nv)."""
        return self._call(("mass_matrix",), lambda q: [self.model.mass_matrix(q)], {"q": q})[0]

    def inverse_mass_matrix(self, q: ArrayLike) -> np.ndarray:
        """M^-1 (nv, nv) or (count, nv, nv)."""
        return self._call(("inverse_mass_matrix",), lambda q: [self.model.inverse_mass_matrix(q)], {"q": q})[0]

    def delassus(self, q: ArrayLike, constraints: Sequence[Constraint], method: str = "pv-osim") -> np.ndarray:
        """J M^-1 J' (m, m) or (count, m, m). See `Model.delassus`; "pv-osim-fast" has no matrix to give."""
        held = listed(constraints)
        key = ("delassus", tuple(row.key for row in held), method)
        return self._call(key, lambda q: [delassus_matrix(self.model, q, held, method)], {"q": q})[0]

    def link_pose(self, q: ArrayLike, link: str) -> tuple[np.ndarray, np.ndarray]:
        """Rotation (3, 3) and position (3,) of a link in the world, or (count, ...) of them."""
        R, p = self._call(("link_pose", link), lambda q: self.model.link_pose(q, link), {"q": q})
        return R, p

    def link_jacobian(self, q: ArrayLike, link: str) -> np.ndarray:
        """J (6, nv) or (count, 6, nv)."""
        return self._call(("link_jacobian", link), lambda q: [self.model.link_jacobian(q, link)], {"q": q})[0]

    def batch(self, key: Key, expression: Expression, rows: Sequence[np.ndarray]) -> tuple[np.ndarray, ...]:
        """The results (count, m) of an expression for rows (count, n) of its arguments, or (1, n) for all."""
        found = self._function(key, expression, [row.shape[-1] for row in rows])[0].batch(*rows)
        return (found,) if isinstance(found, np.ndarray) else found

    def _function(
        self, key: Key, expression: Expression, sizes: Sequence[int]
    ) -> tuple[CompiledFunction, list[tuple[int, int]]]:
        """The machine code of an expression of columns of these sizes, and the shapes of its results."""
        if key not in self._functions:
            from ...native import compile_function

            with no_fork():
                symbols = [ca.SX.sym(f"x{k}", size) for k, size in enumerate(sizes)]
                outputs = [ca.densify(ca.SX(output)) for output in expression(*symbols)]
                source = ca.Function(str(key[0]), symbols, outputs)
                self._functions[key] = compile_function(source), [output.shape for output in outputs]
        return self._functions[key]

    def _call(
        self,
        key: Key,
        expression: Expression,
        state: Mapping[str, ArrayLike],
        pushes: Mapping[str, ArrayLike] | None = None,
    ) -> list[np.ndarray]:
        arrays = self.arguments(state, pushes or {})
        batch = any(array.ndim == 2 for array in arrays)
        results = self.batch(key, expression, [np.atleast_2d(array) for array in arrays])
        for result in results:
            if not np.isfinite(result).all():
                row = int(np.argmin(np.isfinite(result).all(axis=1)))
                raise ModelError(
                    f"compiled {key[0]}: state {row} gives a result that is not finite, expected a configuration at "
                    "which the constraints are independent and every joint moves some mass, and numbers of a sensible "
                    "size"
                )
        shaped = [_shaped(result, shape) for result, shape in zip(results, self._functions[key][1])]
        return shaped if batch else [result[0] for result in shaped]

    def arguments(self, state: Mapping[str, ArrayLike], pushes: Mapping[str, ArrayLike]) -> list[np.ndarray]:
        """The user's arrays, (n,) or (count, n), checked: q, v, tau or a, and forces on links."""
        model = self.model
        found = [_checked(name, value, model.nq if name == "q" else model.nv) for name, value in state.items()]
        found += [_checked(f"external force on '{link}'", push, 6) for link, push in pushes.items()]
        self._check_units(found[0])
        return found

    def _check_units(self, q: np.ndarray) -> None:
        """Quaternions and (cos, sin) pairs of a wrong norm are refused."""
        for joint, part in zip(self.model.joints, self.model.q_slices):
            unit = q[..., part][..., joint.unit]
            if unit.shape[-1]:
                off = abs(np.linalg.norm(unit, axis=-1) - 1.0)
                if (off > UNIT_TOLERANCE).any():
                    row = np.atleast_2d(q)[int(np.argmax(off))][part]
                    joint.check(row.reshape(-1, 1))


def _checked(name: str, value: ArrayLike, size: int) -> np.ndarray:
    array = np.asarray(value, dtype=float)
    if array.ndim not in (1, 2) or array.shape[-1] != size:
        raise ModelError(f"{name} has shape {array.shape}, expected ({size},) or (count, {size})")
    if not np.isfinite(array).all():
        raise ModelError(f"{name} has an entry that is not finite, expected numbers")
    return array


def _shaped(result: np.ndarray, shape: tuple[int, int]) -> np.ndarray:
    """Rows of column-major entries as (count, n), or (count, n, m) for a matrix."""
    if shape[1] == 1:
        return result
    return result.reshape(len(result), shape[1], shape[0]).transpose(0, 2, 1)
