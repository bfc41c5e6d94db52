"""Growth and mortality of the eight ages of a marine species, from 21 counts with large errors.

    y1' = -(m1 + g1) y1,   yj' = g(j-1) y(j-1) - (mj + gj) yj,   y8' = g7 y7 - m8 y8,   m, g >= 0

Time and counts without units, as published; the first counts are unknown too. One Gauss point a step.
"""

import numpy as np
import trisweep as ts
from casadi import vertcat

from ..case import Case, Stated
from ..measurements import held, least_squares
from ..rules import collocation

AGES, DURATION = 8, 10.0
COUNTS = np.array([
    [20000, 17000, 10000, 15000, 12000, 9000, 7000, 3000], [12445, 15411, 13040, 13338, 13484, 8426, 6615, 4022],
    [7705, 13074, 14623, 11976, 12453, 9272, 6891, 5020], [4664, 8579, 12434, 12603, 11738, 9710, 6821, 5722],
    [2977, 7053, 11219, 11340, 13665, 8534, 6242, 5695], [1769, 5054, 10065, 11232, 12112, 9600, 6647, 7034],
    [943, 3907, 9473, 10334, 11115, 8826, 6842, 7348], [581, 2624, 7421, 10297, 12427, 8747, 7199, 7684],
    [355, 1744, 5369, 7748, 10057, 8698, 6542, 7410], [223, 1272, 4713, 6869, 9564, 8766, 6810, 6961],
    [137, 821, 3451, 6050, 8671, 8291, 6827, 7525], [87, 577, 2649, 5454, 8430, 7411, 6423, 8388],
    [49, 337, 2058, 4115, 7435, 7627, 6268, 7189], [32, 228, 1440, 3790, 6474, 6658, 5859, 7467],
    [17, 168, 1178, 3087, 6524, 5880, 5562, 7144], [11, 99, 919, 2596, 5360, 5762, 4480, 7256],
    [7, 65, 647, 1873, 4556, 5058, 4944, 7538], [4, 44, 509, 1571, 4009, 4527, 4233, 6649],
    [2, 27, 345, 1227, 3677, 4229, 3805, 6378], [1, 20, 231, 934, 3197, 3695, 3159, 6454],
    [1, 12, 198, 707, 2562, 3163, 3232, 5566],
])  # fmt: skip
TIMES = np.linspace(0, DURATION, len(COUNTS))


def build() -> Stated:
    ocp = ts.Problem(steps=100, duration=DURATION)
    x, m, g = ocp.state("x", AGES), ocp.state("m", AGES), ocp.state("g", AGES - 1)

    def rates(y):
        grown = g * y[:-1]
        return vertcat(0, grown) - vertcat(grown, 0) - m * y

    value = collocation(ocp, rates, x, points=1)
    ocp.next(m=m, g=g)
    ocp.constrain("rates are not negative", vertcat(m, g), lower=0, at="start")
    given = least_squares(ocp, value, TIMES, COUNTS, DURATION)
    return Stated(ocp, {"x": held(TIMES, COUNTS, DURATION, ocp.steps)}, given)


CASE = Case(build, source="COPS 3.0 (Dolan, More, Munson 2004), problem 6", optimum=1.97465e7, tolerance=2e-5)
