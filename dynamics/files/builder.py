"""Models in Python: link by link, and random ones for tests and benches."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from ...errors import ModelError
from ..algebra.arrays import given_numbers, numbers
from ..algebra.spatial import Inertia, Transform, from_rpy, moments_text, placement
from ..free.aba import aba
from ..free.passive import Passive, Point, checked
from ..joints.joints import Continuous, Floating, Joint, Planar, Prismatic, Revolute, Spherical
from ..kinematic_tree import Frame, Shape
from ..model import Model

if TYPE_CHECKING:
    from ..constraints.constraint import Constraint

KINDS = {
    "revolute": Revolute,
    "continuous": Continuous,
    "prismatic": Prismatic,
    "spherical": Spherical,
    "planar": Planar,
    "floating": Floating,
}


def align(axis: np.ndarray, only_z: bool) -> tuple[int, np.ndarray]:
    """The coordinate axis a joint is to move along, and the rotation that carries it onto the given unit axis."""
    sizes = [abs(part) for part in axis.tolist()]
    k = sizes.index(max(sizes))
    if not only_z and max(sizes[k - 1], sizes[k - 2]) < 1e-12:
        flip = np.full(3, np.sign(axis[k]))
        flip[(k + 1) % 3] = 1.0
        return k, np.diag(flip)
    # The shorter way, from z or from -z: the other one is undetermined where the axis is the opposite of its start.
    start = np.array([0.0, 0.0, 1.0 if axis[2] >= 0 else -1.0])
    c = np.cross(start, axis)
    W = np.array([[0, -c[2], c[1]], [c[2], 0, -c[0]], [-c[1], c[0], 0]])
    return 2, (np.eye(3) + W + W @ W / (1 + abs(axis[2]))) @ np.diag([1.0, start[2], start[2]])


class ModelBuilder:
    """Builds a `Model` link by link, each on one already there; "universe" is there from the start.

    >>> arm = ModelBuilder("pendulum")
    >>> arm.add("rod", joint="revolute", axis=(0, 1, 0), mass=1.0, com=(0, 0, -0.5))
    >>> model = arm.build()
    """

    def __init__(self, name: str, gravity: ArrayLike = (0.0, 0.0, -9.81)):
        self.name, self.gravity = name, given_numbers(f"model '{name}': gravity", gravity, (3,))
        self.joints: list[Joint] = []
        self.parents: list[int] = []
        self.placements: list[Transform] = []
        self.inertias: list[Inertia] = []
        self.frames = {"universe": Frame("universe", -1, placement(np.eye(3), np.zeros(3)))}
        self.shapes: list[Shape] = []
        self.collision_shapes: list[Shape] = []
        self.constraints: list[Constraint] = []
        self.passive: list[Passive] = []
        self.limits: dict[str, list[np.ndarray]] = {key: [] for key in LIMITS}
        self.impossible: list[str] = []  # sentences about links

    def add(
        self,
        link: str,
        parent: str = "universe",
        joint: str = "fixed",
        *,
        name: str | None = None,
        axis: ArrayLike = (0.0, 0.0, 1.0),
        position: ArrayLike = (0.0, 0.0, 0.0),
        rpy: ArrayLike = (0.0, 0.0, 0.0),
        rotation_matrix: np.ndarray | None = None,
        mass: float = 0.0,
        com: ArrayLike = (0.0, 0.0, 0.0),
        inertia: ArrayLike | None = None,
        lower: ArrayLike = -np.inf,
        upper: ArrayLike = np.inf,
        velocity: ArrayLike = np.inf,
        effort: ArrayLike = np.inf,
        armature: ArrayLike = 0.0,
        damping: ArrayLike = 0.0,
    ) -> ModelBuilder:
        """Hang a link (mass in kg, com in m, inertia about the com (3, 3) in kg m^2, both along the link's axes) on a
        parent link.

        `position` and `rpy` place the joint on the parent link; `axis` is in the link's frame. A fixed joint makes
        the link part of its parent's body and keeps it as a frame. Limits are scalars or a value per coordinate of
        the joint.
        """
        name = name or f"{link}_joint"
        self._check(link, parent, joint, name)
        what = f"link '{link}'"
        where = placement(_rotation(what, rpy, rotation_matrix), _finite(f"{what}: position", position, (3,)))
        matter = _matter(what, mass, com, inertia)
        on_body = where.after(self.frames[parent].placement)
        body, on_body = self.frames[parent].body, placement(on_body.R, on_body.p)
        if joint == "fixed":
            frame = Frame(link, body, on_body)
        else:
            k, A = _axis(name, joint, axis)
            made = KINDS[joint](name, k)
            limits = dict(lower=lower, upper=upper, velocity=velocity, effort=effort)
            for key, value in _limits(made, **limits, armature=armature, damping=damping).items():
                self.limits[key].append(value)
            self.joints.append(made)
            self.parents.append(body)
            self.placements.append(placement(on_body.fixed @ A, on_body.p))
            self.inertias.append(Inertia.zero())
            frame = Frame(link, len(self.joints) - 1, placement(A.T, np.zeros(3)))
        self.frames[link] = frame
        if frame.body >= 0:
            self.inertias[frame.body] += matter.seen(frame.placement)
            if not matter.possible:
                moments = moments_text(matter.principal_moments)
                self.impossible.append(f"{what} has principal moments of inertia {moments}, expected none below 0")
        return self

    def frame(
        self, name: str, link: str, position: ArrayLike = (0.0, 0.0, 0.0), rpy: ArrayLike = (0.0, 0.0, 0.0)
    ) -> ModelBuilder:
        """Name a frame on a link."""
        return self.add(name, link, position=position, rpy=rpy)

    def attach(
        self,
        model: Model,
        parent: str = "universe",
        prefix: str = "",
        position: ArrayLike = (0.0, 0.0, 0.0),
        rpy: ArrayLike = (0.0, 0.0, 0.0),
    ) -> ModelBuilder:
        """Hang a whole model on a parent link, its world placed there; its links, joints and constraints come along,
        their names behind the prefix.

        Links that were fixed to the model's world bring no mass: a model keeps none of it.

        >>> builder.attach(hand, "wrist", prefix="left/", position=(0, 0, 0.1))
        """
        if parent not in self.frames:
            raise ModelError(f"attach: parent '{parent}' is not there, expected one of {', '.join(self.frames)}")
        if not isinstance(model, Model) or not isinstance(prefix, str):
            raise ModelError(f"attach: got {model!r} with the prefix {prefix!r}, expected a Model and a text")
        links = [name for name in model.frames if name != "universe"]
        twice = [prefix + name for name in links if prefix + name in self.frames]
        if twice:
            raise ModelError(f"link '{twice[0]}' is there already, expected a prefix that makes it new")
        onto, first = self.frames[parent], len(self.joints)
        on_parent = placement(_rotation("attach", rpy), _finite("attach: position", position, (3,)))
        where = on_parent.after(onto.placement)

        def carried(body: int, on: Transform) -> tuple[int, Transform]:
            moved = on.after(where) if body < 0 else on
            return (onto.body if body < 0 else first + body), placement(moved.R, moved.p)

        for joint, above, on, inertia in zip(model.joints, model.parents, model.placements, model.inertias):
            body, on = carried(above, on)
            self.joints.append(replace(joint, name=prefix + joint.name))
            self.parents.append(body)
            self.placements.append(on)
            self.inertias.append(inertia)
        for name in links:
            frame = model.frames[name]
            self.frames[prefix + name] = Frame(prefix + name, *carried(frame.body, frame.placement))
        for key, field in LIMITS.items():
            self.limits[key].append(np.array(getattr(model, field)))
        self.shapes += [replace(shape, link=prefix + shape.link) for shape in model.shapes]
        self.collision_shapes += [replace(shape, link=prefix + shape.link) for shape in model.collision_shapes]
        for row in model.constraints:
            link, other, target = prefix + row.link, row.other, row.target
            if other is None:  # what was the model's ground is the parent link now
                other, target = None if parent == "universe" else parent, target and target.after(on_parent)
            else:
                other = prefix + other
            self.constraints.append(replace(row, link=link, other=other, target=target))

        def place(point: Point) -> Point:
            if point.link != "universe":
                return Point(prefix + point.link, point.place)
            moved = on_parent.p + on_parent.R @ np.reshape(point.place, (3, 1))
            x, y, z = numbers(moved, "attach: a point").ravel().tolist()
            return Point(parent, (x, y, z))

        self.passive += [force.moved(prefix, place) for force in model.passive]
        return self

    def shape(self, shape: Shape) -> ModelBuilder:
        """Give a link something to draw."""
        self.shapes.append(shape)
        return self

    def collision_shape(self, shape: Shape) -> ModelBuilder:
        """Give a link something to be kept apart from others by."""
        self.collision_shapes.append(shape)
        return self

    def build(self) -> Model:
        """The model; its arrays are read-only."""
        if not self.joints:
            raise ModelError(f"model '{self.name}' has no moving joint, expected at least one")
        limits = {field: np.concatenate(self.limits[key]) for key, field in LIMITS.items()}
        model = Model(
            self.name,
            tuple(self.joints),
            tuple(self.parents),
            tuple(self.placements),
            tuple(self.inertias),
            MappingProxyType(dict(self.frames)),
            gravity=self.gravity,
            shapes=tuple(self.shapes),
            collision_shapes=tuple(self.collision_shapes),
            constraints=tuple(self.constraints),
            passive=tuple(self.passive),
            **limits,
        )
        checked(model, model.passive)
        for array in (*limits.values(), model.gravity):
            array.flags.writeable = False
        self._check_motion(model)
        return model

    def _check_motion(self, model: Model) -> None:
        """Moments of inertia that no body has are borne where every joint moves a positive inertia all the same."""
        if not self.impossible:
            return
        rest = np.zeros((model.nv, 1))
        for q in (model.neutral(), *(model.random_configuration(seed) for seed in range(4))):
            try:
                aba(model, q.reshape(-1, 1), rest, rest)
            except ZeroDivisionError:
                if not model.massless_joints():
                    raise ModelError("; ".join(self.impossible)) from None
        for sentence in self.impossible:
            warnings.warn(f"model '{self.name}': {sentence}; it is read as it is", stacklevel=3)

    def _check(self, link: str, parent: str, joint: str, name: str) -> None:
        for what, given in (("link", link), ("parent", parent), ("joint", joint), ("name", name)):
            if not isinstance(given, str) or not given:
                raise ModelError(f"add: {what} is {given!r}, expected a text")
        if link in self.frames:
            raise ModelError(f"link '{link}' is there already, expected a new name")
        if parent not in self.frames:
            raise ModelError(f"link '{link}': parent '{parent}' is not there, expected one of {', '.join(self.frames)}")
        if joint != "fixed" and joint not in KINDS:
            raise ModelError(f"joint '{name}': kind is '{joint}', expected fixed, {', '.join(KINDS)}")


def _matter(what: str, mass: ArrayLike, com: ArrayLike, inertia: ArrayLike | None) -> Inertia:
    """A link's moments along its axes."""
    m, c = float(_finite(f"{what}: mass", mass, ())), _finite(f"{what}: com", com, (3,))
    if m < 0:
        raise ModelError(f"{what}: mass is {m:g}, expected a mass >= 0")
    I = np.zeros((3, 3)) if inertia is None else _finite(f"{what}: inertia", inertia, (3, 3))
    if (abs(I - I.T) > 1e-6 * abs(I).max(initial=0.0)).any():
        raise ModelError(f"{what}: inertia is {I.tolist()}, expected a symmetric matrix")
    return Inertia.of(m, c, (I + I.T) / 2)


def _rotation(what: str, rpy: ArrayLike, matrix: np.ndarray | None = None) -> np.ndarray:
    if matrix is None:
        return from_rpy(_finite(f"{what}: rpy", rpy, (3,)))
    R = _finite(f"{what}: rotation_matrix", matrix, (3, 3))
    if abs(R.T @ R - np.eye(3)).max() > 1e-6 or np.linalg.det(R) < 0:
        raise ModelError(f"{what}: rotation_matrix is {R.tolist()}, expected a rotation")
    return R


def _axis(name: str, joint: str, given: ArrayLike) -> tuple[int, np.ndarray]:
    """The axis in the body's frame, and the rotation from there to the link's."""
    if joint in ("spherical", "floating"):
        return 2, np.eye(3)
    axis = given_numbers(f"joint '{name}': axis", given, (3,))
    norm = float(np.linalg.norm(axis))
    if not np.isfinite(norm) or norm < 1e-9:
        raise ModelError(f"joint '{name}': axis has norm {norm:g}, expected 1")
    return align(axis / norm, only_z=joint == "planar")


def _limits(joint: Joint, **given: ArrayLike) -> dict[str, np.ndarray]:
    """A value per coordinate of the joint, or per velocity."""
    limits = {}
    for key, value in given.items():
        size = joint.nq if key in ("lower", "upper") else joint.nv
        what = f"joint '{joint.name}': {key}"
        values = given_numbers(what, value)
        if values.shape not in ((), (1,), (size,)):
            raise ModelError(f"{what} has shape {values.shape}, expected ({size},)")
        limits[key] = values = np.full(size, values)
        listed = values.tolist()
        if any(map(math.isnan, listed)):
            raise ModelError(f"{what} is {values}, expected a number")
        if key == "armature" and min(listed) < 0:
            raise ModelError(f"{what} is {values}, expected no number below 0")
        if key in ("armature", "damping") and any(map(math.isinf, listed)):
            raise ModelError(f"{what} is {values}, expected finite numbers")
    if (limits["lower"] > limits["upper"]).any():
        raise ModelError(
            f"joint '{joint.name}': limits are lower {limits['lower']} > upper {limits['upper']}, "
            "expected lower <= upper"
        )
    return limits


def _finite(what: str, given: ArrayLike, shape: tuple[int, ...]) -> np.ndarray:
    found = given_numbers(what, given, shape)
    if not np.isfinite(found).all():
        raise ModelError(f"{what} is {found}, expected finite numbers")
    return found


LIMITS = {
    "lower": "q_lower",
    "upper": "q_upper",
    "velocity": "v_limit",
    "effort": "effort_limit",
    "armature": "armature",
    "damping": "damping",
}


def _random_body(rng: np.random.Generator) -> dict[str, Any]:
    """A link's placement and a physical inertia, all generic."""
    points = rng.uniform(-0.2, 0.2, (6, 3)) + rng.uniform(-0.1, 0.1, 3)
    mass = rng.uniform(0.5, 2.0)
    spread = points - points.mean(axis=0)
    J = mass / 6 * spread.T @ spread
    return {
        "position": rng.uniform(-0.3, 0.3, 3),
        "rpy": rng.uniform(-np.pi, np.pi, 3),
        "axis": rng.standard_normal(3),
        "mass": mass,
        "com": points.mean(axis=0),
        "inertia": np.trace(J) * np.eye(3) - J,
    }


def random_tree(links: int, seed: int, kinds: Sequence[str] = tuple(KINDS), floating: bool = False) -> Model:
    """A random tree with joints of the given kinds; links "link0", "link1", ..., depth first."""
    builder = ModelBuilder(f"tree{links}-{seed}")
    grow(builder, links, seed, kinds, floating)
    return builder.build()


def grow(
    builder: ModelBuilder, links: int, seed: int, kinds: Sequence[str] = tuple(KINDS), floating: bool = False
) -> None:
    """Add a random tree to anything with `ModelBuilder.add`."""
    rng = np.random.default_rng(seed)
    branch: list[str] = []
    for i in range(links):
        kind = "floating" if floating and i == 0 else str(rng.choice(kinds))
        branch = branch[: max(1, len(branch) - int(rng.integers(0, 3)))]
        body = _random_body(rng)
        if kind == "planar":
            body["axis"] = np.array([0.0, 0.0, 1.0])
        if kind in ("revolute", "prismatic"):
            body |= {"lower": -np.pi, "upper": np.pi}
        builder.add(f"link{i}", branch[-1] if branch else "universe", kind, **body)
        branch.append(f"link{i}")
