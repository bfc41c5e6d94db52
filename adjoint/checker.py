"""The derivative checker that all tests share: `expand` against two witnesses that know nothing of nodes.

Automatic differentiation goes straight through the nodes' solvers, one direction at a time; differences need values
only, and on a manifold are taken in its tangent space, for that is where the variables live.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import casadi as ca
import numpy as np

from ..errors import NodeError
from .expansion import expand, solved
from .symbols import symbols

# The step of the differences, which are of fourth order: truncation and rounding stay near 1e-11 for values near 1.
STEP = 1e-3


@dataclass(frozen=True)
class Check:
    """Relative errors (Frobenius norms) of the values, the Jacobian, the gradient and the Hessian.

    `automatic` against automatic differentiation through the solvers, `differences` against finite differences.
    """

    automatic: dict[str, float]
    differences: dict[str, float]


def check(
    variables: ca.SX,
    outputs: ca.SX,
    at: np.ndarray,
    parameters: ca.SX | None = None,
    values: np.ndarray | None = None,
    seed: int = 0,
) -> Check:
    """Check all derivatives of the outputs in the variables at a point (n,), with random multipliers.

    parameters: all other symbols of the outputs, a column, and `values` what they are set to.
    """
    parameters = ca.SX(0, 1) if parameters is None else parameters
    values = np.zeros(0) if values is None else np.asarray(values, dtype=float)
    at = np.asarray(at, dtype=float)
    for what, vector, size in (("at", at, variables.numel()), ("values", values, parameters.numel())):
        if vector.shape != (size,):
            raise NodeError(f"check: {what} has shape {vector.shape}, expected ({size},)")
    eta = ca.SX.sym("eta", outputs.shape)
    free = ca.vertcat(variables, parameters, eta)
    point = np.concatenate([at, values, np.random.default_rng(seed).standard_normal(eta.numel())])
    e = expand(variables, outputs, eta)
    names = ("values", "jacobian", "gradient", "hessian")
    evaluate = _function(free, [e.values, e.jacobian, e.gradient, e.hessian])
    found = dict(zip(names, evaluate(point)))

    f = solved(outputs)
    gradient, along = ca.gradient(eta.T @ f, variables), ca.SX.sym("along", variables.shape)
    tangents = _function(ca.vertcat(free, along), [ca.jtimes(part, variables, along) for part in (f, gradient)])
    columns = [tangents(np.concatenate([point, unit])) for unit in np.eye(len(at))]
    through = [*_function(free, [f, gradient])(point), *(np.hstack(parts) for parts in zip(*columns))]
    automatic = dict(zip(("values", "gradient", "jacobian", "hessian"), through))

    directions = np.eye(len(point))[: len(at)]
    stepped = [_slopes(lambda s: evaluate(point + s * direction)) for direction in directions]
    differences = {
        "jacobian": np.hstack([slopes[0] for slopes in stepped]),
        "gradient": np.hstack([slopes[0] for slopes in stepped]).T @ point[-eta.numel() :, None],
        "hessian": np.hstack([slopes[2] for slopes in stepped]),
    }
    return Check(_errors(found, automatic), _errors(found, differences))


def _function(free: ca.SX, expressions: list[ca.SX]) -> Callable[[np.ndarray], list[np.ndarray]]:
    """The expressions as a function of the point (n,), its results dense."""
    known = {symbol.element_hash() for symbol in symbols(free)}
    for symbol in symbols(*expressions):
        if symbol.element_hash() not in known:
            raise NodeError(f"check: outputs depend on '{symbol}', which is neither a variable nor a parameter")
    function = ca.Function("check", [free], expressions)
    return lambda point: [result.full() for result in function.call([point])]


def _slopes(values: Callable[[float], list[np.ndarray]]) -> list[np.ndarray]:
    """The derivatives at 0 of functions of a number, by central differences of fourth order."""
    near = [forth - back for forth, back in zip(values(STEP), values(-STEP))]
    far = [forth - back for forth, back in zip(values(2 * STEP), values(-2 * STEP))]
    return [(8 * a - b) / (12 * STEP) for a, b in zip(near, far)]


def _errors(found: dict[str, np.ndarray], expected: dict[str, np.ndarray]) -> dict[str, float]:
    def relative(name: str) -> float:
        scale = np.linalg.norm(expected[name])
        return float(np.linalg.norm(found[name] - expected[name]) / (scale if scale > 0 else 1.0))

    return {name: relative(name) for name in expected}
