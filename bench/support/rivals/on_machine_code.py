"""CasADi's IPOPT and FATROP with Trisweep's machine code as their functions: objective, rows, first derivatives and
Hessian of the Lagrangian of a whole horizon, several stages at a time.

The statement is that of `build(backend="ipopt")`, whose functions CasADi interprets: a quadruped's take it a second an
iteration, here some milliseconds. States on manifolds keep the anchors of the guess, so derivatives are compiled for
any increment.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from time import process_time
from typing import Any, NamedTuple

import casadi as ca
import numpy as np
import trisweep as ts
from trisweep.ocp.judge.evaluation import Evaluation
from trisweep.ocp.judge.residual import Point
from trisweep.ocp.solve.casadi_backend import STATUSES
from trisweep.ocp.solve.inputs import Inputs
from trisweep.ocp.stages.functions import stage_functions
from trisweep.ocp.stages.layout import layout_of
from trisweep.ocp.stages.limit_vectors import StatedLimits
from trisweep.ocp.stages.transcription import transcribe
from trisweep.ocp.statement.costs_and_constraints.terms import CONSTRAINTS


class Found(NamedTuple):
    """How a solve ended, by the rival's own word; outside: the largest violation of a row or bound."""

    status: str
    iterations: int
    seconds: float
    objective: float
    outside: float


