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

from ..stages.layout import Layout, block_places
from ..stages.stages import Block
from ..stages.transcription import Transcription
from .nonlinear_program import plain_rows

# the inputs of a block and a weight for each of its rows, a row a stage -> rows, and the gradient of their weighted sum
Evaluator = Callable[[list[np.ndarray], np.ndarray], tuple[np.ndarray, np.ndarray]]

SLACK = 10.0  # rounding and the order of sums may set two computations of one residual apart by this factor
LARGE = 100.0  # multipliers of this mean size relax the dual conditions (Wächter and Biegler 2006, eq. 6)


@dataclass(frozen=True, eq=False)
class Point:
    """Where the conditions are asked: z, multipliers y and w, the shared parameters and what the stages have apiece."""

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
        self.transcription, self.layout, self.evaluators = transcription, layout, evaluators
        self.blocks = transcription.blocks
        at, nu, nx = transcription.at_z, transcription.nu, transcription.nx
        later = range(1, transcription.stages)
        self.x_places = np.concatenate([np.zeros(0, int), *(at[k] + nu[k] + np.arange(nx[k]) for k in later)])
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
        z, slope = point.z, np.zeros_like(point.z)
        objective, g = 0.0, np.zeros(self.layout.size_y)
        for block, places, evaluate in zip(self.blocks, self.places, self.evaluators):
            run = self.transcription.run(block)
            weights = point.y[places]
            if block.objective is not None:
                weights = np.hstack([np.ones((len(places), 1)), weights])
            inputs = self.inputs(block, z, point.parameters, point.of_stages)
            rows, gradient = evaluate(inputs, weights)
            if block.objective is not None:
                objective += float(rows[:, 0].sum())
                rows = rows[:, 1:]
            g[places] = rows
            slope[run] += gradient.ravel()
        g[: len(self.x_places)] -= z[self.x_places]
        slope[self.x_places] -= point.y[: len(self.x_places)]
        return objective, g, slope

    def inputs(self, block: Block, z: np.ndarray, shared: np.ndarray, of_stages: np.ndarray) -> list[np.ndarray]:
        """The inputs of a block's functions, a row a stage; the shared parameters are one row."""
        phases, stages = self.transcription.phases, block.stages
        span = self.layout.phases[phases.index(block.phase)]
        here = z[self.transcription.run(block)].reshape(len(stages), -1)
        width = here.shape[1] - span.nx
        first = stages[0] - span.first
        own = span.of_stages(of_stages)[first : first + len(stages)]
        following = np.zeros((len(stages), 0))
        if block.entering is not None and block.entering.p_next.numel():
            entered = self.layout.phases[phases.index(block.entering)]
            first = block.child - entered.first
            following = entered.of_stages(of_stages)[first : first + len(stages)]
        common = shared[None, span.at_shared : span.at_shared + span.shared]
        return [here[:, :width], here[:, width:], common, own, following]


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

    def evaluate(inputs, weights):
        rows = values.batch(*inputs)
        jacobian, _ = derivatives.batch(*inputs, weights)
        return rows, (jacobian * weights[:, at_row]) @ spread

    return evaluate


def plain_evaluator(block: Block) -> Evaluator:
    """A block's rows and slopes by CasADi alone: its reverse mode, its evaluation."""
    rows = plain_rows(block)
    weights = ca.SX.sym("weight", rows.numel())
    slope = ca.densify(ca.jtimes(rows, ca.vertcat(*block.inputs[:2]), weights, True))
    function = ca.Function("rows_and_slope", [*block.inputs, weights], [rows, slope])

    def evaluate(inputs, weights):
        inputs = [np.broadcast_to(part, (len(weights), part.shape[1])) for part in inputs]
        samples = [function(*each) for each in zip(*inputs, weights)]
        rows, slopes = (np.array([np.array(sample[i]).ravel() for sample in samples]) for i in (0, 1))
        return rows, slopes

    return evaluate


def _outside(value: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
    return np.maximum(np.maximum(lower - value, value - upper), 0.0)


def _complementarity(value, multiplier, lower, upper) -> np.ndarray:
    """|multiplier| times the distance to the limit it presses on, which counts as 1 at most, also if there is none.

    A value beyond the limit counts as on it: how far beyond is the limit's own residual.
    """
    gap = np.clip(np.where(multiplier > 0, upper - value, value - lower), 0.0, 1.0)
    return np.abs(multiplier * gap)


def _largest(entries: np.ndarray) -> float:
    return float(entries.max(initial=0.0))


def _mean(entries: np.ndarray) -> float:
    return float(entries.mean()) if entries.size else 0.0
