"""Models from MJCF files, compiled by the `mujoco` package and read from its model.

A body with several joints becomes a chain of massless links named "body/joint". Coordinates are this room's, not
MuJoCo's: a free joint is a floating one (quaternion with w last, velocity in the body's frame). `connect` and `weld`
equalities that are active become the model's constraints; what `mjcf_passive` reads its passive forces. Contacts,
limits and actuators push nothing here: joint forces are given. What else would act on the robot is refused by name.
"""

from __future__ import annotations

import threading
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import ModelError
from ...forks import no_fork
from ...whole_file import is_file, path_of
from ..algebra.spatial import placement
from ..constraints.constraint import Constraint
from ..kinematic_tree import Shape
from ..model import Model
from .builder import ModelBuilder
from .mjcf_passive import passive

if TYPE_CHECKING:
    import mujoco

FREE, BALL, SLIDE, HINGE = range(4)
KINDS = {FREE: "floating", BALL: "spherical", SLIDE: "prismatic", HINGE: "revolute"}
CONNECT, WELD = range(2)
BODY, SITE = 1, 6  # of mjtObj
EQUALITIES = ("connect", "weld", "joint", "tendon", "flex", "flexvert", "flexstrain", "distance")
COUNTS = {"body": "nbody", "jnt": "njnt", "site": "nsite", "eq": "neq", "tendon": "ntendon"}
ONE_AT_A_TIME = threading.Lock()  # MuJoCo has one place for who hears its warnings
SHAPES = {2: "sphere", 3: "capsule", 5: "cylinder", 6: "box"}


def load_mjcf(path: str | Path) -> Model:
    """The model of an MJCF file, its equality constraints in `model.constraints`."""
    path = path_of(path, "load_mjcf", ModelError)
    try:
        return Reader(mujoco_model(path), path.stem).model()
    except UnicodeDecodeError as error:
        raise ModelError(f"'{path}' has the name {error.object!r}, expected names in UTF-8") from None


def mujoco_model(path: Path) -> mujoco.MjModel:
    """MuJoCo's own model of a file. What it warns of is a warning of Python's: it would write a log where it is run."""
    try:
        import mujoco
    except ImportError as error:
        raise ModelError("reading MJCF needs the package mujoco, expected `pip install trisweep[mjcf]`") from error
    if not is_file(path):
        raise ModelError(f"there is no file '{path}', expected an MJCF")
    warned: list[str] = []
    with no_fork(), ONE_AT_A_TIME:
        others = mujoco.get_mju_user_warning()
        mujoco.set_mju_user_warning(warned.append)
        try:
            source = mujoco.MjModel.from_xml_path(str(path))
        except ValueError as error:
            raise ModelError(f"'{path}' cannot be read as MJCF: {error}") from error
        finally:
            mujoco.set_mju_user_warning(others)
    for sentence in warned:
        warnings.warn(f"'{path}': {sentence}", stacklevel=3)
    return source


def rotation_of(quaternion: np.ndarray) -> np.ndarray:
    """The rotation matrix of MuJoCo's (w, x, y, z)."""
    w, u = quaternion[0], quaternion[1:]
    W = np.array([[0, -u[2], u[1]], [u[2], 0, -u[0]], [-u[1], u[0], 0]])
    return np.eye(3) + 2 * w * W + 2 * W @ W


class Reader:
    """One compiled mjModel on its way to a `Model`."""

    def __init__(self, source: mujoco.MjModel, name: str):
        self.source = source
        self.off = switched_off(source)
        gravity = np.zeros(3) if "GRAVITY" in self.off else source.opt.gravity.copy()
        self.builder = ModelBuilder(name, gravity=gravity)
        self.names: dict[tuple[str, int], str] = {}
        self.sites: list[str] = []

    def model(self) -> Model:
        """All bodies, sites, shapes and equalities."""
        for body in range(1, self.source.nbody):
            self._body(body)
        for site in range(self.source.nsite):
            where = {
                "position": self.source.site_pos[site],
                "rotation_matrix": rotation_of(self.source.site_quat[site]),
            }
            self.sites.append(self._free_name(self._name("site", site)))
            self.builder.add(self.sites[-1], self._link(self.source.site_bodyid[site]), **where)
        for geom in range(self.source.ngeom):
            self._shape(geom)
        if not self.off & {"CONSTRAINT", "EQUALITY"}:
            active = np.flatnonzero(self.source.eq_active0)
            self.builder.constraints += [self._equality(int(equality)) for equality in active]
        self.builder.passive += passive(self.source, self._name, self._link, self.sites, self.off)
        return self.builder.build()

    def _name(self, kind: str, index: int) -> str:
        key = kind, int(index)
        if key not in self.names:
            all_names = [getattr(self.source, kind)(i).name for i in range(getattr(self.source, COUNTS[kind]))]
            self.names |= {(kind, i): name or f"{kind}{i}" for i, name in enumerate(all_names)}
            for i in (i for i, name in enumerate(all_names) if not name):
                while self.names[kind, i] in all_names:
                    self.names[kind, i] += "'"
        return self.names[key]

    def _free_name(self, site: str) -> str:
        """A site may be called like a body: its frame is then "site/" and its name."""
        while site in self.builder.frames:
            site = f"site/{site}"
        return site

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
        first, second = (int(obj[equality]) for obj in (source.eq_obj1id, source.eq_obj2id))
        if kind not in (CONNECT, WELD):
            raise ModelError(self._refused(equality))
        if source.eq_objtype[equality] == SITE:
            ends = [
                (source.site_bodyid[site], rotation_of(source.site_quat[site]), source.site_pos[site])
                for site in (first, second)
            ]
            first = source.site_bodyid[first]
        elif kind == CONNECT:
            ends = [(first, np.eye(3), data[:3]), (second, np.eye(3), data[3:6])]
        else:
            ends = [(first, rotation_of(data[6:10]), data[3:6]), (second, np.eye(3), np.zeros(3))]
        if first == 0:
            ends.reverse()  # rows are on a link that may move
        (body, R, p), (other, R_other, p_other) = ends
        K, classical = (np.eye(6)[3:], True) if kind == CONNECT else (np.eye(6), False)
        frame, target = placement(R, p), placement(R_other, p_other)
        if other == 0:
            return Constraint(self._link(body), K, classical=classical, frame=frame, target=target)
        return Constraint(self._link(body), K, classical=classical, frame=frame, target=target, other=self._link(other))

    def _refused(self, equality: int) -> str:
        """The sentence for an equality that is not modelled."""
        kind = EQUALITIES[self.source.eq_type[equality]]
        ids = [int(obj[equality]) for obj in (self.source.eq_obj1id, self.source.eq_obj2id)]
        of = {"joint": "jnt", "tendon": "tendon"}.get(kind)
        whose = " and ".join(f"'{self._name(of, i)}'" for i in ids if of and i >= 0)
        what = f"equality '{self._name('eq', equality)}'"
        return f"{what} is of kind {kind}{' on ' + whose if whose else ''}, expected connect or weld"


def switched_off(source: mujoco.MjModel) -> set[str]:
    """What the file's flags disable: "GRAVITY", "SPRING", ..."""
    import mujoco

    bits = {name.removeprefix("mjDSBL_"): bit.value for name, bit in mujoco.mjtDisableBit.__members__.items()}
    found = {name for name, bit in bits.items() if name != "mjNDISABLE" and source.opt.disableflags & bit}
    return found | ({"SPRING", "DAMPER"} if "PASSIVE" in found else set())  # one flag in older versions
