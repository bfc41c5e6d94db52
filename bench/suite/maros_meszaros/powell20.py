"""POWELL20: the shortest vector whose entries must jump back and forth, ever more (Powell 1984).

    minimise  1/2 sum x_k^2   with   x_(k+1) - x_k >= (-1)^k k - 1/2,   x_1 - x_n >= n - 1/2,   n = 1000

The state is (x_k, x_1), the control the next entry.
"""

import numpy as np
import trisweep as ts

from ..case import Case, Stated

COUNT = 1000


def build() -> Stated:
    ocp = ts.Problem(steps=COUNT - 1)
    x, first, u = ocp.state("x"), ocp.state("first"), ocp.control("u")
    jump = ocp.parameter("jump", per_stage=True)
    ocp.next(x=u, first=first)
    ocp.minimize(x**2 / 2, at="all")
    ocp.constrain("jumps", u - x - jump, lower=0)
    ocp.constrain("kept", x - first, equals=0, at="start")
    ocp.constrain("last jump", first - x, lower=COUNT - 0.5, at="end")
    k = np.arange(1, COUNT + 1)
    return Stated(ocp, {}, {"jump": np.where(k % 2 == 0, k, -k) - 0.5})


CASE = Case(
    build, source="CUTEst, POWELL20 of 1000 entries (Maros and Meszaros have 10000)", optimum=5.21458e7, tolerance=1e-5
)
