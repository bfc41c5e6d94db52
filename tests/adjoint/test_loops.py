"""Derivatives of forward dynamics through closed loops, dependent rows included: by differences of the dense answer, by
Pinocchio, by automatic differentiation.
"""

from dataclasses import replace

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest
from support.robot_oracles import ours
from trisweep.adjoint import check, expand
from trisweep.dynamics import Constraint, point, weld
from trisweep.problems.mechanisms import MECHANISMS, four_bar, single_loop
from trisweep.problems.twins.pinocchio_twin import pinocchio_twin


class Point:
    """Symbols x = (tau, d, v) about a state of a mechanism, q = q0 (+) d, and its numbers."""

    def __init__(self, mechanism, seed=1):
        self.mechanism, self.oracle, model = mechanism, pinocchio_twin(mechanism), mechanism.model
        self.q, self.v, self.tau = (rows[0] for rows in self.oracle.states(1, seed))
        tau, d, v = (ca.SX.sym(name, model.nv) for name in ("tau", "d", "v"))
        self.x, self.q0 = ca.vertcat(tau, d, v), ca.SX.sym("q0", model.nq)
        self.a, forces = model.forward_dynamics(model.integrate(self.q0, d), v, tau, mechanism.constraints)
        self.forces = ca.vertcat(*forces)
        self.at = np.concatenate([self.tau, np.zeros(model.nv), self.v])

    def jacobian(self):
        """Values and d(a, forces)/dx by the node."""
        e = expand(self.x, ca.vertcat(self.a, self.forces))
        values, jacobian = ca.Function("f", [self.x, self.q0], [e.values, e.jacobian])(self.at, self.q)
        return values.full().ravel(), jacobian.full()

    def differences(self, h=1e-3):
        """d(a, forces)/dx of the dense answer, by central differences extrapolated twice."""

        def dense(x):
            tau, d, v = np.split(x, 3)
            return np.concatenate(self.oracle.dense(pin.integrate(self.oracle.model, self.q, d), v, tau))

        columns = []
        for unit in np.eye(len(self.at)):
            D1, D2, D4 = ((dense(self.at + s * unit) - dense(self.at - s * unit)) / (2 * s) for s in (h, h / 2, h / 4))
            columns.append((64 * D4 - 20 * D2 + D1) / 45)
        return np.array(columns).T


def relative(found, expected):
    return np.abs(found - expected).max() / np.abs(expected).max()


NODES = {
    "four-bar": four_bar,
    "four-bar hinged": lambda: four_bar("hinge"),
    "four-bar welded": lambda: four_bar("weld"),
    "four-bar stabilised": lambda: four_bar("weld").stabilised(0.1),
    "single loop": lambda: single_loop(8),
    "hand and cube": MECHANISMS["hand and cube"],
}


@pytest.mark.parametrize("name", NODES)
def test_accelerations_and_forces_are_differentiated_like_the_dense_answer(name):
    here = Point(NODES[name]())
    nv = here.mechanism.model.nv
    values, found = here.jacobian()
    a, forces = here.oracle.dense(here.q, here.v, here.tau)
    assert relative(values[:nv], a) < 1e-10
    assert relative(values[nv:], forces) < 1e-10
    expected = here.differences()
    assert relative(found[:nv], expected[:nv]) < 1e-8
    assert relative(found[nv:], expected[nv:]) < 1e-8


def test_independent_loops_are_differentiated_as_pinocchio_does():
    here = Point(single_loop(9))
    contacts = pin.StdVec_RigidConstraintModel()
    works = pin.StdVec_RigidConstraintData()
    for contact in here.oracle.contacts():
        contacts.append(contact)
        works.append(contact.createData())
    model, settings = here.oracle.model, pin.ProximalSettings(1e-14, 0.0, 1)
    data = model.createData()
    pin.initConstraintDynamics(model, data, contacts, works)
    pin.constraintDynamics(model, data, here.q, here.v, here.tau, contacts, works, settings)
    pin.computeConstraintDynamicsDerivatives(model, data, contacts, works, settings)
    expected = np.hstack([data.ddq_dtau, data.ddq_dq, data.ddq_dv])
    assert relative(here.jacobian()[1][: model.nv], expected) < 1e-8


