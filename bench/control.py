"""A controller's cycle of the iiwa, 25 steps, exact Hessian, all limits, by the wall from Python.

    python bench/control.py [cycles]

The arm follows a circling target; its plant carries a load that the plan does not know. One iteration a cycle: what
`prepare` takes before the measurement, `feedback` with it, both together, and the core's part of it by its own clock.
Then warm solves of the same problem, as without a controller, beside the core's part of them. Then deadlines, with
cycles of many iterations: by how much they were missed. One core, one run: percentiles say what the machine did
meanwhile.
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
    return statement(arm)[0].build()


def statement(arm: ts.Model):
    """The problem, and its velocities."""
    ocp = ts.Problem(steps=HORIZON, step=STEP, integrator="semi-implicit euler")
    q = ocp.state("q", arm.nq, lower=arm.q_lower, upper=arm.q_upper)
    v = ocp.state("v", arm.nv, lower=-arm.v_limit, upper=arm.v_limit)
    tau = ocp.control("tau", arm.nv, lower=-arm.effort_limit, upper=arm.effort_limit)
    away = arm.link_pose(q, HAND)[1] - ocp.parameter("target", 3, per_stage=True)
    ocp.derivative(q=v, v=arm.forward_dynamics(q, v, tau))
    ocp.minimize(50 * ts.sumsqr(away) + 1e-2 * ts.sumsqr(v) + 1e-5 * ts.sumsqr(tau))
    ocp.minimize(50 * ts.sumsqr(away) + 1e-1 * ts.sumsqr(v), at="end")
    ocp.start("q", "v")
    return ocp, v


def rows_beside(arm: ts.Model, soft: float | None):
    """The same with 104 rows more: four speeds, kept within half of their limits on every stage."""
    ocp, v = statement(arm)
    half = 0.5 * arm.v_limit[:4]
    ocp.constrain("gentle", v[:4], lower=-half, upper=half, soft=soft)
    return ocp.build()


def circle(times):
    angle = np.pi * times
    return np.column_stack([0.55 + 0 * angle, 0.15 * np.cos(angle), 0.55 + 0.15 * np.sin(angle)])


def percentiles(name: str, seconds: np.ndarray) -> None:
    at = [1e6 * np.percentile(seconds, share) for share in (0, 50, 99, 99.9, 100)]
    print(f"{name:34}" + "".join(f"{value:10.1f}" for value in at))


def histogram(seconds: np.ndarray) -> None:
    edges = [0, 10, 12, 14, 16, 18, 20, 25, 30, 50, 100, np.inf]
    counts, _ = np.histogram(1e6 * seconds, edges)
    print("feedbacks, by microseconds: " + ", ".join(f"<{high:g}: {n}" for high, n in zip(edges[1:], counts) if n))


def deadlines(solver, pose, rate) -> None:
    """Cycles of as many iterations as the time allows, from states that jump."""
    rng = np.random.default_rng(0)
    for limit in (200e-6, 500e-6, 2e-3):
        controller = solver.controller(seconds=limit, iterations=100, guess={"q": pose})
        for k in range(400):
            jump = 0.02 * rng.standard_normal(len(pose))
            targets = circle(STEP * (k + np.arange(HORIZON + 1)))
            controller.step({"q": pose + jump, "v": rate}, target=targets)
        over = 1e6 * (controller.history.since(1).feedback - limit)
        print(
            f"deadline of {1e6 * limit:g} us, 400 cycles of at most 100 iterations: beyond it by "
            f"{np.percentile(over, 50):.0f} us at the median, {np.percentile(over, 99):.0f} at 99 %, "
            f"{over.max():.0f} at most"
        )


def soft_rows(arm: ts.Model, pose: np.ndarray) -> None:
    """Cycles with rows that are hard, and soft, beside each other."""
    loops = [rows_beside(arm, soft).controller(guess={"q": pose}) for soft in (None, 10.0)]
    states = [{"q": pose, "v": np.zeros(arm.nv)} for _ in loops]
    for k in range(3000):
        targets = circle(STEP * (k + np.arange(HORIZON + 1)))
        for controller, state in zip(loops, states):
            tau = controller.step(state, target=targets).tau
            state["v"] = state["v"] + STEP * arm.compiled.forward_dynamics(state["q"], state["v"], tau)
            state["q"] = state["q"] + STEP * state["v"]
    histories = [loop.history.since(100) for loop in loops]
    hard, soft = (1e6 * np.median(history.prepare + history.feedback) for history in histories)
    steps = [history.statuses.count("under way") for history in histories]
    print(f"a cycle with 104 rows more: hard {hard:.1f} us, soft {soft:.1f} us at the median, {soft / hard:.3f} times; "
          f"steps {steps[0]} and {steps[1]} of {len(histories[0])}")  # fmt: skip


def pauses() -> None:
    """What the machine itself does to whoever measures times."""
    begin = last = time.perf_counter()
    found = []
    while last - begin < 3.0:
        now = time.perf_counter()
        found.append(now - last)
        last = now
    gaps = 1e6 * np.array(found)
    over = ", ".join(f"{np.sum(gaps > limit) / 3.0:.0f} of more than {limit} us" for limit in (20, 50, 100))
    print(f"pauses of a loop that does nothing, a second: {over}; the longest {gaps.max():.0f} us")


def main() -> None:
    print(describe("casadi", "llvmlite"))
    print(f"instruction set: {level}; {CYCLES} cycles")
    pauses()
    print()
    arm = ts.robot("iiwa14")
    solver = tracking(arm)
    plant, load = arm.compiled, {HAND: np.array([0, 0, 0, 0, 0, -15.0])}
    pose, rate = np.array([0.2, 0.5, 0.0, -1.3, 0.0, 1.2, 0.0]), np.zeros(arm.nv)
    controller, errors = solver.controller(guess={"q": pose}), []
    prepare, feedback = np.zeros(CYCLES), np.zeros(CYCLES)
    for k in range(CYCLES):
        targets = circle(STEP * (k + np.arange(HORIZON + 1)))
        begin = time.perf_counter()
        controller.prepare(target=targets)
        middle = time.perf_counter()
        command = controller.feedback(q=pose, v=rate)
        prepare[k], feedback[k] = middle - begin, time.perf_counter() - middle
        rate = rate + STEP * plant.forward_dynamics(pose, rate, command.tau, external=load)
        pose = pose + STEP * rate
        errors.append(np.linalg.norm(plant.link_pose(pose, HAND)[1] - circle(np.array([STEP * (k + 1)]))[0]))
    history = controller.history
    cycle, core = prepare + feedback, history.prepare + history.feedback
    print(f"{'microseconds':34}" + "".join(f"{word:>10}" for word in ("least", "50 %", "99 %", "99.9 %", "most")))
    percentiles("prepare", prepare[1:])
    percentiles("feedback", feedback[1:])
    percentiles("the cycle", cycle[1:])
    percentiles("the core's own part of a cycle", core[1:])
    print(f"the wall over the core, at the median: {np.median(cycle[1:]) / np.median(core[1:]):.2f}")
    histogram(feedback[1:])
    warm, own, plan = np.zeros(200), np.zeros(200), controller.plan
    for k in range(len(warm)):
        targets = circle(STEP * (CYCLES + k + np.arange(HORIZON + 1)))
        begin = time.perf_counter()
        plan = solver.solve(warm_start=plan.shifted(), start={"q": pose, "v": rate}, target=targets)
        warm[k], own[k] = time.perf_counter() - begin, plan.statistics.seconds
    percentiles("a warm solve in its place", warm)
    percentiles("the core's own part of that", own)
    print(f"the wall over the core, at the median: {np.median(warm) / np.median(own):.2f}")
    taken = plan.statistics
    evaluation = 1e6 * taken.seconds_functions / (taken.evaluations + taken.differentiations)
    print(f"an evaluation of the stages: {evaluation:.0f} us, values and derivatives taken together")
    deadlines(solver, pose, rate)
    soft_rows(arm, np.array([0.2, 0.5, 0.0, -1.3, 0.0, 1.2, 0.0]))
    print(f"\nbeyond 1 s the hand is {1e3 * np.mean(errors[50:]):.1f} mm from its target")
    print(history)


if __name__ == "__main__":
    main()
