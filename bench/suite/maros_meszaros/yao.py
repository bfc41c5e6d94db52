"""YAO: as LISWET, with conditions at both ends: nearest to sin(i / 2002), x_1 >= 0.08, the last two zero.

minimise  1/2 sum (x_i - sin(i / 2002))^2   with   x_i - 2 x_(i+1) + x_(i+2) >= 0,   i = 1 ... 2002
"""

import numpy as np
from casadi import vertcat

from ..case import Case, Stated
from .liswet import convex, pairs

COUNT = 2002


def build() -> Stated:
    ocp = convex(COUNT)
    x, slope = (state.value for state in ocp.states)
    ocp.constrain("first", x, lower=0.08, at="start")
    ocp.constrain("last two", vertcat(x, slope), equals=0, at="end")
    return Stated(ocp, {}, {"c": pairs(np.sin(np.arange(1, COUNT + 1) / COUNT))})


CASE = Case(build, source="Maros and Meszaros (1999), YAO", optimum=197.704256, tolerance=1e-4)
