"""The passive forces of an MJCF: springs, damping, friction loss, tendons and gravity compensation, from an mjModel.

What MuJoCo would let act besides, and `passive` does not know, is refused with the name of its element: polynomial
and plastic springs, tendons around geoms, armature of tendons, fluids, flexes, plugins of bodies.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import ModelError
from ..free.passive import CarriedWeight, Passive, PassiveJoint, Point, Stretch, Tendon

if TYPE_CHECKING:
    import mujoco

FREE, BALL = 0, 1
WIDTHS = {FREE: 6, BALL: 3}
JOINT, PULLEY, SITE = 1, 2, 3  # of mjtWrap
NOT_LINEAR = {
    "joint": ("jnt_stiffnesspoly", "jnt_springyield"),
    "tendon": ("tendon_stiffnesspoly", "tendon_dampingpoly", "tendon_springyield", "tendon_armature"),
}


def passive(
    source: mujoco.MjModel,
    name: Callable[[str, int], str],
    link: Callable[[int], str],
    sites: Sequence[str],
    off: set[str],
) -> list[Passive]:
    """All of a model. name: of joints and tendons; link: of a body; sites: the names of their frames; off: the flags
    that the file disables.
    """
    _refuse_others(source, link)
    acts = {
        "stiffness": "SPRING" not in off,
        "damping": "DAMPER" not in off,
        "frictionloss": not off & {"FRICTIONLOSS", "CONSTRAINT"},
    }
    found: list[Passive] = [*_joints(source, name, acts), *_tendons(source, name, sites, acts)]
    if "GRAVITY" not in off:
        found += _weights(source, link)
    return found


def _refuse_others(source: mujoco.MjModel, link: Callable[[int], str]) -> None:
    for fluid in ("density", "viscosity"):
        if getattr(source.opt, fluid):
            value = getattr(source.opt, fluid)
            raise ModelError(f"option: {fluid} is {value:g}, expected 0: forces of a fluid are not modelled")
    if source.nflex:
        raise ModelError(f"flex '{source.flex(0).name}' is soft, expected rigid bodies")
    for body in np.flatnonzero(np.asarray(source.body_plugin) >= 0):
        raise ModelError(f"body '{link(int(body))}' has a plugin, expected none: its forces are not modelled")


def _linear(source: mujoco.MjModel, element: str, index: int, what: str) -> None:
    """Refuse springs and dampers that are not in proportion to length and rate, and springs that yield."""
    for kind in NOT_LINEAR[element]:
        if np.any(getattr(source, kind, np.zeros(index + 1))[index]):  # older versions have fewer
            raise ModelError(f"{element} '{what}': {kind.split('_')[1]} is not modelled, expected 0")


def _joints(source: mujoco.MjModel, name: Callable[[str, int], str], acts: dict[str, bool]) -> Iterator[PassiveJoint]:
    for joint in range(source.njnt):
        what, kind = name("jnt", joint), int(source.jnt_type[joint])
        _linear(source, "joint", joint, what)
        start = source.jnt_dofadr[joint]
        dofs = slice(start, start + WIDTHS.get(kind, 1))
        if np.any(getattr(source, "dof_dampingpoly", np.zeros(source.nv))[dofs]):
            raise ModelError(f"joint '{what}': dampingpoly is not modelled, expected 0")
        given: dict[str, Any] = {
            "stiffness": float(source.jnt_stiffness[joint]) * acts["stiffness"],
            "damping": float(source.dof_damping[start]) * acts["damping"],
            "friction": float(source.dof_frictionloss[start]) * acts["frictionloss"],
        }
        for spring in ("stiffness", "friction"):
            if kind == FREE and given[spring]:
                raise ModelError(f"free joint '{what}': {spring} is {given[spring]:g}, expected 0")
        if any(given.values()):
            rest = source.qpos_spring[source.jnt_qposadr[joint] :][: 4 if kind == BALL else 1]
            yield PassiveJoint(what, rest=tuple(np.roll(rest, -1 if kind == BALL else 0).tolist()), **given)


def _tendons(
    source: mujoco.MjModel, name: Callable[[str, int], str], sites: Sequence[str], acts: dict[str, bool]
) -> Iterator[Tendon]:
    for tendon in range(source.ntendon):
        what = name("tendon", tendon)
        _linear(source, "tendon", tendon, what)
        given = {
            "stiffness": float(source.tendon_stiffness[tendon]) * acts["stiffness"],
            "damping": float(source.tendon_damping[tendon]) * acts["damping"],
            "friction": float(source.tendon_frictionloss[tendon]) * acts["frictionloss"],
        }
        if not any(given.values()):
            continue
        joints: list[tuple[str, float]] = []
        stretches: list[Stretch] = []
        last, divisor = None, 1.0
        for wrap in range(source.tendon_adr[tendon], source.tendon_adr[tendon] + source.tendon_num[tendon]):
            kind, index, parameter = source.wrap_type[wrap], int(source.wrap_objid[wrap]), float(source.wrap_prm[wrap])
            if kind == JOINT:
                joints.append((name("jnt", index), parameter))
            elif kind == PULLEY:
                last, divisor = None, parameter
            elif kind == SITE:
                here = Point(sites[index], (0.0, 0.0, 0.0))
                stretches += [] if last is None else [Stretch(last, here, divisor)]
                last = here
            else:
                raise ModelError(f"tendon '{what}' is laid around a geom, expected sites and pulleys alone")
        shortest, longest = source.tendon_lengthspring[tendon].tolist()
        yield Tendon(what, tuple(joints), tuple(stretches), rest=(shortest, longest), **given)


def _weights(source: mujoco.MjModel, link: Callable[[int], str]) -> Iterator[CarriedWeight]:
    for body in np.flatnonzero(source.body_gravcomp):
        x, y, z = source.body_ipos[body].tolist()
        yield CarriedWeight(
            Point(link(int(body)), (x, y, z)), float(source.body_gravcomp[body] * source.body_mass[body])
        )
