"""Constrained dynamics at the configurations that people start from: neutral, near it, stretched; right wherever J has
full rank, to a bound that follows from the condition of the system, and a sentence where it has not.
"""

import re

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest
from support.robot_oracles import demanded, mass_matrix, ours, twin
from trisweep.dynamics import ModelError, point, simulate, weld
from trisweep.ocp import Problem

EPSILON = np.finfo(float).eps

# An error in the rows reaches the accelerations times the condition of A = J L'^-1, M = L L'; so many roundings are
# allowed.
ROUNDINGS = 1e5

# What the rows of an answer and its balance of forces may lack beside their terms: the same, but never more than a
# thousandth, whatever the condition, so that an answer whose rows cannot hold is none.
LEAST, MOST = 1e-9, 1e-3

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

STATES = 1000


def near_neutral(model, count, seed=0):
    """Rows of q, v, tau: neutral, and ever nearer to it, from 1e-3 to 1e-12."""
    rng = np.random.default_rng(seed)
    sizes = (0.0, *np.logspace(-3, -12, count - 1))
    q = [model.integrate(model.neutral(), size * rng.standard_normal(model.nv)) for size in sizes]
    return np.array(q), *(scale * rng.standard_normal((count, model.nv)) for scale in (0.1, 3.0))


class Oracle:
    """Accelerations of least squares from Pinocchio's matrices, and the condition of J L'^-1, M = L L'."""

    def __init__(self, name, q, v, tau, constraints):
        other = twin(name)
        data = other.createData()
        self.M, self.h, self.tau = mass_matrix(other, data, q), pin.rnea(other, data, q, v, np.zeros(other.nv)), tau
        self.J, self.k = demanded(other, data, q, v, constraints)
        L = np.linalg.cholesky(self.M)
        A, free = np.linalg.solve(L, self.J.T).T, np.linalg.solve(L, tau - self.h)
        singular = np.linalg.svd(A, compute_uv=False)
        self.a = np.linalg.solve(L.T, free + np.linalg.pinv(A, rcond=1e-14) @ (self.k - A @ free))
        self.condition = singular[0] / max(singular[-1], 1e-300)

    def error(self, a):
        """Beside the largest acceleration, over what the condition allows."""
        return np.abs(a - self.a).max() / np.abs(self.a).max() / (ROUNDINGS * EPSILON * self.condition)

    def holds(self, a, forces):
        """Whether rows and forces balance, beside their terms: no answer does at which the rows cannot."""
        allowed = np.clip(ROUNDINGS * EPSILON * self.condition, LEAST, MOST)
        rows = np.abs(self.J @ a - self.k) <= allowed * (np.abs(self.J) @ np.abs(a) + np.abs(self.k)).max()
        f = np.concatenate(forces)
        terms = np.abs(self.M) @ np.abs(a) + np.abs(self.h) + np.abs(self.tau) + np.abs(self.J.T) @ np.abs(f)
        balance = np.abs(self.M @ a + self.h - self.tau - self.J.T @ f) <= allowed * terms.max()
        return rows.all() and balance.all()


@pytest.mark.parametrize("method", [None, "riccati"])
@pytest.mark.parametrize("name", HELD)
def test_machine_code_is_right_at_neutral_and_near_it(name, method):
    """1,000 states of each of twelve robots: no answer that is wrong, none that does not hold, and no refusal as long
    as the rows are independent by more than 1e-6.
    """
    model, constraints = ours(name), HELD[name]
    state = near_neutral(model, STATES)
    a, *forces = model.compiled._forward(constraints, method, None).rows_of(*state)
    for n, (q, v, tau) in enumerate(zip(*state)):
        oracle = Oracle(name, q, v, tau, constraints)
        if np.isnan(a[n]).any():
            assert oracle.condition > 1e6, f"state {n} is refused at condition {oracle.condition:.1e}"
            continue
        assert oracle.error(a[n]) < 1, f"state {n}: {oracle.error(a[n]):.1e} at condition {oracle.condition:.1e}"
        assert oracle.holds(a[n], [part[n] for part in forces]), f"state {n} at condition {oracle.condition:.1e}"


EXACT = (None, "pv", "pv-base", "pv-early", "ltl", "riccati")
ITERATED = ("prox-ltl", "prox-bbo", "lcaba", "constrained-aba", "prox-pv")