class Places:
    """A sparse matrix as CasADi has it, and where the entries that blocks give, in a row, are added up in it."""

    def __init__(self, shape: tuple[int, int], rows: np.ndarray, columns: np.ndarray):
        kept, self.where = np.unique(columns * shape[0] + rows, return_inverse=True)
        self.sparsity = ca.Sparsity.triplet(*shape, (kept % shape[0]).tolist(), (kept // shape[0]).tolist())

    def filled(self, entries: np.ndarray) -> ca.DM:
        return ca.DM(self.sparsity, np.bincount(self.where, entries, self.sparsity.nnz()))


class Horizon:
    """The functions of all stages. Variables stand as FATROP wants them, (x, u) of every stage; rows stage by stage:
    next state minus F, equalities, inequalities. `order` and `places` say where these stand in z and y of `layout`.
    """

    def __init__(self, problem: ts.Problem):
        self.transcription = transcription = transcribe(problem)
        for phase in transcription.phases:
            phase.still = lambda expression: expression  # type: ignore[method-assign]
        self.layout = layout = layout_of(transcription)
        self.evaluation = evaluation = Evaluation(transcription, layout)
        self.functions = [stage_functions(transcription, block, "exact") for block in transcription.blocks]
        stages = zip(transcription.at_z, transcription.nu, transcription.nx)
        self.order = np.concatenate([at + np.r_[nu : nu + nx, 0:nu] for at, nu, nx in stages])
        rows = []
        for block, places in zip(transcription.blocks, evaluation.places):
            kinds = [kind for kind in CONSTRAINTS for _ in range(block.count(kind))]
            for stage, line in zip(block.stages, places):
                rows += [(stage, CONSTRAINTS.index(kind), place, kind) for kind, place in zip(kinds, line)]
        rows.sort(key=lambda row: row[:2])
        self.places = np.array([row[2] for row in rows], int)
        self.limited = np.array([row[3].has_limits for row in rows])
        self.signs = np.array([-1.0 if row[3].leads_on else 1.0 for row in rows])
        self.at = (np.zeros(0), np.zeros(0)), 0.0, np.zeros(0)
        self._make_places()

    def _make_places(self) -> None:
        variable, row = np.argsort(self.order), np.argsort(self.places)
        slopes, curvature = [], []
        for block, functions, places in zip(self.transcription.blocks, self.functions, self.evaluation.places):
            run = self.transcription.run(block)
            columns = variable[np.arange(run.start, run.stop).reshape(len(block.stages), -1)]
            heads = np.full((len(places), block.head), len(row))  # the objective's row comes last
            of_rows = np.hstack([heads, row[places]])
            slopes.append([of_rows[:, functions.jacobian_places[0]], columns[:, functions.jacobian_places[1]]])
            ends = [columns[:, places] for places in functions.hessian_places]
            curvature.append([np.minimum(*ends), np.maximum(*ends)])
        x_places = self.evaluation.x_places
        slopes.append([row[: len(x_places)], variable[x_places]])
        rows, columns = (np.concatenate([part[k].ravel() for part in slopes]) for k in range(2))
        self.of_rows = rows < len(row)
        self.jacobian = Places((len(row), len(variable)), rows[self.of_rows], columns[self.of_rows])
        self.turned, self.gradient_places = self.signs[rows[self.of_rows]], columns[~self.of_rows]
        rows, columns = (np.concatenate([part[k].ravel() for part in curvature]) for k in range(2))
        self.hessian = Places((len(variable), len(variable)), rows, columns)

    def _point(self, x: Any, p: Any, y: np.ndarray) -> Point:
        z, given = np.empty(len(self.order)), np.array(p).ravel()
        z[self.order] = np.array(x).ravel()
        return Point(z, y, np.zeros(0), given[: self.layout.size_shared], given[self.layout.size_shared :])

    def values(self, x: Any, p: Any) -> tuple[float, np.ndarray]:
        """Objective and rows."""
        key, f, g = self.at
        x, p = np.array(x).ravel(), np.array(p).ravel()
        if np.array_equal(key[0], x) and np.array_equal(key[1], p):
            return f, g
        point, f = self._point(x, p, np.zeros(0)), 0.0
        rows = np.zeros(len(self.places))
        for block, functions, places in zip(self.transcription.blocks, self.functions, self.evaluation.places):
            found = functions.values(self._inputs(block, point))
            f += float(found[:, : block.head].sum())
            rows[places] = found[:, block.head :]
        rows[: len(self.evaluation.x_places)] -= point.z[self.evaluation.x_places]
        g = self.signs * rows[self.places]
        self.at = (x, p), f, g
        return f, g

    def _inputs(self, block: Any, point: Point) -> list[np.ndarray]:
        given = self.evaluation.inputs(block, point)
        return [np.ascontiguousarray(np.broadcast_to(part, (len(block.stages), part.shape[1]))) for part in given]

    def _derivatives(self, x: Any, p: Any, f_weight: float, weights: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
        y = np.empty(len(self.places))
        y[self.places] = self.signs * weights
        point, found = self._point(x, p, y), []
        for block, functions, places in zip(self.transcription.blocks, self.functions, self.evaluation.places):
            heads = np.full((len(places), block.head), f_weight)
            found.append(functions.derivatives(self._inputs(block, point), np.hstack([heads, y[places]])))
        return found

    def slopes(self, x: Any, p: Any) -> tuple[np.ndarray, ca.DM]:
        """The gradient of the objective and the Jacobian of the rows."""
        found = self._derivatives(x, p, 0.0, np.zeros(len(self.places)))
        entries = np.concatenate([*(slopes.ravel() for slopes, _ in found), -np.ones(len(self.evaluation.x_places))])
        gradient = np.bincount(self.gradient_places, entries[~self.of_rows], len(self.order))
        return gradient, self.jacobian.filled(self.turned * entries[self.of_rows])

    def curvature(self, x: Any, p: Any, f_weight: Any, weights: Any) -> ca.DM:
        """The upper triangle of the Hessian of the Lagrangian."""
        found = self._derivatives(x, p, float(f_weight), np.array(weights).ravel())
        return self.hessian.filled(np.concatenate([hessian.ravel() for _, hessian in found]))


class External(ca.Callback):
    """What CasADi asks of a program, by its names for it: `asked` of (x, p), or of these and the two weights."""

    def __init__(self, name: str, horizon: Horizon, given: Sequence[str], asked: Sequence[str]):
        ca.Callback.__init__(self)
        variables, rows = len(horizon.order), len(horizon.places)
        parameters = horizon.layout.size_shared + horizon.layout.size_stage
        sizes = {"x": variables, "p": parameters, "lam:f": 1, "lam:g": rows}
        shapes = {"f": ca.Sparsity.dense(1), "g": ca.Sparsity.dense(rows), "grad:f:x": ca.Sparsity.dense(variables),
                  "grad:gamma:x": ca.Sparsity.dense(variables), "grad:gamma:p": ca.Sparsity(parameters, 1),
                  "jac:g:x": horizon.jacobian.sparsity, "triu:hess:gamma:x:x": horizon.hessian.sparsity,
                  "hess:gamma:x:x": horizon.hessian.sparsity + horizon.hessian.sparsity.T}  # fmt: skip
        self.horizon, self.given, self.asked = horizon, given, asked
        self.shapes_in = [ca.Sparsity.dense(sizes[part]) for part in given]
        self.shapes_out = [shapes[part] for part in asked]
        self.made: list[External] = []  # CasADi does not keep them
        self.construct(name)

    def get_n_in(self) -> int:
        return len(self.given)

    def get_n_out(self) -> int:
        return len(self.asked)

    def get_name_in(self, i: int) -> str:
        return self.given[i].replace(":", "_")

    def get_name_out(self, i: int) -> str:
        return self.asked[i].replace(":", "_")

    def get_sparsity_in(self, i: int) -> ca.Sparsity:
        return self.shapes_in[i]

    def get_sparsity_out(self, i: int) -> ca.Sparsity:
        return self.shapes_out[i]

    def has_factory(self) -> bool:
        return True

    def get_factory(self, name: str, given: Sequence[str], asked: Sequence[str], *_: Any) -> External:
        self.made.append(External(name, self.horizon, given, asked))
        return self.made[-1]

    def eval(self, given: list[ca.DM]) -> list[Any]:
        return [self._output(part, given) for part in self.asked]

    def _output(self, asked: str, given: list[ca.DM]) -> Any:
        horizon = self.horizon
        if asked in ("f", "g"):
            return horizon.values(*given[:2])["fg".index(asked)]
        if asked == "grad:gamma:p":
            return ca.DM(*self.shapes_in[1].shape)  # nobody wants to know
        if "hess" in asked:
            upper = horizon.curvature(*given)
            return upper if asked.startswith("triu") else ca.triu2symm(upper)
        gradient, jacobian = horizon.slopes(*given[:2])
        if asked == "grad:gamma:x":
            return given[2] * gradient + jacobian.T @ given[3]
        return gradient if asked == "grad:f:x" else jacobian


class OnMachineCode:
    """A rival, "ipopt" or "fatrop", ready to solve a problem from many guesses."""

    def __init__(self, name: str, problem: ts.Problem):
        self.name, self.horizon = name, Horizon(problem)
        transcription, layout = self.horizon.transcription, self.horizon.layout
        self.inputs, self.limits = Inputs(transcription, layout), StatedLimits(transcription, layout)
        self.program = External("nlp", self.horizon, ["x", "p"], ["f", "g"])

    def solve(self, guess: Mapping[str, Any], parameters: Mapping[str, Any], iterations: int, seconds: float) -> Found:
        """From a guess, with the rival's own rules, to a tolerance of 1e-8."""
        horizon = self.horizon
        shared, own = self.inputs.parameters(parameters)
        z = self.inputs.guess(guess, own)
        self.inputs.start(None, z, own)
        limits = self.limits.at(z, shared, own)
        solver = self._solver(iterations, seconds)
        given = {
            "x0": z[horizon.order], "p": np.concatenate([shared, own]), "lbx": limits.z_lower[horizon.order],
            "ubx": limits.z_upper[horizon.order], "lbg": limits.y_lower[horizon.places],
            "ubg": limits.y_upper[horizon.places],
        }  # fmt: skip
        begin = process_time()
        found = solver(**given)
        taken = process_time() - begin
        stats = solver.stats()
        objective, rows = horizon.values(found["x"], given["p"])
        x = np.array(found["x"]).ravel()
        outside = max(
            0.0,
            *(float(np.max(part, initial=0.0)) for part in (given["lbx"] - x, x - given["ubx"])),
            *(float(np.max(part, initial=0.0)) for part in (given["lbg"] - rows, rows - given["ubg"])),
        )
        otherwise = "solved" if stats["success"] else "stalled"
        status = str(STATUSES.get(str(stats["return_status"]), otherwise))
        return Found(status, int(stats["iter_count"]), taken, objective, outside)

    def _solver(self, iterations: int, seconds: float) -> ca.Function:
        own: dict[str, Any] = {"max_iter": iterations, "print_level": 0}
        options: dict[str, Any] = {"print_time": False, "error_on_fail": False, "calc_lam_p": False}
        options |= {"show_eval_warnings": False, self.name: own}
        if self.name == "ipopt":
            own |= {"tol": 1e-8, "sb": "yes", "max_cpu_time": seconds}
        else:
            own |= {"tolerance": 1e-8}
            options |= {"structure_detection": "auto", "equality": (~self.horizon.limited).tolist()}
        return ca.nlpsol("rival", self.name, self.program, options)
