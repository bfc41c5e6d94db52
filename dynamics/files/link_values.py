"""What is said about a link and its joint, checked: matter, rotation, axis, limits."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from ...errors import ModelError
from ..algebra.arrays import given_numbers
from ..algebra.spatial import Inertia, from_rpy
from ..joints.joints import Continuous, Floating, Joint, Planar, Prismatic, Revolute, Spherical

KINDS = {
    "revolute": Revolute,
    "continuous": Continuous,
    "prismatic": Prismatic,
    "spherical": Spherical,
    "planar": Planar,
    "floating": Floating,
}
# What a limit is called where a link is added, and on the model.
LIMITS = {
    "lower": "q_lower",
    "upper": "q_upper",
    "velocity": "v_limit",
    "effort": "effort_limit",
    "armature": "armature",
    "damping": "damping",
}


def link_inertia(what: str, mass: ArrayLike, com: ArrayLike, inertia: ArrayLike | None) -> Inertia:
    """A link's moments along its axes."""
    m, c = float(finite(f"{what}: mass", mass, ())), finite(f"{what}: com", com, (3,))
    if m < 0:
        raise ModelError(f"{what}: mass is {m:g}, expected a mass >= 0")
    I = np.zeros((3, 3)) if inertia is None else finite(f"{what}: inertia", inertia, (3, 3))
    if (abs(I - I.T) > 1e-6 * abs(I).max(initial=0.0)).any():
        raise ModelError(f"{what}: inertia is {I.tolist()}, expected a symmetric matrix")
    return Inertia.of(m, c, (I + I.T) / 2)


def rotation(what: str, rpy: ArrayLike, matrix: np.ndarray | None = None) -> np.ndarray:
    """Of a joint's frame on its parent link, (3, 3)."""
    if matrix is None:
        return from_rpy(finite(f"{what}: rpy", rpy, (3,)))
    R = finite(f"{what}: rotation_matrix", matrix, (3, 3))
    if abs(R.T @ R - np.eye(3)).max() > 1e-6 or np.linalg.det(R) < 0:
        raise ModelError(f"{what}: rotation_matrix is {R.tolist()}, expected a rotation")
    return R


def joint_axis(name: str, joint: str, given: ArrayLike) -> tuple[int, np.ndarray]:
    """The axis in the body's frame, and the rotation from there to the link's."""
    if joint in ("spherical", "floating"):
        return 2, np.eye(3)
    axis = given_numbers(f"joint '{name}': axis", given, (3,))
    norm = float(np.linalg.norm(axis))
    if not np.isfinite(norm) or norm < 1e-9:
        raise ModelError(f"joint '{name}': axis has norm {norm:g}, expected 1")
    return align(axis / norm, only_z=joint == "planar")


def joint_limits(joint: Joint, **given: ArrayLike) -> dict[str, np.ndarray]:
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


def finite(what: str, given: ArrayLike, shape: tuple[int, ...]) -> np.ndarray:
    found = given_numbers(what, given, shape)
    if not np.isfinite(found).all():
        raise ModelError(f"{what} is {found}, expected finite numbers")
    return found


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
