"""Pinocchio models built link by link as `ModelBuilder` builds ours, and what Pinocchio computes in our order."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from ...dynamics.algebra.spatial import from_rpy

JOINTS = {
    "revolute": pin.JointModelRevoluteUnaligned,
    "continuous": lambda axis: pin.JointModelRUBZ(),
    "prismatic": pin.JointModelPrismaticUnaligned,
    "spherical": lambda axis: pin.JointModelSpherical(),
    "planar": lambda axis: pin.JointModelPlanar(),
    "floating": lambda axis: pin.JointModelFreeFlyer(),
}


class PinocchioBuilder:
    """Takes what `ModelBuilder.add` takes, with unaligned joints and axes as they are given.

    `model` is what has been built so far, `places` gives each link's joint and where the link is on it. An unaligned
    continuous joint cannot be made from Python: there the joint's frame is turned, and the link with it back.
    """

    def __init__(self) -> None:
        self.model = pin.Model()
        self.places: dict[str, tuple[int, pin.SE3]] = {"universe": (0, pin.SE3.Identity())}

    def add(
        self,
        link: str,
        parent: str,
        kind: str,
        position: np.ndarray,
        rpy: np.ndarray,
        axis: np.ndarray,
        mass: float,
        com: np.ndarray,
        inertia: np.ndarray,
        lower: np.ndarray | None = None,
        upper: np.ndarray | None = None,
    ) -> None:
        """A link with its joint on a parent link."""
        axis = np.array(axis) / np.linalg.norm(axis)
        turn = pin.SE3.Identity()
        if kind == "continuous":
            turn.rotation = pin.Quaternion.FromTwoVectors(np.array([0.0, 0.0, 1.0]), axis).matrix()
        joint, on_joint = self.places[parent]
        where = on_joint * pin.SE3(from_rpy(rpy), position) * turn
        index = self.model.addJoint(joint, JOINTS[kind](axis), where, f"{link}_joint")
        self.places[link] = index, turn.inverse()
        self.model.appendBodyToJoint(index, pin.Inertia(mass, com, inertia), turn.inverse())
        self.model.addFrame(pin.Frame(link, index, 0, turn.inverse(), pin.BODY))

    def attach(self, other: pin.Model, parent: str, prefix: str, place: pin.SE3) -> None:
        """Another model, its world placed on a link. Some of Pinocchio's algorithms need depth-first order: the parent
        must be the last joint, or the world.
        """
        joint, on_joint = self.places[parent]
        where, indices = on_joint * place, {0: joint}
        for i in range(1, other.njoints):
            above = other.parents[i]
            at = where * other.jointPlacements[i] if above == 0 else other.jointPlacements[i]
            indices[i] = self.model.addJoint(indices[above], other.joints[i], at, prefix + other.names[i])
            self.model.appendBodyToJoint(indices[i], other.inertias[i], pin.SE3.Identity())
        for frame in other.frames:
            if frame.type == pin.BODY:
                at = where * frame.placement if frame.parentJoint == 0 else frame.placement
                self.places[prefix + frame.name] = indices[frame.parentJoint], at


def angular_first(x: np.ndarray) -> np.ndarray:
    """A spatial vector, or a Jacobian's rows, with the angular part first, as ours are."""
    return np.concatenate([x[3:], x[:3]])


def mass_matrix(model: pin.Model, data: pin.Data, q: np.ndarray) -> np.ndarray:
    """The whole of M(q), of which Pinocchio computes the upper half."""
    M = pin.crba(model, data, q)
    return np.triu(M) + np.triu(M, 1).T
