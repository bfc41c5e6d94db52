"""The same problem through CasADi's IPOPT and FATROP: oracles and rivals, never needed to use Trisweep.

The stages' functions are those of the transcription, evaluated and differentiated by CasADi alone: nothing of the
compiler, of `adjoint` or of the core has a part in it.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np

from ..adjoint import solved
from .transcription import Block, Transcription


@dataclass(frozen=True, eq=False)
class NonlinearProgram:
    """min f(z), lower <= g(z) <= upper, z all stages' (u, x) in a row; p all parameters.

    Rows of g stand stage by stage: next state minus F, equalities, inequalities; `kinds` has "d", "e" or "i" for each.
    """

    z: ca.MX
    p: ca.MX
    f: ca.MX
    g: ca.MX
    kinds: np.ndarray
    lower: np.ndarray
    upper: np.ndarray


def plain_rows(transcription: Transcription, block: Block) -> tuple[list[ca.SX], ca.SX]:
    """u, x, p, p_stage, and the rows of a block as expressions of these, without any node."""
    u = transcription.u if block.stages[0] < transcription.problem.steps else ca.SX(0, 1)
    inputs = [u, transcription.x, transcription.p, transcription.p_stage]
    return inputs, ca.densify(solved(block.rows))


def plain_function(transcription: Transcription, block: Block) -> ca.Function:
    """(u, x, p, p_stage) -> rows of a block, by CasADi alone."""
    inputs, rows = plain_rows(transcription, block)
    return ca.Function("rows", inputs, [rows])


def assemble(transcription: Transcription) -> NonlinearProgram:
    """The program of all stages, in the order that FATROP expects."""
    steps, stages = transcription.problem.steps, transcription.stages
    nu, nx = transcription.u.numel(), transcription.x.numel()
    z = ca.MX.sym("z", steps * (nu + nx) + nx)
    p = ca.MX.sym("p", transcription.p.numel() + stages * transcription.p_stage.numel())
    own = transcription.p_stage.numel()
    f, rows = ca.MX(0), [{"d": [], "e": [], "i": []} for _ in range(stages)]
    bounds = [{"d": [], "e": [], "i": []} for _ in range(stages)]

    def at(k: int) -> tuple[ca.MX, ca.MX]:
        start = k * (nu + nx)
        width = nu if k < steps else 0
        return z[start : start + width], z[start + width : start + width + nx]

    for block in transcription.blocks:
        function = plain_function(transcription, block)
        for k in block.stages:
            first = transcription.p.numel() + k * own
            out = function(*at(k), p[: transcription.p.numel()], p[first : first + own])
            row = 0
            if block.objective is not None:
                f, row = f + out[0], 1
            if block.next is not None:
                rows[k]["d"].append(at(k + 1)[1] - out[row : row + nx])
                bounds[k]["d"].append((np.zeros(nx), np.zeros(nx)))
                row += nx
            for letter, terms in (("e", block.equalities), ("i", block.inequalities)):
                for term in terms:
                    size = term.expression.numel()
                    rows[k][letter].append(out[row : row + size])
                    zero = np.zeros(size)
                    bounds[k][letter].append((zero, zero) if letter == "e" else (term.lower, term.upper))
                    row += size
    order = [(k, letter, i) for k in range(stages) for letter in "dei" for i in range(len(rows[k][letter]))]
    pick = [bounds[k][letter][i] for k, letter, i in order]
    return NonlinearProgram(
        z, p, f,
        g=ca.vertcat(*(rows[k][letter][i] for k, letter, i in order)),
        kinds=np.array([letter for (_, letter, _), (low, _) in zip(order, pick) for _ in low]),
        lower=np.concatenate([low for low, _ in pick]),
        upper=np.concatenate([high for _, high in pick]),
    )  # fmt: skip
