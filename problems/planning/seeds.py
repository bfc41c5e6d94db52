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
    """A chain of configurations (legs + 1, nq), and paths (points, nq) from one to the next, called so; without paths,
    the number of a search for them.
    """

    chain: np.ndarray
    number: int = 0
    name: str = ""
    paths: tuple[np.ndarray, ...] = ()

    def searched(self, asked: Asked, margin: float, seed: int) -> Seed:
        """This seed with paths; none where the search found none."""
        if self.paths:
            return self
        keeps = (1 + self.number % 2) * _margin(asked, self.chain, margin)
        ends = pairwise(self.chain)
        found = [find_path(asked.cloud, asked.scene, *leg, keeps, SEARCH, seed + self.number) for leg in ends]
        tries, there = sum(taken for _, taken in found), all(len(path) for path, _ in found)
        name = f"a path after {tries} tries" if there else f"no path after {tries} tries"
        return Seed(self.chain, self.number, name, tuple(path for path, _ in found) if there else ())


def seeds_of(
    asked: Asked, chains: Sequence[np.ndarray], count: int, margin: float, given: Sequence[np.ndarray] | None
) -> Iterator[Seed]:
    """The given paths; of every chain the straight way, where it is free, or else `count` searches, in turns; and the
    straight ways that are not.
    """
    if given is not None:
        for chain in chains:
            paths = tuple(np.vstack([*ends[:1], path[1:-1], *ends[1:]]) for ends, path in zip(pairwise(chain), given))
            yield Seed(chain, 0, "the given path", paths)
    blocked = []
    for chain in chains if count else ():
        ends, keeps = list(pairwise(chain)), _margin(asked, chain, margin)
        if all(len(find_path(asked.cloud, asked.scene, *leg, keeps, 0)[0]) for leg in ends):
            yield Seed(chain, 0, "straight", tuple(np.array(leg) for leg in ends))
        else:
            blocked.append(chain)
    for number in range(count):
        yield from (Seed(chain, number) for chain in blocked)
    for chain in blocked:
        yield Seed(chain, 0, "straight, through obstacles", tuple(np.array(leg) for leg in pairwise(chain)))


def _margin(asked: Asked, chain: np.ndarray, margin: float) -> float:
    """What a path keeps from everything, m: less than the margin where its ends have less."""
    return float(min(margin, SHARE * asked.cloud.nearest(chain, asked.scene).distance.min()))
