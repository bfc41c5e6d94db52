"""A robot: its data, and the public methods on them. They check what the user gives, and hand over to the algorithms'
own modules.

Vectors are NumPy arrays (n,) or SX columns; with SX anywhere the result is SX.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, overload

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from ..cached import cached_property
from ..errors import ModelError, said
from . import alterations, methods
from .algebra.arrays import Array, Given, answer, column, flat
from .constrained.constrained_inverse import constrained_inverse
from .constraints.constraint import Constraint, columns_of, listed
from .constraints.loops import pushed_bodies
from .forward_problem import ForwardProblem, forward_problem
from .free import energy, kinematics, momentum
from .free.crba import crba
from .free.passive import Passive, checked, passive_forces
from .free.rnea import rnea
from .given import forces_on_links
from .joints import configuration
from .kinematic_tree import KinematicTree
from .proximal.settings import Proximal, ProximalReport

if TYPE_CHECKING:
    from .compiled.compiled import Compiled
    from .delassus.pv_osim_fast import DelassusOperator
    from .shapes.scene import Scene


@dataclass(frozen=True, eq=False, init=False)
class Model(KinematicTree):
    """A robot: a kinematic tree with what can be asked of it."""

    def __repr__(self) -> str:
        return f"Model('{self.name}', {len(self.joints)} joints, nq={self.nq}, nv={self.nv})"

    def summary(self) -> str:
        """A table of the joints: kind, what they carry, limits and masses. `print(robot.summary())`"""
        from .summary import summary

        return summary(self)

    def with_payload(
        self, link: str, mass: Given, centre: Given = (0.0, 0.0, 0.0), inertia: Given | None = None
    ) -> Model:
        """This robot with matter fixed to a link: mass in kg, its centre (3,) in m and the inertia (3, 3) about that in
        kg m^2, along the link's axes.

        Numbers or symbols: with a problem's parameters the load changes between solves without a new build.

        arm.with_payload("hand", mass=ocp.parameter("load"), centre=(0, 0, 0.1))
        """
        return alterations.with_payload(self, link, mass, centre, inertia)

    def with_passive(self, *forces: Passive) -> Model:
        """This robot with springs, dampers, friction, cords or carried weights, beside those it has.

        arm.with_passive(*(PassiveJoint(name, damping=0.5) for name in arm.joint_names))
        """
        checked(self, forces)
        return replace(self, passive=(*self.passive, *forces))

    def lock(self, joints: Mapping[str, ArrayLike]) -> Model:
        """This robot with joints held where they are put, their links part of those that carry them.

        arm.lock({"finger_left": 0.02, "finger_right": 0.02})
        """
        return alterations.lock(self, joints)

    def unwound(self) -> Model:
        """This robot with its joints without end counted in rad, turn after turn: one coordinate each in place of (cos,
        sin), without limits. Planning of arms takes these.
        """
        return alterations.unwound(self)

    # --- the configuration manifold

    def neutral(self) -> np.ndarray:
        """The configuration (nq,) in which no joint moves its link."""
        return configuration.neutral(self).ravel()

    def random_configuration(self, rng: np.random.Generator | int) -> np.ndarray:
        """A configuration (nq,), uniform between the limits; the same for the same seed."""
        try:
            draw = np.random.default_rng(rng)
        except (TypeError, ValueError, OverflowError):
            raise ModelError(f"random_configuration: got {said(rng)}, expected a generator or a seed") from None
        return configuration.random_configuration(self, draw).ravel()

    def integrate(self, q: Given, v: Given) -> Array:
        """q (nq,) moved along v (nv,) for a unit of time."""
        return flat(configuration.integrate(self, self.configuration(q), self.velocity(v)))

    def difference(self, q0: Given, q1: Given) -> Array:
        """The v (nv,) with integrate(q0, v) = q1."""
        return flat(configuration.difference(self, self.configuration(q0), self.configuration(q1)))

    def normalise(self, q: Given) -> Array:
        """q with its quaternions and (cos, sin) pairs brought to norm 1."""
        return flat(configuration.normalise(self, column(q, self.nq, "q")))

    # --- kinematics

    def link_pose(self, q: Given, link: str) -> tuple[Array, Array]:
        """Rotation (3, 3) and position (3,), in m, of a link in the world."""
        pose = kinematics.link_pose(self, self.configuration(q), link)
        return pose.R, flat(pose.p)

    def link_velocity(self, q: Given, v: Given, link: str) -> Array:
        """Spatial velocity (6,) of a link in its frame: rad/s, then m/s."""
        return flat(kinematics.link_velocity(self, self.configuration(q), self.velocity(v), link))

    def link_acceleration(self, q: Given, v: Given, a: Given, link: str) -> Array:
        """Spatial acceleration (6,) of a link in its frame, without gravity; for a = 0 the drift of its Jacobian."""
        state = self.configuration(q), self.velocity(v), self.velocity(a, "a")
        return flat(kinematics.link_acceleration(self, *state, link))

    def link_jacobian(self, q: Given, link: str) -> Array:
        """J (6, nv): J v is the link's spatial velocity in its frame."""
        return answer(kinematics.link_jacobian(self, self.configuration(q), link))

    def centre_of_mass(self, q: Given) -> Array:
        """The centre of mass (3,) of all moving bodies in the world, m."""
        return flat(energy.centre_of_mass(self, self.configuration(q)))

    def momentum(self, q: Given, v: Given) -> Array:
        """Momentum (6,) about the centre of mass in the world's axes: kg m^2/s, then kg m/s."""
        return flat(momentum.momentum(self, self.configuration(q), self.velocity(v)))

    def momentum_matrix(self, q: Given) -> Array:
        """A (6, nv) with A v the momentum: the centroidal momentum matrix."""
        return momentum.momentum_matrix(self, self.configuration(q))

    def momentum_rate(self, q: Given, v: Given, a: Given) -> Array:
        """d momentum / dt (6,) for accelerations a: N m, then N; A a plus the drift, which is the rate for a = 0."""
        state = self.configuration(q), self.velocity(v), self.velocity(a, "a")
        return flat(momentum.momentum_rate(self, *state))

    def momentum_matrix_rate(self, q: Given, v: Given) -> Array:
        """dA/dt (6, nv): the rate of the momentum is A a + dA/dt v."""
        return momentum.momentum_matrix_rate(self, self.configuration(q), self.velocity(v))

    def zero_moment_point(self, q: Given, v: Given, a: Given, height: Given = 0.0) -> Array:
        """The point (3,) of the plane z = height where the ground, if it alone pushed, would push with no moment about
        the horizontal axes; within the feet, a flat ground can carry the motion.
        """
        state = self.configuration(q), self.velocity(v), self.velocity(a, "a")
        return flat(momentum.zero_moment_point(self, *state, column(height, 1, "height")))

    def centre_of_pressure(
        self, q: Given, contacts: Sequence[Constraint], forces: Sequence[Given], height: Given = 0.0
    ) -> Array:
        """The point (3,) of the plane z = height where the contacts push, of one foot or of all: about it their forces,
        as forward_dynamics returns them, have no moment about the horizontal axes.
        """
        at, held = self.configuration(q), listed(contacts)
        pushes = pushed_bodies(self, None, held, columns_of(held, forces), at) or [None] * self.size
        return flat(momentum.centre_of_pressure(self, at, pushes, column(height, 1, "height")))

    def distances(self, q: Given, scene: Scene) -> Array:
        """Distances (count,), m, of the robot's moving shapes to the obstacles; `pairs(model, scene)` says whose."""
        from .shapes.clearance import distances

        return flat(distances(self, self.configuration(q), scene))

    def kinetic_energy(self, q: Given, v: Given) -> Array:
        """In J; a number (1,) or a 1 x 1 expression."""
        return flat(energy.kinetic_energy(self, self.configuration(q), self.velocity(v)))

    def potential_energy(self, q: Given) -> Array:
        """In J, zero at the world's origin; a number (1,) or a 1 x 1 expression."""
        return flat(energy.potential_energy(self, self.configuration(q)))

    # --- dynamics

    def passive_forces(self, q: Given, v: Given) -> Array:
        """The joint forces (nv,) of springs, dampers, friction, cords and carried weights, which the dynamics carry:
        M a + h = tau + passive_forces + J' force.
        """
        return flat(passive_forces(self, self.configuration(q), self.velocity(v)))

    def mass_matrix(self, q: Given) -> Array:
        """M (nv, nv), by the composite-rigid-body algorithm."""
        return answer(crba(self, self.configuration(q)))

    def inverse_mass_matrix(self, q: Given) -> Array:
        """M^-1 (nv, nv), from the articulated-body sweep."""
        return answer(methods.inverse_mass_matrix(self, self.configuration(q)))

    def inverse_dynamics(
        self,
        q: Given,
        v: Given,
        a: Given,
        external: Mapping[str, Given] | None = None,
        constraints: Sequence[Constraint] = (),
        forces: Sequence[Given] = (),
    ) -> Array:
        """tau (nv,) for accelerations a. external: a force (6,), moment first, on links in their frames; forces: one
        vector for each of the constraints, as forward_dynamics returns them.
        """
        at, held = self.configuration(q), listed(constraints)
        pushes = pushed_bodies(self, self.on_bodies(external), held, columns_of(held, forces), at)
        moving = self.velocity(v)
        return flat(rnea(self, at, moving, self.velocity(a, "a"), pushes) - passive_forces(self, at, moving))

    @overload
    def forward_dynamics(
        self,
        q: ca.SX,
        v: ca.SX,
        tau: ca.SX,
        *,
        method: str | None = None,
        external: Mapping[str, Given] | None = None,
    ) -> ca.SX: ...
    @overload
    def forward_dynamics(
        self,
        q: Given,
        v: Given,
        tau: Given,
        *,
        method: str | None = None,
        external: Mapping[str, Given] | None = None,
    ) -> Array: ...
    @overload
    def forward_dynamics(
        self,
        q: ca.SX,
        v: ca.SX,
        tau: ca.SX,
        constraints: Sequence[Constraint],
        method: str | None = None,
        external: Mapping[str, Given] | None = None,
    ) -> tuple[ca.SX, tuple[ca.SX, ...]]: ...
    @overload
    def forward_dynamics(
        self,
        q: Given,
        v: Given,
        tau: Given,
        constraints: Sequence[Constraint],
        method: str | None = None,
        external: Mapping[str, Given] | None = None,
    ) -> tuple[Array, tuple[Array, ...]]: ...
    def forward_dynamics(
        self,
        q: Given,
        v: Given,
        tau: Given,
        constraints: Sequence[Constraint] = (),
        method: str | None = None,
        external: Mapping[str, Given] | None = None,
    ) -> Array | tuple[Array, tuple[Array, ...]]:
        """Accelerations a (nv,); with constraints also their forces, a tuple of vectors: M a + h = tau + J' force.

        On symbols these are the unknowns of an implicit node, plain SX symbols; `adjoint.expand` takes the derivatives
        of what is made of them, `adjoint.solved` puts in the sweep's expressions.

        method: "pv", "pv-base" (Sathya 2024a eq. 49), "pv-early", "pv-soft", "ltl", "ltl-soft", "riccati", one of
        the proximal methods of `proximal_dynamics`, of which "lcaba", "prox-bbo" and "prox-ltl" alone take loops,
        or None for what `choose_method` says. All but the soft ones, "riccati" and the proximal ones need
        independent rows, and raise a ModelError where they are not; with None, numbers at such a configuration are
        handed to "prox-ltl", and symbols take "pv" or "ltl", whichever needs fewer operations.
        """
        a, forces = methods.forward_dynamics(self._problem(q, v, tau, constraints, external), method)
        return (flat(a), tuple(flat(force) for force in forces)) if len(constraints) else flat(a)

    def proximal_dynamics(
        self,
        q: Given,
        v: Given,
        tau: Given,
        constraints: Sequence[Constraint],
        method: str | None = None,
        settings: Proximal | None = None,
        forces: Sequence[Given] | None = None,
        external: Mapping[str, Given] | None = None,
    ) -> tuple[Array, tuple[Array, ...], ProximalReport | None]:
        """Accelerations a (nv,), the constraints' forces and a report, by a proximal method: M a + h = tau + J' force.

        settings: see `Proximal`. forces: those of a previous solve, to start from. On symbols the expressions of
        exactly `settings.iterations` iterations, and no report. method: "lcaba", "prox-bbo" or "prox-ltl", without
        loops also "constrained-aba" and "prox-pv"; None for "lcaba".
        """
        problem = self._problem(q, v, tau, constraints, external)
        start = None if forces is None else columns_of(problem.constraints, forces)
        a, reached, report = methods.proximal_dynamics(problem, method, settings, start)
        return flat(a), tuple(flat(force) for force in reached), report

    def choose_method(self, constraints: Sequence[Constraint]) -> tuple[str, str]:
        """The method forward_dynamics takes for these constraints when none is named, and the reason."""
        return methods.choose_counted(self, listed(constraints))

    def delassus(
        self, q: Given, constraints: Sequence[Constraint], method: str | None = None
    ) -> Array | DelassusOperator:
        """J M^-1 J' (m, m), rows in the order of the constraints.

        method: "pv-osim", "pv-osimr", "pv-osim-mixed" (the cheaper of the two on each stretch), "efpa", "kjr", "ltl",
        which alone takes loops; "pv-osim-fast" gives an operator with `solve(b)` for b (m, k). None for "pv-osim", with
        loops "ltl".
        """
        from .delassus.choice import delassus

        return delassus(self, self.configuration(q), listed(constraints), method)

    def constrained_inverse_dynamics(
        self,
        q: Given,
        v: Given,
        a: Given,
        constraints: Sequence[Constraint],
        external: Mapping[str, Given] | None = None,
    ) -> tuple[Array, tuple[Array, ...]]:
        """tau (nv,), zero at floating joints, and the constraint forces of least norm that carry a (nv,)."""
        state = self.configuration(q), self.velocity(v), self.velocity(a, "a")
        tau, forces = constrained_inverse(self, *state, listed(constraints), self.on_bodies(external))
        return flat(tau), tuple(flat(force) for force in forces)

    def impact(self, q: Given, v: Given, contacts: Sequence[Constraint]) -> tuple[Array, tuple[Array, ...]]:
        """v (nv,) after an impact without rebound that stops the contacts, and their impulses, N s or N m s.

        The least change of v in the metric of the kinetic energy. On symbols an implicit node, as forward dynamics:

        flight.then(stance, v=robot.impact(q, v, feet)[0])
        """
        rest = np.zeros(self.nv)
        sudden = [replace(contact, period=None, k=np.zeros(contact.size)) for contact in contacts]
        return self.forward_dynamics(q, rest, self.inverse_dynamics(q, rest, v), sudden)

    def standing_torques(self, q: Given, contacts: Sequence[Constraint]) -> Array:
        """tau (nv,), zero at floating joints, that holds the robot still at q on its contacts: a good first guess.

        solver.solve(guess={"q": q, "tau": robot.standing_torques(q, feet)[6:]})
        """
        rest = np.zeros(self.nv)
        return self.constrained_inverse_dynamics(q, rest, rest, contacts)[0]

    @cached_property
    def compiled(self) -> Compiled:
        """The same algorithms as machine code, one state or a batch at a time."""
        from .compiled.compiled import Compiled

        self.numbers_only("compiled")
        return Compiled(self)

    # --- what the user gives

    def configuration(self, q: Given) -> Array:
        """q as a column (nq, 1), checked."""
        at = column(q, self.nq, "q")
        at = ca.SX(at) if self.symbols.numel() else at
        for joint, part in zip(self.joints, self.q_slices):
            joint.check(at[part, :])
        return at

    def velocity(self, v: Given, what: str = "v") -> Array:
        """v, tau or a as a column (nv, 1), checked."""
        return column(v, self.nv, what)

    def on_bodies(self, external: Mapping[str, Given] | None) -> list[Array | None] | None:
        """Forces on links as forces on bodies, in the bodies' frames."""
        if external is None:
            return None
        bodies: list[Array | None] = [None] * self.size
        for link, given in forces_on_links(external).items():
            frame = self.frame(link)
            if frame.body >= 0:
                force = frame.placement.force(column(given, 6, f"external force on '{link}'"))
                known = bodies[frame.body]
                bodies[frame.body] = force if known is None else known + force
        return bodies

    def _problem(
        self,
        q: Given,
        v: Given,
        tau: Given,
        constraints: Sequence[Constraint],
        external: Mapping[str, Given] | None,
    ) -> ForwardProblem:
        held = listed(constraints)
        state = self.configuration(q), self.velocity(v), self.velocity(tau, "tau")
        return forward_problem(self, *state, held, self.on_bodies(external))
