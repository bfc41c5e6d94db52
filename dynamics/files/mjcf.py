"""Models from MJCF files, compiled by the `mujoco` package and read from its model.

A body with several joints becomes a chain of massless links named "body/joint". Coordinates are this room's, not
MuJoCo's: a free joint is a floating one (quaternion with w last, velocity in the body's frame). `connect` and `weld`
equalities become the model's constraints.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import ModelError
from ...whole_file import is_file, path_of
from ..algebra.spatial import placement
from ..constraints.constraint import Constraint
from ..model import Model, Shape
from .builder import ModelBuilder

if TYPE_CHECKING:
    import mujoco

FREE, BALL, SLIDE, HINGE = range(4)
KINDS = {FREE: "floating", BALL: "spherical", SLIDE: "prismatic", HINGE: "revolute"}
CONNECT, WELD = range(2)
SHAPES = {2: "sphere", 3: "capsule", 5: "cylinder", 6: "box"}


def load_mjcf(path: str | Path) -> Model:
    """The model of an MJCF file, its equality constraints in `model.constraints`."""
    try:
        import mujoco
    except ImportError as error:
        raise ModelError("reading MJCF needs the package mujoco, expected `pip install trisweep[mjcf]`") from error
    path = path_of(path, "load_mjcf", ModelError)
    if not is_file(path):
        raise ModelError(f"there is no file '{path}', expected an MJCF")
    try:
        source = mujoco.MjModel.from_xml_path(str(path))
    except ValueError as error:
        raise ModelError(f"'{path}' cannot be read as MJCF: {error}") from error
    return Reader(source, path.stem).model()


def rotation_of(quaternion: np.ndarray) -> np.ndarray:
    """The rotation matrix of MuJoCo's (w, x, y, z)."""
    w, u = quaternion[0], quaternion[1:]
    W = np.array([[0, -u[2], u[1]], [u[2], 0, -u[0]], [-u[1], u[0], 0]])
    return np.eye(3) + 2 * w * W + 2 * W @ W


class Reader:
    """One compiled mjModel on its way to a `Model`."""

    def __init__(self, source: mujoco.MjModel, name: str):
        self.source = source
        self.builder = ModelBuilder(name, gravity=source.opt.gravity.copy())

    def model(self) -> Model:
        """All bodies, sites, shapes and equalities."""
        for body in range(1, self.source.nbody):
            self._body(body)
        for site in range(self.source.nsite):
            where = {
                "position": self.source.site_pos[site],
                "rotation_matrix": rotation_of(self.source.site_quat[site]),
            }
            self.builder.add(self._name("site", site), self._link(self.source.site_bodyid[site]), **where)
        for geom in range(self.source.ngeom):
            self._shape(geom)
        for equality in range(self.source.neq):
            self.builder.constraints.append(self._equality(equality))
        return self.builder.build()

    def _name(self, kind: str, index: int) -> str:
        named = getattr(self.source, kind)(int(index)).name
        return named or f"{kind}{index}"

    def _link(self, body: int) -> str:
        return "universe" if body == 0 else self._name("body", body)

    def _body(self, body: int) -> None:
        source, link = self.source, self._name("body", body)
        parent = self._link(source.body_parentid[body])
        R, p = rotation_of(source.body_quat[body]), source.body_pos[body]
        tilt = rotation_of(source.body_iquat[body])
        mass = {
            "mass": float(source.body_mass[body]),
            "com": source.body_ipos[body],
            "inertia": tilt @ np.diag(source.body_inertia[body]) @ tilt.T,
        }
        anchor = np.zeros(3)
        for joint in range(source.body_jntadr[body], source.body_jntadr[body] + source.body_jntnum[body]):
            kind, axis, at = source.jnt_type[joint], source.jnt_axis[joint], source.jnt_pos[joint]
            if kind == FREE:
                R, p, at = np.eye(3), np.zeros(3), np.zeros(3)
            p = p + R @ (at - anchor)
            R, p = self._rest(joint, R, p)
            step = f"{link}/{self._name('jnt', joint)}"
            where = {"position": p, "rotation_matrix": R, "axis": axis, "name": self._name("jnt", joint)}
            self.builder.add(step, parent, KINDS[kind], **where, **self._limits(joint))
            parent, anchor, R, p = step, at, np.eye(3), np.zeros(3)
        self.builder.add(link, parent, position=p - R @ anchor, rotation_matrix=R, **mass)

    def _rest(self, joint: int, R: np.ndarray, p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The placement at coordinate 0: MuJoCo counts from the file's pose, where the coordinate is `ref`."""
        kind, axis = self.source.jnt_type[joint], self.source.jnt_axis[joint]
        rest = float(self.source.qpos0[self.source.jnt_qposadr[joint]])
        if kind == HINGE:
            half = -rest / 2
            return R @ rotation_of(np.array([np.cos(half), *(np.sin(half) * axis)])), p
        return (R, p - rest * (R @ axis)) if kind == SLIDE else (R, p)

    def _limits(self, joint: int) -> dict[str, Any]:
        source = self.source
        start = source.jnt_dofadr[joint]
        dofs = slice(start, start + {FREE: 6, BALL: 3}.get(int(source.jnt_type[joint]), 1))
        limits = {"armature": source.dof_armature[dofs], "damping": np.ravel(source.dof_damping[dofs])}
        if source.jnt_limited[joint] and source.jnt_type[joint] in (SLIDE, HINGE):
            limits["lower"], limits["upper"] = source.jnt_range[joint]
        if source.jnt_actfrclimited[joint]:
            limits["effort"] = float(abs(source.jnt_actfrcrange[joint]).max())
        return limits

    def _shape(self, geom: int) -> None:
        source = self.source
        kind = SHAPES.get(int(source.geom_type[geom]))
        if kind is None:
            return
        size = source.geom_size[geom]
        sizes = {"sphere": size[:1], "box": 2 * size}.get(kind, np.array([size[0], 2 * size[1]]))
        where = placement(rotation_of(source.geom_quat[geom]), source.geom_pos[geom])
        colour = tuple(float(c) for c in source.geom_rgba[geom])
        link = self._link(source.geom_bodyid[geom])
        self.builder.shape(Shape(kind, tuple(float(s) for s in sizes), link, where, colour=colour))

    def _equality(self, equality: int) -> Constraint:
        source = self.source
        kind, data = source.eq_type[equality], source.eq_data[equality]
        name = self._name("eq", equality)
        if kind not in (CONNECT, WELD) or source.eq_objtype[equality] != 1:
            raise ModelError(f"equality '{name}' is of type {kind}, expected connect or weld between bodies")
        first, second = (int(obj[equality]) for obj in (source.eq_obj1id, source.eq_obj2id))
        if kind == CONNECT:
            ends = [(first, np.eye(3), data[:3]), (second, np.eye(3), data[3:6])]
        else:
            ends = [(first, rotation_of(data[6:10]), data[3:6]), (second, np.eye(3), np.zeros(3))]
        if first == 0:
            ends.reverse()
        (body, R, p), (other, R_other, p_other) = ends
        K, classical = (np.eye(6)[3:], True) if kind == CONNECT else (np.eye(6), False)
        frame, target = placement(R, p), placement(R_other, p_other)
        if other == 0:
            return Constraint(self._link(body), K, classical=classical, frame=frame, target=target)
        return Constraint(self._link(body), K, classical=classical, frame=frame, target=target, other=self._link(other))
