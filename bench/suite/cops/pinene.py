"""Rates of the isomerisation of alpha-pinene (y1) to dipentene, allo-ocimene, pyronene and a dimer (y2 ... y5).

    y1' = -(theta1 + theta2) y1,   y2' = theta1 y1,   y3' = theta2 y1 - (theta3 + theta4) y3 + theta5 y5
    y4' = theta3 y3,   y5' = theta4 y3 - theta5 y5,   theta >= 0

Time in minutes as published, shares in per cent, eight measurements; three Gauss points a step.
"""

from casadi import vertcat

from ..case import Case, Stated
from ..reaction import fitted

# time, y1 ... y5
MEASURED = (
    (1230, 88.35, 7.3, 2.3, 0.4, 1.75), (3060, 76.4, 15.6, 4.5, 0.7, 2.8), (4920, 65.1, 23.1, 5.3, 1.1, 5.8),
    (7800, 50.4, 32.9, 6.0, 1.5, 9.3), (10680, 37.5, 42.7, 6.0, 1.9, 12.0), (15030, 25.9, 49.1, 5.9, 2.2, 17.0),
    (22620, 14.0, 57.4, 5.1, 2.6, 21.0), (36420, 4.5, 63.1, 3.8, 2.9, 25.7),
)  # fmt: skip


def rates(theta, y):
    ocimene = (theta[2] + theta[3]) * y[2]
    return vertcat(
        -(theta[0] + theta[1]) * y[0],
        theta[0] * y[0],
        theta[1] * y[0] - ocimene + theta[4] * y[4],
        theta[2] * y[2],
        theta[3] * y[2] - theta[4] * y[4],
    )


def build() -> Stated:
    return fitted([row[0] for row in MEASURED], [row[1:] for row in MEASURED], [100, 0, 0, 0, 0], 5, rates)


CASE = Case(build, source="COPS 3.0 (Dolan, More, Munson 2004), problem 5", optimum=19.8721, tolerance=1e-4)
