"""Constrained dynamics at the configurations that people start from: neutral, near it, stretched; right wherever J has
full rank, to a bound that follows from the condition of the system, and a sentence where it has not.
"""

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest
from support.robot_oracles import demanded, mass_matrix, ours, twin
from trisweep.dynamics import ModelError, point, simulate, weld
from trisweep.ocp import Problem

EPSILON = np.finfo(float).eps

# What the readings of one file by two programs differ in: angles of printed digits.
READING = 1e-8

HELD = {
    "iiwa14": [point("iiwa_flange")],
    "ur5": [point("tool0")],
    "panda": [point("panda_hand")],
    "kinova": [point("j2s6s200_link_6")],
    "xarm7": [point("link7")],
    "z1": [point("link06")],
    "go1": [point(f"{leg}_foot") for leg in ("FR", "FL", "RR", "RL")],
    "a1": [point(f"{leg}_foot") for leg in ("FR", "FL", "RR", "RL")],
    "solo12": [point(f"{leg}_FOOT") for leg in ("FR", "FL", "HR", "HL")],
    "hyq": [point(f"{leg}_foot") for leg in ("lf", "rf", "lh", "rh")],
    "simple_humanoid": [weld(ankle) for ankle in ("l_ankle", "r_ankle")],
    "talos": [weld(f"{side}_sole_link") for side in ("left", "right")],
}  # fmt: skip

SIZES = (0.0, *np.logspace(-3, -12, 83))


def near_neutral(model, seed=0):
    """Rows of q, v, tau: neutral, and ever nearer to it."""
    rng = np.random.default_rng(seed)
    q = [model.integrate(model.neutral(), size * rng.standard_normal(model.nv)) for size in SIZES]
    return np.array(q), *(scale * rng.standard_normal((len(SIZES), model.nv)) for scale in (0.1, 3.0))


def pseudo_inverse(name, q, v, tau, constraints):
    """Accelerations of least squares from Pinocchio's matrices, and the condition of J L'^-1, M = L L'."""
    other = twin(name)
    data = other.createData()
    M, h = mass_matrix(other, data, q), pin.rnea(other, data, q, v, np.zeros(other.nv))
    J, k = demanded(other, data, q, v, constraints)
    L = np.linalg.cholesky(M)
    A, free = np.linalg.solve(L, J.T).T, np.linalg.solve(L, tau - h)
    singular = np.linalg.svd(A, compute_uv=False)
    a = np.linalg.solve(L.T, free + np.linalg.pinv(A, rcond=1e-14) @ (k - A @ free))
    return a, singular[0] / max(singular[-1], 1e-300)


def bound(condition):
    return READING + 100 * EPSILON * condition**2


@pytest.mark.parametrize("name", HELD)
def test_the_default_is_right_at_neutral_and_near_it(name):
    """84 states of each of twelve robots, in machine code; states at which J loses rank are left to the next test."""
    model, constraints = ours(name), HELD[name]
    q, v, tau = near_neutral(model)
    expected, condition = zip(*(pseudo_inverse(name, *state, constraints) for state in zip(q, v, tau)))
    regular = np.array(condition) < 1e4
    if not regular.any():
        pytest.skip("J has no full rank near neutral")
    a, _ = model.compiled.forward_dynamics(q[regular], v[regular], tau[regular], constraints)
    scale = np.abs(expected).max(axis=1)[regular]
    error = np.abs(a - np.array(expected)[regular]).max(axis=1) / scale
    assert (error < bound(np.array(condition)[regular])).all(), error.max()


@pytest.mark.parametrize("name", ["iiwa14", "panda", "go1", "talos"])
@pytest.mark.parametrize("method", [None, "pv", "pv-early", "ltl", "riccati"])
def test_numbers_are_right_or_refused(name, method):
    """Whatever the configuration, no answer that is wrong; where J has full rank, no refusal by the default."""
    model, constraints = ours(name), HELD[name]
    states = zip(*(rows[::8] for rows in near_neutral(model, seed=1)))
    for q, v, tau in states:
        expected, condition = pseudo_inverse(name, q, v, tau, constraints)
        try:
            a, _ = model.forward_dynamics(q, v, tau, constraints, method)
        except ModelError:
            assert method in ("pv-early", "riccati") or condition > 1e5
            continue
        assert np.abs(a - expected).max() < bound(condition) * np.abs(expected).max() or condition > 1e6


