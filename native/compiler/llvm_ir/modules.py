"""A function of SX as modules of LLVM IR, for one processor."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import NamedTuple

import casadi as ca

from ..engine import Processor
from ..recording import record
from ..register_plan import plan
from ..straight_line_code import contract, without_unused
from .driver import driver_module, work_size
from .lowering import Lowering
from .vector_math import definitions, lookup_definitions


class Modules(NamedTuple):
    """work: doubles that the code works in. texts: written as they are asked for, the driver, the functions of vectors,
    the tables, then piece after piece."""

    work: int
    number: int
    texts: Iterator[str]


def lowered(function: ca.Function, lanes: int, optimize: str, processor: Processor) -> Modules:
    """For so many lanes."""
    program = record(function)
    # LLVM's quick way has none to a fused multiply-add, and would go the long way for each.
    if processor.fused and optimize == "full":
        program = contract(program)
    program = without_unused(program)
    inputs = [function.nnz_in(i) for i in range(function.n_in())]
    outputs = [function.nnz_out(i) for i in range(function.n_out())]
    frame, pieces = plan(program, sum(inputs), sum(outputs), processor.registers_for(lanes))
    lowering = Lowering(program, lanes)
    first = [
        driver_module(frame, inputs, outputs, len(pieces), lanes),
        definitions(set(program.operations), lanes, processor.fused),
        lookup_definitions(program.tables, lanes),
    ]
    texts = (lowering.module(i, piece) for i, piece in enumerate(pieces))
    return Modules(work_size(frame, lanes), len(first) + len(pieces), chain(first, texts))
