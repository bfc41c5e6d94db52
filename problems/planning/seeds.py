"""Where the search for a motion may begin: paths from the start through all goals."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ...dynamics.shapes.paths import find_path
from .asked import Asked

SEARCH = 50000  # iterations of a search for a path
SHARE = 0.9  # of the ends' own clearance is kept on the way


@dataclass(frozen=True, eq=False)
class Seed:
    """A chain of configurations (legs + 1, nq) and a path (points, nq) for each of its legs, or the number of a search
    for them.
    """

    chain: np.ndarray
    margin: float
    number: int
    given: tuple[str, list[np.ndarray]] | None = None

    def paths(self, asked: Asked, seed: int) -> tuple[str, list[np.ndarray]]:
        """What the paths are called, and they; none where the search found none. The first search makes do with the
        straight way.
        """
        if self.given is not None:
            return self.given
        margin, ends = self.margin * (1 + self.number % 2), list(pairwise(self.chain))
        found = [find_path(asked.cloud, asked.scene, *leg, margin, SEARCH, seed + self.number) for leg in ends]
        tries = sum(taken for _, taken in found)
        if all(len(way) for way, _ in found):
            return f"a path after {tries} tries", [way for way, _ in found]
        if self.number == 0:
            return "straight, for no path was found", [
                way if len(way) else np.array(leg) for (way, _), leg in zip(found, ends)
            ]
        return f"a path, none found after {tries} tries", []


def seeds_of(
    asked: Asked, chains: Sequence[np.ndarray], count: int, margin: float, path: np.ndarray | None
) -> Iterator[Seed]:
    """Of every chain the given path, and the straight way where it is free, or else `count` searches."""
    for chain in chains:
        keeps = float(min(margin, SHARE * asked.cloud.nearest(chain, asked.scene).distance.min()))
        if path is not None:
            yield Seed(chain, keeps, 0, ("the given path", [np.vstack([chain[0], path[1:-1], chain[1]])]))
        if not count:
            continue
        ends = pairwise(chain)
        straight = [find_path(asked.cloud, asked.scene, *leg, keeps, 0)[0] for leg in ends]
        if all(len(way) for way in straight):
            yield Seed(chain, keeps, 0, ("straight", straight))  # searches would find it again
        else:
            yield from (Seed(chain, keeps, number) for number in range(count))
