"""Triangles of simple bodies, to draw robots with: balls, boxes, cylinders, capsules and rods between two points."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from ..dynamics.kinematic_tree import Shape

AROUND, UP = 24, 12  # cuts of a round body along its equator and from pole to pole
GREY = (0.7, 0.7, 0.7)

Pose: TypeAlias = tuple[np.ndarray, np.ndarray]  # rotation (3, 3) and position (3,), m


@dataclass(frozen=True, eq=False)
class Surface:
    """vertices (n, 3) in m, triangles (m, 3) of their indices, colours (m, 3) from 0 to 1."""

    vertices: np.ndarray
    triangles: np.ndarray
    colours: np.ndarray

    def moved(self, R: np.ndarray, p: np.ndarray) -> Surface:
        return Surface(self.vertices @ R.T + p, self.triangles, self.colours)


def surface_of(shape: Shape) -> Surface | None:
    """A model's shape, None for a mesh; cylinders and capsules lie along z, capsules' length without their caps."""
    colour = tuple(shape.colour[:3]) if shape.colour else GREY
    if shape.kind == "sphere":
        return ball(shape.size[0], colour)
    if shape.kind == "box":
        return box(shape.size, colour)
    if shape.kind in ("cylinder", "capsule"):
        radius, length = shape.size
        barrel = rod(radius, np.array([0.0, 0.0, length]), colour).moved(np.eye(3), np.array([0.0, 0.0, -0.5 * length]))
        if shape.kind == "cylinder":
            return barrel
        caps = [ball(radius, colour).moved(np.eye(3), np.array([0.0, 0.0, z])) for z in (-0.5 * length, 0.5 * length)]
        return merged([barrel, *caps])
    return None


def box(size: tuple[float, ...], colour: tuple[float, ...]) -> Surface:
    """Edges of `size` along the axes, about the origin."""
    corners = np.array([[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)]) * size
    sides = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    squares = [(k, k + 1, k + 2) for k in range(0, 24, 4)] + [(k, k + 2, k + 3) for k in range(0, 24, 4)]
    return _painted(corners[np.ravel(sides)], squares, colour)


def ball(radius: float, colour: tuple[float, ...]) -> Surface:
    """About the origin."""
    rings = [_ring(np.sin(a), np.cos(a)) for a in np.linspace(np.pi, 0, UP + 1)]
    return _painted(radius * np.vstack(rings), _bands(range(UP)), colour)


def rod(radius: float, end: np.ndarray, colour: tuple[float, ...]) -> Surface:
    """A cylinder from the origin to `end`, closed."""
    length = float(np.linalg.norm(end))
    bottom, rim, far_rim, top = _ring(0.0, 0.0), _ring(radius, 0.0), _ring(radius, length), _ring(0.0, length)
    rings = np.vstack([bottom, rim, rim, far_rim, far_rim, top])  # rims twice: their edges stay sharp
    return _painted(rings @ _turned(end / length).T, _bands((0, 2, 4)), colour)


def merged(surfaces: list[Surface]) -> Surface:
    """Several surfaces as one."""
    starts = np.cumsum([0, *(len(surface.vertices) for surface in surfaces[:-1])])
    return Surface(
        np.vstack([surface.vertices for surface in surfaces]),
        np.vstack([surface.triangles + start for surface, start in zip(surfaces, starts)]),
        np.vstack([surface.colours for surface in surfaces]),
    )


def joined(parts: list[tuple[int, Surface]], poses: list[Pose]) -> Surface:
    """Surfaces on bodies as one, with the bodies at their poses."""
    return merged([surface.moved(*poses[body]) for body, surface in parts])


def _ring(radius: float, height: float) -> np.ndarray:
    angles = np.linspace(0, 2 * np.pi, AROUND, endpoint=False)
    return np.column_stack([radius * np.cos(angles), radius * np.sin(angles), np.full(AROUND, height)])


def _bands(bands: Iterable[int]) -> list[tuple[int, int, int]]:
    """Triangles between rings of AROUND points that follow each other; band k lies between rings k and k + 1."""
    triangles = []
    for band in bands:
        for i in range(AROUND):
            a, b = band * AROUND + i, band * AROUND + (i + 1) % AROUND
            triangles += [(a, b, b + AROUND), (a, b + AROUND, a + AROUND)]
    return triangles


def _turned(direction: np.ndarray) -> np.ndarray:
    """A rotation that takes z to the unit vector."""
    other = np.eye(3)[np.argmin(np.abs(direction))]
    x = np.cross(other, direction)
    x /= np.linalg.norm(x)
    return np.column_stack([x, np.cross(direction, x), direction])


def _painted(vertices: np.ndarray, triangles: list[tuple[int, int, int]], colour: tuple[float, ...]) -> Surface:
    return Surface(vertices, np.array(triangles), np.tile(np.array(colour, dtype=float), (len(triangles), 1)))
