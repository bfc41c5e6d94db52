"""A mechanism's twin in Pinocchio, built from the same parts and not from our model, with dense solutions that are made
from Pinocchio's matrices alone.

>>> twin = pinocchio_twin(four_bar())
>>> q, v, tau = (rows[0] for rows in twin.states(1))
>>> a, forces = twin.dense(q, v, tau)
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
import pinocchio as pin

from ...dynamics import Constraint
from ...dynamics.algebra.spatial import from_rpy, placement
from ..mechanisms.mechanism import Link, Mechanism
from .pinocchio_model import PinocchioBuilder, angular_first, mass_matrix

# Singular values of J beside the largest: below, rows are called dependent; between them and 1e-4 there are none in
# our mechanisms.
RANK = 1e-9


@cache
def pinocchio_twin(mechanism: Mechanism) -> PinocchioTwin:
    """The twin of a mechanism; the same one each time it is asked for."""
    return PinocchioTwin(mechanism)


class PinocchioTwin:
    """Pinocchio's model of a mechanism and data to work with; states are drawn near the mechanism's configuration."""

    def __init__(self, mechanism: Mechanism) -> None:
        self.mechanism, self.constraints, builder = mechanism, mechanism.constraints, PinocchioBuilder()
        for part in mechanism.parts:
            if isinstance(part, Link):
                body = part.mass, part.com, part.inertia
                builder.add(part.name, part.parent, part.joint, part.position, part.rpy, part.axis, *body)
            else:
                base = [pin.JointModelFreeFlyer()] * part.floating_base
                robot = pin.buildModelFromXML(part.urdf, *base)
                builder.attach(robot, "universe", part.prefix, pin.SE3(from_rpy(part.rpy), part.position))
        self.model, self.places = builder.model, builder.places
        self.data = self.model.createData()

    def ends(self, c: Constraint) -> list[tuple[int, pin.SE3]]:
        """The joints a constraint acts between, and its two frames on them."""
        joint, on_joint = self.places[c.link]
        other, on_other = self.places[c.other or "universe"]
        target = placement(np.eye(3), np.zeros(3)) if c.target is None else c.target
        frames = [pin.SE3(np.asarray(x.R), np.asarray(x.p).ravel()) for x in (c.frame, target)]
        return [(joint, on_joint * frames[0]), (other, on_other * frames[1])]

    def contacts(self) -> list[pin.RigidConstraintModel]:
        """The constraints as Pinocchio takes them: 3D and 6D only."""
        found = []
        for c in self.constraints:
            kind = {(3, True): pin.ContactType.CONTACT_3D, (6, False): pin.ContactType.CONTACT_6D}[c.size, c.classical]
            (joint, at), (other, there) = self.ends(c)
            contact = pin.RigidConstraintModel(kind, self.model, joint, at, other, there, pin.LOCAL)
            if c.period is not None:
                contact.m_baumgarte_parameters.Kp = np.full(c.size, 1 / c.period**2)
                contact.m_baumgarte_parameters.Kd = np.full(c.size, 2 / c.period)
            found.append(contact)
        return found

    def terms(self, q: np.ndarray, v: np.ndarray) -> Terms:
        """Jacobian, drift at zero joint acceleration, velocity and displacement of all rows."""
        pin.forwardKinematics(self.model, self.data, q, v, np.zeros(self.model.nv))
        pin.computeJointJacobians(self.model, self.data, q)
        J, drift, velocity, away = [], [], [], []
        for c in self.constraints:
            ends = [self._end(*end) for end in self.ends(c)]
            (M1, J1, a1, v1), (M2, J2, a2, v2) = ends
            between = M1.inverse() * M2
            X = between.action
            if c.classical:
                X = np.kron(np.eye(2), between.rotation)
                a1, a2 = a1 + classical(v1), a2 + classical(v2)
            relative = v1 - X @ v2
            bias = a1 - X @ a2
            if not c.classical:
                bias = bias + pin.Motion(relative).cross(pin.Motion(X @ v2)).vector
            turn = np.zeros(3) if c.classical else -pin.log3(between.rotation)
            J.append(c.K @ angular_first(J1 - X @ J2))
            drift.append(c.K @ angular_first(bias))
            velocity.append(c.K @ angular_first(relative))
            away.append(c.K @ np.concatenate([turn, -between.translation]))
        return Terms(np.vstack(J), *(np.concatenate(x) for x in (drift, velocity, away)))

    def _end(self, joint: int, at: pin.SE3) -> tuple[pin.SE3, np.ndarray, np.ndarray, np.ndarray]:
        """Pose in the world, Jacobian, spatial acceleration and velocity of a frame on a joint, linear part first."""
        if joint == 0:
            return at, np.zeros((6, self.model.nv)), np.zeros(6), np.zeros(6)
        to_frame = at.inverse().action
        local = pin.getJointJacobian(self.model, self.data, joint, pin.LOCAL)
        a, v = self.data.a[joint].vector, self.data.v[joint].vector
        return self.data.oMi[joint] * at, to_frame @ local, to_frame @ a, to_frame @ v

    def dense(self, q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Accelerations and stacked forces: the least force that brings J a as near to what is demanded as it goes.

        G = J M^-1 J', lambda = G^+ (k - drift - J a_free), a = a_free + M^-1 J' lambda.
        """
        M, h = mass_matrix(self.model, self.data, q), pin.rnea(self.model, self.data, q, v, np.zeros(self.model.nv))
        terms = self.terms(q, v)
        free = np.linalg.solve(M, tau - h)
        L = np.linalg.cholesky(M)
        U, s, Vt = np.linalg.svd(np.linalg.solve(L, terms.J.T).T, full_matrices=False)
        kept = s > RANK * s[0]
        U, s, Vt = U[:, kept], s[kept], Vt[kept]
        y = U.T @ (self.demanded(terms) - terms.J @ free) / s
        return free + np.linalg.solve(L.T, Vt.T @ y), U @ (y / s)

    def demanded(self, terms: Terms) -> np.ndarray:
        """What J a is to be, Baumgarte's terms and the drift included."""
        k, start = [], 0
        for c in self.constraints:
            part = slice(start, start + c.size)
            wanted = np.asarray(c.k).ravel() - terms.drift[part]
            if c.period is not None:
                wanted = wanted - 2 / c.period * terms.velocity[part]
                if c.target is not None:
                    wanted = wanted - terms.away[part] / c.period**2
            k.append(wanted)
            start += c.size
        return np.concatenate(k)

    def closed(self, q: np.ndarray) -> np.ndarray:
        """The configuration next to q, or nearly, at which the loops are closed: Gauss-Newton steps."""
        for _ in range(50):
            terms = self.terms(q, np.zeros(self.model.nv))
            if np.abs(terms.away).max() < 1e-12:
                return q
            step = -np.linalg.lstsq(terms.J, terms.away, rcond=1e-6)[0]
            q = pin.integrate(self.model, q, step * min(1.0, 0.5 / np.abs(step).max()))
        raise ArithmeticError(
            f"{self.mechanism.model.name}: the loops do not close, {np.abs(terms.away).max():.1e} is left"
        )

    def states(self, count: int, seed: int = 0, on_manifold: bool = True) -> tuple[np.ndarray, ...]:
        """Rows of q, v, tau: loops closed and velocities within them, or both at random."""
        rng = np.random.default_rng(seed)
        rows: list[tuple[np.ndarray, ...]] = []
        while len(rows) < count:
            q = pin.integrate(self.model, self.mechanism.q, self.mechanism.reach * rng.uniform(-1, 1, self.model.nv))
            v, tau = rng.standard_normal((2, self.model.nv))
            if on_manifold:
                try:
                    q = self.closed(q)
                except ArithmeticError:
                    continue
                J = self.terms(q, v).J
                v = v - np.linalg.pinv(J, rcond=1e-7) @ (J @ v)
            rows.append((q, v, self.mechanism.effort * tau))
        return tuple(np.array(column) for column in zip(*rows))


@dataclass(frozen=True)
class Terms:
    """J (m, nv), and of all rows the drift of J, the velocity and the displacement (m,)."""

    J: np.ndarray
    drift: np.ndarray
    velocity: np.ndarray
    away: np.ndarray


def classical(v: np.ndarray) -> np.ndarray:
    """What a point's classical acceleration has more than the spatial one of its frame; linear part first."""
    return np.concatenate([np.cross(v[3:], v[:3]), np.zeros(3)])
