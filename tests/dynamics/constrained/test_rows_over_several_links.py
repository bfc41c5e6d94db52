"""Rows that sum over several links: gears, the centre of mass; against dense systems, Pinocchio and pen and paper."""

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest
from support.loop_oracles import least_forces, pose, stacked
from support.robot_oracles import ours, relative, states, twin
from trisweep.dynamics import Constraint, ModelBuilder
from trisweep.dynamics.algebra.spatial import placement
from trisweep.dynamics.constraints.ground import LOOP_METHODS


def test_rows_over_several_links_are_the_sum_of_their_parts():
    """Sathya 2025 eq. 36, against the dense system: further links with frames of their own, one of them twice, one
    a loop.
    """
    rng = np.random.default_rng(11)
    model, other = ours("tree2"), twin("tree2")
    further = [("link4", rng.standard_normal((2, 6))), ("link1", rng.standard_normal((2, 6)), pose(rng))]
    constraints = [
        Constraint("link6", rng.standard_normal((2, 6)), 0.3, more=(*further, ("link6", rng.standard_normal((2, 6))))),
        Constraint("link5", np.eye(6)[3:], classical=True, other="link2", more=[("link3", np.eye(6)[3:])]),
    ]
    data = other.createData()
    for state in zip(*states(model, 5, seed=3)):
        expected, forces, unmet = least_forces(other, data, *state, constraints)
        assert np.abs(unmet).max() < 1e-9
        for method in LOOP_METHODS:
            a, found = model.forward_dynamics(*state, constraints, method)
            assert relative(a, expected) < 1e-8
            assert relative(stacked(found), forces) < 1e-6


def test_a_differential_is_a_row_over_three_links():
    """Two wheels and the carrier they turn about: w1 + w2 = 2 w_carrier, as gears make it."""
    builder = ModelBuilder("differential", gravity=(0, 0, 0))
    body = {"axis": (0, 0, 1), "mass": 1.0, "inertia": np.diag([1, 1, 2.0])}
    for name in ("carrier", "left", "right"):
        builder.add(name, "universe", "revolute", **body)
    model = builder.build()
    turn = np.eye(6)[2:3]
    gears = [Constraint("left", turn, more=(("right", turn), ("carrier", -2 * turn)), period=None)]
    a, (force,) = model.forward_dynamics(np.zeros(3), np.zeros(3), np.array([1.0, 0.0, 0.0]), gears)
    # 2 a_c = 1 - 2 f... with I = 2: a_c = (1 - 2 (-f)) / 2 and a_l = a_r = f / 2, so a = 1/6 for all
    np.testing.assert_allclose(a, np.full(3, 1 / 6), rtol=1e-9)
    np.testing.assert_allclose(force, 1 / 3, rtol=1e-9)


@pytest.mark.parametrize("robot", ["iiwa14", "hyq"])
def test_the_method_is_chosen_by_its_operations(robot):
    """Rows on the centre of mass, which all links have a share in; Pinocchio's Jacobian of it is the oracle."""
    model, other = ours(robot), twin(robot)
    data = other.createData()
    q, v, tau = (x[0] for x in states(model, 1, seed=4))
    rows = centre_of_mass_rows(model, q)
    name, why = model.choose_method([rows])
    counts = {}
    for method in LOOP_METHODS:
        symbols = [ca.SX.sym(part, n) for part, n in (("q", model.nq), ("v", model.nv), ("tau", model.nv))]
        a, forces, _ = model.proximal_dynamics(*symbols, [rows], method)
        counts[method] = ca.Function("f", symbols, [ca.cse(ca.vertcat(a, *forces))]).n_instructions()
    assert counts[name] <= 1.02 * min(counts.values())
    assert all(f"'{method}'" in why for method in LOOP_METHODS if method != name)
    a, _ = model.compiled.forward_dynamics(q, v, tau, [rows])
    pin.centerOfMass(other, data, q, v, a)
    assert np.abs(data.acom[0]).max() < 1e-6 * np.abs(a).max()


def centre_of_mass_rows(model, q):
    """The acceleration of the centre of mass at q is 0: every body's own, by its share of the mass."""
    total, parts = sum(body.m for body in model.inertias), []
    for i, body in enumerate(model.inertias):
        link, frame = next((name, frame) for name, frame in model.frames.items() if frame.body == i)
        if body.m > 0:
            centre = frame.placement.R.T @ (body.h / body.m - frame.placement.p)
            K = np.hstack([np.zeros((3, 3)), body.m / total * model.link_pose(q, link)[0]])
            parts.append((link, K, (np.eye(3), centre.ravel())))
    (link, K, (R, p)), *more = parts
    return Constraint(link, K, classical=True, frame=placement(R, p), period=None, more=more)
