"""The order in which LCABA eliminates the links of a mechanism with loops (Sathya 2025 Sec. IV-A, Fig. 4).

Always a leaf of what is left of the tree, of the leaves the one coupled to the fewest other links (minimum degree).
Eliminating a link couples its neighbours and its parent with one another (eqs. 31 and 32).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ..constraints.constraint import Constraint
from ..constraints.loops import bodies_of

if TYPE_CHECKING:
    from ..model import Model


class OrderedBody(NamedTuple):
    """A body, and the bodies it is coupled to when its turn comes, in the order of the tree."""

    body: int
    neighbours: tuple[int, ...]


def elimination_order(model: Model, constraints: Sequence[Constraint]) -> list[OrderedBody]:
    """The bodies of a model with constraints, from the first that LCABA eliminates to the last."""
    return order(model.parents, [bodies_of(model, constraint) for constraint in constraints])


def order(parents: Sequence[int], coupled: Iterable[Sequence[int]]) -> list[OrderedBody]:
    """The same for a tree given by its parents (-1: the world), and groups of bodies that are coupled."""
    neighbours: list[set[int]] = [set() for _ in parents]
    for group in coupled:
        _join(neighbours, group)
    children = [sum(parent == body for parent in parents) for body in range(len(parents))]
    leaves = {body for body, count in enumerate(children) if count == 0}
    found = []
    while leaves:
        body = min(leaves, key=lambda i: (len(neighbours[i]), -i))
        found.append(OrderedBody(body, tuple(sorted(neighbours[body]))))
        leaves.remove(body)
        for other in neighbours[body]:
            neighbours[other].remove(body)
        parent = parents[body]
        if parent >= 0:
            _join(neighbours, neighbours[body] | {parent})
            children[parent] -= 1
            if children[parent] == 0:
                leaves.add(parent)
        else:
            _join(neighbours, neighbours[body])
    return found


def _join(neighbours: list[set[int]], group: Iterable[int]) -> None:
    """Couple the bodies of a group with one another."""
    for body in group:
        neighbours[body] |= set(group) - {body}
