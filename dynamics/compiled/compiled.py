"""The algorithms as machine code: SX expressions through the compiler of `native`, kept for each use.

Arguments are as at the model's own methods, (n,) for one state, or (count, n) for a batch, in which an argument (n,)
or (1, n) stands for all states; results have the leading axis `count` then. A batch runs its states as lanes of
vector instructions. `out` takes arrays for the results, so that nothing is allocated.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING, Any, TypeAlias, overload

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from ...errors import ModelError
from ..algebra.arrays import Array
from ..constraints.constraint import Constraint, listed
from ..delassus.choice import DELASSUS, delassus_matrix
from ..forward_problem import forward_problem
from ..given import forces_on_links
from ..methods import DEFAULT_PROXIMAL, FORWARD, PROXIMAL, choose_counted, expression, named
from ..proximal.settings import DEFAULT, Proximal, ProximalReport
from . import recursive_code, slopes
from .machine_code import ArrayCode, Expression, MachineCode

if TYPE_CHECKING:
    from ..model import Model
    from .compiled_proximal import ProximalCode

Push: TypeAlias = Mapping[str, ArrayLike] | None

# The slopes of a vector by (q, v, tau) or (q, v, a), the first in increments of the configuration.
Slopes: TypeAlias = tuple[np.ndarray, np.ndarray, np.ndarray]

# Constraints are told apart by what they say; so many objects are remembered by name of the object.
REMEMBERED = 256


class Compiled:
    """`model.compiled`: the model's methods as machine code."""

    def __init__(self, model: Model):
        self.model = model
        self.proximal: dict[Hashable, ProximalCode] = {}
        self._codes: dict[Hashable, ArrayCode] = {}
        self._recent: dict[Hashable, ArrayCode] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickles as its model, and is compiled again where it arrives."""
        return attrgetter("compiled"), (self.model,)

    @overload
    def forward_dynamics(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike,
        constraints: Sequence[Constraint],
        method: str | None = None,
        external: Push = None,
        out: Any = None,
    ) -> tuple[np.ndarray, tuple[np.ndarray, ...]]: ...
    @overload
    def forward_dynamics(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike,
        constraints: tuple[()] = (),
        method: str | None = None,
        external: Push = None,
        out: Any = None,
    ) -> np.ndarray: ...
    def forward_dynamics(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike,
        constraints: Sequence[Constraint] = (),
        method: str | None = None,
        external: Push = None,
        out: Any = None,
    ) -> np.ndarray | tuple[np.ndarray, tuple[np.ndarray, ...]]:
        """Accelerations (nv,) or (count, nv); with constraints also a tuple of their forces.

        The proximal methods iterate until they converge, as with `proximal_dynamics`, which has the report.
        """
        found: Any
        if external is None:
            found = self._forward(constraints, method)(out, q, v, tau)
        else:
            pushes = forces_on_links(external)
            found = self._forward(constraints, method, tuple(pushes))(out, q, v, tau, *pushes.values())
        return found

    def _forward(self, constraints: Sequence[Constraint], method: Any, links: tuple[str, ...] = ()) -> Any:
        """The code for these constraints, by a method, with forces on these links."""
        try:
            return self._recent[tuple(constraints), method, links]
        except (KeyError, TypeError):
            pass
        if not isinstance(method, str | None):
            named(FORWARD, method)
        key = listed(constraints), method, links
        code = self._new_forward(*key)
        return self._remember(key, code) if isinstance(code, ArrayCode) else code

    def _remember(self, key: Hashable, code: ArrayCode) -> ArrayCode:
        if len(self._recent) >= REMEMBERED:
            self._recent.clear()
        self._recent[key] = code
        return code

    def _new_forward(
        self, held: tuple[Constraint, ...], method: str | None, links: tuple[str, ...]
    ) -> ArrayCode | ProximalCode:
        name = choose_counted(self.model, held)[0] if method is None else method
        if held and name in PROXIMAL:
            code = self._proximal(held, name, DEFAULT, links)
            return code.call or code

        def sweep(q: ca.SX, v: ca.SX, tau: ca.SX, *forces: ca.SX) -> list[Array]:
            bodies = self.model.on_bodies(dict(zip(links, forces)))
            a, found = expression(forward_problem(self.model, q, v, tau, held, bodies), method)
            return [a, *found]

        key = ("forward_dynamics", tuple(row.key for row in held), method, links)
        if held and method == "riccati":
            return self._codes.get(key) or self._keep(key, recursive_code.gauss(self.model, held, links))
        groups = (0, len(held)) if held else ()
        direct = self._codes.get(key) or self._code(key, ("q", "v", "tau"), sweep, links, groups)
        if held and method is None:
            direct.otherwise = partial(self._by_numbers, held, links)  # type: ignore[method-assign]
        return direct

    def _by_numbers(
        self, held: tuple[Constraint, ...], links: tuple[str, ...], state: int, given: Sequence[np.ndarray]
    ) -> list[np.ndarray]:
        """Forward dynamics at a configuration near which rows depend on each other: as numbers, by another method."""
        q, v, tau, *pushes = given
        try:
            a, forces = self.model.forward_dynamics(q, v, tau, held, external=dict(zip(links, pushes)))
        except ModelError as refusal:
            raise ModelError(f"compiled forward_dynamics: state {state}: {refusal}") from None
        return [np.asarray(a), *(np.asarray(force) for force in forces)]

    def forward_dynamics_slopes(
        self, q: ArrayLike, v: ArrayLike, tau: ArrayLike, constraints: Sequence[Constraint] = (), out: Any = None
    ) -> Slopes | tuple[Slopes, Slopes]:
        """The accelerations' slopes by q, v and tau, (nv, nv) each or (count, nv, nv), exact, by the adjoint method;
        with constraints also those of all their forces, stacked, (m, nv) each.

        Slopes by q are by increments of the configuration, as `integrate` takes them: (q, d) -> q + d.
        """
        try:
            code: Any = self._recent["forward_dynamics_slopes", tuple(constraints)]
        except (KeyError, TypeError):
            held = listed(constraints)
            code = self._remember(("forward_dynamics_slopes", held), self._forward_slopes(held))
        found: Any = code(out, q, v, tau)
        return found

    def _forward_slopes(self, held: tuple[Constraint, ...]) -> ArrayCode:
        key = ("forward_dynamics_slopes", tuple(row.key for row in held))
        return self._codes.get(key) or self._new_forward_slopes(key, held)

    def _new_forward_slopes(self, key: Hashable, held: tuple[Constraint, ...]) -> ArrayCode:
        if recursive_code.has_recursive_slopes(self.model, held):
            return self._keep(key, recursive_code.forward_slopes(self.model, held))
        return self._code(
            key,
            ("q", "v", "tau"),
            lambda q, v, tau: slopes.of_forward_dynamics(self.model, q, v, tau, held),
            groups=(3, 3) if held else (),
        )

    def inverse_dynamics_slopes(self, q: ArrayLike, v: ArrayLike, a: ArrayLike, out: Any = None) -> Slopes:
        """The joint forces' slopes by q, v and a, (nv, nv) each or (count, nv, nv); the last is the mass matrix."""
        code = self._codes.get("inverse_dynamics_slopes") or self._new_inverse_slopes("inverse_dynamics_slopes")
        found: Slopes = code(out, q, v, a)
        return found

    def _new_inverse_slopes(self, key: str) -> ArrayCode:
        if recursive_code.has_recursive_slopes(self.model, ()):
            return self._keep(key, recursive_code.inverse_slopes(self.model))
        return self._code(key, ("q", "v", "a"), lambda q, v, a: slopes.of_inverse_dynamics(self.model, q, v, a))

    def proximal_dynamics(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike,
        constraints: Sequence[Constraint],
        method: str | None = None,
        settings: Proximal | None = None,
        forces: Sequence[ArrayLike] | None = None,
        external: Push = None,
    ) -> tuple[np.ndarray, tuple[np.ndarray, ...], ProximalReport]:
        """Accelerations (nv,) or (count, nv), the constraints' forces, and a report, whose entries are (count,) for a
        batch. See `Model.proximal_dynamics`.
        """
        held = listed(constraints)
        if not held:
            a = self.forward_dynamics(q, v, tau, external=external)
            return a, (), ProximalReport("aba", np.inf, 1, 0.0, 0.0, True, 0.0)
        pushes = {} if external is None else forces_on_links(external)
        name = choose_counted(self.model, held)[0] if method is None else method
        method = DEFAULT_PROXIMAL if method is None and name not in PROXIMAL else name
        code = self._proximal(held, method, settings or DEFAULT, tuple(pushes))
        return code.report((q, v, tau, *pushes.values()), forces)

    def _proximal(
        self, constraints: tuple[Constraint, ...], method: str | None, settings: Proximal, links: tuple[str, ...]
    ) -> ProximalCode:
        from .compiled_proximal import ProximalCode

        key = (tuple(row.key for row in constraints), method, settings, links)
        if key not in self.proximal:
            self.proximal[key] = ProximalCode(self.model, constraints, method, settings, links)
        return self.proximal[key]

    def inverse_dynamics(
        self, q: ArrayLike, v: ArrayLike, a: ArrayLike, external: Push = None, out: Any = None
    ) -> np.ndarray:
        """Joint forces (nv,) or (count, nv). See `Model.inverse_dynamics`."""
        if external is None:
            return (self._codes.get("inverse_dynamics") or self._inverse(()))(out, q, v, a)
        pushes = forces_on_links(external)
        code = self._codes.get(("inverse_dynamics", *pushes)) or self._inverse(tuple(pushes))
        return code(out, q, v, a, *pushes.values())

    def _inverse(self, links: tuple[str, ...]) -> ArrayCode:
        def sweep(q: ca.SX, v: ca.SX, a: ca.SX, *forces: ca.SX) -> list[Array]:
            return [self.model.inverse_dynamics(q, v, a, dict(zip(links, forces)))]

        key = ("inverse_dynamics", *links) if links else "inverse_dynamics"
        return self._code(key, ("q", "v", "a"), sweep, links)

    def mass_matrix(self, q: ArrayLike, out: Any = None) -> np.ndarray:
        """M (nv, nv) or (count, nv, nv)."""
        code = self._codes.get("mass_matrix") or self._code(
            "mass_matrix", ("q",), lambda q: [self.model.mass_matrix(q)]
        )
        return code(out, q)

    def inverse_mass_matrix(self, q: ArrayLike, out: Any = None) -> np.ndarray:
        """M^-1 (nv, nv) or (count, nv, nv)."""
        code = self._codes.get("inverse_mass_matrix") or self._code(
            "inverse_mass_matrix", ("q",), lambda q: [self.model.inverse_mass_matrix(q)]
        )
        return code(out, q)

    def delassus(
        self, q: ArrayLike, constraints: Sequence[Constraint], method: str | None = None, out: Any = None
    ) -> np.ndarray:
        """J M^-1 J' (m, m) or (count, m, m). See `Model.delassus`; "pv-osim-fast" has no matrix to give."""
        try:
            code: Any = self._recent["delassus", tuple(constraints), method]
        except (KeyError, TypeError):
            held = listed(constraints)
            code = self._remember(("delassus", held, method), self._delassus(held, method))
        found: np.ndarray = code(out, q)
        return found

    def _delassus(self, held: tuple[Constraint, ...], method: str | None) -> ArrayCode:
        if method is not None:
            named(DELASSUS, method)
        key = ("delassus", tuple(row.key for row in held), method)
        return self._codes.get(key) or self._code(key, ("q",), lambda q: [delassus_matrix(self.model, q, held, method)])

    def link_pose(self, q: ArrayLike, link: str, out: Any = None) -> tuple[np.ndarray, np.ndarray]:
        """Rotation (3, 3) and position (3,) of a link in the world, or (count, ...) of them."""
        key = ("link_pose", link)
        code = (isinstance(link, str) and self._codes.get(key)) or self._code(
            key, ("q",), lambda q: self.model.link_pose(q, link)
        )
        found: tuple[np.ndarray, np.ndarray] = code(out, q)
        return found

    def link_jacobian(self, q: ArrayLike, link: str, out: Any = None) -> np.ndarray:
        """J (6, nv) or (count, 6, nv)."""
        key = ("link_jacobian", link)
        code = (isinstance(link, str) and self._codes.get(key)) or self._code(
            key, ("q",), lambda q: [self.model.link_jacobian(q, link)]
        )
        return code(out, q)

    def batch(
        self, key: tuple[object, ...], expression: Expression, rows: Sequence[np.ndarray]
    ) -> tuple[np.ndarray, ...]:
        """The results (count, m) of an expression of one's own for rows (count, n) of its arguments, or (1, n)
        for all.
        """
        if key not in self._codes:
            sizes = {f"argument {k}": row.shape[-1] for k, row in enumerate(rows)}
            self._codes[key] = MachineCode(self.model, str(key[0]), sizes, expression)
        return self._codes[key].rows_of(*rows)

    def _code(
        self,
        key: Hashable,
        arguments: Sequence[str],
        expression: Expression,
        links: Sequence[str] = (),
        groups: Sequence[int] = (),
    ) -> ArrayCode:
        """New machine code for an expression of these arguments and of forces on links."""
        name = key if isinstance(key, str) else str(key[0])  # type: ignore[index]
        sizes = {each: self.model.nq if each == "q" else self.model.nv for each in arguments}
        pushes = {f"external force on '{link}'": 6 for link in links}
        return self._keep(key, MachineCode(self.model, name, sizes | pushes, expression, groups))

    def _keep(self, key: Hashable, code: ArrayCode) -> ArrayCode:
        self._codes[key] = code
        return code
