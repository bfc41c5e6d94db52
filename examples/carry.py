"""Two arms carry a box: what both hold closes a loop, and a hand that only presses on it must keep it pressed.

The arms are planar, of three joints each. The box is fixed to the left hand, and a constraint holds it against the
right one; the moment and the forces of that constraint are those between hand and box, and stand in the limits: the
hand only pushes, within the friction cone and on its own palm.
"""

from dataclasses import replace

import numpy as np
import trisweep as ts
from trisweep.dynamics import Shape

ROD, HAND, WIDTH, MASS = 0.4, 0.1, 0.3, 3.0  # m, m, m, kg
LIFT = (0.1, 0.0, 0.2)  # m
FRICTION, PALM, GRIP, TORQUE = 0.5, 0.05, 30.0, 60.0  # -, m, N, N m

builder = ts.ModelBuilder("two arms")
for side, x in (("left", -0.55), ("right", 0.55)):
    parent, place = "universe", (x, 0, 0)
    for link, length, mass in (("upper", ROD, 2.0), ("lower", ROD, 2.0), ("hand", HAND, 0.5)):
        inertia = mass * np.diag([0.03**2, length**2 / 12 + 0.01**2, length**2 / 12 + 0.01**2])
        builder.add(f"{side} {link}", parent, "revolute", axis=(0, 1, 0), position=place, mass=mass,
                    com=(length / 2, 0, 0), inertia=inertia)  # fmt: skip
        parent, place = f"{side} {link}", (length, 0, 0)
inertia = MASS * WIDTH**2 / 6 * np.eye(3)
builder.add("box", "left hand", "fixed", position=(HAND + WIDTH / 2, 0, 0), mass=MASS, com=(0, 0, 0), inertia=inertia)
builder.shape(Shape("box", (WIDTH, WIDTH, WIDTH), "box"))
arms = builder.build()

# The hands point at each other 0.45 m above the bases; a turn about y lowers x to -z.
reach, height = 0.55 - WIDTH / 2 - HAND, 0.45
aim, bend = np.arctan2(height, reach), np.arccos(np.hypot(reach, height) / (2 * ROD))
upper, lower = -(aim + bend), -(aim - bend)
start = np.array([upper, lower - upper, -lower, np.pi - upper, upper - lower, lower])
facing = np.diag([-1.0, 1.0, -1.0])  # the right hand as the box sees it
weld = ts.weld("right hand", (HAND, 0, 0), other="box", target=(facing, (WIDTH / 2, 0, 0)), period=0.1)
hold = replace(weld, K=np.eye(6)[[1, 3, 5]], k=0.0, softness=1e-6)  # in the plane: the turn, x and z

ocp = ts.Problem(steps=30, step=0.04, integrator="rk4")
q, v = ocp.state("q", 6), ocp.state("v", 6, lower=-10, upper=10)
tau = ocp.control("tau", 6, lower=-TORQUE, upper=TORQUE)
a, (wrench,) = arms.forward_dynamics(q, v, tau, [hold])
ocp.derivative(q=v, v=a)

moment, push, along = wrench[0], -wrench[1], wrench[2]  # N m, N, N
ocp.minimize(1e-3 * ts.sumsqr(tau) + ts.sumsqr(v))
ocp.constrain("grip", push, lower=GRIP)
ocp.constrain("no slip", FRICTION * push - ts.vertcat(along, -along), lower=0)
ocp.constrain("on the palm", PALM * push - ts.vertcat(moment, -moment), lower=0)
ocp.constrain("start", ts.vertcat(q - start, v), equals=0, at="start")
turn, place = arms.link_pose(q, "box")
_, begin = arms.link_pose(start, "box")
there = ts.vertcat(place[0] - begin[0] - LIFT[0], place[2] - begin[2] - LIFT[2], turn[0, 2])
ocp.constrain("there, upright", there, equals=0, at="end")
ocp.constrain("at rest", arms.link_velocity(q, v, "box")[[1, 3, 5]], equals=0, at="end")

solution = ocp.build().solve(guess={"q": start, "tau": arms.standing_torques(start, [hold])})
print(solution)
pressed = solution.constraints["grip"].values[:, 0]
print(f"the right hand presses with {pressed.min():.1f} to {pressed.max():.1f} N")
print("the box goes from", np.round(begin, 3), "to", np.round(arms.link_pose(solution.q[-1], "box")[1], 3), "m")
print("motion:", solution.animate("carry.html"))
