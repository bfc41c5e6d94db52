"""Functions of a block whose rows rest on robots for which the core has recursions over bodies: compiled without the
robots. Straight code for a humanoid's second derivatives would be a million instructions, the recursions are none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca
import numpy as np

from ...adjoint import Beside
from ...adjoint.remainder import Remainder, remainder
from ...native import CompiledFunction, compile_function, core
from .functions import StageFunctions
from .stages import Block


@dataclass(frozen=True, eq=False)
class DerivativeParts:
    """Nonzeros of first and second derivatives, compiled, and their rows and columns."""

    slopes: CompiledFunction
    curvature: CompiledFunction
    slope_places: tuple[Sequence[int], Sequence[int]]
    curvature_places: tuple[Sequence[int], Sequence[int]]

    def give_to(self, made: core.Graph | core.Beside) -> None:
        made.slopes, made.curvature = _for_core(self.slopes), _for_core(self.curvature)
        made.slope_rows, made.slope_columns = map(list, self.slope_places)
        made.curvature_rows, made.curvature_columns = map(list, self.curvature_places)


@dataclass(frozen=True, eq=False)
class BesideParts(DerivativeParts):
    """What the core's `Beside` is made of: terms of a node that its recursion leaves to the compiler."""

    matrix: CompiledFunction

    @property
    def code(self) -> list[CompiledFunction]:
        return [self.matrix, self.slopes, self.curvature]

    def for_core(self) -> core.Beside:
        made = core.Beside()
        made.matrix = _for_core(self.matrix)
        self.give_to(made)
        return made


@dataclass(frozen=True, eq=False)
class GraphParts(DerivativeParts):
    """What the core's `Graph` is made of, kept alive here: the core knows only addresses."""

    controls: int
    variables: int
    rows: int
    exact: bool
    trees: list[core.Tree]
    beside: list[BesideParts | None]
    arguments: list[CompiledFunction]
    values: CompiledFunction

    @property
    def code(self) -> list[CompiledFunction]:
        beside = [code for each in self.beside if each is not None for code in each.code]
        return [*self.arguments, *beside, self.values, self.slopes, self.curvature]


def _for_core(code: CompiledFunction) -> core.Compiled:
    return core.Compiled(code.address, code.sizes.work, code.sizes.outputs[0])


def _unknowns(tree: core.Tree) -> int:
    return len(tree.armature) + sum(len(row.softness) for row in tree.held) + sum(len(row.least) for row in tree.loops)


class RecursiveStage(StageFunctions):
    """Compiled but for the nodes; see native/src/bodies/stage_graph.hpp."""

    quadratic = False  # a robot never is

    def __init__(self, block: Block, weights: ca.SX, left: Remainder, exact: bool):
        still, given = block.phase.still, [*block.inputs, left.unknowns]
        slopes, curvature = still(left.slopes), still(left.curvature)

        def compiled(name: str, inputs: list[ca.SX], output: ca.SX) -> CompiledFunction:
            return compile_function(ca.Function(name, inputs, [output]), name=f"{name} of {block}")

        def beside(given_beside: Beside) -> BesideParts:
            slopes, curvature = still(given_beside.slopes), still(given_beside.curvature)
            return BesideParts(
                matrix=compiled("loops", given, ca.densify(given_beside.matrix)),
                slopes=compiled("loop_slopes", given, slopes),
                curvature=compiled("loop_curvature", [*given, given_beside.weights], curvature),
                slope_places=slopes.sparsity().get_triplet(),
                curvature_places=curvature.sparsity().get_triplet(),
            )

        self._assemble(GraphParts(
            controls=block.inputs[0].numel(),
            variables=sum(part.numel() for part in block.inputs[:2]),
            rows=weights.numel(),
            exact=exact,
            trees=[each.tables() for each in left.recursions],
            beside=[None if each.beside is None else beside(each.beside()) for each in left.recursions],
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
        made.beside = [core.Beside() if each is None else each.for_core() for each in parts.beside]
        made.arguments = [_for_core(code) for code in parts.arguments]
        made.values = _for_core(parts.values)
        parts.give_to(made)
        self.graph = core.StageGraph(made)
        self.jacobian_places = self.graph.jacobian_rows, self.graph.jacobian_columns
        self.hessian_places = self.graph.hessian_rows, self.graph.hessian_columns
        self.recursive_unknowns = max(map(_unknowns, parts.trees))
        self.lanes = max(code.lanes for code in parts.code)

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
        from ...dynamics.nodes.recursion import tables  # robots are here already, elsewhere they need not be

        return [*(each.source.function for each in parts.code), *(str(tables(tree)) for tree in parts.trees)]


def recursive_stage(block: Block, hessian: str) -> RecursiveStage | None:
    """None where the rows rest on something for which there is no recursion. hessian: as in `expand`."""
    weights = ca.SX.sym("weight", block.rows.numel())
    left = remainder(ca.vertcat(*block.inputs[:2]), block.rows, weights, hessian)
    return None if left is None else RecursiveStage(block, weights, left, hessian == "exact")
