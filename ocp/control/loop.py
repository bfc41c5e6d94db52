"""What one of the core's controllers is made of: a problem's structure, limits and names, and how a plan moves on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import casadi as ca
import numpy as np

from ...native import CompiledFunction, compile_function, core
from ..solve.native_backend import NativeBackend, core_settings
from ..solve.settings import Settings
from ..solve.warm_start import later_stages, moved_places
from ..stages.limit_vectors import LimitedRows
from .ports import anchor_places, parameter_ports, state_ports

if TYPE_CHECKING:
    from ..solve.solver import Solver


@dataclass(frozen=True, eq=False)
class LoopParts:
    """lower, upper: limits of z, then of the inequalities, where they are numbers. limits: the core's functions of the
    others, whose code is in `code`.
    """

    structure: core.Structure
    lower: np.ndarray
    upper: np.ndarray
    size_z: int
    limits: list[core.LimitFunction]
    code: list[CompiledFunction]
    loop: core.Loop
    parameters: list[core.Port]

    def controller(self) -> core.Controller:
        """One of the core's."""
        sides = self.lower, self.upper, self.size_z
        return core.Controller(self.structure, *sides, self.limits, self.loop, self.parameters)


def loop_parts(solver: Solver, seconds: float, iterations: int, barrier: float, moves_on: bool) -> LoopParts:
    """Those of a solver with the native back end."""
    backend, layout = solver.backend, solver.layout
    assert isinstance(backend, NativeBackend)
    z_lower, z_upper, c_lower, c_upper = backend.bounds(solver.limits.stated)
    code = [_compiled(rows) for rows in solver.limits.parametric_rows]
    loop = core.Loop()
    loop.seconds, loop.iterations, loop.barrier, loop.moves_on = float(seconds), int(iterations), barrier, moves_on
    loop.settings, loop.shift, loop.anchors = core_settings(Settings(), False), _shift(solver), anchor_places(layout)
    started = {v.name for v in solver.problem.started}
    first = state_ports(layout, layout.phases[0], slice(0, 1))
    loop.measured = [port for port in first if port.name in started]
    return LoopParts(
        backend.structure,
        np.concatenate([z_lower, c_lower]),
        np.concatenate([z_upper, c_upper]),
        layout.size_z,
        [_function(solver, *each) for each in zip(solver.limits.parametric_rows, code)],
        code,
        loop,
        parameter_ports(layout),
    )


def _compiled(rows: LimitedRows) -> CompiledFunction:
    """Without fused operations: the numbers are CasADi's."""
    plain = rows.function
    inputs = plain.sx_in()
    sides = [ca.densify(side) for side in plain.call(inputs)]
    return compile_function(ca.Function("limits", inputs, sides), optimize="quick", name=f"limits of {rows.name}")


def _function(solver: Solver, rows: LimitedRows, code: CompiledFunction) -> core.LimitFunction:
    layout, place = solver.layout, rows.layout
    made = core.LimitFunction()
    made.stages, made.rows = rows.places.shape
    made.at_shared, made.stage_stride = place.at_shared, place.stage_stride
    made.at_stage = place.at_stage + rows.stages.start * place.stage_stride
    places = rows.places.ravel().copy()
    without = np.isin(places, np.concatenate([solver.transcription.fixed_z, solver.transcription.pinned_z]))
    places[places >= layout.size_z] -= layout.limited.start
    places[without] = -1
    made.places = places.tolist()
    made.set_function(code.address, code.sizes.work)
    return made


def _shift(solver: Solver) -> core.Shift:
    """Of every entry the one whose place it takes."""
    layout = solver.layout
    given = np.ones(layout.size_stage)
    solver.inputs.put_defaults(given)
    z, y, stage = moved_places(layout, later_stages(layout, given, 1))
    chosen, becomes = solver.transcription.choices.T
    z[chosen] = z[becomes]
    made = core.Shift()
    made.z, made.y, made.stage_parameters = z.tolist(), y.tolist(), stage.tolist()
    return made
