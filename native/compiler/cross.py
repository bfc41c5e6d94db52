"""Object code for another processor than this one's memory: one file a function, to be linked by others."""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

import casadi as ca
import llvmlite.binding as llvm

from ...errors import CompileError, said
from ..instruction_sets import level
from ..level_table import LEVELS
from .compiled_function import Source
from .engine import CODE_GENERATION_LEVELS, Processor, host
from .llvm_ir.driver import ENTRY
from .llvm_ir.modules import lowered
from .llvm_ir.vector_math import LIBRARY_PREFIX

BY_PROCESSOR = {each.processor: each for each in LEVELS.values()}


class Target(NamedTuple):
    """A processor to compile for, and the flags of C++ compilers for the core's level on it."""

    name: str
    processor: Processor
    flags: tuple[str, ...]


class ObjectFile(NamedTuple):
    """What `evaluate` of a function became, under a name of its own."""

    symbol: str
    content: bytes
    work: int
    lanes: int


def target_named(name: str) -> Target:
    """ "host", "x86-64", "x86-64-v3", "x86-64-v4", or a triple that begins with "aarch64"."""
    if not isinstance(name, str):
        raise CompileError(f"target is {said(name)}, expected the name of a processor, such as 'host'")
    if name == "host":
        return Target(name, host(), LEVELS[level].flags)
    if name in BY_PROCESSOR:
        here = host().triple
        triple = here if here.startswith("x86_64") else "x86_64-unknown-linux-gnu"
        flags, _, lanes, registers = BY_PROCESSOR[name]
        return Target(name, Processor(triple, name, "", lanes, registers, fused="-mfma" in flags), flags)
    if re.fullmatch(r"aarch64(-[a-z0-9_.]+)+", name):
        return Target(name, Processor(name, "generic", "", 2, 32, fused=True), ())
    expected = ", ".join(map(repr, ("host", *BY_PROCESSOR)))
    raise CompileError(f"target is {said(name)}, expected {expected}, or a triple like 'aarch64-linux-gnu'")


@cache
def _all_targets() -> None:
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()


def object_file(source: Source, target: Target, symbol: str) -> ObjectFile:
    """One symbol for others to call; those of the C library are left to the linker. On the host the arithmetic is, bit
    by bit, that of the code in memory."""
    processor = target.processor
    lanes = processor.lanes if source.lanes is None else source.lanes
    modules = lowered(ca.Function.deserialize(source.function), lanes, source.optimize, processor)
    context = llvm.create_context()  # its modules keep it: a signal's handler may raise between any two lines
    whole = llvm.parse_assembly("", context)
    try:
        whole.triple = processor.triple
        for text in modules.texts:
            part = llvm.parse_assembly(text, context)
            part.triple = processor.triple
            whole.link_in(part)
        for function in whole.functions:
            if function.is_declaration:
                function.name = function.name.removeprefix(LIBRARY_PREFIX)
            elif function.name == ENTRY:
                function.name = symbol
            else:
                function.linkage = "internal"
        return ObjectFile(symbol, _machine(target, source.optimize).emit_object(whole), modules.work, lanes)
    finally:
        whole.close()


def _machine(target: Target, optimize: str) -> llvm.TargetMachine:
    _all_targets()
    processor = target.processor
    try:
        found = llvm.Target.from_triple(processor.triple)
    except RuntimeError as error:
        raise CompileError(f"target {target.name!r}: LLVM knows no such triple: {error}") from None
    return found.create_target_machine(
        cpu=processor.name,
        features=processor.features,
        opt=CODE_GENERATION_LEVELS[optimize],
        reloc="pic",
        codemodel="default",
    )
