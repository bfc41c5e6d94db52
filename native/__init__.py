"""Machine code: the C++ core, built once for each instruction set, and the compiler for SX functions.

`core` is the extension module for the best level this processor runs; `TRISWEEP_LEVEL` forces another one.
`compile_function` turns a CasADi function into machine code; it and LLVM are imported when first asked for.
"""

from typing import TYPE_CHECKING, Any

from .instruction_sets import core, level, levels

if TYPE_CHECKING:  # the checker knows the names that are fetched when first used
    from .compiler import CompiledFunction, CompileError, Sizes, compile_function, lookup, record

__all__ = [
    "CompileError",
    "CompiledFunction",
    "Sizes",
    "compile_function",
    "core",
    "level",
    "levels",
    "lookup",
    "record",
]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from . import compiler

    return getattr(compiler, name)
