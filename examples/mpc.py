"""Model-predictive control: the arm follows a target that circles, and plans anew every 20 ms.

The plan looks half a second ahead with the full dynamics and all limits. A cycle is one step of the solver, cut at the
measurement (docs/control.md). The arm under control carries a load the plan does not know.
"""

import numpy as np
import trisweep as ts

STEP, HORIZON, HAND = 0.02, 25, "iiwa_flange"  # s, steps, -

arm = ts.robot("iiwa14")
ocp = ts.Problem(steps=HORIZON, step=STEP, integrator="semi-implicit euler")
q = ocp.state("q", arm.nq, lower=arm.q_lower, upper=arm.q_upper)
v = ocp.state("v", arm.nv, lower=-arm.v_limit, upper=arm.v_limit)
tau = ocp.control("tau", arm.nv, lower=-arm.effort_limit, upper=arm.effort_limit)
target = ocp.parameter("target", 3, per_stage=True)

away = arm.link_pose(q, HAND)[1] - target
ocp.derivative(q=v, v=arm.forward_dynamics(q, v, tau))
ocp.minimize(50 * ts.sumsqr(away) + 1e-2 * ts.sumsqr(v) + 1e-5 * ts.sumsqr(tau))
ocp.minimize(50 * ts.sumsqr(away) + 1e-1 * ts.sumsqr(v), at="end")
ocp.start("q", "v")
solver = ocp.build()


def circle(times):
    """The target's place (n, 3), m."""
    angle = 2 * np.pi * times / 2.0
    return np.column_stack([0.55 + 0 * angle, 0.15 * np.cos(angle), 0.55 + 0.15 * np.sin(angle)])


pose = np.array([0.2, 0.5, 0.0, -1.3, 0.0, 1.2, 0.0])
run = ts.closed_loop(
    solver.controller(guess={"q": pose}),
    arm.with_payload(HAND, mass=1.5),  # kg; nothing in the plan knows of it
    seconds=2.0,
    start={"q": pose, "v": np.zeros(arm.nv)},
    parameters=lambda time: {"target": circle(time + STEP * np.arange(HORIZON + 1))},
)
hand = np.array([arm.link_pose(q, HAND)[1] for q in run.q])
errors = np.linalg.norm(hand - circle(run.times), axis=1)

print(run)
print(f"distance from the target after 1 s: {1e3 * errors[50:].mean():.1f} mm on average")
