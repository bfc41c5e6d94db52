"""The compiler: a CasADi SX function becomes machine code in memory, one lane per sample.

The way of a function: `recording` -> `straight_line_code` (fused operations) -> `register_plan` (where each value
lives, cut into pieces) -> `lowering` and `vector_math` (LLVM IR) -> `driver` (the entry point and its calling
convention) -> `engine` (object code, addresses) and `object_cache` (object code on disk) -> `compiled_function` (what
the user calls).
"""

from ...errors import CompileError
from . import casadi_locks as casadi_locks
from .compiled_function import CompiledFunction, Sizes
from .compiler import compile_function
from .lookup import lookup
from .recording import record

__all__ = ["CompileError", "CompiledFunction", "Sizes", "compile_function", "lookup", "record"]
