"""The KKT conditions of a problem at a point, recomputed apart from the solver.

    minimise f(z)   with   l <= g(z) <= h : y   and   zl <= z <= zh : w        (vectors as in `layout`)
    stationarity    f'(z) + g'(z)' y + w = 0
    complementarity y, w > 0 only on an upper limit, < 0 only on a lower one

Everything is in the units of the statement. The functions come from an evaluator: the solver's machine code, quick
enough to judge every solve, or CasADi alone, in which compiler, `adjoint` and core have no part.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields

import casadi as ca
import numpy as np

from .casadi_backend import plain_rows
from .layout import Layout, block_places
from .transcription import Block, Transcription

# (u, x, parameters, parameters of the stage, weights), a row a stage -> rows, and the gradient of their weighted sum
Evaluator = Callable[[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]

SLACK = 10.0  # rounding and the order of sums may set two computations of one residual apart by this factor
LARGE = 100.0  # multipliers of this mean size relax the dual conditions (Wächter and Biegler 2006, eq. 6)


@dataclass(frozen=True, eq=False)
class Point:
    """Where the conditions are asked: z, multipliers y and w, parameters (n,) and those of the stages (stages, n)."""

    z: np.ndarray
    y: np.ndarray
    w: np.ndarray
    parameters: np.ndarray
    of_stages: np.ndarray


@dataclass(frozen=True)
class Residual:
    """How far a point is from the KKT conditions: the largest entry of each, in the units of the statement."""

    stationarity: float
    dynamics: float
    equalities: float
    inequalities: float
    bounds: float
    complementarity: float

    @property
    def worst(self) -> float:
        """The largest of all; NaN where one is."""
        return float(np.max([getattr(self, f.name) for f in fields(self)]))

    def __str__(self) -> str:
        lines = [f"{f.name:<16}{getattr(self, f.name):8.1e}" for f in fields(self)]
        return "\n".join(["KKT residual", *lines])


@dataclass(frozen=True, eq=False)
class Measured:
    """Objective and rows g at a point, and the entries of the conditions there."""

    objective: float
    rows: np.ndarray
    stationarity: np.ndarray
    outside_rows: np.ndarray
    outside_bounds: np.ndarray
    complementarity: np.ndarray
    residual: Residual


class Conditions:
    """The conditions of one problem by one evaluator a block."""

    def __init__(self, transcription: Transcription, layout: Layout, evaluators: list[Evaluator]):
        self.layout, self.evaluators = layout, evaluators
        self.blocks = transcription.blocks
        self.places = [block_places(transcription, block) for block in self.blocks]
        self.z_limits = layout.along_z("lower"), layout.along_z("upper")
        self.y_limits = layout.along_y("lower"), layout.along_y("upper")
        self.kinds = {kind: layout.kind(kind) for kind in ("dynamics", "equality", "inequality")}

    def measure(self, point: Point) -> Measured:
        """The conditions at a point; NaN where a function is not finite."""
        with np.errstate(invalid="ignore", over="ignore"):
            return self._measure(point)

    def _measure(self, point: Point) -> Measured:
        objective, g, slope = self._evaluate(point)
        stationarity = np.abs(slope + point.w)
        outside_g, outside_z = _outside(g, *self.y_limits), _outside(point.z, *self.z_limits)
        loose = self.kinds["inequality"]
        of_rows = _complementarity(g[loose], point.y[loose], *(side[loose] for side in self.y_limits))
        complementarity = np.concatenate([of_rows, _complementarity(point.z, point.w, *self.z_limits)])
        of_kind = {kind: _largest(outside_g[part]) for kind, part in self.kinds.items()}
        residual = Residual(
            _largest(stationarity), of_kind["dynamics"], of_kind["equality"], of_kind["inequality"],
            _largest(outside_z), _largest(complementarity),
        )  # fmt: skip
        return Measured(objective, g, stationarity, outside_g, outside_z, complementarity, residual)

    def _evaluate(self, point: Point) -> tuple[float, np.ndarray, np.ndarray]:
        """f, g and the gradient of f + y'g."""
        layout, z = self.layout, point.z
        nu, nx, steps = layout.nu, layout.nx, layout.steps
        slope = np.zeros_like(z)
        body, last = z[:-nx].reshape(steps, nu + nx), z[None, -nx:]
        to_body, to_last = slope[:-nx].reshape(steps, nu + nx), slope[None, -nx:]
        objective, g = 0.0, np.zeros(layout.size_y)
        shared = point.parameters[None]
        for block, places, evaluate in zip(self.blocks, self.places, self.evaluators):
            stages = slice(block.stages[0], block.stages[-1] + 1)
            on_steps = stages.start < steps
            here = body[stages] if on_steps else np.hstack([np.zeros((1, 0)), last])
            width = nu if on_steps else 0
            weights = point.y[places]
            if block.objective is not None:
                weights = np.hstack([np.ones((len(places), 1)), weights])
            rows, gradient = evaluate(here[:, :width], here[:, width:], shared, point.of_stages[stages], weights)
            if block.objective is not None:
                objective += float(rows[:, 0].sum())
                rows = rows[:, 1:]
            g[places] = rows
            (to_body[stages] if on_steps else to_last)[:] += gradient
        following = steps * nx
        g[:following] -= np.vstack([body[1:, nu:], last]).ravel()
        to_body[1:, nu:] -= point.y[: following - nx].reshape(steps - 1, nx)
        to_last[0] -= point.y[following - nx : following]
        return objective, g, slope


