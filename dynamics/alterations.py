"""Robots made from a robot: with something in its hand, or with some of its joints held."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from ..errors import ModelError
from .algebra.arrays import Given, column, finite, is_symbolic
from .algebra.spatial import Inertia, Transform, moments_text, placement
from .constraints.constraint import Constraint
from .free.passive import checked
from .free.tree_motion import transforms
from .joints.joints import Continuous, Revolute

if TYPE_CHECKING:
    from .kinematic_tree import Frame
    from .model import Model


def with_payload(model: Model, link: str, mass: Given, centre: Given, inertia: Given | None) -> Model:
    """The robot with matter fixed to a link."""
    body, matter = payload(model, link, mass, centre, inertia)
    return loaded(model, body, matter)


def loaded(model: Model, body: int, matter: Inertia) -> Model:
    """The robot with matter, in the frame of a body, as part of it."""
    inertias = list(model.inertias)
    inertias[body] += matter
    return replace(model, inertias=tuple(inertias))


def payload(model: Model, link: str, mass: Given, centre: Given, inertia: Given | None) -> tuple[int, Inertia]:
    """The body that carries matter fixed to a link, and the matter in that body's frame."""
    frame, what = model.frame(link), f"payload of '{link}'"
    if frame.body < 0:
        raise ModelError(f"{what}: the link is part of the world, expected one that moves")
    m, c = column(mass, 1, f"{what}: mass"), column(centre, 3, f"{what}: centre")
    I = np.zeros((3, 3)) if inertia is None else finite(inertia, f"{what}: inertia")
    if tuple(I.shape) != (3, 3):
        raise ModelError(f"{what}: inertia has shape {tuple(I.shape)}, expected (3, 3)")
    half_trace = (I[0, 0] + I[1, 1] + I[2, 2]) / 2
    J = half_trace * np.eye(3) - I + c @ c.T * m
    if is_symbolic(m, c, I):
        matter = Inertia(ca.SX(m), ca.SX(c * m), ca.SX(J))  # type: ignore[arg-type]
    else:
        matter = Inertia(float(m[0, 0]), np.asarray(c * m), np.asarray(J))
        _check(what, matter, np.asarray(I))
    return frame.body, matter.seen(frame.placement)


def _check(what: str, matter: Inertia, I: np.ndarray) -> None:
    if not np.isfinite(matter.about_com).all():
        raise ModelError(f"{what}: its moments of inertia are beyond all floats, expected numbers of a sensible size")
    if matter.m < 0:
        raise ModelError(f"{what}: mass is {matter.m:g}, expected a mass >= 0")
    if (abs(I - I.T) > 1e-6 * abs(I).max(initial=0.0)).any():
        raise ModelError(f"{what}: inertia is {I.tolist()}, expected a symmetric matrix")
    if not matter.possible:
        moments = moments_text(matter.principal_moments)
        raise ModelError(f"{what} has principal moments of inertia {moments}, expected none below 0")


def lock(model: Model, joints: Mapping[str, ArrayLike]) -> Model:
    """The robot with joints held at configurations: what they carry becomes part of what carries them."""
    if not isinstance(joints, Mapping):
        raise ModelError(f"lock: got {joints!r}, expected a mapping of joints' names to configurations")
    q = model.neutral().reshape(-1, 1)
    names = {joint.name: i for i, joint in enumerate(model.joints)}
    for name, given in joints.items():
        if name not in names:
            raise ModelError(f"lock: model '{model.name}' has no joint '{name}', expected one of {', '.join(names)}")
        joint, part = model.joints[names[name]], model.q_slices[names[name]]
        held = column(given, joint.nq, f"lock: joint '{name}'")
        if is_symbolic(held):
            raise ModelError(f"lock: joint '{name}' got symbols, expected numbers")
        joint.check(held)
        q[part] = held
    kept = [i for i, joint in enumerate(model.joints) if joint.name not in joints]
    if not kept:
        raise ModelError(f"lock: all {model.size} joints of '{model.name}' are held, expected one that moves")
    values = {name: q[model.q_slices[i]] for name, i in names.items() if name in joints}
    passive = [each.locked(values) for each in model.passive]
    merged = _merged(model, kept, transforms(model, q))
    return replace(merged, passive=tuple(each for each in passive if each is not None))


def unwound(model: Model) -> Model:
    """The robot with joints without end as revolute ones without limits."""
    joints = tuple(Revolute(each.name, each.axis) if isinstance(each, Continuous) else each for each in model.joints)
    parts = list(zip(joints, model.joints, model.q_slices))
    lower = np.concatenate([model.q_lower[part] if new is old else [-np.inf] for new, old, part in parts])
    upper = np.concatenate([model.q_upper[part] if new is old else [np.inf] for new, old, part in parts])
    made = replace(model, joints=joints, q_lower=lower, q_upper=upper)
    checked(made, made.passive)
    return made


def _merged(model: Model, kept: list[int], X: list[Transform]) -> Model:
    """The robot whose other joints are rigid at X."""
    # of every body: the kept one (counted anew) it is part of now, and where it is on that
    home: list[tuple[int, Transform]] = []
    inertias = [model.inertias[i] for i in kept]
    parents, placements = [], []
    for i, parent in enumerate(model.parents):
        above = (-1, placement(np.eye(3), np.zeros(3))) if parent < 0 else home[parent]
        if i in kept:
            where = model.placements[i].after(above[1])
            parents.append(above[0])
            placements.append(placement(where.R, where.p))
            home.append((kept.index(i), placement(np.eye(3), np.zeros(3))))
            continue
        where = X[i].after(above[1])
        home.append((above[0], placement(where.R, where.p)))
        if above[0] >= 0:
            inertias[above[0]] += model.inertias[i].seen(home[i][1])

    def moved(frame: Frame) -> Frame:
        if frame.body < 0:
            return frame
        body, on = home[frame.body]
        where = frame.placement.after(on)
        return replace(frame, body=body, placement=placement(where.R, where.p))

    q = np.concatenate([np.arange(part.start, part.stop) for part in (model.q_slices[i] for i in kept)])
    v = np.concatenate([np.arange(part.start, part.stop) for part in (model.v_slices[i] for i in kept)])
    frames = {name: moved(frame) for name, frame in model.frames.items()}
    return replace(
        model,
        joints=tuple(model.joints[i] for i in kept),
        parents=tuple(parents),
        placements=tuple(placements),
        inertias=tuple(inertias),
        frames=MappingProxyType(frames),
        constraints=tuple(row for row in model.constraints if _moves(frames, row)),
        **{name: getattr(model, name)[q] for name in ("q_lower", "q_upper")},
        **{name: getattr(model, name)[v] for name in ("v_limit", "effort_limit", "armature", "damping")},
    )


def _moves(frames: Mapping[str, Frame], row: Constraint) -> bool:
    """False of a constraint between links that are rigid now."""
    links = [row.link, *([row.other] if row.other else []), *(further.link for further in row.more)]
    return len({frames[link].body for link in links} | (set() if row.other or row.more else {-1})) > 1
