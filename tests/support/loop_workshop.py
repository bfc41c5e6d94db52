"""Mechanisms with closed loops as data: our model and its twin in Pinocchio, built link by link at once, and dense
solutions made from Pinocchio's matrices alone.

Loops are closed at a nominal configuration; random states are drawn near it, on the manifold of the constraints or off
it.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import pinocchio as pin
from support.robot_oracles import PinBuilder, angular_first, mass_matrix
from trisweep.dynamics import Constraint, Model, ModelBuilder
from trisweep.dynamics.algebra.spatial import from_rpy, placement

# Singular values of J beside the largest: below, rows are called dependent; between them and 1e-4 there are none here.
RANK = 1e-9


@dataclass(frozen=True, eq=False)
class Mechanism:
    """Our model, its constraints, Pinocchio's model and where the links are on its joints; q closes the loops."""

    model: Model
    constraints: tuple[Constraint, ...]
    twin: pin.Model
    places: dict[str, tuple[int, pin.SE3]] = field(repr=False)
    q: np.ndarray
    reach: float = 0.3
    effort: float = 3.0

    @property
    def size(self) -> int:
        """The number of constraint rows."""
        return sum(c.size for c in self.constraints)

    def with_constraints(self, constraints) -> "Mechanism":
        """The same mechanism under other constraints."""
        return replace(self, constraints=tuple(constraints))

    def stabilised(self, period: float) -> "Mechanism":
        """The same with Baumgarte's stabilisation."""
        return self.with_constraints(replace(c, period=period) for c in self.constraints)

    @cached_property
    def data(self) -> pin.Data:
        return self.twin.createData()

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
            contact = pin.RigidConstraintModel(kind, self.twin, joint, at, other, there, pin.LOCAL)
            if c.period is not None:
                contact.m_baumgarte_parameters.Kp = np.full(c.size, 1 / c.period**2)
                contact.m_baumgarte_parameters.Kd = np.full(c.size, 2 / c.period)
            found.append(contact)
        return found

    def terms(self, q: np.ndarray, v: np.ndarray) -> "Terms":
        """Jacobian, drift at zero joint acceleration, velocity and displacement of all rows."""
        pin.forwardKinematics(self.twin, self.data, q, v, np.zeros(self.twin.nv))
        pin.computeJointJacobians(self.twin, self.data, q)
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

    def _end(self, joint: int, at: pin.SE3):
        """Pose in the world, Jacobian, spatial acceleration and velocity of a frame on a joint, linear part first."""
        if joint == 0:
            return at, np.zeros((6, self.twin.nv)), np.zeros(6), np.zeros(6)
        to_frame = at.inverse().action
        local = pin.getJointJacobian(self.twin, self.data, joint, pin.LOCAL)
        a, v = self.data.a[joint].vector, self.data.v[joint].vector
        return self.data.oMi[joint] * at, to_frame @ local, to_frame @ a, to_frame @ v

    def dense(self, q, v, tau) -> tuple[np.ndarray, np.ndarray]:
        """Accelerations and stacked forces: the least force that brings J a as near to what is demanded as it goes.

        G = J M^-1 J', lambda = G^+ (k - drift - J a_free), a = a_free + M^-1 J' lambda.
        """
        M, h = mass_matrix(self.twin, self.data, q), pin.rnea(self.twin, self.data, q, v, np.zeros(self.twin.nv))
        terms = self.terms(q, v)
        free = np.linalg.solve(M, tau - h)
        L = np.linalg.cholesky(M)
        U, s, Vt = np.linalg.svd(np.linalg.solve(L, terms.J.T).T, full_matrices=False)
        kept = s > RANK * s[0]
        U, s, Vt = U[:, kept], s[kept], Vt[kept]
        y = U.T @ (self.demanded(terms) - terms.J @ free) / s
        return free + np.linalg.solve(L.T, Vt.T @ y), U @ (y / s)

    def demanded(self, terms: "Terms") -> np.ndarray:
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
            terms = self.terms(q, np.zeros(self.twin.nv))
            if np.abs(terms.away).max() < 1e-12:
                return q
            step = -np.linalg.lstsq(terms.J, terms.away, rcond=1e-6)[0]
            q = pin.integrate(self.twin, q, step * min(1.0, 0.5 / np.abs(step).max()))
        raise ArithmeticError(f"{self.model.name}: the loops do not close, {np.abs(terms.away).max():.1e} is left")

    def states(self, count: int, seed: int = 0, on_manifold: bool = True):
        """Rows of q, v, tau: loops closed and velocities within them, or both at random."""
        rng = np.random.default_rng(seed)
        rows = []
        while len(rows) < count:
            q = pin.integrate(self.twin, self.q, self.reach * rng.uniform(-1, 1, self.twin.nv))
            v, tau = rng.standard_normal((2, self.twin.nv))
            if on_manifold:
                try:
                    q = self.closed(q)
                except ArithmeticError:
                    continue
                J = self.terms(q, v).J
                v = v - np.linalg.pinv(J, rcond=1e-7) @ (J @ v)
            rows.append((q, v, self.effort * tau))
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


