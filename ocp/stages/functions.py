"""A block's functions as the core calls them: rows, and Jacobian and Hessian of the weighted sum of the rows.

Compiled as a whole, or, where the rows rest on large robots, by a `recursive_stage`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import casadi as ca
import numpy as np

from ...adjoint import ImplicitNode, nodes_of, solved
from ...errors import CompileError
from ...native import compile_function, core, record
from .stages import Block
from .transcription import Transcription

# From so many unknowns of a node on the recursions are taken: up to some thirty, straight code runs in about half their
# time, but takes four to ten times theirs to build, and more the larger the robot (`bench/whole_body.py --ways`).
MANY_UNKNOWNS = 15


class StageFunctions(ABC):
    """Places of the nonzeros of Jacobian and lower triangle of the Hessian, both by (u, x); quadratic: of exact
    derivatives, whether they tell a quadratic objective and affine rows; recursive_unknowns:
    of the largest node that is not compiled.
    """

    jacobian_places: tuple[list[int], list[int]]
    hessian_places: tuple[list[int], list[int]]
    lanes: int
    quadratic: bool
    recursive_unknowns = 0

    @abstractmethod
    def values(self, inputs: Sequence[np.ndarray]) -> np.ndarray:
        """Rows (stages, rows) for the block's inputs, a row a stage."""

    @abstractmethod
    def derivatives(self, inputs: Sequence[np.ndarray], weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The nonzeros (stages, nonzeros) of Jacobian and Hessian."""

    @abstractmethod
    def give_to(self, block: core.Block) -> None:
        """Hand the code to the core."""

    @abstractmethod
    def identity(self) -> list[str]:
        """What tells it from other functions, in any process."""


class CompiledStage(StageFunctions):
    """All of it compiled."""

    def __init__(self, block: Block, pair: tuple[ca.Function, ca.Function]):
        try:
            self.code = [compile_function(function, name=f"{function.name()} of {block}") for function in pair]
        except CompileError as error:
            raise _named(block, error) from error
        rows, columns = pair[1].sparsity_out(0).get_triplet()
        self.jacobian_places = list(rows), list(columns)
        rows, columns = pair[1].sparsity_out(1).get_triplet()
        self.hessian_places = list(rows), list(columns)
        self.lanes = max(code.lanes for code in self.code)
        self.quadratic = Transcription.is_quadratic(block, pair[1])
        self.damped = pair[1].n_in() > pair[0].n_in() + 1  # takes a share of the curvature

    def values(self, inputs: Sequence[np.ndarray]) -> np.ndarray:
        rows = self.code[0].batch(*inputs)
        assert isinstance(rows, np.ndarray)  # its one output
        return rows

    def derivatives(self, inputs: Sequence[np.ndarray], weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        share = [np.ones((1, 1))] if self.damped else []
        jacobian, hessian = self.code[1].batch(*inputs, weights, *share)
        return jacobian, hessian

    def give_to(self, block: core.Block) -> None:
        values, derivatives = self.code
        block.set_values(values.address, values.sizes.work)
        block.set_derivatives(derivatives.address, derivatives.sizes.work)

    def identity(self) -> list[str]:
        return [code.source.function for code in self.code]


def _named(block: Block, error: CompileError) -> CompileError:
    """The error with the term that it comes from, and who would take that."""
    for term in block.terms:
        expression = solved(term.expression)
        try:
            record(ca.Function("term", [ca.vertcat(*ca.symvar(expression))], [expression]))
        except CompileError as own:
            return CompileError(
                f"'{term.name}' on {block} does not compile: {own}. build(backend='ipopt') takes it as it is"
            )
    return error


def stage_functions(transcription: Transcription, block: Block, hessian: str) -> StageFunctions:
    """The functions of a block, by recursions where its rows rest on large robots alone."""
    if large(nodes_of(block.rows)):
        from .recursive_stage import recursive_stage

        made = recursive_stage(block, transcription.kind(block, hessian))
        if made is not None:
            return made
    return CompiledStage(block, transcription.functions(block, hessian))


def large(nodes: Sequence[ImplicitNode]) -> bool:
    """Whether recursions over bodies take less time than straight code."""
    return bool(nodes) and sum(node.unknowns.numel() for node in nodes) >= MANY_UNKNOWNS * len(nodes)
