"""A problem's names as the core has them: rows of numbers, and their places in the vectors of a solve
(native/src/control/port.hpp).
"""

from __future__ import annotations

import numpy as np

from ...native import core
from ..stages.layout import Layout, PhaseLayout, VariableLayout


def parameter_ports(layout: Layout) -> list[core.Port]:
    """Of every parameter, phase by phase: one row, or one a stage."""
    found = []
    shared = np.arange(layout.size_shared)[None]
    for place in layout.phases:
        at_shared, at_stage = place.at_shared, 0
        rows = place.stage_rows(np.arange(layout.size_stage))
        for v in place.parameters:
            if v.per_stage:
                found.append(_port(v.name, rows.shape[0], v.size, stage=rows[:, at_stage : at_stage + v.size]))
                at_stage += v.size
            else:
                found.append(_port(v.name, 1, v.size, shared=shared[:, at_shared : at_shared + v.size]))
                at_shared += v.size
    return found


def state_ports(layout: Layout, place: PhaseLayout, rows: slice) -> list[core.Port]:
    """Of every state of a phase, on some of its stages."""
    _, x = place.cut(np.arange(layout.size_z))
    anchors = place.stage_rows(np.arange(layout.size_stage))[:, place.at_anchors :]
    found, at, at_anchor = [], 0, 0
    for v in place.states:
        manifold = v.manifold
        coordinates = x[rows, at : at + manifold.dimension]
        here = anchors[rows, at_anchor : at_anchor + manifold.anchors]
        found.append(_state_port(v, coordinates, here))
        at, at_anchor = at + manifold.dimension, at_anchor + manifold.anchors
    return found


def control_ports(layout: Layout, place: PhaseLayout) -> list[core.Port]:
    """Of every control of a phase, on all of its steps."""
    u, _ = place.cut(np.arange(layout.size_z))
    found, at = [], 0
    for v in place.controls:
        found.append(_port(v.name, place.steps, v.size, z=u[:, at : at + v.size]))
        at += v.size
    return found


def anchor_places(layout: Layout) -> list[int]:
    """Where anchors stand among the parameters of the stages."""
    everywhere = np.arange(layout.size_stage)
    return [int(i) for place in layout.phases for i in place.stage_rows(everywhere)[:, place.at_anchors :].ravel()]


def _state_port(v: VariableLayout, coordinates: np.ndarray, anchors: np.ndarray) -> core.Port:
    count, manifold = len(coordinates), v.manifold
    z, stage = np.full((2, count, v.size), -1)
    z[:, manifold.plain] = coordinates[:, manifold.plain_coordinates]
    turned = [i for i in range(manifold.dimension) if i not in manifold.plain_coordinates]
    stage[:, [i for unit in manifold.units for i in range(*unit)]] = anchors
    port = _port(v.name, count, v.size, z=z, stage=stage)
    port.groups = [i for unit in manifold.units for i in unit]
    port.increments = coordinates[:, turned].ravel().tolist()
    return port


def _port(name: str, rows: int, size: int, **places: np.ndarray) -> core.Port:
    port = core.Port()
    port.name, port.rows, port.size = name, rows, size
    for vector in ("z", "shared", "stage"):
        here = places.get(vector)
        setattr(port, vector, [-1] * (rows * size) if here is None else here.ravel().tolist())
    return port
