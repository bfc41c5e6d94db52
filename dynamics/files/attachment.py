"""A whole model hung on a link of another."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from ...errors import ModelError, said
from ..algebra.arrays import numbers
from ..algebra.spatial import Transform, placement
from ..free.passive import Point
from ..kinematic_tree import Frame
from ..model import Model
from .link_values import LIMITS, finite, rotation

if TYPE_CHECKING:
    from .builder import ModelBuilder


def attach(builder: ModelBuilder, model: Model, parent: str, prefix: str, position: ArrayLike, rpy: ArrayLike) -> None:
    """Hang a model on the parent link, its world placed there; names come behind the prefix."""
    if not isinstance(parent, str) or parent not in builder.frames:
        raise ModelError(f"attach: parent {said(parent)} is not there, expected one of {', '.join(builder.frames)}")
    if not isinstance(model, Model) or not isinstance(prefix, str):
        raise ModelError(f"attach: got {said(model)} with the prefix {said(prefix)}, expected a Model and a text")
    links = [name for name in model.frames if name != "universe"]
    twice = [prefix + name for name in links if prefix + name in builder.frames]
    if twice:
        raise ModelError(f"link '{twice[0]}' is there already, expected a prefix that makes it new")
    onto, first = builder.frames[parent], len(builder.joints)
    on_parent = placement(rotation("attach", rpy), finite("attach: position", position, (3,)))
    where = on_parent.after(onto.placement)

    def carried(body: int, on: Transform) -> tuple[int, Transform]:
        moved = on.after(where) if body < 0 else on
        return (onto.body if body < 0 else first + body), placement(moved.R, moved.p)

    for joint, above, on, inertia in zip(model.joints, model.parents, model.placements, model.inertias):
        body, on = carried(above, on)
        builder.joints.append(replace(joint, name=prefix + joint.name))
        builder.parents.append(body)
        builder.placements.append(on)
        builder.inertias.append(inertia)
    for name in links:
        frame = model.frames[name]
        builder.frames[prefix + name] = Frame(prefix + name, *carried(frame.body, frame.placement))
    for key, field in LIMITS.items():
        builder.limits[key].append(np.array(getattr(model, field)))
    builder.shapes += [replace(shape, link=prefix + shape.link) for shape in model.shapes]
    builder.collision_shapes += [replace(shape, link=prefix + shape.link) for shape in model.collision_shapes]
    for row in model.constraints:
        link, other, target = prefix + row.link, row.other, row.target
        if other is None:  # what was the model's ground is the parent link now
            other, target = None if parent == "universe" else parent, target and target.after(on_parent)
        else:
            other = prefix + other
        builder.constraints.append(replace(row, link=link, other=other, target=target))

    def place(point: Point) -> Point:
        if point.link != "universe":
            return Point(prefix + point.link, point.place)
        moved = on_parent.p + on_parent.R @ np.reshape(point.place, (3, 1))
        x, y, z = numbers(moved, "attach: a point").ravel().tolist()
        return Point(parent, (x, y, z))

    builder.passive += [force.moved(prefix, place) for force in model.passive]
