"""`compile_function` against CasADi's own evaluation."""

import casadi as ca
import numpy as np
import pytest
from support.sx_functions import assert_agree, by_casadi, no_cache, random_function, samples  # noqa: F401
from trisweep.native import CompileError, compile_function
from trisweep.native.compiler.recording import record

LANES = (1, 2, 4, 8)


def lengths():
    """300 functions: most of them short, a few of up to 5,000 instructions."""
    random = np.random.default_rng(7)
    return [*range(1, 41), *np.exp(random.uniform(0, np.log(250), 254)).astype(int), *range(1000, 6001, 1000)]


@pytest.mark.parametrize("part", range(10))
def test_random_functions_agree_with_casadi(part):
    for seed, instructions in list(enumerate(lengths()))[part::10]:
        random = np.random.default_rng(seed)
        function = random_function(random, instructions)
        count = int(random.integers(2, 14))
        inputs = samples(random, function, count)
        inputs[seed % 3] = inputs[seed % 3][:1]
        expected = by_casadi(function, inputs)
        for lanes in LANES:
            compiled = compile_function(function, lanes=lanes, optimize="quick" if seed % 4 == 0 else "full")
            for ours, casadis in zip(compiled.batch(*inputs), expected):
                assert_agree(ours, casadis)
            single = compiled(*(ca.DM(function.sparsity_in(i), x[0]).full() for i, x in enumerate(inputs)))
            for i, ours in enumerate(single):
                dense = ca.DM(function.sparsity_out(i), expected[i][0]).full()
                assert_agree(ours.reshape(dense.shape), dense)


def test_there_are_300_random_functions_of_1_to_5000_instructions():
    counts = []
    for seed, length in enumerate(lengths()):
        program = record(random_function(np.random.default_rng(seed), length))
        counts.append(sum(operation not in ("input", "constant", "copy") for operation in program.operations))
    assert len(counts) == 300
    assert min(counts) <= 1
    assert max(counts) >= 5000


def test_every_count_is_served_in_whole_and_broken_groups():
    random = np.random.default_rng(1)
    function = random_function(random, 60)
    for lanes in LANES:
        compiled = compile_function(function, lanes=lanes)
        for count in range(0, 2 * lanes + 2):
            inputs = samples(random, function, count)
            if count == 0:
                assert [y.shape for y in compiled.batch(*inputs)] == [(0, 5), (0, 6), (0, 0)]
                continue
            for ours, casadis in zip(compiled.batch(*inputs), by_casadi(function, inputs)):
                assert_agree(ours, casadis)


def test_a_function_of_several_pieces_agrees_in_both_ways_of_compiling():
    random = np.random.default_rng(2)
    function = random_function(random, 20_000)
    inputs = samples(random, function, 7)
    expected = by_casadi(function, inputs)
    for optimize in ("full", "quick"):
        for ours, casadis in zip(compile_function(function, optimize=optimize).batch(*inputs), expected):
            assert_agree(ours, casadis)


def test_functions_of_mx_are_expanded():
    x, A = ca.MX.sym("x", 3), ca.MX.sym("A", 3, 3)
    function = ca.Function("mx", [A, x], [ca.mtimes(A, x), ca.norm_2(x)])
    A0, x0 = np.arange(9.0).reshape(3, 3), np.array([1.0, -2.0, 0.5])
    product, norm = compile_function(function)(A0, x0)
    np.testing.assert_allclose(product, A0 @ x0, rtol=1e-15)
    np.testing.assert_allclose(norm, [np.linalg.norm(x0)], rtol=1e-15)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"lanes": 3}, "compile_function: lanes is 3, expected one of (1, 2, 4, 8)"),
        ({"optimize": "fast"}, "compile_function: optimize is 'fast', expected one of ('full', 'quick')"),
    ],
)
def test_a_wrong_option_is_answered_with_the_right_ones(options, message):
    x = ca.SX.sym("x")
    with pytest.raises(CompileError) as error:
        compile_function(ca.Function("f", [x], [x]), **options)
    assert str(error.value) == message


def test_something_else_than_a_function_is_refused():
    with pytest.raises(CompileError, match=r"got SX, expected a casadi\.Function"):
        compile_function(ca.SX.sym("x"))
