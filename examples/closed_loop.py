"""A linkage whose loop is closed by a constraint: simulated passively, then moved point to point with the least torque.

python examples/closed_loop.py
"""

import numpy as np
import trisweep as ts

rods = ts.ModelBuilder("five-bar")
for side, x in (("left", -0.1), ("right", 0.1)):
    for link, parent, place, length in (
        ("upper", "universe", (x, 0, 0), 0.3),
        ("lower", f"{side} upper", (0.3, 0, 0), 0.4),
    ):
        rods.add(
            f"{side} {link}", parent, "revolute", axis=(0, 1, 0), position=place,
            mass=length, com=(length / 2, 0, 0), inertia=length**3 / 12 * np.diag([0, 1, 1]),
        )  # fmt: skip
linkage = rods.build()
tips = ts.point("left lower", (0.4, 0, 0), target=(0.4, 0, 0), other="right lower", period=0.05)


def hanging(x: float, z: float) -> np.ndarray:
    """Joint angles that bring both tips to x, -z, the knees outside; turns about y lower x to -z."""
    angles = []
    for base, knee in ((-0.1, -1.0), (0.1, 1.0)):
        dx = x - base
        reach = np.hypot(dx, z)
        bend = knee * np.arccos((0.3**2 + 0.4**2 - reach**2) / (2 * 0.3 * 0.4))
        aim = np.arctan2(z, dx) - np.arctan2(-0.4 * np.sin(bend), 0.3 - 0.4 * np.cos(bend))
        angles += [aim, bend + np.pi]
    return np.array(angles)


start, goal = hanging(-0.1, 0.5), hanging(0.15, 0.45)
a, (force,) = linkage.forward_dynamics(start, np.zeros(4), np.zeros(4), [tips])
print("accelerations let go:", np.round(a, 2), "rad/s^2; force in the closure:", np.round(force, 3), "N")

run = ts.simulate(linkage, start, None, None, [tips], duration=5.0, step=1e-3)
print(run)
print("written:", run.plot("out/five_bar.png") and "out/five_bar.png", run.animate("out/five_bar.html"))

ocp = ts.Problem(steps=40, step=0.02, integrator="rk4")
q, v, torque = ocp.state("q", 4), ocp.state("v", 4), ocp.control("torque", 2, lower=-2.5, upper=2.5)
a, _ = linkage.forward_dynamics(q, v, ts.vertcat(torque[0], 0, torque[1], 0), [tips])
ocp.derivative(q=v, v=a)
ocp.minimize(ts.sumsqr(torque))
ocp.constrain("start", ts.vertcat(q - start, v), equals=0, at="start")
ocp.constrain("goal of the motors", ts.vertcat(q[0] - goal[0], q[2] - goal[2], v[0], v[2]), equals=0, at="end")
solution = ocp.build().solve({"q": np.linspace(start, goal, 41)})
print(solution)
place = linkage.link_pose(solution.q[-1], "left lower")
print("the tips end at", np.round(place[1] + place[0] @ [0.4, 0, 0], 4), "m, wanted [0.15 0 -0.45]")
