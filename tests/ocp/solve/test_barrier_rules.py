"""The rules of barrier and curvature, and what becomes of jams."""

from itertools import pairwise

import casadi as ca
import numpy as np
import pytest
import trisweep as ts
from scoreboard.judge import Judge
from suite import case
from support.ocp_problems import swing_up_in_units
from support.rivals import OF_IPOPT, ipopt
from support.whole_bodies import crouch
from trisweep.ocp import Settings
from trisweep.ocp.solve.settings import RULES
from trisweep.problems import task as ready


@pytest.mark.parametrize("name", ["particle_steering", "truck_trailer_parking"])
@pytest.mark.parametrize("rule", [{name: word} for name, words in RULES.items() for word in words.__members__], ids=str)
def test_every_rule_finds_the_optimum(rule, name):
    task = ready(name)
    solver = task.build()
    solution = solver.solve(task.guess, settings=Settings(**rule), **task.parameters)
    assert solution.status == "solved"
    assert solution.objective == pytest.approx(ipopt(task, solver).solve().objective, rel=1e-6)


@pytest.mark.parametrize("name", ["truck_trailer_parking", "two_link_minimum_time", "particle_steering"])
def test_the_adaptive_barrier_finds_the_same_optimum(name):
    task = ready(name)
    solver = task.build()
    adaptive = solver.solve(task.guess, settings=Settings(barrier="adaptive"), **task.parameters)
    assert adaptive.status == "solved"
    oracle = ipopt(task, solver, mu_strategy="adaptive").solve()
    assert abs(adaptive.objective - oracle.objective) <= 1e-6 * max(1.0, abs(oracle.objective))
    assert any(later.mu > now.mu for now, later in pairwise(adaptive.records))  # as it never does monotonely
    assert adaptive.statistics.iterations <= 30


def test_squares_of_accelerations_are_damped_to_gauss_and_newtons():
    """Their Hessian curves down by the dynamics inside, far from a solution; the cost itself does not."""
    ocp, guess = crouch("g1")
    solver = ocp.build()
    far = {"q": guess["q"], "tau": 0 * guess["tau"]}
    damped, shifted = (
        solver.solve(far, settings=Settings(curvature=rule, patience=0)) for rule in ("damped", "shifted")
    )
    assert damped.solved and damped.statistics.iterations < 0.4 * shifted.statistics.iterations
    assert not any(step.delta for step in damped.records)


@pytest.mark.parametrize("most_compiled", [0, 15])
def test_so_are_those_of_an_arm_whose_dynamics_are_compiled(most_compiled, monkeypatch):
    """By recursions and by compiled derivatives alike."""
    monkeypatch.setattr("trisweep.ocp.stages.functions.MANY_UNKNOWNS", most_compiled)
    arm = ts.robot("iiwa14")
    ocp = ts.Problem(steps=20, step=0.1, integrator="semi-implicit euler")
    q = ocp.state("q", arm.nq, lower=arm.q_lower, upper=arm.q_upper)
    v = ocp.state("v", arm.nv, lower=-arm.v_limit, upper=arm.v_limit)
    tau = ocp.control("tau", arm.nv, lower=-arm.effort_limit, upper=arm.effort_limit)
    a = arm.forward_dynamics(q, v, tau)
    ocp.derivative(q=v, v=a)
    ocp.minimize(1e-3 * ts.sumsqr(tau) + 0.1 * ts.sumsqr(a))
    for at, pose in (("start", 0.3), ("end", [1, -0.8, 0.9, 1.2, -0.6, 0.7, 0.5])):
        ocp.constrain(f"pose at the {at}", q, equals=pose, at=at)
        ocp.constrain(f"rest at the {at}", v, equals=0, at=at)
    solver = ocp.build()
    assert solver.backend.functions[0].recursive_unknowns == (0 if most_compiled else arm.nv)
    guess = {"q": 0.3 + np.random.default_rng(2).standard_normal((21, arm.nq))}
    damped, shifted = (solver.solve(guess, settings=Settings(curvature=rule)) for rule in ("damped", "shifted"))
    assert damped.solved and shifted.solved and not any(step.delta for step in damped.records)
    assert damped.objective <= shifted.objective * (1 + 1e-8)
    assert damped.statistics.iterations <= 25 < shifted.statistics.iterations


