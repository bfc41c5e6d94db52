"""Functions of the blocks of a problem, by CasADi alone, on all their stages."""

from __future__ import annotations

from collections.abc import Callable

import casadi as ca
import numpy as np

from ..stages.layout import Layout, block_places
from ..stages.stages import Block
from ..stages.transcription import Transcription
from .residual import Point


class Evaluation:
    """Of one problem. places: of each block's rows in y, a row a stage; x_places: in z, of all states but those of the
    first stage, in the order of the dynamics' rows, which come first in y.
    """

    def __init__(self, transcription: Transcription, layout: Layout):
        self.transcription, self.layout = transcription, layout
        self.blocks = transcription.blocks
        at, nu, nx = transcription.at_z, transcription.nu, transcription.nx
        later = range(1, transcription.stages)
        self.x_places = np.concatenate([np.zeros(0, int), *(at[k] + nu[k] + np.arange(nx[k]) for k in later)])
        self.places = [block_places(transcription, block) for block in self.blocks]
        self._made: dict[tuple[str, int], ca.Function] = {}

    def call(self, make: Callable[[Block], ca.Function], i: int, point: Point, *more: np.ndarray) -> list[np.ndarray]:
        """What `make` makes of block i, a function of its inputs, weights and rows of further inputs, on all its
        stages.
        """
        key = make.__name__, i
        if key not in self._made:
            self._made[key] = make(self.blocks[i])
        function = self._made[key]
        weights = point.y[self.places[i]]
        if self.blocks[i].head:
            weights = np.hstack([np.ones((len(weights), 1)), weights])
        given = [*self.inputs(self.blocks[i], point), weights, *more]
        given = [np.broadcast_to(part, (len(weights), part.shape[1])) for part in given]
        answers = [function(*each) for each in zip(*given)]
        return [np.array([np.array(answer[j]).ravel() for answer in answers]) for j in range(function.n_out())]

    def inputs(self, block: Block, point: Point) -> list[np.ndarray]:
        """The inputs of a block's functions, a row a stage; the shared parameters are one row."""
        phases, stages = self.transcription.phases, block.stages
        phase = self.layout.phases[phases.index(block.phase)]
        here = point.z[self.transcription.run(block)].reshape(len(stages), -1)
        width = here.shape[1] - phase.nx
        first = stages[0] - phase.first
        stage_rows = phase.stage_rows(point.stage_parameters)[first : first + len(stages)]
        of_children = np.zeros((len(stages), 0))
        if block.entering is not None and block.entering.child_parameters.numel():
            entered = self.layout.phases[phases.index(block.entering)]
            first = block.child - entered.first
            of_children = entered.stage_rows(point.stage_parameters)[first : first + len(stages)]
        shared = point.shared_parameters[None, phase.at_shared : phase.at_shared + phase.shared]
        return [here[:, :width], here[:, width:], shared, stage_rows, of_children]
