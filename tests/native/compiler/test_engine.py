"""Machine code in memory: there as long as the function, and no longer."""

import gc
import sys
from pathlib import Path

import casadi as ca
import numpy as np
import pytest
from support.sanitizers import needs_own_memory
from support.sx_functions import no_cache, random_function  # noqa: F401
from trisweep.native import compile_function
from trisweep.native.compiler.engine import Processor


def resident_bytes():
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


@needs_own_memory
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_repeated_compiles_do_not_leak():
    """Growth over 150 compiles, after the first 50 have filled every pool, is below 2 kB a compile."""
    function = random_function(np.random.default_rng(0), 150)
    sizes = []
    for i in range(201):
        compile_function(function, optimize="quick").batch(*(np.zeros((2, n)) for n in (5, 6, 1)))
        if i in (50, 200):
            gc.collect()
            sizes.append(resident_bytes())
    assert sizes[1] - sizes[0] < 150 * 2000


def mapped_code():
    return sum("r-xp 00000000 00:00" in line for line in Path("/proc/self/maps").read_text().splitlines())


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_code_is_unmapped_with_its_function():
    function = random_function(np.random.default_rng(0), 50)
    gc.collect()
    before = mapped_code()
    kept = [compile_function(function, optimize="quick") for _ in range(20)]
    assert mapped_code() >= before + 10
    kept.clear()
    gc.collect()
    assert mapped_code() <= before + 1


def test_functions_outlive_the_functions_compiled_before_them():
    x = ca.SX.sym("x")
    functions = [compile_function(ca.Function("f", [x], [k * ca.exp(x)])) for k in range(6)]
    del functions[::2]
    gc.collect()
    assert [f(0.0)[0] for f in functions] == [1, 3, 5]


@pytest.mark.parametrize(("lanes", "expected"), [(1, 14), (2, 14), (4, 14), (8, 6)])
def test_wide_values_leave_fewer_of_them_in_registers(lanes, expected):
    processor = Processor("x86_64-linux", "generic", "", lanes=4, vector_registers=16, fused=True)
    assert processor.registers_for(lanes) == expected


def test_a_processor_without_fused_multiply_add_is_served(monkeypatch):
    from dataclasses import replace

    from trisweep.native.compiler import compiler, engine

    plain = replace(engine.host(), fused=False)
    monkeypatch.setattr(compiler, "host", lambda: plain)
    x = ca.SX.sym("x", 2)
    function = ca.Function("f", [x], [ca.sin(x[0]) * ca.cos(x[0]) + x[1], ca.exp(x[1]) - x[0] * x[1]])
    x0 = np.random.default_rng(2).uniform(-1e6, 1e6, size=(9, 2)) * [1, 1e-6]
    first, second = compile_function(function).batch(x0)
    np.testing.assert_allclose(first[:, 0], np.sin(x0[:, 0]) * np.cos(x0[:, 0]) + x0[:, 1], rtol=1e-14)
    np.testing.assert_allclose(second[:, 0], np.exp(x0[:, 1]) - x0[:, 0] * x0[:, 1], rtol=1e-14)
