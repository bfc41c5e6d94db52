"""Move a robot arm from one pose to another with little torque: state the problem, solve it, look at the answer."""

import trisweep as ts

START = [0.0, 0.4, 0.0, -1.2, 0.0, 0.8, 0.0]  # rad
GOAL = [1.0, -0.5, 0.6, 0.9, -0.7, -0.4, 0.5]

arm = ts.robot("iiwa14")
ocp = ts.Problem(steps=50, step=0.05)

q = ocp.state("q", arm.nq, lower=arm.q_lower, upper=arm.q_upper)
v = ocp.state("v", arm.nv, lower=-arm.v_limit, upper=arm.v_limit)
tau = ocp.control("tau", arm.nv, lower=-arm.effort_limit, upper=arm.effort_limit)
goal = ocp.parameter("goal", arm.nq)

ocp.derivative(q=v, v=arm.forward_dynamics(q, v, tau))
ocp.minimize(1e-3 * ts.sumsqr(tau) + 1e-2 * ts.sumsqr(v))
ocp.constrain("start pose", q, equals=START, at="start")
ocp.constrain("start at rest", v, equals=0, at="start")
ocp.constrain("reach the goal", q, equals=goal, at="end")

solver = ocp.build()  # derivatives and machine code, cached
solution = solver.solve(guess={"q": START}, goal=GOAL)

print(solution)
print("pose at the end:", solution.q[-1].round(6))
print("largest torques, N m:", abs(solution.tau).max(axis=0).round(2))