@pytest.mark.parametrize("rows", ["point", "hinge", "weld"])
def test_all_derivatives_of_costs_in_accelerations_and_forces(rows):
    here = Point(four_bar(rows).stabilised(0.05))
    a, f, tau = here.a, here.forces, here.x[: here.mechanism.model.nv]
    mixed = a[0] * ca.sin(here.x[-1]) + ca.sum1(f) * a[1] * tau[0]
    cost = ca.vertcat(ca.sumsqr(a) + ca.sumsqr(f), here.x[-1] + 0.05 * a[1], mixed)
    result = check(here.x, cost, here.at, here.q0, here.q)
    assert max(result.automatic.values()) < 1e-8, result
    assert max(result.differences.values()) < 1e-6, result


def seen_from_the_other_link(c: Constraint) -> Constraint:
    """The same point, with the rows along the axes of the other link."""
    return point(c.other, c.target.p.ravel(), target=c.frame.p.ravel(), other=c.link, period=c.period)


def closed_twice(again):
    once = four_bar()
    return once.with_constraints([*once.constraints, *(again(c) for c in once.constraints)])


@pytest.mark.parametrize("again", [lambda c: c, lambda c: replace(c, K=2 * c.K), seen_from_the_other_link])
def test_a_loop_closed_twice_has_the_derivatives_of_one_closed_once(again):
    once, twice = Point(four_bar()), Point(closed_twice(again))
    found = twice.jacobian()[1]
    assert relative(found[:3], once.jacobian()[1][:3]) < 1e-11
    assert relative(found[:3], twice.differences()[:3]) < 1e-8
    hessians = []
    for here in (once, twice):
        e = expand(here.x, ca.sumsqr(here.a), multipliers=ca.SX(1))
        hessians.append(ca.Function("h", [here.x, here.q0], [e.hessian])(here.at, here.q).full())
    assert relative(*hessians) < 1e-10


def test_forces_without_effect_are_left_out_where_they_turn_with_the_configuration():
    """Of one point held along the axes of both its links, which forces cancel depends on the angle between them."""
    here = Point(closed_twice(seen_from_the_other_link))
    found, expected = (jacobian[3:] for jacobian in (here.jacobian()[1], here.differences()))
    J = here.oracle.terms(here.q, here.v).J
    assert relative(J.T @ found, J.T @ expected) < 1e-8
    assert relative(J @ np.linalg.pinv(J) @ expected, found) < 1e-8
    assert relative(found, expected) > 1e-3


def test_a_contact_said_twice_makes_a_node_as_well():
    """Dependent rows against the ground: half the force each, the same accelerations and derivatives."""
    arm, tip = ours("iiwa14"), weld("iiwa_flange")
    q, v, tau = (ca.SX.sym(name, arm.nv) for name in ("q", "v", "tau"))
    x = ca.vertcat(q, v, tau)
    rng = np.random.default_rng(2)
    at = np.concatenate([arm.random_configuration(rng), rng.standard_normal(14)])
    found = []
    for times in (1, 2):
        a, forces = arm.forward_dynamics(q, v, tau, [tip] * times)
        e = expand(x, ca.vertcat(a, sum(forces)))
        found.append([part.full() for part in ca.Function("f", [x], [e.values, e.jacobian])(at)])
    for once, twice in zip(*found):
        assert relative(twice, once) < 1e-8


@pytest.mark.parametrize("away", [0.0, 1e-12, 1e-8, 1e-5, 1e-3])
def test_where_a_linkage_is_stretched_straight_all_stays_finite(away):
    """A flat parallelogram: rows across it are lost, and just beside it they are not."""
    flat = four_bar(crank=0.3, coupler=0.8, rocker=0.3, ground=0.8, angle=0.0)
    x = [ca.SX.sym(name, 3) for name in ("q", "v", "tau")]
    a, forces = flat.model.forward_dynamics(*x, flat.constraints)
    e = expand(ca.vertcat(*x), ca.vertcat(a, *forces), ca.SX.ones(6))
    q, v, tau = flat.q + np.array([away, 0, 0]), np.zeros(3), np.array([1.0, 0.5, 0.0])
    found = ca.Function("f", x, [e.values, e.jacobian, e.hessian])(q, v, tau)
    assert all(np.isfinite(part.full()).all() for part in found)
    if away in (0.0, 1e-3):
        assert relative(found[0].full()[:3, 0], pinocchio_twin(flat).dense(q, v, tau)[0]) < 1e-8
