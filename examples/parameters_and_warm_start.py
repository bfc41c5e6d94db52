"""Build once, solve often: parameters are given with every solve, and the last answer starts the next one.

A cart of 1 kg follows a path that is known some seconds ahead, from wherever it happens to be.
"""

import numpy as np
import trisweep as ts

STEP, STEPS = 0.1, 30

ocp = ts.Problem(steps=STEPS, step=STEP, integrator="rk4")
x = ocp.state("x", 2)  # place m, speed m/s
u = ocp.control("u", lower=-2, upper=2)  # N
path = ocp.parameter("path", per_stage=True)

ocp.derivative(x=ts.vertcat(x[1], u))
ocp.minimize((x[0] - path) ** 2 + 1e-3 * u**2)
ocp.minimize((x[0] - path) ** 2, at="end")
ocp.start("x")
solver = ocp.build()

state, previous = np.array([0.5, 0.0]), None
for k in range(20):
    ahead = np.sin(STEP * (k + np.arange(STEPS + 1)))
    warm = None if previous is None else previous.shifted()  # moved on by a step, with its multipliers
    previous = solver.solve(warm_start=warm, start={"x": state}, path=ahead)
    state = previous.x[1]
    if k % 4 == 0:
        off = abs(state[0] - ahead[1])
        print(f"t = {k * STEP:.1f} s: {off:.4f} m off the path, {previous.statistics.iterations} iterations")
