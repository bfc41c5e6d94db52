"""Momentum about the centre of mass: against Pinocchio, and the ground's push against the forces of the contacts."""

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest
from support.robot_oracles import TREES, angular_first, ours, relative, states, twin
from trisweep.dynamics import ModelError, weld


@pytest.mark.parametrize("name", ["iiwa14", "go1", "talos", *TREES[:6]])
def test_momentum_its_matrix_and_their_rates_agree_with_pinocchio(name):
    model, other = ours(name), twin(name)
    data = other.createData()
    q, v, a = states(model, 10)
    for n in range(10):
        h = pin.computeCentroidalMomentum(other, data, q[n], v[n]).vector
        assert relative(model.momentum(q[n], v[n]), angular_first(h)) < 1e-10
        A = pin.computeCentroidalMap(other, data, q[n])
        assert relative(model.momentum_matrix(q[n]), angular_first(A)) < 1e-10
        rate = pin.computeCentroidalMomentumTimeVariation(other, data, q[n], v[n], a[n])
        assert relative(model.momentum_rate(q[n], v[n], a[n]), angular_first(rate.vector)) < 1e-10
        pin.dccrba(other, data, q[n], v[n])
        assert relative(model.momentum_matrix_rate(q[n], v[n]), angular_first(data.dAg)) < 1e-10


def test_momentum_on_symbols_is_that_on_numbers():
    model = ours("go1")
    q, v, a = (row[0] for row in states(model, 1))
    symbols = [ca.SX.sym(n, size) for n, size in (("q", model.nq), ("v", model.nv), ("a", model.nv))]
    functions = (
        lambda q, v, a: model.momentum(q, v),
        lambda q, v, a: model.momentum_matrix_rate(q, v),
        model.momentum_rate,
        model.zero_moment_point,
    )
    for function in functions:
        on_symbols = np.array(ca.Function("f", symbols, [function(*symbols)])(q, v, a))
        expected = function(q, v, a)
        np.testing.assert_allclose(on_symbols.reshape(expected.shape), expected, rtol=1e-10, atol=1e-10)


def test_the_ground_pushes_where_the_feet_say():
    model = ours("talos")
    feet = [weld(f"leg_{side}_6_link", period=None) for side in ("left", "right")]
    q = np.array(model.neutral())
    rng = np.random.default_rng(0)
    q[7:] += 0.1 * rng.standard_normal(model.nq - 7)
    v, tau = 0.1 * rng.standard_normal(model.nv), np.zeros(model.nv)
    tau[6:] = rng.standard_normal(model.nv - 6)
    a, forces = model.forward_dynamics(q, v, tau, feet)
    wrench = np.zeros(6)
    for foot, force in zip(feet, forces):
        R, p = model.link_pose(q, foot.link)
        moment, push = R @ force[:3], R @ force[3:]
        wrench += np.concatenate([moment + np.cross(p, push), push])
    for height in (0.0, -0.7):
        point = model.zero_moment_point(q, v, a, height)
        moment = wrench[:3] - np.cross(point, wrench[3:])
        assert point[2] == height
        assert abs(moment[:2]).max() < 1e-8 * abs(wrench).max()
        np.testing.assert_allclose(model.centre_of_pressure(q, feet, forces, height), point, atol=1e-9)


def test_a_foot_is_pressed_where_its_own_force_says():
    """A sole of its own with a force and a moment, on a robot that lies askew; loops press nobody."""
    model = ours("talos")
    q = model.random_configuration(3)
    foot = weld("leg_left_6_link", period=None)
    R, p = model.link_pose(q, foot.link)
    at, push = np.array([0.3, -0.2, 0.1]), np.array([3.0, -2.0, 50.0])  # at a place of the plane z = 0.1
    moment = np.cross(at - p, push) + np.array([0.0, 0.0, 4.0])  # a moment about z moves nothing
    force = np.concatenate([R.T @ moment, R.T @ push])
    np.testing.assert_allclose(model.centre_of_pressure(q, [foot], [force], 0.1), at, atol=1e-10)
    loop = weld("arm_left_7_link", other="arm_right_7_link", period=None)
    np.testing.assert_allclose(model.centre_of_pressure(q, [foot, loop], [force, 30 * np.ones(6)], 0.1), at, atol=1e-9)


def test_what_pushes_nowhere_has_no_place_to_push():
    model = ours("go1")
    q, still = states(model, 1)[0][0], np.zeros(model.nv)
    falling = model.forward_dynamics(q, still, still)
    for ask in (
        lambda: model.zero_moment_point(q, still, falling),
        lambda: model.centre_of_pressure(q, [], []),
        lambda: model.centre_of_pressure(q, [weld("FR_foot")], [np.array([1.0, 2, 3, 0, 0, 0])]),
    ):
        with pytest.raises(ModelError, match=r"nothing pushes along z \(the sum is .* N\), expected some ground"):
            ask()
    with pytest.raises(ModelError, match="height"):
        model.zero_moment_point(q, still, still, "floor")


def test_a_robot_at_rest_has_its_point_below_its_centre():
    model = ours("go1")
    q, still = states(model, 1)[0][0], np.zeros(model.nv)
    centre, point = model.centre_of_mass(q), model.zero_moment_point(q, still, still)
    np.testing.assert_allclose(point, [centre[0], centre[1], 0.0], atol=1e-12)
    np.testing.assert_allclose(model.momentum_rate(q, still, still), 0.0, atol=1e-10)


def test_the_summary_names_every_joint_with_its_limits():
    text = ours("iiwa14").summary()
    lines = text.splitlines()
    assert lines[0].startswith("iiwa14") and "7 joints, nq = 7, nv = 7" in lines[0]
    assert len(lines) == 9
    assert lines[2].split()[0] == ours("iiwa14").joint_names[0]
    assert "[-2.967, 2.967]" in lines[2]
    floating = ours("go1").summary().splitlines()[2]
    assert "0:7" in floating and "world" in floating and "free" in floating
