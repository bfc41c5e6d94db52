"""What solutions of implicit nodes leave of their residuals at a point, where they may: those by so many iterations.

All else that is computed of such a step, by whichever judge, takes the last iterate for its solution.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import casadi as ca
import numpy as np

from ...adjoint import inexact, solved
from ...cached import cached_property
from ..stages.layout import Layout
from ..stages.stages import Block
from ..stages.transcription import Transcription
from .evaluation import Evaluation
from .relative import share
from .residual import Left, Point

UNTOLD = 1e-6  # of the largest value of all, at least 1: beside so much of it the terms inside a node round
AT_ONCE = 2**16  # stages, of all problems together

# Inputs (n, inputs) of a block -> residuals of its nodes (n, rows), their sizes.
Batch = Callable[[np.ndarray], np.ndarray | Sequence[np.ndarray]]


def left_of(block: Block) -> ca.Function | None:
    """A block's inputs, one column -> residuals of its nodes, their sizes; None where all solutions are exact."""
    nodes = inexact(block.nodes)
    if not nodes:
        return None
    residuals = ca.vertcat(*(node.residual for node in nodes))
    both = solved(ca.vertcat(residuals, *(node.sizes for node in nodes if node.sizes is not None)))
    outputs = ca.vertsplit(ca.densify(both), residuals.numel())
    return ca.Function("left", [ca.vertcat(*block.inputs)], outputs)


class Unsolved:
    """Of one problem. batches: of each block what computes `left_of`, None where that is None."""

    def __init__(self, transcription: Transcription, layout: Layout, batches: Sequence[Batch | None]):
        self.transcription, self.layout = transcription, layout
        self._batches = [(block, batch) for block, batch in zip(transcription.blocks, batches) if batch is not None]

    def at(self, point: Point) -> Left | None:
        """The worst of all at a point; None: all solutions are exact."""
        found = None
        vectors = [part[None] for part in (point.z, point.shared_parameters, point.stage_parameters)]
        for block, errors, shares in self._of_blocks(*vectors):
            k, row = np.unravel_index(np.argmax(shares[0]), shares[0].shape)  # NaN, where one is
            name = [node.name for node in inexact(block.nodes) for _ in range(node.unknowns.numel())][row]
            stage = f"stage {block.stages[k] - block.phase.first} of '{block.phase.problem.name}'"
            here = Left(float(errors.max()), float(shares[0, k, row]), f"'{name}' at {stage}")
            found = here if found is None else _worse(found, here)
        return found

    def of_many(
        self, z: np.ndarray, shared_parameters: np.ndarray, stage_parameters: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """The worst of each problem (problems,), as it is and relative to its size; vectors have a row a problem."""
        error, relative = np.zeros(len(z)), np.zeros(len(z))
        step = max(1, AT_ONCE // self.transcription.stages)
        for first in range(0, len(z), step):
            here = slice(first, first + step)
            for _, errors, shares in self._of_blocks(z[here], shared_parameters[here], stage_parameters[here]):
                error[here] = np.maximum(error[here], errors.max(axis=(1, 2)))
                relative[here] = np.maximum(relative[here], shares.max(axis=(1, 2)))
        return error, relative

    def _of_blocks(
        self, z: np.ndarray, shared_parameters: np.ndarray, stage_parameters: np.ndarray
    ) -> Iterator[tuple[Block, np.ndarray, np.ndarray]]:
        """Every block with its residuals and what share they are of their sizes (problems, stages, rows)."""
        if not self._batches:
            return
        vectors = np.hstack([z, shared_parameters, stage_parameters])
        largest = np.abs(z).max(axis=1, initial=1.0)[:, None, None]
        for (block, batch), places in zip(self._batches, self._places):
            given = vectors[:, places]
            found = batch(given.reshape(-1, given.shape[2]))
            errors, sizes = (part.reshape(*given.shape[:2], -1) for part in found)
            with np.errstate(invalid="ignore"):
                shares = share(np.abs(errors), sizes + UNTOLD * largest)
            yield block, np.abs(errors), shares

    @cached_property
    def _places(self) -> list[np.ndarray]:
        """Of each block's inputs (stages, inputs) in (z, shared parameters, stage parameters)."""
        layout, nothing = self.layout, np.zeros(0, int)
        ends = np.cumsum([layout.size_z, layout.size_shared, layout.size_stage])
        z, shared, stage, _ = np.split(np.arange(ends[-1]), ends)
        evaluation, everywhere = Evaluation(self.transcription, layout), Point(z, nothing, nothing, shared, stage)
        found = []
        for block, _ in self._batches:
            parts = evaluation.inputs(block, everywhere)
            rows = [np.broadcast_to(part, (len(block.stages), part.shape[1])) for part in parts]
            found.append(np.hstack(rows).astype(int))
        return found


def by_casadi(function: ca.Function | None) -> Batch | None:
    """A function of one column on many."""
    if function is None:
        return None
    return lambda given: [np.array(part).T for part in function(given.T)]


def _worse(one: Left, other: Left) -> Left:
    """The one that is relatively more, NaN most of all, with the larger error as it is."""
    worst = one if one.relative >= other.relative or np.isnan(one.relative) else other
    return worst._replace(error=float(np.maximum(one.error, other.error)))
