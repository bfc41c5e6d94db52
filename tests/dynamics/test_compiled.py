"""Machine code called with the user's arrays: the short way and the careful one agree, first derivatives, `out`."""

import weakref

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest
from numpy.lib.stride_tricks import as_strided
from support.robot_oracles import ours, relative, states, twin
from trisweep.dynamics import point, weld
from trisweep.errors import ModelError
from trisweep.problems.mechanisms import four_bar

NAMES = ["iiwa14", "go1"]


@pytest.fixture(scope="module")
def arm():
    return ours("iiwa14")


def test_lists_slices_and_other_types_give_what_plain_arrays_give(arm):
    q, v, tau = states(arm, 6)
    compiled = arm.compiled
    expected = compiled.forward_dynamics(q, v, tau)
    np.testing.assert_array_equal(compiled.forward_dynamics(q.tolist(), v, tau), expected)
    np.testing.assert_array_equal(compiled.forward_dynamics(np.asfortranarray(q), v, tau), expected)
    np.testing.assert_array_equal(compiled.forward_dynamics(q[::2], v[::2], tau[::2]), expected[::2])
    one = compiled.forward_dynamics(q[0], v[0], tau[0])
    assert one.shape == (7,)
    np.testing.assert_array_equal(one, expected[0])
    np.testing.assert_array_equal(compiled.forward_dynamics(q[0].tolist(), v[:1], tau[0]), expected[:1])
    assert compiled.forward_dynamics(q[:0], v[:0], tau[0]).shape == (0, 7)
    read_only = q[0].copy()
    read_only.flags.writeable = False
    np.testing.assert_array_equal(compiled.forward_dynamics(read_only, v[0], tau[0]), one)


@pytest.mark.parametrize("order", ["C", "F"])
def test_results_go_to_the_users_arrays(arm, order):
    q, v, tau = states(arm, 3)
    compiled = arm.compiled
    M = np.empty((7, 7), order=order)
    assert compiled.mass_matrix(q[0], out=M) is M
    np.testing.assert_array_equal(M, compiled.mass_matrix(q[0]))
    many = np.empty((3, 7, 7), order=order)
    assert compiled.mass_matrix(q, out=many) is many
    np.testing.assert_array_equal(many, compiled.mass_matrix(q))
    R, p = np.empty((3, 3), order=order), np.empty(3)
    compiled.link_pose(q[0].tolist(), "iiwa_flange", out=(R, p))
    for mine, theirs in zip((R, p), compiled.link_pose(q[0], "iiwa_flange")):
        np.testing.assert_array_equal(mine, theirs)
    # memory that is an argument's too
    expected = compiled.forward_dynamics(q, v, tau)
    compiled.forward_dynamics(q, v, tau, out=tau)
    np.testing.assert_array_equal(tau, expected)
    # one after the other in every row
    slopes = compiled.inverse_dynamics_slopes(q, v, v)
    rows = np.empty((3, 7, 21), order=order)
    compiled.inverse_dynamics_slopes(q, v, v, out=np.split(rows, 3, axis=2))
    np.testing.assert_array_equal(rows, np.concatenate(slopes, axis=2))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda c, q: c.mass_matrix(q, out=np.empty((7, 6))), r"expected writable arrays of float64 with \[\(7, 7\)\]"),
        (lambda c, q: c.mass_matrix(q, out=np.empty((7, 7), int)), "expected writable arrays of float64"),
        (
            lambda c, q: c.inverse_dynamics_slopes(q, q, q, out=[np.empty((7, 7))]),
            "expected writable arrays of float64",
        ),
        (
            lambda c, q: c.inverse_dynamics_slopes(q, q, q, out=[np.empty((7, 7))] * 3),
            "out has arrays that share memory",
        ),
        (lambda c, q: c.forward_dynamics(q, q, q, out=as_strided(np.empty(1), (7,), (0,))), "share memory"),
        (lambda c, q: c.mass_matrix(q, out=as_strided(np.empty(13), (7, 7), (8, 8))), "share memory"),
        (lambda c, q: c.inverse_dynamics_slopes(q, q, q, out=3), "out is 3, expected a list of arrays with shapes"),
        (lambda c, q: c.forward_dynamics_slopes(q, q, q, 3), "constraints is a int, expected a list of constraints"),
        (lambda c, q: c.forward_dynamics(q, q, q, (), [q]), r"method is \[array"),
        (lambda c, q: c.forward_dynamics(q, q, q, external=3), r"external is 3, expected a force \(6,\) for each name"),
        (lambda c, q: c.model.forward_dynamics(q, q, q, external=[q]), r"expected a force \(6,\) for each name"),
        (lambda c, q: c.mass_matrix(q[:6]), r"q has shape \(6,\), expected \(7,\) or \(count, 7\)"),
        (lambda c, q: c.mass_matrix(q * np.nan), "q has an entry that is not finite"),
        (lambda c, q: c.mass_matrix("here"), "q is 'here', expected numbers"),
        (lambda c, q: c.inverse_dynamics(np.stack([q] * 3), np.stack([q] * 2), q), "v has 2 rows, expected 3"),
        (lambda c, q: c.forward_dynamics(q, q, q, constraints=[[q]]), r"constraints holds \[array"),
        (lambda c, q: c.forward_dynamics(q, q, q, constraints=weld("iiwa_flange")), "expected a list of constraints"),
        (lambda c, q: c.forward_dynamics(q, 1e200 * (1 + q), q), "not finite"),
    ],
)
def test_what_is_refused(arm, call, message):
    with pytest.raises(ModelError, match=message):
        call(arm.compiled, np.linspace(0.1, 0.7, 7))


