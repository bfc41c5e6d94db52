"""Wipe a table: the hand slides over it and presses on it, and the contact force stands in cost and constraints.

A constraint of the dynamics keeps the hand flat on the table and returns the moments and the force that do it. The
torques are such that it presses with about 20 N, never with less than 15 or more than 25.
"""

import numpy as np
import trisweep as ts

HAND = "iiwa_flange"
START = [0.0, 0.6, 0.0, -1.4, 0.0, np.pi - 2.0, 0.0]  # rad; the hand points down
STROKE = [0.1, 0.3]  # m, forward and to the side

arm = ts.robot("iiwa14")
ocp = ts.Problem(steps=40, step=0.025, integrator="semi-implicit euler")
q = ocp.state("q", arm.nq, lower=arm.q_lower, upper=arm.q_upper)
v = ocp.state("v", arm.nv, lower=-arm.v_limit, upper=arm.v_limit)
tau = ocp.control("tau", arm.nv, lower=-arm.effort_limit, upper=arm.effort_limit)

flat = ts.Constraint(HAND, np.eye(6)[[0, 1, 2, 5]])  # the hand neither turns nor moves along its own z axis
a, (holding,) = arm.forward_dynamics(q, v, tau, constraints=[flat])
pressure = -holding[3]  # N; the table pushes the hand back along its z axis
ocp.derivative(q=v, v=a)

ocp.minimize(1e-3 * ts.sumsqr(tau) + 1e-2 * ts.sumsqr(v) + 2e-3 * (pressure - 20) ** 2)
ocp.constrain("press", pressure, lower=15, upper=25)
ocp.constrain("start pose", q, equals=START, at="start")
ocp.constrain("start at rest", v, equals=0, at="start")
_, begin = arm.link_pose(START, HAND)
_, hand = arm.link_pose(q, HAND)
ocp.constrain("end of the stroke", hand[:2], equals=begin[:2] + STROKE, at="end")
slide = arm.link_velocity(q, v, HAND)[3:5]  # with the elbow's turn all that the table leaves free
ocp.constrain("end at rest", ts.vertcat(slide, v[2]), equals=0, at="end")

solution = ocp.build().solve(guess={"q": START})
print(solution)
pressed = solution.constraints["press"].values[:, 0]
height = [arm.link_pose(each, HAND)[1][2] for each in solution.q]
print(f"pressure: {pressed.min():.2f} to {pressed.max():.2f} N, {pressed.mean():.2f} N on average")
print(f"the hand strays from the table by {1e3 * np.ptp(height):.3f} mm")