class Workshop:
    """Builds both models, then closes the loops at a nominal configuration."""

    def __init__(self, name: str):
        self.builder, self.pin = ModelBuilder(name), PinBuilder()
        self.closures: list[tuple] = []

    def add(self, link, parent="universe", joint="revolute", axis=(0, 1, 0), position=(0, 0, 0), rpy=(0, 0, 0), **body):
        """A link with mass, com and inertia on a parent link; a rod along x where nothing is said."""
        body = {"mass": 1.0, "com": (0.1, 0.01, -0.02), "inertia": np.diag([0.002, 0.005, 0.006])} | body
        place = {"axis": np.array(axis, dtype=float), "position": np.array(position, dtype=float), "rpy": np.array(rpy)}
        self.builder.add(link, parent, joint, **place, **body)
        body["com"] = np.array(body["com"], dtype=float)
        self.pin.add(link, parent, joint, **place, **body)
        return link

    def attach(self, model: Model, twin: pin.Model, prefix="", position=(0, 0, 0), rpy=(0, 0, 0)):
        """A whole robot on the ground."""
        self.builder.attach(model, prefix=prefix, position=position, rpy=rpy)
        self.pin.attach(twin, "universe", prefix, pin.SE3(from_rpy(rpy), np.array(position, dtype=float)))

    def tip(self, growth: "Callable[[int], dict]", parent: str, links: int, name: str) -> str:
        """Several links in a row on a parent; the last one's name."""
        for i in range(links):
            parent = self.add(f"{name}{i}", parent, **growth(i))
        return parent

    def close(self, link: str, other: str | None, rows: str, position=(0, 0, 0)) -> None:
        """Close a loop between a place on a link and where that is on the other link (None: the ground)."""
        self.closures.append((link, other, rows, np.array(position, dtype=float)))

    def finish(self, q, reach=0.3, effort=3.0) -> Mechanism:
        """The mechanism, its loops closed at q."""
        model, twin = self.builder.build(), self.pin.model
        q = np.asarray(q, dtype=float)
        data = twin.createData()
        pin.forwardKinematics(twin, data, q)
        constraints = []
        for link, other, rows, position in self.closures:
            at, there = (data.oMi[joint] * on for joint, on in (self.pin.of[link], self.pin.of[other or "universe"]))
            target = there.inverse() * at * pin.SE3(np.eye(3), position)
            R = np.eye(3) if rows == "point" else target.rotation
            constraints.append(closure(link, other, rows, position, (R, target.translation)))
        return Mechanism(model, tuple(constraints), twin, self.pin.of, q, reach, effort)


ROWS = {"point": np.eye(6)[3:], "weld": np.eye(6), "hinge": np.delete(np.eye(6), 1, axis=0)}


def closure(link, other, rows, position, target, period=None) -> Constraint:
    """A point, a weld, or a hinge about y (five rows) between two links."""
    frame = placement(np.eye(3), position)
    return Constraint(
        link, ROWS[rows], classical=rows == "point", frame=frame, target=placement(*target), period=period, other=other
    )
