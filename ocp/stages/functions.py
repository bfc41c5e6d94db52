"""A block's functions as the core calls them: rows, and Jacobian and Hessian of the weighted sum of the rows.

Compiled as a whole, or, where the rows rest on robots for which the core has recursions over bodies, compiled without
the robots: straight code for a humanoid's second derivatives would be a million instructions, the recursions are none.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca
import numpy as np

from ...adjoint import Recursion, Remainder, remainder
from ...native import CompiledFunction, CoreObject, compile_function, core
from .stages import Block
from .transcription import Transcription

# From so many unknowns of a node on, the recursions take less time than straight code, to run and above all to build.
MANY_UNKNOWNS = 15


class StageFunctions(ABC):
    """Places of the nonzeros of Jacobian and lower triangle of the Hessian, both by (u, x); quadratic: of exact
    derivatives, whether they tell a quadratic objective and affine rows.
    """

    jacobian_places: tuple[list[int], list[int]]
    hessian_places: tuple[list[int], list[int]]
    lanes: int
    quadratic: bool

    @abstractmethod
    def values(self, inputs: Sequence[np.ndarray]) -> np.ndarray:
        """Rows (stages, rows) for the block's inputs, a row a stage."""

    @abstractmethod
    def derivatives(self, inputs: Sequence[np.ndarray], weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The nonzeros (stages, nonzeros) of Jacobian and Hessian."""

    @abstractmethod
    def give_to(self, block: CoreObject) -> None:
        """Hand the code to the core."""

    @abstractmethod
    def identity(self) -> list[str]:
        """What tells it from other functions, in any process."""


class CompiledStage(StageFunctions):
    """All of it compiled."""

    def __init__(self, block: Block, pair: tuple[ca.Function, ca.Function]):
        self.code = [compile_function(function, name=f"{function.name()} of {block}") for function in pair]
        rows, columns = pair[1].sparsity_out(0).get_triplet()
        self.jacobian_places = list(rows), list(columns)
        rows, columns = pair[1].sparsity_out(1).get_triplet()
        self.hessian_places = list(rows), list(columns)
        self.lanes = max(code.lanes for code in self.code)
        self.quadratic = Transcription.is_quadratic(block, pair[1])

    def values(self, inputs: Sequence[np.ndarray]) -> np.ndarray:
        rows = self.code[0].batch(*inputs)
        assert isinstance(rows, np.ndarray)  # its one output
        return rows

    def derivatives(self, inputs: Sequence[np.ndarray], weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        jacobian, hessian = self.code[1].batch(*inputs, weights)
        return jacobian, hessian

    def give_to(self, block: CoreObject) -> None:
        values, derivatives = self.code
        block.set_values(values.address, values.sizes.work)
        block.set_derivatives(derivatives.address, derivatives.sizes.work)

    def identity(self) -> list[str]:
        return [code.source.function for code in self.code]


@dataclass(frozen=True, eq=False)
class GraphParts:
    """What the core's `Graph` is made of, kept alive here: the core knows only addresses."""

    variables: int
    rows: int
    exact: bool
    trees: list[CoreObject]
    arguments: list[CompiledFunction]
    values: CompiledFunction
    slopes: CompiledFunction
    curvature: CompiledFunction
    slope_places: tuple[Sequence[int], Sequence[int]]
    curvature_places: tuple[Sequence[int], Sequence[int]]


def _for_core(code: CompiledFunction) -> CoreObject:
    return core.Compiled(code.address, code.sizes.work, code.sizes.outputs[0])


class RecursiveStage(StageFunctions):
    """Compiled but for the nodes; see native/src/bodies/stage_graph.hpp."""

    quadratic = False  # a robot never is

    def __init__(self, block: Block, weights: ca.SX, left: Remainder, exact: bool):
        still, given = block.phase.still, [*block.inputs, left.unknowns]
        slopes, curvature = still(left.slopes), still(left.curvature)

        def compiled(name: str, inputs: list[ca.SX], output: ca.SX) -> CompiledFunction:
            return compile_function(ca.Function(name, inputs, [output]), name=f"{name} of {block}")

        self._assemble(GraphParts(
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
        made.variables, made.rows, made.exact, made.trees = parts.variables, parts.rows, parts.exact, parts.trees
        made.arguments = [_for_core(code) for code in parts.arguments]
        made.values, made.slopes, made.curvature = map(_for_core, (parts.values, parts.slopes, parts.curvature))
        made.slope_rows, made.slope_columns = map(list, parts.slope_places)
        made.curvature_rows, made.curvature_columns = map(list, parts.curvature_places)
        self.graph = core.StageGraph(made)
        self.jacobian_places = self.graph.jacobian_rows, self.graph.jacobian_columns
        self.hessian_places = self.graph.hessian_rows, self.graph.hessian_columns
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

    def give_to(self, block: CoreObject) -> None:
        block.graph = self.graph

    def identity(self) -> list[str]:
        parts = self.parts
        code = [*parts.arguments, parts.values, parts.slopes, parts.curvature]
        from ...dynamics.nodes.recursion import tables  # robots are here already, elsewhere they need not be

        return [*(each.source.function for each in code), *(str(tables(tree)) for tree in parts.trees)]


def stage_functions(transcription: Transcription, block: Block, hessian: str) -> StageFunctions:
    """The functions of a block, by recursions where its rows rest on large robots alone."""
    weights, kind = ca.SX.sym("weight", block.rows.numel()), transcription.kind(block, hessian)
    left = remainder(ca.vertcat(*block.inputs[:2]), block.rows, weights, kind)
    if left is not None and _large(left.recursions, left.unknowns):
        return RecursiveStage(block, weights, left, kind == "exact")
    return CompiledStage(block, transcription.functions(block, hessian))


def _large(recursions: list[Recursion], unknowns: ca.SX) -> bool:
    return unknowns.numel() >= MANY_UNKNOWNS * len(recursions)