@pytest.mark.parametrize("bend", [1e-5, 1e-7, 1e-9])
def test_early_elimination_in_machine_code_is_never_silently_wrong(bend):
    """The flange's point hardly feels the sixth joint; J has full rank by the others."""
    model, constraints = ours("iiwa14"), HELD["iiwa14"]
    rng = np.random.default_rng(2)
    q, v, tau = model.random_configuration(3), 0.1 * rng.standard_normal(7), rng.standard_normal(7)
    q[5] = bend
    expected, condition = pseudo_inverse("iiwa14", q, v, tau, constraints)
    assert condition < 1e3
    for method in (None, "ltl", "pv"):
        a, _ = model.compiled.forward_dynamics(q, v, tau, constraints, method)
        assert np.abs(a - expected).max() < bound(condition) * np.abs(expected).max()
    try:
        a, _ = model.compiled.forward_dynamics(q, v, tau, constraints, "pv-early")
    except ModelError as refusal:
        assert "not finite" in str(refusal)
    else:
        assert np.abs(a - expected).max() < 1e-6 * np.abs(expected).max()


def test_a_robot_is_simulated_from_neutral():
    model = ours("go1")
    run = simulate(model, model.neutral(), constraints=HELD["go1"], duration=0.02)
    assert run.status == "finished" and run.residual.max() < 1e-6


def test_an_optimal_control_problem_starts_at_neutral():
    """Motors that hold Go1 on stretched legs for three steps: the objective and its derivatives are finite there."""
    model = ours("go1")
    ocp = Problem(steps=3, step=0.01, integrator="euler")
    v = ocp.state("v", model.nv)
    motors = ocp.control("motors", 12)
    q = ca.SX(model.neutral())
    a, _ = model.forward_dynamics(q, v, ca.vertcat(ca.SX.zeros(6), motors), HELD["go1"])
    ocp.derivative(v=a)
    ocp.minimize(ca.sumsqr(motors) + ca.sumsqr(v))
    ocp.constrain("start at rest", v, equals=0, at="start")
    solution = ocp.build().solve()
    assert solution.status == "solved"


@pytest.mark.parametrize("speed", [0.0, 1e-4, 1.0])
def test_a_flat_foot_as_four_corners(speed):
    """24 rows of rank 12: rounding of the velocity terms is no contradiction; that corners of a foot which turns cannot
    all be without acceleration is one.
    """
    model = ours("talos")
    corners = [(x, y, 0.0) for x in (-0.1, 0.1) for y in (-0.06, 0.06)]
    constraints = [point(foot.link, corner) for foot in HELD["talos"] for corner in corners]
    rng = np.random.default_rng(5)
    q = model.random_configuration(6)
    v, tau = speed * rng.standard_normal(model.nv), rng.standard_normal(model.nv)
    assert model.choose_method(constraints)[0] == "prox-ltl"
    expected, _ = pseudo_inverse("talos", q, v, tau, constraints)
    J, k = demanded(twin("talos"), twin("talos").createData(), q, v, constraints)
    if speed == 1.0:
        assert np.abs(J @ expected - k).max() > 0.1
        with pytest.raises(ModelError, match=r"contradict each other by .*, expected rows that can hold"):
            model.forward_dynamics(q, v, tau, constraints)
        return
    a, _ = model.forward_dynamics(q, v, tau, constraints)
    assert np.abs(a - expected).max() < 1e-7 * np.abs(expected).max()


def test_rows_that_contradict_each_other_are_said_to():
    model = ours("iiwa14")
    wrong = [weld("iiwa_flange", acceleration=1.0), weld("iiwa_flange", acceleration=-1.0)]
    with pytest.raises(ModelError, match=r"contradict each other by .*, expected rows that can hold"):
        model.forward_dynamics(model.random_configuration(1), np.zeros(7), np.zeros(7), wrong)


def test_a_delassus_operator_refuses_with_a_delassus_method():
    """Go1's stretched leg cannot meet its foot's rows alone; the base helps, but not in this operator."""
    model = ours("go1")
    with pytest.raises(ModelError, match=r"each branch by itself, expected .*method='pv-osim'"):
        model.delassus(model.neutral(), HELD["go1"], "pv-osim-fast")
    assert np.linalg.cond(model.delassus(model.neutral(), HELD["go1"])) < 1e4
