"""The limits of a whole solve as vectors."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..statement.limits import Limits, unlimited
from ..statement.terms import Kind
from .layout import Layout, block_places
from .stages import Phase
from .transcription import Transcription


@dataclass(frozen=True, eq=False)
class LimitVectors:
    """Limits of the variables along z and of the rows along y (`layout`), infinite where there is none."""

    z_lower: np.ndarray
    z_upper: np.ndarray
    y_lower: np.ndarray
    y_upper: np.ndarray


def limit_vectors(transcription: Transcription, layout: Layout) -> LimitVectors:
    """All limits that a statement has."""
    y = Limits(np.zeros(layout.size_y), np.zeros(layout.size_y))
    for block in transcription.blocks:
        places = block_places(transcription, block)
        first = block.count(Kind.DYNAMICS) + block.count(Kind.EQUALITY)
        for term in block.of(Kind.INEQUALITY):
            here = places[:, first : first + term.rows]
            y.lower[here], y.upper[here] = term.limits.lower, term.limits.upper
            first += term.rows
    phases = [_along_z(phase) for phase in transcription.phases]
    z_lower = np.concatenate([limits.lower for limits in phases])
    return LimitVectors(z_lower, np.concatenate([limits.upper for limits in phases]), y.lower, y.upper)


def _along_z(phase: Phase) -> Limits:
    """The limits of a phase's variables in the order of z."""
    state = [v.limits for v in phase.states]
    step = [*(v.limits for v in phase.problem.controls), *state]
    every = [*step * phase.problem.steps, unlimited(phase.chosen.numel()), *state]
    return Limits(np.concatenate([each.lower for each in every]), np.concatenate([each.upper for each in every]))
