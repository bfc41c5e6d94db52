"""The same problem through CasADi's IPOPT and FATROP: oracles and rivals, never needed to use Trisweep.

The stages' functions are those of the transcription, evaluated and differentiated by CasADi alone: nothing of the
compiler, of `adjoint` or of the core has a part in it.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np

from ...adjoint import solved
from ..stages.layout import Layout, block_places
from ..stages.stages import Block, Phase
from ..stages.transcription import Transcription


@dataclass(frozen=True, eq=False)
class NonlinearProgram:
    """min f(z), lower <= g(z) <= upper, z all stages' (u, x) in a row; p all parameters.

    Rows of g stand stage by stage: next state minus F, equalities, inequalities; `kinds` has "d", "e" or "i" for each,
    `places` where the row stands in the y of `layout`, whose dynamics have the other sign.
    """

    z: ca.MX
    p: ca.MX
    f: ca.MX
    g: ca.MX
    kinds: np.ndarray
    places: np.ndarray
    lower: np.ndarray
    upper: np.ndarray


def plain_rows(block: Block) -> ca.SX:
    """The rows of a block as expressions of its inputs, without any node."""
    return ca.densify(solved(block.rows))


def plain_function(block: Block) -> ca.Function:
    """The inputs of a block -> its rows, by CasADi alone."""
    return ca.Function("rows", block.inputs, [plain_rows(block)])


def assemble(transcription: Transcription, layout: Layout) -> NonlinearProgram:
    """The program of all stages, in the order that FATROP expects."""
    stages, nx = transcription.stages, transcription.nx
    z = ca.MX.sym("z", layout.size_z)
    sizes = [sum(span.shared for span in layout.phases), layout.size_own]
    p = ca.MX.sym("p", sum(sizes))
    f, rows = ca.MX(0), [{"d": [], "e": [], "i": []} for _ in range(stages)]
    limits = [{"d": [], "e": [], "i": []} for _ in range(stages)]

    def at(k: int) -> tuple[ca.MX, ca.MX]:
        start, end = map(int, transcription.at_z[k : k + 2])
        return z[start : end - nx[k]], z[end - nx[k] : end]

    def own(phase: Phase, k: int) -> ca.MX:
        span = layout.phases[transcription.phases.index(phase)]
        first = sizes[0] + span.at_own + (k - span.first) * span.own
        return p[first : first + span.own]

    for block in transcription.blocks:
        function, places = plain_function(block), block_places(transcription, block)
        span = layout.phases[transcription.phases.index(block.phase)]
        shared = p[span.at_shared : span.at_shared + span.shared]
        for i, k in enumerate(block.stages):
            manifold = block.entering is not None and block.entering.p_next.numel()
            following = own(block.entering, block.child + i) if manifold else ca.MX(0, 1)
            out = function(*at(k), shared, own(block.phase, k), following)
            if block.objective is not None:
                f, out = f + out[0], out[1:]
            row = 0
            if block.next is not None:
                size = block.next.numel()
                rows[k]["d"].append(at(block.child + i)[1] - out[:size])
                limits[k]["d"].append((np.zeros(size), np.zeros(size), places[i, :size]))
                row += size
            for letter, terms in (("e", block.equalities), ("i", block.inequalities)):
                for term in terms:
                    end = row + term.expression.numel()
                    zero = np.zeros(end - row)
                    low, high = (zero, zero) if letter == "e" else (term.lower, term.upper)
                    rows[k][letter].append(out[row:end])
                    limits[k][letter].append((low, high, places[i, row:end]))
                    row = end
    order = [(k, letter, i) for k in range(stages) for letter in "dei" for i in range(len(rows[k][letter]))]
    pick = [limits[k][letter][i] for k, letter, i in order]
    return NonlinearProgram(
        z, p, f,
        g=ca.vertcat(*(rows[k][letter][i] for k, letter, i in order)),
        kinds=np.array([letter for (_, letter, _), (low, _, _) in zip(order, pick) for _ in low]),
        places=np.concatenate([places for _, _, places in pick]),
        lower=np.concatenate([low for low, _, _ in pick]),
        upper=np.concatenate([high for _, high, _ in pick]),
    )  # fmt: skip