def test_quaternions_of_a_wrong_norm_are_refused_in_one_state_and_in_batches():
    model = ours("hyq")
    q, v, tau = states(model, 2)
    q[1, 3:7] *= 1.1
    for state in ((q[1], v[1], tau[1]), (q, v, tau)):
        with pytest.raises(ModelError, match=r"quaternion has norm 1\.1, expected 1"):
            model.compiled.forward_dynamics(*state)


def test_loops_take_the_same_short_way():
    mechanism = four_bar()
    q, v = mechanism.q, np.zeros(mechanism.model.nv)
    tau = np.linspace(-1, 1, mechanism.model.nv)
    compiled = mechanism.model.compiled
    first = compiled.forward_dynamics(q, v, tau, mechanism.constraints)
    again = compiled.forward_dynamics(q, v, tau, mechanism.constraints)
    a, forces, report = compiled.proximal_dynamics(q, v, tau, mechanism.constraints)
    assert report.converged
    into = [np.empty_like(part) for part in (a, *forces)]
    told = compiled.forward_dynamics(q, v, tau, mechanism.constraints, out=into)
    assert all(mine is given for mine, given in zip((told[0], *told[1]), into))
    several = compiled.forward_dynamics(np.stack([q] * 3), v, tau, mechanism.constraints)
    for found in (first, again, told, (several[0][2], [force[2] for force in several[1]])):
        np.testing.assert_array_equal(found[0], a)
        np.testing.assert_array_equal(np.concatenate(found[1]), np.concatenate(forces))


def test_results_are_written_again_only_where_nobody_has_them(arm):
    q, v, x = states(arm, 8)
    call = arm.compiled.forward_dynamics_slopes
    expected = [[part.copy() for part in call(*state)] for state in zip(q, v, x)]
    kept = [call(*state)[1] for state in zip(q, v, x)]  # one of each
    views = [call(*state)[0][2:, 1] for state in zip(q, v, x)]
    buffers = [memoryview(call(*state)[2]) for state in zip(q, v, x)]
    for mine, view, buffer, (first, second, third) in zip(kept, views, buffers, expected):
        np.testing.assert_array_equal(mine, second)
        np.testing.assert_array_equal(view, first[2:, 1])
        np.testing.assert_array_equal(np.asarray(buffer), third)
    ended = [weakref.ref(part) for part in call(q[0], v[0], x[0])]
    call(q[1], v[1], x[1])
    alive = [each() for each in ended]  # who waits for the end of an array is not shown another one's numbers
    assert all(each is None or np.array_equal(each, mine) for each, mine in zip(alive, expected[0]))
    for change in (lambda part: part.setflags(write=False), lambda part: part.resize(49, refcheck=False)):
        for part in call(q[0], v[0], x[0]):
            change(part)
        del part
        found = call(q[0], v[0], x[0])
        assert all(np.array_equal(*pair) for pair in zip(found, expected[0]))
        assert all(part.flags.writeable and part.flags.f_contiguous for part in found)
        del found


@pytest.mark.parametrize("name", NAMES)
def test_slopes_agree_with_pinocchios(name):
    model, other = ours(name), twin(name)
    data = other.createData()
    q, v, x = states(model, 10)
    inverse = model.compiled.inverse_dynamics_slopes(q, v, x)
    forward = model.compiled.forward_dynamics_slopes(q, v, x)
    for n in range(10):
        pin.computeRNEADerivatives(other, data, q[n], v[n], x[n])
        M = np.triu(data.M) + np.triu(data.M, 1).T
        for mine, theirs in zip(inverse, (data.dtau_dq, data.dtau_dv, M)):
            assert relative(mine[n], theirs) < 1e-9
        pin.computeABADerivatives(other, data, q[n], v[n], x[n])
        Minv = np.triu(data.Minv) + np.triu(data.Minv, 1).T
        for mine, theirs in zip(forward, (data.ddq_dq, data.ddq_dv, Minv)):
            assert relative(mine[n], theirs) < 1e-8


def test_slopes_with_constraints_agree_with_differences():
    model = ours("hyq")
    held = [point(foot) for foot in ("lf_foot", "rh_foot")]
    q, v, tau = (row[0] for row in states(model, 1))
    of_a, of_forces = model.compiled.forward_dynamics_slopes(q, v, tau, held)

    def answer(d, dv, dtau):
        moved = np.array(model.integrate(q, d)).ravel()
        a, forces = model.compiled.forward_dynamics(moved, v + dv, tau + dtau, held)
        return np.concatenate([a, *forces])

    none, h = np.zeros(model.nv), 1e-5
    for k, slopes in enumerate(zip(of_a, of_forces)):
        for i in range(model.nv):
            step = [none, none, none]
            step[k] = h * np.eye(model.nv)[i]
            back = [-each for each in step]
            numeric = (answer(*step) - answer(*back)) / (2 * h)
            exact = np.concatenate([slope[:, i] for slope in slopes])
            assert relative(exact, numeric) < 1e-5


def test_code_of_casadi_functions_is_called_alike():
    from trisweep.native import compile_function

    x = ca.SX.sym("x", 3)
    f = compile_function(ca.Function("f", [x], [ca.sin(x), x @ x.T]))
    values = np.array([0.1, 0.2, 0.3])
    for given in (values, values.tolist(), values.reshape(3, 1)):
        sines, outer = f(given)
        np.testing.assert_allclose(sines, np.sin(values), rtol=1e-15)
        np.testing.assert_allclose(outer, np.outer(values, values), rtol=1e-15)
    assert np.isnan(f(values * np.nan)[0]).all()
