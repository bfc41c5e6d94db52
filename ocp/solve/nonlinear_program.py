"""All stages as one nonlinear program of CasADi, for its IPOPT and FATROP: never needed to use Trisweep.

The stages' functions are those of the transcription, evaluated and differentiated by CasADi alone: nothing of the
compiler, of `adjoint` or of the core has a part in it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import casadi as ca
import numpy as np

from ...errors import ProblemError
from ..stages.layout import Layout, block_places
from ..stages.stages import Block, Phase
from ..stages.transcription import Transcription
from ..statement.costs_and_constraints.terms import CONSTRAINTS, Kind


@dataclass(frozen=True, eq=False)
class NonlinearProgram:
    """min f(z) with limits on g(z) and z: all stages' (u, x) in a row; p: all parameters, the shared ones first.

    Rows of g stand stage by stage: next state minus F, equalities, inequalities. `kinds` has the kind of each, `places`
    where the row stands in the y of `layout`, whose dynamics have the other sign.
    """

    z: ca.MX
    p: ca.MX
    f: ca.MX
    g: ca.MX
    kinds: list[Kind]
    places: np.ndarray

    @property
    def signs(self) -> np.ndarray:
        """By which a multiplier of a row of g is that of the row in y."""
        return np.array([-1.0 if kind.leads_on else 1.0 for kind in self.kinds])


class PlacedRows(NamedTuple):
    """Rows of one kind at a stage, and where they stand in y."""

    expression: ca.MX
    places: np.ndarray


def plain_function(block: Block) -> ca.Function:
    """The inputs of a block -> its rows, by CasADi alone."""
    if any(node.steplike for node in block.nodes):
        raise ProblemError(f"{block} has a table, whose derivatives CasADi has not, expected build(backend='native')")
    return ca.Function("rows", block.inputs, [block.plain_rows])


def assemble(transcription: Transcription, layout: Layout) -> NonlinearProgram:
    """The program of all stages, in the order that FATROP expects."""
    nx = transcription.nx
    z, p, f = ca.MX.sym("z", layout.size_z), ca.MX.sym("p", layout.size_shared + layout.size_stage), ca.MX(0)
    found: dict[tuple[int, Kind], list[PlacedRows]] = {}

    def at(k: int) -> tuple[ca.MX, ca.MX]:
        start, end = map(int, transcription.at_z[k : k + 2])
        return z[start : end - nx[k]], z[end - nx[k] : end]

    def stage_parameters(phase: Phase, k: int) -> ca.MX:
        place = layout.phases[transcription.phases.index(phase)]
        first = layout.size_shared + place.at_stage + (k - place.first) * place.stage_stride
        return p[first : first + place.stage_stride]

    for block in transcription.blocks:
        function, places = plain_function(block), block_places(transcription, block)
        place = layout.phases[transcription.phases.index(block.phase)]
        shared = p[place.at_shared : place.at_shared + place.shared]
        entering = block.entering
        for i, k in enumerate(block.stages):
            child = ca.MX(0, 1)
            if entering is not None and entering.child_parameters.numel():
                child = stage_parameters(entering, block.child + i)
            out = function(*at(k), shared, stage_parameters(block.phase, k), child)
            if block.head:
                f, out = f + out[0], out[1:]
            row = 0
            for kind in CONSTRAINTS:
                end = row + block.count(kind)
                if end > row:
                    part = at(block.child + i)[1] - out[row:end] if kind.leads_on else out[row:end]
                    found.setdefault((k, kind), []).append(PlacedRows(part, places[i, row:end]))
                row = end
    stages = range(transcription.stages)
    order = [(kind, rows) for k in stages for kind in CONSTRAINTS for rows in found.get((k, kind), [])]
    return NonlinearProgram(
        z,
        p,
        f,
        g=ca.vertcat(*(rows.expression for _, rows in order)),
        kinds=[kind for kind, rows in order for _ in rows.places],
        places=np.concatenate([rows.places for _, rows in order]),
    )
