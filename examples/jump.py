"""A quadruped jumps: a phase with its feet on the ground, a phase in the air, each as long as it needs.

The base floats: its pose is a state on a manifold, and the solver never leaves the unit quaternions. In the stance the
feet are held by forces, which may only push and must stay within the friction cone. The robot's file comes with
`pip install example-robot-data`.
"""

import numpy as np
import trisweep as ts

LENGTH, CLEARANCE, FRICTION = 0.3, 0.06, 0.7  # m, m, -

dog = ts.robot("go1")
feet = ("FR_foot", "FL_foot", "RR_foot", "RL_foot")
stand = dog.neutral()
stand[7:] = np.tile([0.0, 0.8, -1.6], 4)
stand[2] = -dog.link_pose(stand, feet[0])[1][2]
held = [ts.point(foot, target=dog.link_pose(stand, foot)[1], period=0.05) for foot in feet]


def phase(name, contacts):
    """Stating what both phases share: the robot, its limits, the cost."""
    ocp = ts.Problem(steps=15, duration=ts.Free(0.3, 0.1, 0.4), integrator="semi-implicit euler", name=name)
    q = ocp.state("q", on=dog, lower=dog.q_lower, upper=dog.q_upper)
    v = ocp.state("v", dog.nv, lower=-20, upper=20)
    tau = ocp.control("tau", 12, lower=-23.7, upper=23.7)
    found = dog.forward_dynamics(q, v, ts.vertcat(np.zeros(6), tau), contacts)
    a, forces = found if contacts else (found, ())
    ocp.derivative(q=v, v=a)
    ocp.minimize(1e-3 * ts.sumsqr(tau) + 1e-3 * ts.sumsqr(v))
    return ocp, q, v, forces


stance, q, v, forces = phase("stance", held)
for foot, force in zip(feet, forces):
    x, y, z = ts.vertsplit(dog.link_pose(q, foot)[0] @ force)  # N, along the world's axes
    stance.constrain(f"{foot} pushes", z, lower=1)
    stance.constrain(f"{foot} grips", FRICTION * z - ts.vertcat(x, -x, y, -y), lower=0)
stance.constrain("stand", q, equals=stand, at="start")
stance.constrain("at rest", v, equals=0, at="start")

flight, q, v, _ = phase("flight", ())
for foot in feet:
    flight.constrain(f"{foot} clears", dog.link_pose(q, foot)[1][2], lower=CLEARANCE, at=8)
flight.constrain("land", q, equals=stand + LENGTH * np.eye(dog.nq)[0], at="end")
stance.then(flight)

solution = stance.build().solve(guess={"q": stand})
print(solution)
for name, motion in solution.phases.items():
    print(f"{name}: {motion.duration:.3f} s, trunk from {motion.q[0, 2]:.3f} to {motion.q[-1, 2]:.3f} m high")
solution.plot("jump.png")
print("motion:", solution.animate("jump.html"))
