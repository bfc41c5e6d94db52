"""What is no minimum is not called one, whatever the slopes at the guess and the limits beside it; and what is one is
not refused for the rounding of a sweep in which few controls meet many rows."""

import casadi as ca
import numpy as np
import pytest
from support.rivals import OF_IPOPT
from trisweep.ocp import Free, Problem, Settings

SADDLE = 0.1  # of the cost: at u = 0 the cost is stationary, at u = -1 and 1 so much less


def beside_a_saddle(cost, **more):
    """One step whose cost curves down along u, beside a variable with a cost of its own."""
    ocp = Problem(steps=1)
    x, u, y = ocp.state("x"), ocp.control("u", lower=-1, upper=1), ocp.control("y", **more)
    ocp.next(x=x)
    ocp.constrain("start", x, equals=0.5, at="start")
    ocp.minimize(cost(y) - SADDLE * u**2)
    return ocp.build()


@pytest.mark.parametrize("guess", [0.0, 10.0, 30.0, 60.0])
def test_a_saddle_after_a_steep_guess(guess):
    """From 30 and 60 it was "solved": the cost is scaled by its slopes there, and so is the curvature."""
    solution = beside_a_saddle(lambda y: ca.exp(y) - 2 * y + 1e-3 * y**2).solve(guess={"y": guess})
    assert not solution.solved or abs(solution.u[0, 0]) > 0.99


def test_a_shallow_saddle_after_a_steep_guess():
    """The cost at the saddle is 1e-5, at the guess 1e16."""
    solution = beside_a_saddle(lambda y: (y - 0.3) ** 8 + 1e-3 * y**2).solve(guess={"y": 100.0})
    assert not solution.solved or abs(solution.u[0, 0]) > 0.99


@pytest.mark.parametrize("tolerance", [1e-6, 1e-8, 1e-10, 1e-12])
@pytest.mark.parametrize(("force", "soft"), [(100.0, None), (1e4, 20001.0)])
def test_a_saddle_beside_a_limit_that_presses(tolerance, force, soft):
    """A limit that is met closely is stiff, and what the sums lose beside it is not what the others curve by."""
    solver = beside_a_saddle(lambda y: force * y + (y - 0.4) ** 4, lower=0.3, upper=3, soft=soft)
    solution = solver.solve(guess={"y": 1.0}, settings=Settings(tolerance=tolerance))
    assert not solution.solved or abs(solution.u[0, 0]) > 0.99


def test_slopes_that_are_rounding_are_none():
    """At the maximum of a cosine the slope is 1e-16: the cost is not scaled up by it."""
    ocp = Problem(steps=2)
    x, u = ocp.state("x"), ocp.control("u", lower=-0.8, upper=0.8, soft=50.0)
    ocp.next(x=x)
    ocp.constrain("start", x, equals=0.5, at="start")
    ocp.minimize(-ca.cos(np.pi * (u + 1)))
    solution = ocp.build().solve()
    assert solution.solved and solution.objective == pytest.approx(2 * np.cos(0.8 * np.pi), rel=1e-6)


def masses_in_a_row(count):
    """Pushed by the first of them from rest to rest in least time: as many rows at the end as states, one control."""
    ocp = Problem(steps=90, duration=Free(8, 0.5, 40), integrator="rk4")
    q, v, u = ocp.state("q", count), ocp.state("v", count, lower=-0.6, upper=0.6), ocp.control("u", lower=-1, upper=1)
    apart = ca.diff(q)
    ocp.derivative(q=v, v=ca.vertcat(u, ca.SX.zeros(count - 1)) + 4 * (ca.vertcat(apart, 0) - ca.vertcat(0, apart)))
    ocp.minimize(ocp.time_step * ocp.steps, at="end")
    ocp.minimize(1e-2 * u**2)
    ocp.constrain("start", ca.vertcat(q, v), equals=0, at="start")
    ocp.constrain("end", ca.vertcat(q, v), equals=np.r_[np.ones(count), np.zeros(count)], at="end")
    return ocp, {"q": np.linspace(0, 1, 91)[:, None] * np.ones(count)}


def sloshing_cargo(integrator, steps):
    """A cart whose motor has a limited rate and whose load has two modes, tilting little: seven rows at the end."""
    ocp = Problem(steps=steps, duration=Free(4, 0.5, 15), integrator=integrator)
    x, v, a = ocp.state("x"), ocp.state("v", lower=-1.2, upper=1.2), ocp.state("a", lower=-2, upper=2)
    q, w = ocp.state("q", 2, lower=-0.12, upper=0.12), ocp.state("w", 2)
    rate = ocp.control("rate", lower=-20, upper=20)
    pulls = ca.vertcat(-9 * q[0] - 0.05 * w[0] - a * ca.cos(q[0]), -25 * ca.sin(q[1]) - 0.1 * w[1] - 0.7 * a)
    ocp.derivative(x=v, v=a, a=rate, q=w, w=pulls)
    ocp.minimize(ocp.time_step * steps, at="end")
    ocp.minimize(1e-5 * rate**2)
    ocp.constrain("start", ca.vertcat(x, v, a, q, w), equals=0, at="start")
    ocp.constrain("end", ca.vertcat(x, v, a, q, w), equals=[2, 0, 0, 0, 0, 0, 0], at="end")
    return ocp, {"x": np.linspace(0, 2, steps + 1)}


MANY_ROWS = {
    "four masses": (lambda: masses_in_a_row(4), 25),
    "six masses": (lambda: masses_in_a_row(6), 150),
    "cargo, euler": (lambda: sloshing_cargo("euler", 90), 40),
    "cargo, rk4": (lambda: sloshing_cargo("rk4", 90), 40),
    "cargo, more steps": (lambda: sloshing_cargo("euler", 180), 40),
}


@pytest.mark.parametrize("name", MANY_ROWS)
def test_many_rows_that_few_controls_meet(name):
    """The sweep meets them by the last controls, whose gains grow like the steps to the power of the rows. Six masses
    were "stalled", four took 252 iterations, the cargo was "not minimal" from nearly any guess."""
    make, most = MANY_ROWS[name]
    ocp, guess = make()
    solution, theirs = ocp.build().solve(guess), ocp.build(backend="ipopt").solve(guess, settings=OF_IPOPT)
    assert solution.solved and solution.statistics.iterations <= most
    assert solution.check().worst < 1e-6
    assert solution.objective == pytest.approx(theirs.objective, rel=1e-6)
