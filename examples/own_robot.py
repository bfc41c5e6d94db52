"""Your own robot from a URDF file: lift its tip to a point, with little torque, and be at rest there."""

from pathlib import Path

import numpy as np
import trisweep as ts

POINT = [0.6, 0.2]  # m, forward and up

robot = ts.load(Path(__file__).parent / "two_link.urdf")
ocp = ts.Problem(steps=60, duration=1.5, integrator="rk4")

q = ocp.state("q", robot.nq, lower=robot.q_lower, upper=robot.q_upper)
v = ocp.state("v", robot.nv, lower=-robot.v_limit, upper=robot.v_limit)
tau = ocp.control("tau", robot.nv, lower=-robot.effort_limit, upper=robot.effort_limit)
ocp.derivative(q=v, v=robot.forward_dynamics(q, v, tau))
ocp.minimize(ocp.time_step * ts.sumsqr(tau))

_, tip = robot.link_pose(q, "tip")
ocp.constrain("start hanging", q, equals=robot.neutral(), at="start")
ocp.constrain("start at rest", v, equals=0, at="start")
ocp.constrain("tip at the point", ts.vertcat(tip[0], tip[2]), equals=POINT, at="end")
ocp.constrain("end at rest", v, equals=0, at="end")

solution = ocp.build().solve(guess={"q": np.linspace([0.0, 0.0], [-2.0, 0.5], ocp.steps + 1)})
print(solution)
print("joints at the end, rad:", solution.q[-1].round(4))
print("tip at the end, m:     ", np.round(robot.link_pose(solution.q[-1], "tip")[1], 4))
