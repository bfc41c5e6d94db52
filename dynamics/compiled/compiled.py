"""The algorithms as machine code: SX expressions through the compiler of `native`, kept for each use.

Arguments are as at the model's own methods, (n,) for one state, or (count, n) for a batch, in which an argument (n,)
or (1, n) stands for all states; results have the leading axis `count` then. A batch runs its states as lanes of
vector instructions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

import casadi as ca
import numpy as np

from ...adjoint import solved
from ...errors import ModelError
from ..constraints.constraint import Constraint, listed
from ..joints.joints import UNIT_TOLERANCE
from ..methods import is_proximal
from ..proximal.iteration import DEFAULT, Proximal, ProximalReport

if TYPE_CHECKING:
    from ...native import CompiledFunction
    from ..model import Model
    from .compiled_proximal import Code


class Compiled:
    """`model.compiled`: the model's methods as machine code."""

    def __init__(self, model: Model):
        self.model = model
        self.proximal: dict[tuple, Code] = {}
        self._functions: dict[tuple, tuple[CompiledFunction, list[tuple[int, int]]]] = {}

    def forward_dynamics(
        self,
        q,
        v,
        tau,
        constraints: Sequence[Constraint] = (),
        method: str | None = None,
        external: Mapping[str, np.ndarray] | None = None,
    ):
        """Accelerations (nv,) or (count, nv); with constraints also a tuple of their forces.

        The proximal methods iterate until they converge, as with `proximal_dynamics`, which has the report.
        """
        links, constraints = tuple(external or ()), listed(constraints)
        if constraints and is_proximal(self.model, constraints, method):
            return self.proximal_dynamics(q, v, tau, constraints, method, external=external)[:2]

        def expression(q, v, tau, *forces):
            result = self.model.forward_dynamics(q, v, tau, constraints, method, dict(zip(links, forces)))
            return [solved(part) for part in ([result[0], *result[1]] if constraints else [result])]

        inputs = {"q": q, "v": v, "tau": tau} | {f"external force on '{link}'": external[link] for link in links}
        results = self._call(("forward_dynamics", tuple(c.key for c in constraints), method, links), expression, inputs)
        if not constraints:
            return results[0]
        return results[0], tuple(results[1:])

    def proximal_dynamics(
        self,
        q,
        v,
        tau,
        constraints: Sequence[Constraint],
        method: str | None = None,
        settings: Proximal | None = None,
        forces: Sequence[np.ndarray] | None = None,
        external: Mapping[str, np.ndarray] | None = None,
    ) -> tuple[np.ndarray, tuple[np.ndarray, ...], ProximalReport]:
        """Accelerations (nv,) or (count, nv), the constraints' forces, and a report, whose entries are (count,) for a
        batch. See `Model.proximal_dynamics`.
        """
        from .compiled_proximal import proximal_dynamics

        if not constraints:
            a = self.forward_dynamics(q, v, tau, external=external)
            return a, (), ProximalReport("aba", np.inf, 1, 0.0, 0.0, True)
        inputs = {"q": q, "v": v, "tau": tau} | {
            f"external force on '{link}'": f for link, f in (external or {}).items()
        }
        return proximal_dynamics(self, inputs, listed(constraints), method, settings or DEFAULT, forces)

    def inverse_dynamics(self, q, v, a, external: Mapping[str, np.ndarray] | None = None) -> np.ndarray:
        """Joint forces (nv,) or (count, nv). See `Model.inverse_dynamics`."""
        links = tuple(external or ())

        def expression(q, v, a, *forces):
            return [self.model.inverse_dynamics(q, v, a, dict(zip(links, forces)))]

        inputs = {"q": q, "v": v, "a": a} | {f"external force on '{link}'": external[link] for link in links}
        return self._call(("inverse_dynamics", links), expression, inputs)[0]

    def mass_matrix(self, q) -> np.ndarray:
        """M (nv, nv) or (count, nv, nv)."""
        return self._call(("mass_matrix",), lambda q: [self.model.mass_matrix(q)], {"q": q})[0]

    def inverse_mass_matrix(self, q) -> np.ndarray:
        """M^-1 (nv, nv) or (count, nv, nv)."""
        return self._call(("inverse_mass_matrix",), lambda q: [self.model.inverse_mass_matrix(q)], {"q": q})[0]

    def delassus(self, q, constraints: Sequence[Constraint], method: str = "pv-osim") -> np.ndarray:
        """J M^-1 J' (m, m) or (count, m, m). See `Model.delassus`; "pv-osim-fast" has no matrix to give."""
        if method == "pv-osim-fast":
            raise ModelError("method 'pv-osim-fast' gives an operator, expected a method that gives a matrix")
        constraints = listed(constraints)
        key = ("delassus", tuple(c.key for c in constraints), method)
        return self._call(key, lambda q: [self.model.delassus(q, constraints, method)], {"q": q})[0]

    def link_pose(self, q, link: str) -> tuple[np.ndarray, np.ndarray]:
        """Rotation (3, 3) and position (3,) of a link in the world, or (count, ...) of them."""
        R, p = self._call(("link_pose", link), lambda q: list(self.model.link_pose(q, link)), {"q": q})
        return R, p

    def link_jacobian(self, q, link: str) -> np.ndarray:
        """J (6, nv) or (count, 6, nv)."""
        return self._call(("link_jacobian", link), lambda q: [self.model.link_jacobian(q, link)], {"q": q})[0]

    def function(
        self, key: tuple, expression, names: Sequence[str], sizes: Mapping[str, int] = MappingProxyType({})
    ) -> tuple[CompiledFunction, list[tuple[int, int]]]:
        """The machine code of an expression of the named inputs, and the shapes of its results."""
        if key not in self._functions:
            from ...native import compile_function

            symbols = [ca.SX.sym(name, sizes[name] if name in sizes else self._size(name)) for name in names]
            outputs = [ca.densify(ca.SX(output)) for output in expression(*symbols)]
            source = ca.Function(key[0], symbols, outputs)
            self._functions[key] = compile_function(source), [output.shape for output in outputs]
        return self._functions[key]

    def _size(self, name: str) -> int:
        return {"q": self.model.nq, "v": self.model.nv, "tau": self.model.nv, "a": self.model.nv}.get(name, 6)

    def _call(self, key: tuple, expression, inputs: dict[str, np.ndarray]) -> list[np.ndarray]:
        arrays = {name: self.checked(name, value) for name, value in inputs.items()}
        batch = any(array.ndim == 2 for array in arrays.values())
        function, shapes = self.function(key, expression, list(arrays))
        results = function.batch(*(np.atleast_2d(array) for array in arrays.values()))
        results = (results,) if isinstance(results, np.ndarray) else results
        for result in results:
            if not np.isfinite(result).all():
                row = int(np.argmin(np.isfinite(result).all(axis=1)))
                raise ModelError(
                    f"compiled {key[0]}: state {row} gives a result that is not finite, expected a configuration at "
                    "which the constraints are independent and every joint moves some mass"
                )
        shaped = [_shaped(result, shape) for result, shape in zip(results, shapes)]
        return shaped if batch else [result[0] for result in shaped]

    def checked(self, name: str, value) -> np.ndarray:
        """The user's array for an input, (n,) or (count, n)."""
        array, size = np.asarray(value, dtype=float), self._size(name)
        if array.ndim not in (1, 2) or array.shape[-1] != size:
            raise ModelError(f"{name} has shape {array.shape}, expected ({size},) or (count, {size})")
        if not np.isfinite(array).all():
            raise ModelError(f"{name} has an entry that is not finite, expected numbers")
        if name == "q":
            for joint, part in zip(self.model.joints, self.model.q_slices):
                unit = array[..., part][..., joint.unit]
                if unit.shape[-1]:
                    off = abs(np.linalg.norm(unit, axis=-1) - 1.0)
                    if (off > UNIT_TOLERANCE).any():
                        row = np.atleast_2d(array)[int(np.argmax(off))][part]
                        joint.check(row.reshape(-1, 1))
        return array


def _shaped(result: np.ndarray, shape: tuple[int, int]) -> np.ndarray:
    """Rows of column-major entries as (count, n), or (count, n, m) for a matrix."""
    if shape[1] == 1:
        return result
    return result.reshape(len(result), shape[1], shape[0]).transpose(0, 2, 1)
