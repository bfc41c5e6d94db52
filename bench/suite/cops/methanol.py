"""Rates of the conversion of methanol (y1) to olefins (y2) and other hydrocarbons (y3), from 17 measurements.

    d = (theta2 + theta5) y1 + y2
    y1' = -(2 theta2 - theta1 y2 / d + theta3 + theta4) y1
    y2' = theta1 y1 (theta2 y1 - y2) / d + theta3 y1
    y3' = theta1 y1 (y2 + theta5 y1) / d + theta4 y1,   theta >= 0

Time and shares without units, as published; three Gauss points a step.
"""

from casadi import vertcat

from ..case import Case, Stated
from ..reaction import fitted

# time, y1, y2, y3
MEASURED = (
    (0.000, 1.0000, 0.0000, 0.0000), (0.050, 0.7085, 0.1621, 0.0811), (0.065, 0.5971, 0.1855, 0.0965),
    (0.080, 0.5537, 0.1989, 0.1198), (0.123, 0.3684, 0.2845, 0.1535), (0.233, 0.1712, 0.3491, 0.2097),
    (0.273, 0.1198, 0.3098, 0.2628), (0.354, 0.0747, 0.3576, 0.2467), (0.397, 0.0529, 0.3347, 0.2884),
    (0.418, 0.0415, 0.3388, 0.2757), (0.502, 0.0261, 0.3557, 0.3167), (0.553, 0.0208, 0.3483, 0.2954),
    (0.681, 0.0085, 0.3836, 0.2950), (0.750, 0.0053, 0.3611, 0.2937), (0.916, 0.0019, 0.3609, 0.2831),
    (0.937, 0.0018, 0.3485, 0.2846), (1.122, 0.0006, 0.3698, 0.2899),
)  # fmt: skip


def rates(theta, y):
    d = (theta[1] + theta[4]) * y[0] + y[1]
    return vertcat(
        -(2 * theta[1] - theta[0] * y[1] / d + theta[2] + theta[3]) * y[0],
        theta[0] * y[0] * (theta[1] * y[0] - y[1]) / d + theta[2] * y[0],
        theta[0] * y[0] * (y[1] + theta[4] * y[0]) / d + theta[3] * y[0],
    )


def build() -> Stated:
    return fitted([row[0] for row in MEASURED], [row[1:] for row in MEASURED], [1, 0, 0], 5, rates, theta=1.0)


CASE = Case(build, source="COPS 3.0 (Dolan, More, Munson 2004), problem 13", optimum=9.02229e-3, tolerance=1e-6)
