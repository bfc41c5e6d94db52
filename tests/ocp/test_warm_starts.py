"""Warm starts: near ones save iterations, far ones cost few; the answer is that of a cold start."""

import numpy as np
import pytest
import trisweep as ts


def bounded_integrator():
    """A convex quadratic program."""
    ocp = ts.Problem(steps=30, step=0.1)
    x, v = ocp.state("x"), ocp.state("v", lower=-0.8, upper=0.8)
    u = ocp.control("u", lower=-1.0, upper=1.0)
    ocp.next(x=x + 0.1 * v, v=v + 0.1 * u)
    ocp.minimize(x**2 + 0.1 * v**2 + 0.01 * u**2)
    ocp.minimize(10 * x**2 + v**2, at="end")
    ocp.start("x", "v")
    return ocp.build(), {"x": 2.0, "v": 0.0}, {"x": 2.0, "v": 0.3}


def tank():
    """A reaction with an exponential, cooled."""
    ocp = ts.Problem(steps=40, step=0.05, integrator="rk4")
    c, heat = ocp.state("c", lower=0.0, upper=1.2), ocp.state("heat", lower=0.2, upper=1.6)
    cooling = ocp.control("cooling", lower=0.0, upper=4.0)
    reaction = 40 * c * ts.exp(-4.0 / (heat + 0.1))
    ocp.derivative(c=1 - c - reaction, heat=0.35 - heat + 1.2 * reaction - cooling * (heat - 0.3))
    ocp.minimize(10 * (c - 0.45) ** 2 + 0.01 * cooling**2)
    ocp.start("c", "heat")
    return ocp.build(), {"c": 0.7, "heat": 0.6}, {"c": 0.2, "heat": 0.3}


@pytest.mark.parametrize("make", [bounded_integrator, tank])
@pytest.mark.parametrize(("strength", "share"), [(1e-3, 0.4), (1e-2, 0.6), (1.0, 1.3)])
def test_a_receding_horizon(make, strength, share):
    """Kicks of this share of a large one; all of it: to a place that has nothing to do with the plan."""
    solver, base, size = make()
    random, totals = np.random.default_rng(0), np.zeros(2)
    start = dict(base)
    last = solver.solve(start=start)
    for _ in range(12):
        for name in base:
            centre = base[name] if strength == 1.0 else last.trajectories[name][1, 0]
            kick = np.clip(strength * size[name] * random.standard_normal(), -size[name], size[name])
            start[name] = centre + kick
        warm, cold = solver.solve(start=start, warm_start=last.shifted()), solver.solve(start=start)
        assert warm.solved and cold.solved
        assert warm.objective == pytest.approx(cold.objective, rel=1e-6)
        totals += warm.statistics.iterations, cold.statistics.iterations
        last = warm
    assert totals[0] <= share * totals[1]
