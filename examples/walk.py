"""A quadruped walks one step: four phases, in which other feet stand, and impacts where feet land.

The feet step in diagonal pairs. Feet that stand are held by forces, which only push and stay within the friction cone.
A foot that lands loses its velocity at once, and the impulses that stop it change the velocities of all joints. The
robot's file comes with `pip install example-robot-data`.
"""

import numpy as np
import trisweep as ts

LENGTH, CLEARANCE, FRICTION = 0.1, 0.05, 0.7  # m, m, -
STEPS, STEP = 8, 0.025

dog = ts.robot("go1")
feet = ("FR_foot", "FL_foot", "RR_foot", "RL_foot")
pairs = (("FR_foot", "RL_foot"), ("FL_foot", "RR_foot"))
stand = dog.neutral()
stand[7:] = np.tile([0.0, 0.8, -1.6], 4)
stand[2] = -dog.link_pose(stand, feet[0])[1][2]
ahead = stand + LENGTH * np.eye(dog.nq)[0]
before, after = ({foot: dog.link_pose(pose, foot)[1] for foot in feet} for pose in (stand, ahead))


def phase(name, places):
    """Some steps with feet on the ground at `places`, by their names: the problem, q, v and the contacts."""
    ocp = ts.Problem(steps=STEPS, step=STEP, integrator="rk4", name=name)
    q = ocp.state("q", on=dog, lower=dog.q_lower, upper=dog.q_upper)
    v = ocp.state("v", dog.nv, lower=-20, upper=20)
    tau = ocp.control("tau", 12, lower=-23.7, upper=23.7)
    contacts = [ts.point(foot, target=place, period=0.1) for foot, place in places.items()]
    a, forces = dog.forward_dynamics(q, v, ts.vertcat(np.zeros(6), tau), contacts)
    ocp.derivative(q=v, v=a)
    ocp.minimize(1e-3 * ts.sumsqr(tau) + 1e-2 * ts.sumsqr(v) + ts.sumsqr(q[7:] - stand[7:]))
    for foot, force in zip(places, forces):
        x, y, z = ts.vertsplit(dog.link_pose(q, foot)[0] @ force)  # N, along the world's axes
        ocp.constrain(f"{foot} pushes", z, lower=1)
        ocp.constrain(f"{foot} grips", FRICTION * z - ts.vertcat(x, -x, y, -y), lower=0)
    return ocp, q, v, contacts


def swing(name, stepping, places):
    """A phase in which a pair of feet goes to its next places."""
    ocp, q, v, _ = phase(name, places)
    for foot in stepping:
        here = dog.link_pose(q, foot)[1]
        ocp.constrain(f"{foot} clears", here[2], lower=CLEARANCE, at=STEPS // 2)
        ocp.constrain(f"{foot} lands", here, equals=after[foot], at="end")
        ocp.constrain(f"{foot} comes down", dog.link_velocity(q, v, foot)[3:], lower=-1, upper=1, at="end")
    return ocp, q, v


stance, q, v, _ = phase("stance", before)
stance.constrain("stand", q, equals=stand, at="start")
stance.constrain("at rest", v, equals=0, at="start")
first, q1, v1 = swing("first pair", pairs[0], {foot: before[foot] for foot in pairs[1]})
second, q2, v2 = swing("second pair", pairs[1], {foot: after[foot] for foot in pairs[0]})
stop, q, v, contacts = phase("stop", after)
stop.constrain("ahead", q[:3], equals=ahead[:3], at="end")
stop.constrain("level", q[3:6], equals=0, at="end")
stop.constrain("at rest", v[:6], equals=0, at="end")

stance.then(first)
first.then(second, v=dog.impact(q1, v1, [contacts[feet.index(foot)] for foot in pairs[0]])[0])
second.then(stop, v=dog.impact(q2, v2, contacts)[0])

tau = dog.standing_torques(stand, contacts)[6:]
solution = stance.build().solve(guess={"q": stand, "tau": tau})
print(solution)
for name, motion in solution.phases.items():
    print(f"{name}: trunk from {motion.q[0, 0]:.3f} to {motion.q[-1, 0]:.3f} m, {motion.q[-1, 2]:.3f} m high")
print("motion:", solution.animate("walk.html"))
