"""What rows are made of at a point: the sizes that are added up in them, also inside of products and quotients,
where every variable is as large as it is anywhere.

The judge compares an error of a row with |g'| |z|, which for sums and products is about the same. A function that bends
within a share of its variables, as sin(u w) does where w is 1e9, is no larger for its slopes: whoever is off by a
millionth of what a row is made of has not met it. Asked only where a row is off by more than NOTICED as it is, at what
may be a solution otherwise, and not of rows on large robots, whose functions are long.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import casadi as ca
import numpy as np

from ...adjoint import nodes_of, solved
from ..stages.functions import large
from ..stages.layout import Layout
from ..stages.transcription import Transcription
from ..statement.costs_and_constraints.terms import CONSTRAINTS
from .evaluation import Evaluation
from .relative import SMALL
from .residual import Measured, Point
from .term_sizes import OWN, largest_along

NOTICED = 1e-6  # an error in the units of the statement
REFUSED = 1e-5  # a relative error with which nothing is solved

Sized = tuple[float, float]  # a value, and the size of what it is made of
UNBOUNDED = (math.nan, math.inf)


def stricter(transcription: Transcription, layout: Layout, point: Point, measured: Measured) -> Measured:
    """The same, with the rows that are off by much also beside what they are made of."""
    off = measured.outside_rows
    if not off.max(initial=0.0) > NOTICED or not measured.relative.worst <= REFUSED:
        return measured
    shares = np.zeros(len(off))
    evaluation = Evaluation(transcription, layout)
    everywhere = replace(point, z=np.maximum(largest_along(layout, point.z), SMALL))
    for block, places in zip(evaluation.blocks, evaluation.places):
        stages = np.flatnonzero((off[places] > NOTICED).any(axis=1))
        if not len(stages) or large(nodes_of(block.rows)):
            continue
        rows = ca.Function("rows", block.inputs, [ca.densify(solved(block.rows))])
        values, terms = (
            [np.broadcast_to(part, (len(places), part.shape[1])) for part in evaluation.inputs(block, at)]
            for at in (point, everywhere)
        )
        for stage in stages:
            sizes = _sizes(rows, *([part[stage] for part in parts] for parts in (values, terms)))[block.head :]
            at = places[stage]
            leading_on = at < len(evaluation.x_places)
            sizes[leading_on] += np.abs(point.z[evaluation.x_places[at[leading_on]]])
            shares[at] = off[at] / OWN / np.where(sizes > 0, sizes, np.inf)
    found = {
        kind: float(np.maximum(getattr(measured.relative, kind), shares[layout.kind(each)].max(initial=0.0)))
        for kind, each in zip(("dynamics", "equalities", "inequalities"), CONSTRAINTS)
    }
    return replace(measured, relative=replace(measured.relative, **found))


def _sizes(rows: ca.Function, inputs: list[np.ndarray], terms: list[np.ndarray]) -> np.ndarray:
    """Of a function's one output, with terms as sizes of the inputs; infinite beyond operations not known here."""
    found = np.zeros(rows.numel_out(0))
    work: dict[int, Sized] = {}
    with np.errstate(all="ignore"):
        for k in range(rows.n_instructions()):
            operation, into, of = rows.instruction_id(k), rows.instruction_output(k), rows.instruction_input(k)
            if operation == ca.OP_OUTPUT:
                found[into[1]] = work[of[0]][1]
            elif operation == ca.OP_INPUT:
                value = float(inputs[of[0]][of[1]])
                work[into[0]] = value, abs(float(terms[of[0]][of[1]]))
            elif operation == ca.OP_CONST:
                value = float(rows.instruction_constant(k))
                work[into[0]] = value, abs(value)
            else:
                work[into[0]] = _applied(operation, [work[place] for place in of])
    return np.where(np.isnan(found), np.inf, found)


def _applied(operation: int, parts: list[Sized]) -> Sized:
    if operation in SUMS:
        value = SUMS[operation](*(part[0] for part in parts))
        return value, sum(part[1] for part in parts)
    if operation in PRODUCTS:
        return PRODUCTS[operation](*parts)
    if operation in BENDING:
        function, least = BENDING[operation]
        value = float(function(np.float64(parts[0][0])))
        return value, max(abs(value), least)
    return UNBOUNDED


def _times(a: Sized, b: Sized) -> Sized:
    return a[0] * b[0], a[1] * b[1]


def _over(a: Sized, b: Sized) -> Sized:
    by = float(np.float64(1.0) / np.float64(b[0]))
    return a[0] * by, a[1] * abs(by) * max(1.0, b[1] * abs(by))


def _root(a: Sized) -> Sized:
    value = float(np.sqrt(np.float64(a[0])))
    return value, float(np.float64(a[1]) / np.float64(value))


SUMS: dict[int, Callable[..., float]] = {
    ca.OP_ADD: lambda a, b: a + b,
    ca.OP_SUB: lambda a, b: a - b,
    ca.OP_NEG: lambda a: -a,
    ca.OP_ASSIGN: lambda a: a,
    ca.OP_FABS: abs,
    ca.OP_FMIN: lambda a, b: float(np.fmin(a, b)),
    ca.OP_FMAX: lambda a, b: float(np.fmax(a, b)),
}
PRODUCTS: dict[int, Callable[..., Sized]] = {
    ca.OP_MUL: _times,
    ca.OP_DIV: _over,
    ca.OP_INV: lambda a: _over((1.0, 1.0), a),
    ca.OP_SQ: lambda a: _times(a, a),
    ca.OP_TWICE: lambda a: (2 * a[0], 2 * a[1]),
    ca.OP_SQRT: _root,
}
# Functions, and what they count as at least.
BENDING: dict[int, tuple[Callable[[np.float64], np.float64], float]] = {
    ca.OP_SIN: (np.sin, 1.0),
    ca.OP_COS: (np.cos, 1.0),
    ca.OP_TANH: (np.tanh, 1.0),
    ca.OP_ATAN: (np.arctan, 1.0),
}
