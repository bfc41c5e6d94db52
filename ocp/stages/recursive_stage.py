"""Functions of a block whose rows rest on robots for which the core has recursions over bodies: compiled without the
robots. Straight code for a humanoid's second derivatives would be a million instructions, the recursions are none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca
import numpy as np

from ...adjoint.remainder import Remainder, remainder
from ...native import CompiledFunction, compile_function, core
from .functions import StageFunctions
from .stages import Block


@dataclass(frozen=True, eq=False)
class GraphParts:
    """What the core's `Graph` is made of, kept alive here: the core knows only addresses."""

    controls: int
    variables: int
    rows: int
    exact: bool
    trees: list[core.Tree]
    arguments: list[CompiledFunction]
    values: CompiledFunction
    slopes: CompiledFunction
    curvature: CompiledFunction
    slope_places: tuple[Sequence[int], Sequence[int]]
    curvature_places: tuple[Sequence[int], Sequence[int]]


def _for_core(code: CompiledFunction) -> core.Compiled:
    return core.Compiled(code.address, code.sizes.work, code.sizes.outputs[0])


def _unknowns(tree: core.Tree) -> int:
    return len(tree.armature) + sum(len(row.softness) for row in tree.held)


class RecursiveStage(StageFunctions):
    """Compiled but for the nodes; see native/src/bodies/stage_graph.hpp."""

    quadratic = False  # a robot never is

    def __init__(self, block: Block, weights: ca.SX, left: Remainder, exact: bool):
        still, given = block.phase.still, [*block.inputs, left.unknowns]
        slopes, curvature = still(left.slopes), still(left.curvature)

        def compiled(name: str, inputs: list[ca.SX], output: ca.SX) -> CompiledFunction:
            return compile_function(ca.Function(name, inputs, [output]), name=f"{name} of {block}")

        self._assemble(GraphParts(
            controls=block.inputs[0].numel(),
            variables=sum(part.numel() for part in block.inputs[:2]),
            rows=weights.numel(),
            exact=exact,
            trees=[each.tables() for each in left.recursions],
            arguments=[compiled("arguments", given, each.arguments) for each in left.recursions],
            values=compiled("values", given, ca.densify(block.rows)),
            slopes=compiled("slopes", given, slopes),
            curvature=compiled("curvature", [*given, weights, left.adjoints], curvature),
            slope_places=slopes.sparsity().get_triplet(),
            curvature_places=curvature.sparsity().get_triplet(),
        ))  # fmt: skip

    def _assemble(self, parts: GraphParts) -> None:
        self.parts = parts
        made = core.Graph()
        made.controls, made.variables, made.rows = parts.controls, parts.variables, parts.rows
        made.exact, made.trees = parts.exact, parts.trees
        made.arguments = [_for_core(code) for code in parts.arguments]
        made.values, made.slopes, made.curvature = map(_for_core, (parts.values, parts.slopes, parts.curvature))
        made.slope_rows, made.slope_columns = map(list, parts.slope_places)
        made.curvature_rows, made.curvature_columns = map(list, parts.curvature_places)
        self.graph = core.StageGraph(made)
        self.jacobian_places = self.graph.jacobian_rows, self.graph.jacobian_columns
        self.hessian_places = self.graph.hessian_rows, self.graph.hessian_columns
        self.recursive_unknowns = max(map(_unknowns, parts.trees))
        self.lanes = max(code.lanes for code in (*parts.arguments, parts.values, parts.slopes, parts.curvature))

    def __getstate__(self) -> GraphParts:
        return self.parts

    def __setstate__(self, parts: GraphParts) -> None:
        self._assemble(parts)

    def values(self, inputs: Sequence[np.ndarray]) -> np.ndarray:
        return self.graph.values([np.ascontiguousarray(part) for part in inputs])

    def derivatives(self, inputs: Sequence[np.ndarray], weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        jacobian, hessian = self.graph.derivatives([np.ascontiguousarray(part) for part in (*inputs, weights)])
        return jacobian, hessian

    def give_to(self, block: core.Block) -> None:
        block.graph = self.graph

    def identity(self) -> list[str]:
        parts = self.parts
        code = [*parts.arguments, parts.values, parts.slopes, parts.curvature]
        from ...dynamics.nodes.recursion import tables  # robots are here already, elsewhere they need not be

        return [*(each.source.function for each in code), *(str(tables(tree)) for tree in parts.trees)]


def recursive_stage(block: Block, hessian: str) -> RecursiveStage | None:
    """None where the rows rest on something for which there is no recursion. hessian: as in `expand`."""
    weights = ca.SX.sym("weight", block.rows.numel())
    left = remainder(ca.vertcat(*block.inputs[:2]), block.rows, weights, hessian)
    return None if left is None else RecursiveStage(block, weights, left, hessian == "exact")
