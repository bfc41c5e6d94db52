"""Model-predictive control: the arm follows a target that circles, and plans anew every 20 ms.

The plan looks half a second ahead with the full dynamics and all limits. A cycle is one step of the solver, cut at the
measurement (docs/control.md). The arm under control carries a load the plan does not know.
"""

import numpy as np
import trisweep as ts

STEP, HORIZON, CYCLES, HAND = 0.02, 25, 100, "iiwa_flange"  # s, steps, -, -

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


pose, rate = np.array([0.2, 0.5, 0.0, -1.3, 0.0, 1.2, 0.0]), np.zeros(arm.nv)
load = {HAND: np.array([0, 0, 0, 0, 0, -15.0])}  # N; nothing in the plan knows of it
controller, errors = solver.controller(guess={"q": pose}), []
for k in range(CYCLES):
    controller.prepare(target=circle(STEP * (k + np.arange(HORIZON + 1))))
    command = controller.feedback(q=pose, v=rate)
    rate = rate + STEP * arm.forward_dynamics(pose, rate, command.tau, external=load)
    pose = pose + STEP * rate
    errors.append(np.linalg.norm(arm.link_pose(pose, HAND)[1] - circle(np.array([STEP * (k + 1)]))[0]))

print(controller.history)
print(f"distance from the target after 1 s: {1e3 * np.mean(errors[50:]):.1f} mm on average")
