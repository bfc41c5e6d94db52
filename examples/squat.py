"""A humanoid squats and stands up again: 35 degrees of freedom on two flat feet, with its exact Hessian.

Each sole is held by a moment and a force, which must be such as the ground can give: they only push, within the
friction cone, and the centre of pressure stays on the sole. Nothing of the robot's dynamics is compiled. The robot's
file comes with `pip install example-robot-data`.
"""

import numpy as np
import trisweep as ts

DOWN, FRICTION, SOLE = 0.2, 0.6, (0.08, 0.025)  # m, -, m: half the length and width of a sole
STEPS, STEP = 24, 0.05

robot = ts.robot("g1")
feet = ("left_ankle_roll_link", "right_ankle_roll_link")
sole = (0.035, 0.0, -0.03)  # its middle, on the link
bent = {"hip_pitch": -0.3, "knee": 0.6, "ankle_pitch": -0.3}
stand = robot.neutral()
for joint, part in zip(robot.joint_names, robot.q_slices):
    stand[part] = next((angle for name, angle in bent.items() if name in joint), stand[part])
rotation, ankle = robot.link_pose(stand, feet[0])
stand[2] -= (ankle + rotation @ sole)[2]


def held(foot):
    """The sole stays where it is, and is brought back there within some 0.1 s."""
    rotation, ankle = robot.link_pose(stand, foot)
    return ts.weld(foot, sole, target=(rotation, ankle + rotation @ sole), period=0.1)


contacts = [held(foot) for foot in feet]
ocp = ts.Problem(steps=STEPS, step=STEP, integrator="rk4")
q = ocp.state("q", on=robot, lower=robot.q_lower, upper=robot.q_upper)
v = ocp.state("v", robot.nv, lower=-20, upper=20)
tau = ocp.control("tau", robot.nv - 6, lower=-robot.effort_limit[6:], upper=robot.effort_limit[6:])
a, wrenches = robot.forward_dynamics(q, v, ts.vertcat(np.zeros(6), tau), contacts)
ocp.derivative(q=v, v=a)

ocp.minimize(1e-4 * ts.sumsqr(tau) + 1e-2 * ts.sumsqr(v))
for side, wrench in zip(("left", "right"), wrenches):
    moment, force = wrench[:3], wrench[3:]  # N m and N, along the sole's axes
    x, y, z = ts.vertsplit(force)
    ocp.constrain(f"{side} pushes", z, lower=20)
    ocp.constrain(f"{side} grips", FRICTION * z - ts.vertcat(x, -x, y, -y), lower=0)
    on_sole = ts.vertcat(
        SOLE[1] * z - moment[0], SOLE[1] * z + moment[0], SOLE[0] * z - moment[1], SOLE[0] * z + moment[1]
    )
    ocp.constrain(f"{side} stays flat", on_sole, lower=0)
ocp.constrain("stand", q, equals=stand, at="start")
ocp.constrain("at rest", v, equals=0, at="start")
ocp.constrain("down", q[2], upper=stand[2] - DOWN, at=STEPS // 2)
chosen = np.r_[0:6, 12 : robot.nv - 6]  # joints: the feet on the ground leave the base and the right leg no choice
ocp.constrain("stand again", q[7 + chosen], equals=stand[7 + chosen], at="end")
ocp.constrain("at rest again", v[6 + chosen], equals=0, at="end")

guess = {"q": stand, "tau": robot.standing_torques(stand, contacts)[6:]}
solution = ocp.build().solve(guess=guess)
print(solution)
knee = robot.q_slices[robot.joint_names.index("left_knee_joint")]
print(f"pelvis: {solution.q[0, 2]:.3f} m, {solution.q[:, 2].min():.3f} m, {solution.q[-1, 2]:.3f} m high")
print(f"left knee: up to {np.degrees(solution.q[:, knee].max()):.0f} degrees")
print("motion:", solution.animate("squat.html"))
