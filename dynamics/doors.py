"""The public methods of a model: they check what the user gives, and hand over to the algorithms' own modules.

Vectors are NumPy arrays (n,) or SX columns; with SX anywhere the result is SX.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ..errors import ModelError
from .algebra.arrays import Array, any_not_finite, column, flat, is_symbolic
from .free import energy, kinematics
from .free.crba import crba
from .free.rnea import rnea
from .joints import configuration

if TYPE_CHECKING:
    from .compiled.compiled import Compiled
    from .constraints.constraint import Constraint
    from .model import Model
    from .proximal.iteration import Proximal, ProximalReport


class Doors:
    """What a `Model` can compute."""

    # --- the configuration manifold

    def neutral(self) -> np.ndarray:
        """The configuration (nq,) in which no joint moves its link."""
        return flat(configuration.neutral(self))

    def random_configuration(self, rng: np.random.Generator | int) -> np.ndarray:
        """A configuration (nq,), uniform between the limits; the same for the same seed."""
        return flat(configuration.random_configuration(self, np.random.default_rng(rng)))

    def integrate(self, q, v) -> Array:
        """q (nq,) moved along v (nv,) for a unit of time."""
        return flat(configuration.integrate(self, self.configuration(q), self.velocity(v)))

    def difference(self, q0, q1) -> Array:
        """The v (nv,) with integrate(q0, v) = q1."""
        return flat(configuration.difference(self, self.configuration(q0), self.configuration(q1)))

    def normalise(self, q) -> Array:
        """q with its quaternions and (cos, sin) pairs brought to norm 1."""
        return flat(configuration.normalise(self, column(q, self.nq, "q")))

    # --- kinematics

    def link_pose(self, q, link: str) -> tuple[Array, Array]:
        """Rotation (3, 3) and position (3,), in m, of a link in the world."""
        pose = kinematics.link_pose(self, self.configuration(q), link)
        return pose.R, flat(pose.p)

    def link_velocity(self, q, v, link: str) -> Array:
        """Spatial velocity (6,) of a link in its frame: rad/s, then m/s."""
        return flat(kinematics.link_velocity(self, self.configuration(q), self.velocity(v), link))

    def link_acceleration(self, q, v, a, link: str) -> Array:
        """Spatial acceleration (6,) of a link in its frame, without gravity; for a = 0 the drift of its Jacobian."""
        state = self.configuration(q), self.velocity(v), self.velocity(a, "a")
        return flat(kinematics.link_acceleration(self, *state, link))

    def link_jacobian(self, q, link: str) -> Array:
        """J (6, nv): J v is the link's spatial velocity in its frame."""
        return kinematics.link_jacobian(self, self.configuration(q), link)

    def centre_of_mass(self, q) -> Array:
        """The centre of mass (3,) of all moving bodies in the world, m."""
        return flat(energy.centre_of_mass(self, self.configuration(q)))

    def kinetic_energy(self, q, v) -> Array:
        """In J; a number (1,) or a 1 x 1 expression."""
        return flat(energy.kinetic_energy(self, self.configuration(q), self.velocity(v)))

    def potential_energy(self, q) -> Array:
        """In J, zero at the world's origin; a number (1,) or a 1 x 1 expression."""
        return flat(energy.potential_energy(self, self.configuration(q)))

    # --- dynamics

    def mass_matrix(self, q) -> Array:
        """M (nv, nv), by the composite-rigid-body algorithm."""
        return crba(self, self.configuration(q))

    def inverse_mass_matrix(self, q) -> Array:
        """M^-1 (nv, nv), from the articulated-body sweep."""
        from .free.inverse_mass import inverse_mass

        return inverse_mass(self, self.configuration(q))

    def inverse_dynamics(
        self,
        q,
        v,
        a,
        external: Mapping[str, Array] | None = None,
        constraints: Sequence[Constraint] = (),
        forces=(),
    ) -> Array:
        """tau (nv,) for accelerations a. external: a force (6,), moment first, on links in their frames; forces: one
        vector for each of the constraints, as forward_dynamics returns them.
        """
        from .constraints.constraint import listed
        from .constraints.loops import pushed_bodies

        state = self.configuration(q), self.velocity(v), self.velocity(a, "a")
        constraints = listed(constraints)
        forces = columns_of(constraints, forces)
        bodies = pushed_bodies(self, self._bodies(external), constraints, forces, state[0])
        return flat(rnea(self, *state, bodies))

    def forward_dynamics(
        self,
        q,
        v,
        tau,
        constraints: Sequence[Constraint] = (),
        method: str | None = None,
        external: Mapping[str, Array] | None = None,
    ):
        """Accelerations a (nv,); with constraints also their forces, a tuple of vectors: M a + h = tau + J' force.

        On symbols these are the unknowns of an implicit node, plain SX symbols; `adjoint.expand` takes the derivatives
        of what is made of them, `adjoint.solved` puts in the sweep's expressions.

        method: "pv", "pv-base" (Sathya 2024a eq. 49), "pv-early", "pv-soft", "ltl", "ltl-soft", "riccati", one of
        the proximal methods of `proximal_dynamics`, of which "lcaba", "prox-bbo" and "prox-ltl" alone take loops,
        or None for what `choose_method` says. All but the soft ones, "riccati" and the proximal ones need
        independent rows, and raise a ModelError where they are not; with None, numbers at such a configuration are
        handed to "riccati", and symbols take "pv-early" or "ltl", whichever needs fewer operations.
        """
        from .constraints.constraint import listed
        from .methods import SOFT, forward_method, is_proximal, symbolic_methods

        constraints = listed(constraints)
        state = self.configuration(q), self.velocity(v), self.velocity(tau, "tau")
        problem = (self, *state, constraints, self._bodies(external))
        if is_symbolic(*state):
            from .nodes.forward_node import Problem, forward_node

            methods = symbolic_methods(self, constraints, method)
            try:
                a, *forces = forward_node(Problem(*problem, method in SOFT), methods)
            except ZeroDivisionError:
                raise ModelError(dependent(self, constraints, method)) from None
            return (a, tuple(forces)) if constraints else a
        try:
            a, forces = forward_method(self, constraints, method)(*problem)
        except ZeroDivisionError:
            if method is not None or not constraints or is_proximal(self, constraints, method):
                raise ModelError(dependent(self, constraints, method)) from None
            a, forces = forward_method(self, constraints, "riccati")(*problem)
        if any_not_finite(a, *forces):
            raise ModelError(dependent(self, constraints, method))
        return (flat(a), tuple(flat(force) for force in forces)) if constraints else flat(a)

    def proximal_dynamics(
        self,
        q,
        v,
        tau,
        constraints: Sequence[Constraint],
        method: str | None = None,
        settings: Proximal | None = None,
        forces: Sequence[Array] | None = None,
        external: Mapping[str, Array] | None = None,
    ) -> tuple[Array, tuple[Array, ...], ProximalReport | None]:
        """Accelerations a (nv,), the constraints' forces and a report, by a proximal method: M a + h = tau + J' force.

        settings: see `Proximal`. forces: those of a previous solve, to start from. On symbols the expressions of
        exactly `settings.iterations` iterations, and no report. method: "lcaba", "prox-bbo" or "prox-ltl", without
        loops also "constrained-aba" and "prox-pv"; None for "lcaba".
        """
        from .constraints.constraint import listed
        from .methods import DEFAULT_PROXIMAL, PROXIMAL, named
        from .proximal.iteration import DEFAULT, solve

        constraints = listed(constraints)
        state = self.configuration(q), self.velocity(v), self.velocity(tau, "tau")
        kind = named(PROXIMAL, method or DEFAULT_PROXIMAL)
        if forces is not None:
            forces = columns_of(constraints, forces)
        try:
            problem = (kind, self, *state, constraints, self._bodies(external), settings or DEFAULT, forces)
            a, forces, report = solve(*problem)
        except ZeroDivisionError:
            raise ModelError(dependent(self, (), kind.name)) from None
        if any_not_finite(a, *forces):
            raise ModelError(f"method '{kind.name}': the answer is not finite, expected numbers of a sensible size")
        return flat(a), tuple(flat(force) for force in forces), report

    def choose_method(self, constraints: Sequence[Constraint]) -> tuple[str, str]:
        """The method forward_dynamics takes for these constraints when none is named, and the reason."""
        from .constraints.constraint import listed
        from .methods import choose

        return choose(self, listed(constraints))

    def delassus(self, q, constraints: Sequence[Constraint], method: str = "pv-osim"):
        """J M^-1 J' (m, m), rows in the order of the constraints.

        method: "pv-osim", "pv-osimr", "efpa", "kjr", "ltl"; "pv-osim-fast" gives an operator with `solve(b)` for b
        (m, k).
        """
        from .constraints.constraint import listed
        from .methods import DELASSUS, named

        constraints = listed(constraints)
        if not constraints:
            raise ModelError("delassus got no constraints, expected at least one")
        try:
            return named(DELASSUS, method)(self, self.configuration(q), constraints)
        except ZeroDivisionError:
            raise ModelError(dependent(self, constraints, method)) from None

    def constrained_inverse_dynamics(
        self, q, v, a, constraints: Sequence[Constraint], external: Mapping[str, Array] | None = None
    ):
        """tau (nv,), zero at floating joints, and the constraint forces of least norm that carry a (nv,)."""
        from .constrained.constrained_inverse import constrained_inverse
        from .constraints.constraint import listed

        constraints = listed(constraints)
        state = self.configuration(q), self.velocity(v), self.velocity(a, "a")
        try:
            tau, forces = constrained_inverse(self, *state, constraints, self._bodies(external))
        except ZeroDivisionError:
            links = ", ".join(f"'{constraint.link}'" for constraint in constraints)
            raise ModelError(
                f"constraints on {links} cannot carry the floating base, expected six independent rows"
            ) from None
        return flat(tau), tuple(flat(force) for force in forces)

    @cached_property
    def compiled(self) -> Compiled:
        """The same algorithms as machine code, one state or a batch at a time."""
        from .compiled.compiled import Compiled

        return Compiled(self)

    # --- what the user gives

    def configuration(self, q) -> Array:
        """q as a column (nq, 1), checked."""
        q = column(q, self.nq, "q")
        for joint, part in zip(self.joints, self.q_slices):
            joint.check(q[part, :])
        return q

    def velocity(self, v, what: str = "v") -> Array:
        """v, tau or a as a column (nv, 1), checked."""
        return column(v, self.nv, what)

    def _bodies(self, external: Mapping[str, Array] | None) -> list[Array | None] | None:
        """Forces on links as forces on bodies, in the bodies' frames."""
        if not external:
            return None
        bodies: list[Array | None] = [None] * self.size
        for link, force in external.items():
            frame = self.frame(link)
            if frame.body >= 0:
                force = frame.placement.force(column(force, 6, f"external force on '{link}'"))
                bodies[frame.body] = force if bodies[frame.body] is None else bodies[frame.body] + force
        return bodies


def columns_of(constraints: Sequence[Constraint], forces: Sequence[Array]) -> list[Array]:
    """The user's forces, one for each constraint, as columns."""
    if len(forces) != len(constraints):
        raise ModelError(f"forces has {len(forces)} entries, expected one for each of {len(constraints)} constraints")
    pairs = zip(constraints, forces)
    return [column(force, row.size, f"force of the constraint on '{row.link}'") for row, force in pairs]


def dependent(model: Model, constraints: Sequence[Constraint], method: str | None) -> str:
    """The sentence for rows that depend on each other, or a joint without inertia to move."""
    from .methods import is_proximal

    if not constraints or is_proximal(model, constraints, method):
        names = ", ".join(f"'{name}'" for name in model.massless_joints())
        return f"joint {names or 'of this model'} moves no mass, expected inertia along every joint's motion"
    links = ", ".join(f"'{constraint.link}'" for constraint in constraints)
    return (
        f"constraints on {links}: their rows depend on each other at this configuration, but method "
        f"'{method or 'pv-early'}' expects independent ones (method='riccati' takes them as they are)"
    )
