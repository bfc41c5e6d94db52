"""What Python hands to the core, as C++ that does the same: every field of its structs, and the names of functions."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from ...native import CompiledFunction
from ...native.compiler.cross import ObjectFile, Target, object_file
from ..control.loop import LoopParts
from ..solve.native_backend import NativeBackend
from ..stages.functions import CompiledStage
from ..stages.recursive_stage import RecursiveStage

NAME = "name"  # of a port: the interface has constants in its place


class ObjectFiles:
    """Object code of compiled functions, made as they are named."""

    def __init__(self, target: Target, prefix: str):
        self.target, self.prefix = target, prefix
        self.made: list[ObjectFile] = []

    def add(self, code: CompiledFunction, what: str) -> ObjectFile:
        made = object_file(code.source, self.target, f"{self.prefix}_{what}_{len(self.made)}")
        self.made.append(made)
        return made

    def declarations(self) -> str:
        arguments = (
            "const double* const*, const std::int64_t*, double* const*, const std::int64_t*, std::int64_t, double*"
        )
        return "\n".join(f"void {each.symbol}({arguments});" for each in self.made)


def number(value: float) -> str:
    """A literal of the same bits."""
    value = float(value)
    if math.isnan(value):
        return "NAN"
    if math.isinf(value):
        return "INFINITY" if value > 0 else "-INFINITY"
    return str(int(value)) + ".0" if value == int(value) and abs(value) < 1e6 and value else value.hex()


def literal(value: object) -> str:
    """Numbers, texts, and lists of them."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    if isinstance(value, (int, np.integer)):
        return str(int(value))
    if isinstance(value, (float, np.floating)):
        return number(float(value))
    assert isinstance(value, Iterable), type(value)
    return "{" + ", ".join(map(literal, value)) + "}"


def assignments(to: str, made: object, without: tuple[str, ...] = ()) -> Iterator[str]:
    """Statements that give a struct the fields of one of the core's."""
    for name, part in vars(type(made)).items():
        if not isinstance(part, property) or name in (NAME, *without):
            continue
        yield from _assigned(f"{to}.{name}", getattr(made, name))


def _assigned(to: str, value: Any) -> Iterator[str]:
    if type(value).__module__.startswith("trisweep"):
        yield from assignments(to, value)
    elif isinstance(value, list) and value and type(value[0]).__module__.startswith("trisweep"):
        yield f"{to}.resize({len(value)});"
        for i, each in enumerate(value):
            yield from assignments(f"{to}[{i}]", each)
    elif not isinstance(value, list) or value:
        yield f"{to} = {literal(value)};"


def structure(backend: NativeBackend, code: ObjectFiles) -> Iterator[str]:
    """Of `Structure s`."""
    yield from assignments("s", backend.structure, without=("blocks", "recentrings"))
    yield f"s.blocks.resize({len(backend.structure.blocks)});"
    for i, (block, functions) in enumerate(zip(backend.structure.blocks, backend.functions)):
        to = f"s.blocks[{i}]"
        yield from assignments(to, block, without=("graph", "lanes"))
        if isinstance(functions, CompiledStage):
            values, derivatives = (
                code.add(each, what) for each, what in zip(functions.code, ("values", "derivatives"))
            )
            yield f"{to}.values = {values.symbol}, {to}.values_work = {values.work};"
            yield f"{to}.derivatives = {derivatives.symbol}, {to}.derivatives_work = {derivatives.work};"
            yield f"{to}.lanes = {max(values.lanes, derivatives.lanes)};"
        else:
            assert isinstance(functions, RecursiveStage)
            yield from _graph(to, functions, code)
    recentrings = backend.structure.recentrings
    yield f"s.recentrings.resize({len(recentrings)});"
    for i, (made, function) in enumerate(zip(recentrings, backend.recentring_code)):
        to, found = f"s.recentrings[{i}]", code.add(function, "recentring")
        yield from assignments(to, made)
        yield f"{to}.function = {found.symbol}, {to}.work = {found.work};"


def _graph(to: str, functions: RecursiveStage, code: ObjectFiles) -> Iterator[str]:
    """Rows that rest on robots with recursions over their bodies."""
    parts, lanes = functions.parts, 1

    def compiled(function: CompiledFunction, what: str) -> str:
        nonlocal lanes
        made = code.add(function, what)
        lanes = max(lanes, made.lanes)
        return f"{{{made.symbol}, {made.work}, {function.sizes.outputs[0]}}}"

    yield "{"
    yield "Graph g;"
    yield f"g.controls = {parts.controls}, g.variables = {parts.variables};"
    yield f"g.rows = {parts.rows}, g.exact = {literal(parts.exact)};"
    yield from _assigned("g.trees", parts.trees)
    yield f"g.beside.resize({len(parts.beside)});"
    for i, beside in enumerate(parts.beside):
        for name in ("matrix", "slopes", "curvature") if beside else ():
            yield f"g.beside[{i}].{name} = {compiled(getattr(beside, name), name)};"
        for name in ("slope", "curvature") if beside else ():
            places = getattr(beside, f"{name}_places")
            yield f"g.beside[{i}].{name}_rows = {literal(places[0])};"
            yield f"g.beside[{i}].{name}_columns = {literal(places[1])};"
    yield f"g.arguments = {{{', '.join(compiled(each, 'arguments') for each in parts.arguments)}}};"
    for name in ("values", "slopes", "curvature"):
        yield f"g.{name} = {compiled(getattr(parts, name), name)};"
    for name, places in (("slope", parts.slope_places), ("curvature", parts.curvature_places)):
        yield f"g.{name}_rows = {literal(places[0])}, g.{name}_columns = {literal(places[1])};"
    yield f"{to}.graph = std::make_shared<StageGraph>(g);"
    yield f"{to}.lanes = {lanes};"
    yield "}"


def limits(parts: LoopParts, code: ObjectFiles) -> Iterator[str]:
    """Of `std::vector<LimitFunction> functions`."""
    yield f"functions.resize({len(parts.limits)});"
    for i, (made, function) in enumerate(zip(parts.limits, parts.code)):
        to, found = f"functions[{i}]", code.add(function, "limits")
        yield from assignments(to, made)
        yield f"{to}.function = {found.symbol}, {to}.work = {found.work};"
