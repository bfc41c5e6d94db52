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

# With M = L L', A = J L'^-1 and kappa the condition of A, that of the system [1 A'; A 0] is kappa^2. Errors of
# x = L' a, beside the terms that x is summed from, may be so many roundings times kappa, and one times its square.
# Above `LOST` that leaves less than three digits, and to give no answer is right.
ROUNDINGS, LOST = 100, 1e-3 / EPSILON

# "riccati" does not square, but accepts residuals of 1e-12; "pv-early" and "pv-base" meet rows by joints, or branches,
# that feel little of them, as their own limits say (`SHARE`, `INDEPENDENT`).
ACCEPTED = {"riccati": 1e-11, "pv-early": 1e-9, "pv-base": 1e-9}

# Singular values below this share of the largest are rounding: J is of less than full rank. Above the square root of
# it an answer is one of the two ranks'.
RANK = 1e-12

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
    """x = L' a of least squares from Pinocchio's matrices by singular values, M = L L', and the condition of A."""

    def __init__(self, name, q, v, tau, constraints):
        other = twin(name)
        data = other.createData()
        self.M, self.h, self.tau = mass_matrix(other, data, q), pin.rnea(other, data, q, v, np.zeros(other.nv)), tau
        self.J, self.k = demanded(other, data, q, v, constraints)
        self.L = np.linalg.cholesky(self.M)
        A, pulled, pushed = (np.linalg.solve(self.L, part) for part in (self.J.T, self.h, tau))
        U, singular, V = np.linalg.svd(A.T, full_matrices=False)
        self.condition = singular[0] / max(singular[-1], 1e-300)
        self.full_rank = self.condition < 1 / RANK
        missing = U.T @ (self.k - A.T @ (pushed - pulled))
        self.answers = []
        for share in (RANK,) if self.full_rank else (RANK, EPSILON):
            kept = singular > share * singular[0]
            self.answers.append(pushed - pulled + V[kept].T @ (missing[kept] / singular[kept]))
        self.size = np.linalg.norm(pulled) + np.linalg.norm(pushed)
        self.a = np.linalg.solve(self.L.T, self.answers[0])

    def error(self, a):
        """Of x = L' a, beside its terms."""
        errors = [np.linalg.norm(self.L.T @ a - x) / (self.size + np.linalg.norm(x)) for x in self.answers]
        return min(errors)

    def allows(self, method=None):
        """What the condition allows it to be; of a rank that is in doubt three digits are asked for."""
        roundings = EPSILON * (ROUNDINGS * self.condition + self.condition**2)
        return min(roundings + ACCEPTED.get(method, 0.0) * self.condition, 1e-2)

    def may_refuse(self, method=None):
        """Whether the square of the condition leaves too few digits; "riccati" bears more."""
        return self.condition > 1e7 if method == "riccati" else self.condition**2 > LOST

    def holds(self, a, forces, method=None):
        """Whether rows and forces balance, beside their terms: no answer does at which the rows cannot."""
        allowed = self.allows(method)
        rows = np.abs(self.J @ a - self.k) <= allowed * (np.abs(self.J) @ np.abs(a) + np.abs(self.k)).max()
        f = np.concatenate(forces)
        terms = np.abs(self.M) @ np.abs(a) + np.abs(self.h) + np.abs(self.tau) + np.abs(self.J.T) @ np.abs(f)
        balance = np.abs(self.M @ a + self.h - self.tau - self.J.T @ f) <= allowed * terms.max()
        return rows.all() and balance.all()

    def check(self, a, forces, method, state=""):
        """That an answer is right, and one that is not finite excused."""
        said = f"state {state}, condition {self.condition:.1e}"
        if np.isnan(a).any():
            assert self.may_refuse(method), f"{said}: refused"
            return
        assert self.error(a) <= self.allows(method), f"{said}: error {self.error(a):.1e} of {self.allows(method):.1e}"
        assert self.holds(a, forces, method), f"{said}: rows or forces do not hold"


def rows_of(model, constraints, method, state):
    """Accelerations and forces by machine code, whatever they are."""
    return model.compiled._forward(constraints, method).rows_of(*state)


@pytest.mark.parametrize("method", [None, "riccati"])
@pytest.mark.parametrize("name", HELD)
def test_machine_code_is_right_at_neutral_and_near_it(name, method):
    """1,000 states of each of twelve robots."""
    model, constraints = ours(name), HELD[name]
    state = near_neutral(model, STATES)
    a, *forces = rows_of(model, constraints, method, state)
    for n, (q, v, tau) in enumerate(zip(*state)):
        Oracle(name, q, v, tau, constraints).check(a[n], [part[n] for part in forces], method, n)


# Arms whose hands are welded: all are singular at neutral, some in three directions at once.
WELDED = {
    "iiwa14": "iiwa_flange",
    "ur5": "tool0",
    "ur10": "tool0",
    "panda": "panda_hand",
    "kinova": "j2s6s200_link_6",
    "xarm7": "link7",
    "z1": "link06",
}


