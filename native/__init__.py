"""Machine code: the C++ core, built once for each instruction set, and the compiler for SX functions.

`core` is the extension module for the best level this processor runs; `TRISWEEP_LEVEL` forces another one.
"""

from .levels import core, level, levels

__all__ = ["core", "level", "levels"]