def doubt(measured: Measured, point: Point, row_scale: np.ndarray, objective_scale: float, tolerance: float) -> str:
    """What speaks against "solved", as a sentence, or nothing. The scales are those in which the solver worked."""
    y, w = objective_scale * point.y / row_scale, objective_scale * point.w
    relax_dual = max(1.0, _mean(np.abs(np.concatenate([y, w]))) / LARGE)
    relax_complementarity = max(1.0, _mean(np.abs(w)) / LARGE, _mean(np.abs(y)) / LARGE)
    found = {
        "stationarity": objective_scale / relax_dual * _largest(measured.stationarity),
        "constraints": _largest(measured.outside_rows * row_scale),
        "bounds": _largest(measured.outside_bounds),
        "complementarity": objective_scale / relax_complementarity * _largest(measured.complementarity),
    }
    for name, value in found.items():
        if not value <= SLACK * tolerance:
            return (
                f"the solver took this point for a solution, but its {name} residual, computed again, is {value:.1e}, "
                f"expected at most {tolerance:.0e}"
            )
    return ""


def compiled_evaluator(functions: tuple[ca.Function, ca.Function], compiled: tuple) -> Evaluator:
    """A block's rows and slopes by the solver's machine code."""
    values, derivatives = compiled
    at_row, at_column = (np.array(part, dtype=int) for part in functions[1].sparsity_out(0).get_triplet())
    spread = np.zeros((len(at_column), functions[1].size2_out(0)))
    spread[np.arange(len(at_column)), at_column] = 1.0

    def evaluate(u, x, parameters, of_stages, weights):
        rows = values.batch(u, x, parameters, of_stages)
        jacobian, _ = derivatives.batch(u, x, parameters, of_stages, weights)
        return rows, (jacobian * weights[:, at_row]) @ spread

    return evaluate


def plain_evaluator(transcription: Transcription, block: Block) -> Evaluator:
    """A block's rows and slopes by CasADi alone: its reverse mode, its evaluation."""
    inputs, rows = plain_rows(transcription, block)
    weights = ca.SX.sym("weight", rows.numel())
    slope = ca.densify(ca.jtimes(rows, ca.vertcat(*inputs[:2]), weights, True))
    function = ca.Function("rows_and_slope", [*inputs, weights], [rows, slope])

    def evaluate(u, x, parameters, of_stages, weights):
        samples = [function(*each) for each in zip(u, x, np.repeat(parameters, len(x), 0), of_stages, weights)]
        rows, slopes = (np.array([np.array(sample[i]).ravel() for sample in samples]) for i in (0, 1))
        return rows, slopes

    return evaluate


def _outside(value: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
    return np.maximum(np.maximum(lower - value, value - upper), 0.0)


def _complementarity(value, multiplier, lower, upper) -> np.ndarray:
    """|multiplier| times the distance to the limit it presses on, which counts as 1 at most, also if there is none."""
    gap = np.minimum(np.where(multiplier > 0, upper - value, value - lower), 1.0)
    return np.abs(multiplier * gap)


def _largest(entries: np.ndarray) -> float:
    return float(entries.max(initial=0.0))


def _mean(entries: np.ndarray) -> float:
    return float(entries.mean()) if entries.size else 0.0