@pytest.mark.parametrize("name", ["iiwa14", "panda", "go1", "talos"])
@pytest.mark.parametrize("method", [*EXACT, *ITERATED])
def test_numbers_are_right_or_refused(name, method):
    """Whatever the configuration, no answer that is wrong, and where the rows are well independent no refusal but by
    the methods that want more: early elimination fixes its pivots, and the base may be needed to meet a leg's rows.
    """
    model, constraints = ours(name), HELD[name]
    if method == "pv-base" and not model.has_floating_base:
        pytest.skip("for floating bases alone")
    for q, v, tau in zip(*near_neutral(model, 11, seed=1)):
        oracle = Oracle(name, q, v, tau, constraints)
        try:
            a, forces = model.forward_dynamics(q, v, tau, constraints, method)
        except ModelError:
            assert method in ("pv-early", "pv-base") or oracle.condition > (1e6 if method in EXACT else 1e5)
            continue
        iteration = 1e-8 if method in ITERATED else 0.0
        assert oracle.error(a) < 1 or np.abs(a - oracle.a).max() < iteration * np.abs(oracle.a).max()
        # forces of "pv-base" are as good as each branch's rows are independent without the base
        assert method in (*ITERATED, "pv-base") or oracle.holds(a, forces)


# Arms stretched out, whose hands are welded: rows that depend on each other, and can hold at rest; legs whose knees are
# straight, wherever their other joints are.
STRETCHED = {"ur5": ("tool0", [2]), "panda": ("panda_hand", [3, 5]), "iiwa14": ("iiwa_flange", [3])}


@pytest.mark.parametrize("method", [None, "riccati", *ITERATED])
@pytest.mark.parametrize("name", STRETCHED)
def test_a_stretched_arm_that_is_welded(name, method):
    """At rest the rows can hold whatever their rank is, and the accelerations are those of the pseudo-inverse."""
    link, straight = STRETCHED[name]
    model, constraints = ours(name), [weld(link)]
    for seed in range(5):
        q = model.random_configuration(seed)
        for i in straight:
            q[model.q_slices[i]] = model.neutral()[model.q_slices[i]]
        tau = np.random.default_rng(seed).standard_normal(model.nv)
        oracle = Oracle(name, q, np.zeros(model.nv), tau, constraints)
        a, _ = model.forward_dynamics(q, np.zeros(model.nv), tau, constraints, method)
        assert np.abs(a - oracle.a).max() < 1e-7 * max(np.abs(oracle.a).max(), 1.0)


@pytest.mark.parametrize("name", ["go1", "a1", "solo12", "hyq", "talos"])
def test_straight_knees_anywhere(name):
    model, constraints = ours(name), HELD[name]
    knees = [
        i for i, joint in enumerate(model.joints) if re.search(r"calf|kfe|knee|_KFE|leg_.*_4_joint", joint.name, re.I)
    ]
    assert len(knees) == len(constraints)
    rng = np.random.default_rng(4)
    for bend in (0.0, 1e-3, 1e-5, 1e-7, 1e-9, 1e-11):
        q, v, tau = model.random_configuration(rng), *rng.standard_normal((2, model.nv))
        for knee in knees:
            q[model.q_slices[knee]] = bend
        oracle = Oracle(name, q, v, tau, constraints)
        for method in (None, "ltl", "riccati"):
            a, *forces = (
                part[0]
                for part in model.compiled._forward(constraints, method, None).rows_of(q[None], v[None], tau[None])
            )
            assert oracle.condition < 1e6 and oracle.error(a) < 1 and oracle.holds(a, forces)


@pytest.mark.parametrize("bend", [1e-5, 1e-7, 1e-9])
def test_early_elimination_in_machine_code_is_never_silently_wrong(bend):
    """The flange's point hardly feels the sixth joint; J has full rank by the others."""
    model, constraints = ours("iiwa14"), HELD["iiwa14"]
    rng = np.random.default_rng(2)
    q, v, tau = model.random_configuration(3), 0.1 * rng.standard_normal(7), rng.standard_normal(7)
    q[5] = bend
    oracle = Oracle("iiwa14", q, v, tau, constraints)
    assert oracle.condition < 1e3
    for method in (None, "ltl", "pv", "riccati"):
        a, _ = model.compiled.forward_dynamics(q, v, tau, constraints, method)
        assert oracle.error(a) < 1
    try:
        a, _ = model.compiled.forward_dynamics(q, v, tau, constraints, "pv-early")
    except ModelError as refusal:
        assert "not finite" in str(refusal)
    else:
        assert np.abs(a - oracle.a).max() < 1e-6 * np.abs(oracle.a).max()


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
    oracle = Oracle("talos", q, v, tau, constraints)
    if speed == 1.0:
        assert np.abs(oracle.J @ oracle.a - oracle.k).max() > 0.1
        with pytest.raises(ModelError, match=r"contradict each other by .*, expected rows that can hold"):
            model.forward_dynamics(q, v, tau, constraints)
        return
    a, _ = model.forward_dynamics(q, v, tau, constraints)
    assert np.abs(a - oracle.a).max() < 1e-7 * np.abs(oracle.a).max()


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
