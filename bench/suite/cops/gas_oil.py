"""Rates of the catalytic cracking of gas oil, from 21 measurements of gas oil y1 and gasoline y2.

    y1' = -(theta1 + theta3) y1^2,   y2' = theta1 y1^2 - theta2 y2,   theta >= 0

Time and yields without units, as published; four Gauss points a step.
"""

import numpy as np
from casadi import vertcat

from ..case import Case, Stated
from ..reaction import fitted

TIMES = np.r_[0:0.251:0.025, 0.3:0.551:0.05, 0.65:0.951:0.1]
YIELDS = np.column_stack([
    [1.0, 0.8105, 0.6208, 0.5258, 0.4345, 0.3903, 0.3342, 0.3034, 0.2735, 0.2405, 0.2283, 0.2071, 0.1669, 0.1530,
     0.1339, 0.1265, 0.1200, 0.0990, 0.0870, 0.0770, 0.0690],
    [0.0, 0.2000, 0.2886, 0.3010, 0.3215, 0.3123, 0.2716, 0.2551, 0.2258, 0.1959, 0.1789, 0.1457, 0.1198, 0.0909,
     0.0719, 0.0561, 0.0460, 0.0280, 0.0190, 0.0140, 0.0100],
])  # fmt: skip


def rates(theta, y):
    return vertcat(-(theta[0] + theta[2]) * y[0] ** 2, theta[0] * y[0] ** 2 - theta[1] * y[1])


def build() -> Stated:
    return fitted(TIMES, YIELDS, [1, 0], 3, rates, points=4)


CASE = Case(build, source="COPS 3.0 (Dolan, More, Munson 2004), problem 12", optimum=5.2366e-3, tolerance=1e-6)
