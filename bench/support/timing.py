"""Times of calls, and calls of machine code by its address, as the C++ core makes them."""

import ctypes
import time
from collections.abc import Callable, Sequence

import numpy as np
from trisweep.dynamics.compiled.machine_code import ArrayCode
from trisweep.native import CompiledFunction


def seconds(call: Callable, repetitions: int) -> Callable[[], float]:
    """A measure: the mean seconds of a call, over so many in a row."""

    def measure() -> float:
        start = time.perf_counter()
        for _ in range(repetitions):
            call()
        return (time.perf_counter() - start) / repetitions

    return measure


def by_address(
    function: CompiledFunction, inputs: list[np.ndarray], count: int
) -> tuple[Callable[[], None], list[np.ndarray]]:
    """A call for `count` stages, memory laid out once, and the arrays it fills.

    inputs: a row a stage, or one row for all of them. With a count of 0 it is Python's part of the call alone.
    """
    results = [np.empty((max(count, 1), size)) for size in function.sizes.outputs]
    work = np.empty(function.sizes.work)
    tables = [
        np.array([x.ctypes.data for x in inputs], np.uint64),
        np.array([0 if len(x) == 1 else x.shape[1] for x in inputs], np.int64),
        np.array([y.ctypes.data for y in results], np.uint64),
        np.array(function.sizes.outputs, np.int64),
    ]
    entry = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 4, ctypes.c_int64, ctypes.c_void_p)(function.address)
    arguments = (*[table.ctypes.data for table in tables], count, work.ctypes.data)

    def call(keep=(function, tables, inputs, results, work)) -> None:
        entry(*arguments)

    return call, results


def with_addresses(code: ArrayCode, arguments: Sequence[np.ndarray], count: int) -> Callable[[], None]:
    """The code behind a call of `model.compiled`, handed addresses, for so many states: of none, the way to it."""
    results = [np.empty(n * m) for n, m in code.shapes]
    given, to = ([each.ctypes.data for each in arrays] for arrays in (arguments, results))

    def call(keep=(arguments, results)) -> None:
        code.rows(given, [0] * len(given), to, count)

    return call
