"""Values measured at certain times, as parameters of the stages, and the squared error of a step's polynomial there."""

from __future__ import annotations

from collections.abc import Callable

import casadi as ca
import numpy as np
from trisweep import Problem


def least_squares(ocp: Problem, value: Callable[[ca.SX], ca.SX], times, values, duration: float) -> dict:
    """Minimise the sum of |value - measured|^2; returns the parameters. A step has one measurement or none.

    value: the polynomial of a step, at a fraction of it. times (n,), values (n, size), within `duration`.
    """
    times, values = np.asarray(times, float), np.asarray(values, float)
    size, stages = values.shape[1], ocp.steps + 1
    weight, fraction = ocp.parameter("weight", per_stage=True), ocp.parameter("fraction", per_stage=True)
    measured = ocp.parameter("measured", size, per_stage=True)
    ocp.minimize(weight * ca.sumsqr(value(fraction) - measured), name="squared errors")
    place = times / duration * ocp.steps
    step = np.minimum(np.floor(place + 1e-9).astype(int), ocp.steps - 1)
    if len(set(step)) < len(step):
        raise ValueError(f"least_squares: {len(times)} times fall into {len(set(step))} steps, expected one in each")
    given = {"weight": np.zeros(stages), "fraction": np.zeros(stages), "measured": np.zeros((stages, size))}
    given["weight"][step], given["fraction"][step], given["measured"][step] = 1.0, place - step, values
    return given


def held(times, values, duration: float, steps: int) -> np.ndarray:
    """(steps + 1, size): at every stage the next measured value, COPS' guess."""
    at = np.linspace(0, duration, steps + 1)
    index = np.minimum(np.searchsorted(np.asarray(times), at - 1e-9), len(times) - 1)
    return np.asarray(values, float)[index]
