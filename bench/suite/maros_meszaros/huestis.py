"""HUESTIS and HUES-MOD: a planet's density of least squares from its mass and its moment of inertia (Huestis 1991).

    minimise  w sum x_i^2   with   sum a_i x_i = 1835.2,   sum b_i x_i = 909.8,   x >= 0,   i = 1 ... 10000
    a_i = (i^3 - (i - 1)^3) / 3 * 1e-12,   b_i = (i^5 - (i - 1)^5) / 5 * 1e-20

w = 1 in HUESTIS, 1e-4 in HUES-MOD. Both sums are states that grow along the radius.
"""

import numpy as np
import trisweep as ts

from ..case import Case, Stated

COUNT = 10000


def build() -> Stated:
    ocp = ts.Problem(steps=COUNT)
    sums, x = ocp.state("sums", 2), ocp.control("x", lower=0)
    coefficients, weight = ocp.parameter("coefficients", 2, per_stage=True), ocp.parameter("weight")
    ocp.next(sums=sums + coefficients * x)
    ocp.minimize(weight * x**2)
    ocp.constrain("nothing inside", sums, equals=0, at="start")
    ocp.constrain("mass and inertia", sums, equals=[1835.2, 909.8], at="end")
    return Stated(ocp, *instance(0))


def instance(i: int) -> tuple[dict, dict]:
    r = np.arange(COUNT + 2.0)
    cubes, fifths = 1e-12 * np.diff(r**3) / 3, 1e-20 * np.diff(r**5) / 5
    return {}, {"coefficients": np.column_stack([cubes, fifths]), "weight": (1.0, 1e-4)[i]}


CASE = Case(
    build,
    source="Maros and Meszaros (1999), HUESTIS and HUES-MOD",
    optimum=(3.48244896e11, 3.48244896e7),
    tolerance=1e-5,
    instances=2,
    instance=instance,
)
