"""The instruction sets for which the core is built, slowest first: their only home but for `src/kernels/processor.hpp`,
which knows what a processor runs.

    python native/level_table.py   # for CMake: a line a level, its name and the flags of a C++ compiler

It imports nothing of ours, so that it runs before anything is built.
"""

from typing import NamedTuple


class Level(NamedTuple):
    """flags: of a C++ compiler. processor: what LLVM calls the least one that runs it. lanes, registers: doubles in a
    vector, and vectors, for the compiler of functions.
    """

    flags: tuple[str, ...]
    processor: str
    lanes: int
    registers: int


LEVELS = {
    "baseline": Level((), "x86-64", 2, 16),
    "avx2": Level(("-mavx2", "-mfma"), "x86-64-v3", 4, 16),
    "avx512": Level(
        ("-mavx2", "-mfma", "-mavx512f", "-mavx512dq", "-mavx512vl", "-mprefer-vector-width=256"), "x86-64-v4", 8, 32
    ),
}

if __name__ == "__main__":
    for name, level in LEVELS.items():
        print(name, *level.flags)
