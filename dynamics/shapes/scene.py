"""What stands around a robot: named shapes at places in the world. Sizes and positions in m, angles in rad."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ...errors import ModelError, said
from ...whole_file import is_file, path_of
from ..algebra.arrays import given_numbers
from ..algebra.spatial import Transform, from_rpy, placement
from ..kinematic_tree import Shape
from .block import BLOCK, FAR_AWAY, HALF_SPACE, block, checked_shape

MOST_NUMBERS = 10_000_000  # in a file; a few lines of YAML that refer to each other can stand for any number of them
WORLD = placement(np.eye(3), np.zeros(3))


@dataclass(eq=False)
class Scene:
    """Obstacles by name; every verb that adds one returns the scene.

    >>> scene = Scene().box("table", (1.2, 0.8, 0.05), (0.5, 0, 0.2)).cylinder("post", 0.04, 0.8, (0.4, 0.3, 0.6))
    """

    obstacles: dict[str, Shape] = field(default_factory=dict)
    _known_blocks: dict[str, tuple[Shape, np.ndarray]] = field(default_factory=dict, repr=False)

    def __len__(self) -> int:
        return len(self.obstacles)

    def __iter__(self) -> Iterator[str]:
        return iter(self.obstacles)

    def sphere(self, name: str, radius: float, position: ArrayLike) -> Scene:
        """Add a ball."""
        return self._add(name, "sphere", (radius,), position, (0.0, 0.0, 0.0))

    def box(self, name: str, size: Sequence[float], position: ArrayLike, rpy: ArrayLike = (0.0, 0.0, 0.0)) -> Scene:
        """Add a box with sides `size` (3,) about `position`."""
        return self._add(name, "box", size, position, rpy)

    def cylinder(
        self, name: str, radius: float, length: float, position: ArrayLike, rpy: ArrayLike = (0.0, 0.0, 0.0)
    ) -> Scene:
        """Add a cylinder along its z axis about `position`."""
        return self._add(name, "cylinder", (radius, length), position, rpy)

    def capsule(
        self, name: str, radius: float, length: float, position: ArrayLike, rpy: ArrayLike = (0.0, 0.0, 0.0)
    ) -> Scene:
        """Add a capsule along its z axis; `length` is that of the segment inside, without the caps."""
        return self._add(name, "capsule", (radius, length), position, rpy)

    def half_space(self, name: str, normal: ArrayLike = (0.0, 0.0, 1.0), point: ArrayLike = (0.0, 0.0, 0.0)) -> Scene:
        """Add all that lies below a plane through `point` whose `normal` points to the free side (a box of 1 km)."""
        n, p = _vector(f"obstacle '{name}': normal", normal), _vector(f"obstacle '{name}': point", point)
        if not np.linalg.norm(n) > 0:
            raise ModelError(f"obstacle '{name}': normal is {n}, expected one with a direction")
        n = n / np.linalg.norm(n)
        rotation = np.linalg.qr(np.column_stack([n, np.eye(3)]))[0][:, [1, 2, 0]]
        rotation[:, 2] = n
        rotation[:, 0] *= np.sign(np.linalg.det(rotation))
        return self.put(name, "box", (2 * HALF_SPACE,) * 3, placement(rotation, p - HALF_SPACE * n))

    def height_map(self, name: str, heights: ArrayLike, cell: float, position: ArrayLike = (0.0, 0.0, 0.0)) -> Scene:
        """Add ground of heights (rows along x, columns along y) on square cells, one column of ground a cell: it is
        called "name[i, j]" and reaches from `position`'s z, the bottom, up to z + heights[i, j]; zeros have none.
        """
        corner = _vector(f"obstacle '{name}': position", position)
        z = given_numbers(f"obstacle '{name}': heights", heights)
        side = float(given_numbers(f"obstacle '{name}': cell", cell, ()))
        if z.ndim != 2 or not np.isfinite(z).all() or (z < 0).any():
            raise ModelError(f"obstacle '{name}': heights has shape {z.shape}, expected a matrix of heights from 0 on")
        ground = Scene()
        for i, j in zip(*np.nonzero(z)):
            middle = corner + np.array([(i + 0.5) * side, (j + 0.5) * side, z[i, j] / 2])
            ground.box(f"{name}[{i}, {j}]", (side, side, z[i, j]), middle)
        if taken := ground.obstacles.keys() & self.obstacles.keys():
            raise ModelError(f"obstacle '{min(taken)}': expected a name that is not taken; move puts one elsewhere")
        self.obstacles |= ground.obstacles
        return self

    def move(self, name: str, position: ArrayLike, rpy: ArrayLike | None = None) -> Scene:
        """Put an obstacle elsewhere; without `rpy` it stays turned as it is."""
        shape = self._known(name)
        R = np.asarray(shape.placement.R) if rpy is None else from_rpy(_vector(f"obstacle '{name}': rpy", rpy))
        where = placement(R, _vector(f"obstacle '{name}': position", position))
        self.obstacles[name] = replace(shape, placement=where)
        return self

    def remove(self, name: str) -> Scene:
        """Take an obstacle away."""
        self._known(name)
        del self.obstacles[name]
        return self

    def blocks(self, count: int | None = None) -> np.ndarray:
        """The obstacles' numbers (count, 17), see `block`; rows that nothing comes near where there are fewer."""
        count = len(self) if count is None else count
        if len(self) > count:
            raise ModelError(f"the scene has {len(self)} obstacles, expected at most {count}")
        numbers = np.broadcast_to(FAR_AWAY, (count, BLOCK)).copy()
        for row, name in zip(numbers, self.obstacles):
            row[:] = self._block(name)
        return numbers

    @staticmethod
    def load(path: str | Path) -> Scene:
        """The scene of a YAML file: a list of obstacles, each with `name`, `kind` and what the verb of that kind takes.

        - {name: table, kind: box, size: [1.2, 0.8, 0.05], position: [0.5, 0, 0.2]}
        """
        try:
            import yaml
        except ImportError:
            raise ModelError("Scene.load needs PyYAML, expected `pip install pyyaml`") from None
        path = path_of(path, "Scene.load", ModelError)
        if not is_file(path):
            raise ModelError(f"Scene.load: there is no file '{path}', expected YAML")
        try:
            listed = yaml.safe_load(path.read_bytes())
        except (OSError, ValueError, RecursionError, yaml.YAMLError) as error:
            raise ModelError(f"'{path}' cannot be read as a scene: {error}, expected YAML") from None
        if not isinstance(listed, list):
            raise ModelError(f"'{path}' is a {type(listed).__name__}, expected a list of obstacles")
        if _weight(listed, {}) > MOST_NUMBERS:
            raise ModelError(f"'{path}' has more than {MOST_NUMBERS} numbers, expected a scene")
        scene = Scene()
        for number, entry in enumerate(listed):
            scene._read(f"'{path}': obstacle {number}", entry)
        return scene

    def _read(self, what: str, entry: Any) -> None:
        verbs = ("sphere", "box", "cylinder", "capsule", "half_space", "height_map")
        if not isinstance(entry, Mapping) or entry.get("kind") not in verbs or "name" not in entry:
            raise ModelError(f"{what} is {said(entry)}, expected a name and a kind of {', '.join(verbs)}")
        try:
            getattr(self, entry["kind"])(**{key: value for key, value in entry.items() if key != "kind"})
        except TypeError as error:
            raise ModelError(f"{what} '{entry['name']}': {error}") from None

    def _add(self, name: str, kind: str, size: Sequence[float], position: ArrayLike, rpy: ArrayLike) -> Scene:
        R = from_rpy(_vector(f"obstacle '{name}': rpy", rpy))
        return self.put(name, kind, size, placement(R, _vector(f"obstacle '{name}': position", position)))

    def put(self, name: str, kind: str, size: Sequence[float], where: Transform) -> Scene:
        if not isinstance(name, str) or not name or name in self.obstacles:
            raise ModelError(f"obstacle {name!r}: expected a name that is not taken; move puts one elsewhere")
        sizes = tuple(np.atleast_1d(given_numbers(f"obstacle '{name}': size", size)).tolist())
        self.obstacles[name] = checked_shape(f"obstacle '{name}'", Shape(kind, sizes, "universe", where))
        return self

    def _block(self, name: str) -> np.ndarray:
        """The numbers of an obstacle, computed again where it has moved."""
        shape = self.obstacles[name]
        known = self._known_blocks.get(name)
        if known is None or known[0] is not shape:
            known = self._known_blocks[name] = shape, np.ravel(block(shape, WORLD))
        return known[1]

    def _known(self, name: str) -> Shape:
        if not isinstance(name, str) or name not in self.obstacles:
            there = ", ".join(self.obstacles) or "none"
            raise ModelError(f"the scene has no obstacle '{name}'; the obstacles are {there}")
        return self.obstacles[name]


def _vector(what: str, value: ArrayLike) -> np.ndarray:
    vector = given_numbers(what, value)
    if vector.shape != (3,) or not np.isfinite(vector).all():
        raise ModelError(f"{what} is {said(value)}, expected three finite numbers")
    return vector


def _weight(part: object, known: dict[int, float]) -> float:
    """Of how many parts something read from YAML consists when all references are followed; infinite where it refers
    to itself. known: that of parts by their identity, so that each is counted once.
    """
    if id(part) not in known:
        known[id(part)] = np.inf  # until it is known: what comes back here has no end
        inside = part.values() if isinstance(part, Mapping) else part if isinstance(part, list | tuple | set) else ()
        known[id(part)] = 1 + sum(_weight(each, known) for each in inside)
    return known[id(part)]
