"""States that are not plain vectors: some of their entries form unit quaternions or (cos, sin) pairs.

The solver moves such a state in coordinates: plain entries as they are, a unit group by its increment d from an anchor,

    quaternion  anchor * (d/2, 1) / |(d/2, 1)|        d (3,), back by  d = 2 xyz / w
    pair        anchor turned by 2 atan(d/2)          d (1,), back by  d = 2 sin / (1 + cos)

which is smooth, the same for q and -q, and does not see the norm, which an integrator may leave off 1. After every step
of the solver the anchors move to where the states are, so that derivatives are only ever taken at d = 0.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import casadi as ca
import numpy as np

from ...cached import cached_property


@dataclass(frozen=True)
class Manifold:
    """`size` entries, of which those in `units`, pairs (start, stop), are unit quaternions (x, y, z, w) or pairs."""

    size: int
    units: tuple[tuple[int, int], ...] = ()

    @property
    def dimension(self) -> int:
        """The number of coordinates."""
        return self.size - len(self.units)

    @property
    def anchors(self) -> int:
        """The number of entries in unit groups."""
        return sum(stop - start for start, stop in self.units)

    @property
    def neutral(self) -> np.ndarray:
        """The state (size,) with plain entries 0 and nothing turned."""
        state = np.zeros(self.size)
        for start, stop in self.units:
            state[stop - 1 if stop - start == 4 else start] = 1.0
        return state

    @cached_property
    def plain(self) -> tuple[int, ...]:
        """The entries outside the unit groups."""
        inside = {i for unit in self.units for i in range(*unit)}
        return tuple(i for i in range(self.size) if i not in inside)

    @cached_property
    def plain_coordinates(self) -> tuple[int, ...]:
        """Where the plain entries stand among the coordinates."""
        return tuple(i - sum(stop <= i for _, stop in self.units) for i in self.plain)

    @property
    def _turns(self) -> Iterator[tuple[slice, slice, slice]]:
        """Where each unit group stands in the state, its turn among the coordinates, and its anchor among those."""
        at = 0
        for k, (start, stop) in enumerate(self.units):
            yield slice(start, stop), slice(start - k, stop - k - 1), slice(at, at + stop - start)
            at += stop - start

    def compose(self, coordinates: ca.SX, anchor: ca.SX) -> ca.SX:
        """The state (size,) from its coordinates (dimension,) about an anchor (anchors,)."""
        state = ca.SX.zeros(self.size, 1)
        for i, j in zip(self.plain, self.plain_coordinates):
            state[i] = coordinates[j]
        for here, there, about in self._turns:
            state[here] = _turned(anchor[about], coordinates[there])
        return state

    def coordinates(self, anchor: ca.SX, state: ca.SX) -> ca.SX:
        """The coordinates (dimension,) of a state about an anchor."""
        coordinates = ca.SX.zeros(self.dimension, 1)
        for i, j in zip(self.plain, self.plain_coordinates):
            coordinates[j] = state[i]
        for here, there, about in self._turns:
            coordinates[there] = _turn(anchor[about], state[here])
        return coordinates

    def difference(self, origin: ca.SX, state: ca.SX) -> ca.SX:
        """The coordinates (dimension,) of a state about another one (size,), zero where they are the same."""
        groups = [origin[start:stop] for start, stop in self.units]
        away = self.coordinates(ca.vertcat(ca.SX(0, 1), *groups), state)
        for i, j in zip(self.plain, self.plain_coordinates):
            away[j] -= origin[i]
        return away

    def recentred(self, coordinates: ca.SX, anchor: ca.SX) -> tuple[ca.SX, ca.SX]:
        """The coordinates and the anchor of the same state, with zero increments."""
        state, still = self.compose(coordinates, anchor), ca.SX.zeros(self.dimension, 1)
        for j in self.plain_coordinates:
            still[j] = coordinates[j]
        groups = [state[start:stop] / ca.norm_2(state[start:stop]) for start, stop in self.units]
        return still, ca.vertcat(ca.SX(0, 1), *groups)

    # --- on numbers, a row a stage

    def cut(self, states: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Coordinates (rows, dimension), without increments, and anchors (rows, anchors) of states (rows, size)."""
        if not self.units:
            return states.copy(), np.zeros((len(states), 0))
        coordinates = np.zeros((len(states), self.dimension))
        coordinates[:, self.plain_coordinates] = states[:, self.plain]
        groups = [states[:, start:stop] for start, stop in self.units]
        norms = [np.linalg.norm(group, axis=1, keepdims=True) for group in groups]
        return coordinates, np.hstack([np.zeros((len(states), 0)), *(g / n for g, n in zip(groups, norms))])

    def joined(self, coordinates: np.ndarray, anchors: np.ndarray) -> np.ndarray:
        """States (rows, size)."""
        return coordinates.copy() if not self.units else np.array(self._join(coordinates.T, anchors.T)).T

    @cached_property
    def _join(self) -> ca.Function:
        coordinates, anchor = ca.SX.sym("coordinates", self.dimension), ca.SX.sym("anchor", self.anchors)
        return ca.Function("join", [coordinates, anchor], [ca.densify(self.compose(coordinates, anchor))])


def _turned(anchor: ca.SX, d: ca.SX) -> ca.SX:
    half = d / 2
    if d.numel() == 1:
        c, s = (1 - half**2) / (1 + half**2), d / (1 + half**2)
        return ca.vertcat(anchor[0] * c - anchor[1] * s, anchor[1] * c + anchor[0] * s)
    xyz, w = anchor[:3], anchor[3]
    product = ca.vertcat(w * half + xyz + ca.cross(xyz, half), w - ca.dot(xyz, half))
    return product / ca.sqrt(1 + ca.dot(half, half))


def _turn(anchor: ca.SX, unit: ca.SX) -> ca.SX:
    if unit.numel() == 2:
        c, s = ca.dot(anchor, unit), anchor[0] * unit[1] - anchor[1] * unit[0]
        return 2 * s / (ca.sqrt(c**2 + s**2) + c)
    xyz, w = anchor[:3], anchor[3]
    return 2 * (w * unit[:3] - unit[3] * xyz - ca.cross(xyz, unit[:3])) / (w * unit[3] + ca.dot(xyz, unit[:3]))
