"""The trapezoidal rule, by which COPS discretises its problems: x+ = x + h/2 (f(x, u) + f(x+, u+)).

x+ and u+ belong to the next stage. So the control at the stages is a state like x, what is chosen at a step is their
next value, and the rule is an equality between both.
"""

from __future__ import annotations

from collections.abc import Callable

import casadi as ca

from ...ocp import Problem


def trapezoidal(ocp: Problem, rates: Callable[[ca.SX, ca.SX], ca.SX], x: ca.SX, u: ca.SX) -> None:
    """Give the problem's states "x" and "u" the dynamics x' = rates(x, u), through controls "x_next" and "u_next"."""
    x_next = ocp.control("x_next", x.numel())
    u_next = ocp.control("u_next", u.numel())
    ocp.next(x=x_next, u=u_next)
    mean = (rates(x, u) + rates(x_next, u_next)) / 2
    ocp.constrain("trapezoidal rule", x_next - x - ocp.time_step * mean, equals=0)
