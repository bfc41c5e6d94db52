"""Machine code: the C++ core, built once for each instruction set, and the compiler for SX functions.

`core` is the extension module for the best level this processor runs; `TRISWEEP_LEVEL` forces another one.
`compile_function` turns a CasADi function into machine code; it and LLVM are imported when first asked for.
"""

from .instruction_sets import core, level, levels

__all__ = ["CompileError", "CompiledFunction", "Sizes", "compile_function", "core", "level", "levels"]


def __getattr__(name: str):
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from . import compiler

    return getattr(compiler, name)
