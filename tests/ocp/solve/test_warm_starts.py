"""Warm starts: near ones save iterations, far ones cost few; the answer is that of a cold start."""

import numpy as np
import pytest
import trisweep as ts


def sledge():
    """A convex quadratic program."""
    ocp = ts.Problem(steps=25, step=0.1)
    motion = ocp.state("motion", 2, lower=[-10.0, -1.0], upper=[10.0, 1.0])
    push = ocp.control("push", lower=-1.5, upper=1.5)
    ocp.next(motion=np.array([[1.0, 0.1], [0.0, 0.98]]) @ motion + np.array([0.0, 0.1]) * push)
    ocp.minimize(ts.sumsqr(motion) + 0.05 * push**2)
    ocp.start("motion")
    return ocp.build(), {"motion": np.array([3.0, 0.0])}, {"motion": np.array([2.0, 0.5])}


def top():
    """A pendulum held upright, with little torque."""
    ocp = ts.Problem(steps=30, step=0.05, integrator="rk4")
    lean, rate = ocp.state("lean"), ocp.state("rate", lower=-4.0, upper=4.0)
    torque = ocp.control("torque", lower=-6.0, upper=6.0)
    ocp.derivative(lean=rate, rate=torque + 9.81 * ts.sin(lean))
    ocp.minimize(lean**2 + 0.1 * rate**2 + 0.01 * torque**2)
    ocp.start("lean", "rate")
    return ocp.build(), {"lean": np.zeros(1), "rate": np.zeros(1)}, {"lean": np.full(1, 0.4), "rate": np.ones(1)}


@pytest.mark.parametrize("make", [sledge, top])
@pytest.mark.parametrize(("strength", "share"), [(1e-3, 0.5), (1e-2, 0.6), (1.0, 1.3)])
def test_a_receding_horizon(make, strength, share):
    """Kicks of this share of a large one; all of it: to a place that has nothing to do with the plan."""
    solver, base, size = make()
    random, totals = np.random.default_rng(0), np.zeros(2)
    start = dict(base)
    last = solver.solve(start=start)
    for _ in range(12):
        for name in base:
            centre = base[name] if strength == 1.0 else last.trajectories[name][1]
            kick = np.clip(strength * size[name] * random.standard_normal(len(size[name])), -size[name], size[name])
            start[name] = centre + kick
        warm, cold = solver.solve(start=start, warm_start=last.shifted()), solver.solve(start=start)
        assert warm.solved and cold.solved
        assert warm.objective == pytest.approx(cold.objective, rel=1e-6)
        totals += warm.statistics.iterations, cold.statistics.iterations
        last = warm
    assert totals[0] <= share * totals[1]
