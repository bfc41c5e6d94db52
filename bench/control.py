"""A controller's cycle of the iiwa, 25 steps, exact Hessian, all limits, by the wall from Python.

    python bench/control.py [cycles]

The arm follows a circling target; its plant carries a load that the plan does not know. One iteration a cycle: what
`prepare` takes before the measurement, `feedback` with it, both together, and the core's own time for the same, called
without checks. Then warm solves of the same problem, as without a controller. One core, one run: percentiles say what
the machine did meanwhile.
"""

import sys
import time

import numpy as np
import trisweep as ts
from support.machine import describe
from trisweep.native import level

STEP, HORIZON, HAND = 0.02, 25, "iiwa_flange"
CYCLES = int(sys.argv[1]) if len(sys.argv) > 1 else 20_000


def tracking(arm: ts.Model):
    ocp = ts.Problem(steps=HORIZON, step=STEP, integrator="semi-implicit euler")
    q = ocp.state("q", arm.nq, lower=arm.q_lower, upper=arm.q_upper)
    v = ocp.state("v", arm.nv, lower=-arm.v_limit, upper=arm.v_limit)
    tau = ocp.control("tau", arm.nv, lower=-arm.effort_limit, upper=arm.effort_limit)
    away = arm.link_pose(q, HAND)[1] - ocp.parameter("target", 3, per_stage=True)
    ocp.derivative(q=v, v=arm.forward_dynamics(q, v, tau))
    ocp.minimize(50 * ts.sumsqr(away) + 1e-2 * ts.sumsqr(v) + 1e-5 * ts.sumsqr(tau))
    ocp.minimize(50 * ts.sumsqr(away) + 1e-1 * ts.sumsqr(v), at="end")
    ocp.start("q", "v")
    return ocp.build()


def circle(times):
    angle = np.pi * times
    return np.column_stack([0.55 + 0 * angle, 0.15 * np.cos(angle), 0.55 + 0.15 * np.sin(angle)])


def percentiles(name: str, seconds: np.ndarray) -> None:
    at = [1e6 * np.percentile(seconds, share) for share in (0, 50, 99, 99.9, 100)]
    print(f"{name:34}" + "".join(f"{value:10.1f}" for value in at))


def main() -> None:
    print(describe("casadi", "llvmlite"))
    print(f"instruction set: {level}; {CYCLES} cycles\n")
    arm = ts.robot("iiwa14")
    solver = tracking(arm)
    plant, load = arm.compiled, {HAND: np.array([0, 0, 0, 0, 0, -15.0])}
    pose, rate = np.array([0.2, 0.5, 0.0, -1.3, 0.0, 1.2, 0.0]), np.zeros(arm.nv)
    controller, errors = solver.controller(guess={"q": pose}), []
    for k in range(CYCLES):
        controller.prepare(target=circle(STEP * (k + np.arange(HORIZON + 1))))
        command = controller.feedback(q=pose, v=rate)
        rate = rate + STEP * plant.forward_dynamics(pose, rate, command.tau, external=load)
        pose = pose + STEP * rate
        errors.append(np.linalg.norm(plant.link_pose(pose, HAND)[1] - circle(np.array([STEP * (k + 1)]))[0]))
    history = controller.history
    core, bare = controller._core, np.zeros(CYCLES)
    first, control = np.concatenate([pose, rate]), np.zeros(arm.nv)
    for k in range(CYCLES):
        begin = time.perf_counter()
        core.prepare(False)
        core.feedback(first, 1, 1e9, control)
        bare[k] = time.perf_counter() - begin
    print(f"{'microseconds':34}" + "".join(f"{word:>10}" for word in ("least", "50 %", "99 %", "99.9 %", "most")))
    percentiles("prepare", history.prepare[1:])
    percentiles("feedback", history.feedback[1:])
    percentiles("the cycle", (history.prepare + history.feedback)[1:])
    percentiles("the core's own part of a cycle", bare)
    warm, plan = np.zeros(200), controller.plan
    for k in range(len(warm)):
        targets = circle(STEP * (CYCLES + k + np.arange(HORIZON + 1)))
        begin = time.perf_counter()
        plan = solver.solve(warm_start=plan.shifted(), start={"q": pose, "v": rate}, target=targets)
        warm[k] = time.perf_counter() - begin
    percentiles("a warm solve in its place", warm)
    print(f"\nbeyond 1 s the hand is {1e3 * np.mean(errors[50:]):.1f} mm from its target")
    print(history)


if __name__ == "__main__":
    main()
