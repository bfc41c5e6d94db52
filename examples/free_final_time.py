"""How soon can a sledge be at the other end? The duration is part of the answer.

A sledge of 1 kg is pushed with at most 1 N over 1 m, against friction that grows with its speed. Without friction it
takes 2 s.
"""

import trisweep as ts

ocp = ts.Problem(steps=40, duration=ts.Free(guess=3.0, lower=0.5, upper=10.0), integrator="rk4")
x = ocp.state("x")
v = ocp.state("v")
force = ocp.control("force", lower=-1, upper=1)
friction = ocp.parameter("friction")  # N s/m

ocp.derivative(x=v, v=force - friction * v)
ocp.minimize(ocp.steps * ocp.time_step, at="end")
for name, state, end in (("x", x, 1), ("v", v, 0)):
    ocp.constrain(f"{name} at the start", state, equals=0, at="start")
    ocp.constrain(f"{name} at the end", state, equals=end, at="end")

solver = ocp.build()
for value in (0.0, 0.5, 1.0):
    solution = solver.solve(friction=value)
    brakes = int((solution.force[:, 0] > 0).sum()) / ocp.steps
    print(f"friction {value:.1f} N s/m: {solution.objective:.4f} s, brakes after {brakes:.0%}  ({solution})")