def near_singular(model, count, seed):
    """Rows of q, v, tau: half of them near neutral, from 0.1 to 1e-12, half with some joints so, the others random."""
    rng = np.random.default_rng(seed)
    found = []
    for n, size in enumerate(np.logspace(-1, -12, count)):
        near = model.integrate(model.neutral(), size * rng.standard_normal(model.nv))
        q = model.random_configuration(rng)
        for part in model.q_slices:
            if n % 2 or rng.random() < 0.3:
                q[part] = near[part]
        found.append(q)
    return np.array(found), 0.1 * rng.standard_normal((count, model.nv)), rng.standard_normal((count, model.nv))


@pytest.mark.parametrize("method", [None, "pv", "ltl", "riccati"])
@pytest.mark.parametrize("name", WELDED)
def test_machine_code_near_singular_arms(name, method):
    """Rows that all but depend on each other in several ways at once: right or refused, and right with machine code's
    other way, that of numbers.
    """
    model, constraints = ours(name), [weld(WELDED[name])]
    state = near_singular(model, 200, seed=11)
    a, *forces = rows_of(model, constraints, method, state)
    for n, (q, v, tau) in enumerate(zip(*state)):
        Oracle(name, q, v, tau, constraints).check(a[n], [part[n] for part in forces], method, n)


def test_machine_code_answers_by_another_method_where_its_own_gives_none():
    """HyQ on stretched legs: dependent rows that can hold at rest, and near them rows that need huge forces."""
    model, constraints = ours("hyq"), HELD["hyq"]
    rng, seen = np.random.default_rng(3), 0
    for size in (0.0, 1e-4, 3e-5, 1e-5):
        q = model.integrate(model.neutral(), size * rng.standard_normal(model.nv))
        v, tau = 0.1 * (size > 0) * rng.standard_normal(model.nv), rng.standard_normal(model.nv)
        own = rows_of(model, constraints, None, (q[None], v[None], tau[None]))[0]
        oracle = Oracle("hyq", q, v, tau, constraints)
        a, forces = model.compiled.forward_dynamics(q, v, tau, constraints)
        assert oracle.error(a) <= oracle.allows("riccati")
        seen += np.isnan(own).any()
    assert seen


def test_machine_code_says_which_state_cannot_hold():
    model, constraints = ours("hyq"), HELD["hyq"]
    q, v = model.neutral(), np.random.default_rng(4).standard_normal((2, model.nv))
    bent = model.integrate(q, 0.5 * np.ones(model.nv))
    with pytest.raises(ModelError, match=r"compiled forward_dynamics: state 1: .* contradict each other"):
        model.compiled.forward_dynamics(np.array([bent, q]), v, v, constraints)


EXACT = (None, "pv", "pv-base", "pv-early", "ltl", "riccati")
ITERATED = ("prox-ltl", "prox-bbo", "lcaba", "constrained-aba", "prox-pv")

# What the proximal methods stop at, beside the largest acceleration or 1, with what their estimate may be off by.
CONVERGED = 1e-8


@pytest.mark.parametrize("name", ["iiwa14", "panda", "kinova", "go1", "hyq", "talos"])
@pytest.mark.parametrize("method", [*EXACT, *ITERATED])
def test_numbers_are_right_or_refused(name, method):
    """Whatever the configuration, no answer that is wrong, and where the rows are well independent no refusal but by
    the methods that want more, and say so: early elimination fixes its pivots, the base may be needed to meet a leg's
    rows, and proximal methods refuse what their forces do not reach.
    """
    model, constraints = ours(name), HELD[name]
    if method == "pv-base" and not model.has_floating_base:
        pytest.skip("for floating bases alone")
    for q, v, tau in zip(*near_neutral(model, 11, seed=1)):
        oracle = Oracle(name, q, v, tau, constraints)
        try:
            a, forces = model.forward_dynamics(q, v, tau, constraints, method)
        except ModelError:
            wants_more = method in ("pv-early", "pv-base") or (method in ITERATED and oracle.condition > 1e5)
            assert wants_more or oracle.may_refuse("riccati" if method is None else method)
            continue
        if method in ITERATED:
            near = np.abs(a - oracle.a).max() < CONVERGED * max(np.abs(oracle.a).max(), 1.0)
            assert near or oracle.error(a) <= oracle.allows()
            continue
        # numbers that take no method of their own may have it from "riccati"
        assert oracle.error(a) <= oracle.allows("riccati" if method is None else method)
        # forces of "pv-base" are as good as each branch's rows are independent without the base
        assert method == "pv-base" or oracle.holds(a, forces, "riccati" if method is None else method)


# Arms stretched out, whose hands are welded: rows that depend on each other, and can hold at rest; legs whose knees are
# straight, wherever their other joints are.
STRETCHED = {"ur5": [2], "panda": [3, 5], "iiwa14": [3], "kinova": [2]}


@pytest.mark.parametrize("method", [None, "riccati", *ITERATED])
@pytest.mark.parametrize("name", STRETCHED)
def test_a_stretched_arm_that_is_welded(name, method):
    """At rest the rows can hold whatever their rank is, and the accelerations are those of the pseudo-inverse."""
    straight = STRETCHED[name]
    model, constraints = ours(name), [weld(WELDED[name])]
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
            a, *forces = (part[0] for part in rows_of(model, constraints, method, (q[None], v[None], tau[None])))
            assert not oracle.may_refuse(method)
            oracle.check(a, forces, method, bend)


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
        a, forces = model.compiled.forward_dynamics(q, v, tau, constraints, method)
        oracle.check(a, forces, method, bend)
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
