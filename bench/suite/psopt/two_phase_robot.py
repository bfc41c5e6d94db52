"""A robot follows a corner: along one side in the first second, along the other in the second.

p'' = u, |u| <= 10; integral of 100 |p - path|^2 + 500 |p' - its speed|^2, whose speed is 1/2. Two phases with their own
references; Runge-Kutta of order 4, the integral and the time being states.
"""

import trisweep as ts
from casadi import sumsqr, vertcat

from ..case import Case, Stated
from ..rules import line


def phase(name: str, place, speed) -> ts.Problem:
    """A second on p = place + speed t."""
    ocp = ts.Problem(steps=100, duration=1.0, integrator="rk4", name=name)
    p, v = ocp.state("p", 2, lower=-10, upper=10), ocp.state("v", 2, lower=-10, upper=10)
    t = ocp.state("t")
    ocp.state("total")
    u = ocp.control("u", 2, lower=-10, upper=10)
    error = 100 * sumsqr(p - vertcat(*place) - vertcat(*speed) * t) + 500 * sumsqr(v - vertcat(*speed))
    ocp.derivative(p=v, v=u, t=1, total=error)
    return ocp


def build() -> Stated:
    along, up = phase("along", (0, 0), (0.5, 0)), phase("up", (0.5, -0.5), (0, 0.5))
    p, v, t, total = (variable.value for variable in along.states)
    along.constrain("start", vertcat(p, v, t, total), equals=[0, 0, 0.5, 0, 0, 0], at="start")
    along.then(up)
    p, v, _, total = (variable.value for variable in up.states)
    up.constrain("end", vertcat(p, v), equals=[0.5, 0.5, 0, 0.5], at="end")
    up.minimize(total, at="end", name="integral")
    first = {"p": line([0, 0], [0.5, 0], 100), "v": [0.5, 0.0], "t": line(0, 1, 100)}
    second = {"p": line([0.5, 0], [0.5, 0.5], 100), "v": [0.0, 0.5], "t": line(1, 2, 100)}
    return Stated(along, {"along": first, "up": second})


CASE = Case(build, source="PSOPT (Becerra 2010), twophase_robot", optimum=1.042568, tolerance=0.1)
