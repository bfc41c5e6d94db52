"""The calling convention, used as a caller in C would use it."""

import ctypes

import casadi as ca
import numpy as np
import pytest
from support.sx_functions import by_casadi, no_cache, random_function, samples  # noqa: F401
from trisweep.native import compile_function

ENTRY = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 4, ctypes.c_int64, ctypes.c_void_p)
CANARY = -77.25


def call(compiled, inputs, input_strides, outputs, output_strides, count, work_offset=0):
    """Call by address, with work memory at an odd double and canaries around it."""
    work = np.full(compiled.sizes.work + 16, CANARY)
    start = 8 + work_offset
    tables = [
        np.array([x.ctypes.data if x is not None else 0 for x in inputs], np.uint64),
        np.array(input_strides, np.int64),
        np.array([y.ctypes.data if y is not None else 0 for y in outputs], np.uint64),
        np.array(output_strides, np.int64),
    ]
    ENTRY(compiled.address)(*[t.ctypes.data for t in tables], count, work.ctypes.data + 8 * start)
    assert (work[:start] == CANARY).all()
    assert (work[start + compiled.sizes.work :] == CANARY).all()
    first = -(-(work.ctypes.data + 8 * start) // 64) * 64  # the first multiple of 64 bytes
    return work[(first - work.ctypes.data) // 8 :]


@pytest.mark.parametrize("lanes", [1, 2, 4, 8])
@pytest.mark.parametrize("count", [1, 3, 8, 11])
def test_rows_may_lie_apart_and_nothing_between_them_is_touched(lanes, count):
    random = np.random.default_rng(count)
    function = random_function(random, 100)
    compiled = compile_function(function, lanes=lanes)
    inputs = samples(random, function, count)
    expected = by_casadi(function, inputs)
    stage = np.full((count, 40), np.nan)  # all inputs of a stage in one row, as an interior point keeps them
    places = np.cumsum([2, *compiled.sizes.inputs])
    for x, place in zip(inputs, places):
        stage[:, place : place + x.shape[1]] = x
    outputs = [np.full((count + 1, size + 3), CANARY) for size in compiled.sizes.outputs]
    call(
        compiled,
        [stage[:, place:] for place in places[:-1]],
        [40] * 3,
        outputs,
        [y.shape[1] for y in outputs],
        count,
        work_offset=count % 8,
    )
    for y, size, reference in zip(outputs, compiled.sizes.outputs, expected):
        np.testing.assert_allclose(y[:count, :size], reference, rtol=1e-12, atol=1e-12)
        assert (y[:count, size:] == CANARY).all()
        assert (y[count:] == CANARY).all()


def test_a_stride_of_zero_gives_every_sample_the_same_row():
    random = np.random.default_rng(0)
    function = random_function(random, 50)
    compiled = compile_function(function)
    inputs = samples(random, function, 9)
    inputs[1] = inputs[1][:1]
    outputs = [np.empty((9, size)) for size in compiled.sizes.outputs]
    call(compiled, inputs, [5, 0, 1], outputs, compiled.sizes.outputs, 9)
    for y, reference in zip(outputs, by_casadi(function, inputs)):
        np.testing.assert_allclose(y, reference, rtol=1e-12, atol=1e-12)


def test_an_output_without_a_pointer_is_left_out():
    x = ca.SX.sym("x")
    compiled = compile_function(ca.Function("f", [x], [x + 1, x * 3]))
    x0, triple = np.arange(5.0), np.empty(5)
    call(compiled, [x0], [1], [None, triple], [1, 1], 5)
    np.testing.assert_array_equal(triple, 3 * x0)


@pytest.mark.parametrize("lanes", [1, 2, 4, 8])
@pytest.mark.parametrize("count", [1, 3, 8, 11])
def test_work_keeps_the_outputs_of_the_last_group_lane_beside_lane(lanes, count):
    random = np.random.default_rng(count)
    function = random_function(random, 100)
    compiled = compile_function(function, lanes=lanes)
    inputs = samples(random, function, count)
    nowhere = [None] * len(compiled.sizes.outputs)
    work = call(compiled, inputs, compiled.sizes.inputs, nowhere, [0] * len(nowhere), count, work_offset=count % 8)
    kept = work[: lanes * sum(compiled.sizes.outputs)].reshape(-1, lanes).T
    group = np.minimum(np.arange(lanes) + (count - 1) // lanes * lanes, count - 1)  # idle lanes repeat the last sample
    expected = np.hstack(by_casadi(function, inputs))[group]
    np.testing.assert_allclose(kept, expected, rtol=1e-12, atol=1e-12)


def test_a_count_of_zero_writes_nothing():
    x = ca.SX.sym("x")
    compiled = compile_function(ca.Function("f", [x], [x + 1]))
    y = np.full(3, CANARY)
    call(compiled, [np.zeros(3)], [1], [y], [1], 0)
    assert (y == CANARY).all()


def test_functions_without_inputs_or_without_outputs_run():
    x = ca.SX.sym("x", 2)
    np.testing.assert_array_equal(compile_function(ca.Function("constant", [], [ca.SX([1, 2])]))(), [1, 2])
    assert compile_function(ca.Function("nothing", [x], []))([1, 2]) == ()
    empty = compile_function(ca.Function("empty", [ca.SX(0, 1), x], [ca.SX(0, 0), x + 1]))
    nothing, sums = empty.batch(np.empty((3, 0)), np.ones((3, 2)))
    assert nothing.shape == (3, 0)
    np.testing.assert_array_equal(sums, 2)
