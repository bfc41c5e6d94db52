"""A health insurance: what to pay for treatment as the illness gets graver, t from 0 to 10.

    I' = (1 - 0.2 t v'(m) / U_R) h,   m' = h,   k' = I f(t)
    R = 1 - P + I - m,   H = 1.5 - 0.2 t (1 - v(m)),   U = 1 - exp(-10 R) + H,   U_R = 10 exp(-10 R)
    v(m) = m^2 / (1 + m^2),   f(t) = exp(-t / 4) / 4 + exp(-2.5) / 10

States: insurance I, expense m, cost k, and the premium P = k(10), a constant. R, H, U and U_R are variables with rows
of their own, as in the source. Maximise the integral of U f; trapezoidal rule.
"""

import numpy as np
import trisweep as ts
from casadi import exp, vertcat

from ..case import Case, Stated
from ..rules import by_stages, trapezoidal, with_next

LAST = 10.0


def density(t):
    return 0.25 * exp(-0.25 * t) + np.exp(-2.5) / LAST


def rates(x, u, t):
    slope = 2 * x[1] / (1 + x[1] ** 2) ** 2
    return vertcat((1 - 0.2 * t * slope / u[4]) * u[0], u[0], x[0] * density(t), 0)


def build() -> Stated:
    steps = 100
    ocp = ts.Problem(steps=steps, duration=LAST)
    x = ocp.state("x", 4, lower=0, upper=[1.5, 1.5, 1.5, np.inf])
    u = ocp.state("u", 5, lower=[0, 0, 0, 0, 1e-3], upper=[25, np.inf, np.inf, np.inf, np.inf])
    time, given = by_stages(ocp, "t", np.linspace(0, LAST, steps + 1))
    trapezoidal(ocp, rates, x, u, lambda x, u, t: -u[3] * density(t), time)
    benefit, expense, premium = x[0], x[1], x[3]
    wealth, health = 1 - premium + benefit - expense, 1.5 - 0.2 * time[0] / (1 + expense**2)
    ocp.constrain("wealth", u[1] - wealth, equals=0)
    ocp.constrain("health", u[2] - health, equals=0)
    ocp.constrain("utility", u[3] - (1 - exp(-10 * u[1]) + u[2]), equals=0)
    ocp.constrain("marginal utility", u[4] - 10 * exp(-10 * u[1]), equals=0)
    ocp.constrain("start", x[:3], equals=[0, 0.001, 0], at="start")
    ocp.constrain("premium pays", x[2] - premium, equals=0, at="end")
    return Stated(ocp, with_next({"x": 0.1, "u": 0.1}), given)


CASE = Case(
    build, source="OptimalControlProblems.jl, insurance; value of CTDirect.jl", optimum=-2.059511, tolerance=1e-2
)
