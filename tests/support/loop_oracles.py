"""Constraints between links for Pinocchio, and dense solutions of robots with them, made from its matrices alone."""

import numpy as np
import pinocchio as pin
from trisweep.dynamics.algebra.spatial import from_rpy
from trisweep.problems.twins.pinocchio_model import angular_first, mass_matrix


def site(other, link, frame):
    """The joint and the placement on it of a frame on a link of a Pinocchio model."""
    found = other.frames[other.getFrameId(link)]
    return found.parentJoint, found.placement * pin.SE3(frame.R, frame.p.ravel())


def pinocchio_constraint(other, constraint):
    """The same weld or point as a RigidConstraintModel, with the damping of its Baumgarte correction."""
    kind = pin.ContactType.CONTACT_3D if constraint.classical else pin.ContactType.CONTACT_6D
    first = site(other, constraint.link, constraint.frame)
    target = pin.SE3.Identity() if constraint.target is None else None
    if constraint.other is None:
        second = 0, target or pin.SE3(constraint.target.R, constraint.target.p.ravel())
    else:
        second = site(other, constraint.other, constraint.target)
    model = pin.RigidConstraintModel(kind, other, *first, *second, pin.LOCAL)
    if constraint.period is not None:
        model.m_baumgarte_parameters.Kd = 2 / constraint.period
    return model


def linear_rows(other, data, q, v, constraint):
    """J (m, nv) and J a wanted (m,) of a constraint, its drift and its Baumgarte terms, from Pinocchio's frames.

    Call pin.forwardKinematics with zero accelerations first.
    """
    joint, place = site(other, constraint.link, constraint.frame)
    one = Frame(other, data, q, joint, place)
    T, K = constraint.period, constraint.K
    if constraint.other is None:
        where = None if constraint.target is None else pin.SE3(constraint.target.R, constraint.target.p.ravel())
        J, velocity, drift, away = one.J, one.velocity, one.drift(constraint.classical), one.away(where, constraint)
    else:
        joint, body = site(other, constraint.other, constraint.frame.__class__(np.eye(3), np.zeros((3, 1))))
        second = data.oMi[joint] * body
        target = (
            one.pose
            if constraint.target is None
            else second * pin.SE3(constraint.target.R, constraint.target.p.ravel())
        )
        two = Frame(other, data, q, joint, data.oMi[joint].actInv(target))
        turn = one.pose.actInv(two.pose)
        if constraint.classical:
            X = np.kron(np.eye(2), turn.rotation)
            extra = np.zeros(6)
        else:
            X = swapped(turn.action)
            extra = motion_cross(one.velocity, X @ two.velocity)
        J, velocity = one.J - X @ two.J, one.velocity - X @ two.velocity
        drift = one.drift(constraint.classical) - X @ two.drift(constraint.classical) + extra
        away = one.away(None if constraint.target is None else two.pose, constraint)
    wanted = constraint.k.ravel() - K @ drift
    if T is not None:
        wanted = wanted - K @ (2 / T * velocity + away / T**2)
    return K @ J, wanted


def swapped(X):
    """A motion transform of Pinocchio's with the angular part first."""
    order = [3, 4, 5, 0, 1, 2]
    return X[np.ix_(order, order)]


def motion_cross(x, y):
    return np.concatenate([np.cross(x[:3], y[:3]), np.cross(x[:3], y[3:]) + np.cross(x[3:], y[:3])])


class Frame:
    """A frame on a joint: its pose, Jacobian, velocity and drift, angular part first, in itself."""

    def __init__(self, other, data, q, joint, place):
        to = swapped(place.inverse().action)
        self.pose = data.oMi[joint] * place
        self.J = to @ swapped_rows(pin.computeJointJacobian(other, data, q, joint))
        self.velocity = to @ angular_first(data.v[joint].vector)
        self.spatial = to @ angular_first(data.a[joint].vector)

    def drift(self, classical):
        drift = self.spatial.copy()
        if classical:
            drift[3:] += np.cross(self.velocity[:3], self.velocity[3:])
        return drift

    def away(self, target, constraint):
        if target is None:
            return np.zeros(6)
        turn = np.zeros(3) if constraint.classical else pin.log3(target.rotation.T @ self.pose.rotation)
        return np.concatenate([turn, self.pose.rotation.T @ (self.pose.translation - target.translation)])


def swapped_rows(J):
    return np.vstack([J[3:], J[:3]])


def dense_rows(other, data, q, v, constraints):
    """J (m, nv) and J a wanted (m,) of all constraints; rows over further links are added up."""
    pin.forwardKinematics(other, data, q, v, np.zeros(other.nv))
    J, wanted = [np.zeros((0, other.nv))], [np.zeros(0)]
    for constraint in constraints:
        line, k = linear_rows(other, data, q, v, constraint)
        for more in constraint.more:
            joint, place = site(other, more.link, more.frame)
            frame = Frame(other, data, q, joint, place)
            line = line + more.K @ frame.J
            k = k - more.K @ frame.drift(constraint.classical)
            if constraint.period is not None:
                k = k - 2 / constraint.period * (more.K @ frame.velocity)
        J.append(line)
        wanted.append(k)
    return np.vstack(J), np.concatenate(wanted)


def least_forces(other, data, q, v, tau, constraints, cutoff=1e-10):
    """Accelerations, stacked forces of least norm and what no force can meet, by the pseudo-inverse of J M^-1 J'."""
    M, h = mass_matrix(other, data, q), pin.rnea(other, data, q, v, np.zeros(other.nv))
    J, k = dense_rows(other, data, q, v, constraints)
    free = np.linalg.solve(M, tau - h)
    MJ = np.linalg.solve(M, J.T)
    G = J @ MJ
    force = np.linalg.pinv(G, rcond=cutoff, hermitian=True) @ (k - J @ free) if len(k) else np.zeros(0)
    a = free + MJ @ force
    return a, force, k - J @ a


def stacked(forces):
    """Of all constraints, one vector."""
    return np.concatenate(forces, axis=-1)


def pose(rng):
    """A generic one."""
    return from_rpy(rng.uniform(-1, 1, 3)), rng.uniform(-0.3, 0.3, 3)