def contacts(pairs):
    """Forces and gaps of which one is to be zero, all paid for, and a place that neither has anything to do with."""
    ocp = ts.Problem(steps=30, step=1)
    x = ocp.state("x")
    push, room, slip = (ocp.control(name, pairs, lower=0) for name in ("push", "room", "slip"))
    ocp.next(x=x + ca.sum1(push) - 0.3)
    ocp.constrain("room", room - 1 - ts.sin(np.arange(1.0, pairs + 1) * x), equals=0)
    ocp.constrain("complementarity", push * room - slip, equals=0)
    ocp.minimize(ts.sumsqr(x - 2) + 0.1 * ca.sum1(push) + 5 * ca.sum1(slip))
    ocp.minimize(ts.sumsqr(x - 2), at="end")
    ocp.constrain("start", x, equals=0, at="start")
    return ocp


@pytest.mark.parametrize("pairs", [2, 3])
def test_complementarity_is_met_where_it_curves_down(pairs):
    """A cost that does not curve up by itself: no variable gets more of delta than its own curvature lacks."""
    solver = contacts(pairs).build()
    guess = dict.fromkeys(("push", "room", "slip"), 0.1)
    solution = solver.solve(guess)
    assert solution.solved and Judge(solver, seconds=60)(solution).false == ""
    assert any(step.delta for step in solution.records)


@pytest.mark.parametrize(("name", "most"), [("steering", 14), ("dielectrophoretic_particle", 34)])
def test_delta_where_curvature_is_lacking_takes_fewer_iterations(name, most):
    """On all variables it took 16 and 39."""
    stated = case(name).build()
    solver = stated.problem.build()
    solution = solver.solve(stated.guess, **stated.parameters)
    assert solution.solved and solution.statistics.iterations <= most
    assert Judge(solver, seconds=60)(solution).false == ""


def test_short_steps_in_a_row_ask_for_restoration():
    task = ready("quadrotor_to_a_point")
    solver = task.build()
    objective = ipopt(task, solver).solve().objective
    for patience in (0, 1, 2):
        solution = solver.solve(settings=Settings(patience=patience), **task.parameters)
        assert solution.status == "solved" and solution.objective == pytest.approx(objective, rel=1e-6)
        cut = [step.alpha_primal < 0.1 and step.kind in "fhs" for step in solution.records]
        gaining = [now.step < 0.75 * before.step and not now.delta for before, now in pairwise(solution.records)]
        marks = zip(cut, [False, *gaining], solution.records)
        kinds = "".join(("" if gains else "-") if short else step.kind for short, gains, step in marks)
        assert ("-" * patience + "r" in kinds) == (patience > 0)
        assert patience == 0 or "-" * (patience + 1) not in kinds


def test_where_the_quick_rules_fail_the_patient_one_is_asked():
    """The start comes twice in the log; from the second time on mu never rises."""
    solver = swing_up_in_units(angle=1e4, speed=1e-6, rows=1e3).build()
    quick, patient = solver.solve(), solver.solve(settings=OF_IPOPT)
    assert quick.status == patient.status == "solved"
    assert quick.objective == pytest.approx(patient.objective, rel=2e-6)
    first, again = (i for i, step in enumerate(quick.records) if step[1:6] == patient.records[0][1:6])
    rises = [i for i, (now, later) in enumerate(pairwise(quick.records)) if later.mu > now.mu and later.kind != "r"]
    assert first <= min(rises) <= max(rises) < again
