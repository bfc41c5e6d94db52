"""Recording SX functions as straight-line programs."""

import casadi as ca
import numpy as np
import pytest
from support.sx_functions import no_cache  # noqa: F401
from trisweep.native import CompileError, compile_function
from trisweep.native.compiler.recording import record
from trisweep.native.compiler.straight_line_code import without_unused

x, y, z = ca.SX.sym("x"), ca.SX.sym("y"), ca.SX.sym("z")


def operations(*expressions):
    program = without_unused(record(ca.Function("f", [x, y, z], list(expressions))))
    return [operation for operation in program.operations if operation not in ("input", "constant")]


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        (x * x, ["mul"]),
        (2 * x, ["add"]),
        (1 / x, ["div"]),
        (x**0.3, ["pow"]),
        (x**y, ["pow"]),
        (x, ["copy"]),
        (ca.SX(2.0), ["copy"]),
    ],
)
def test_what_later_steps_need_not_know_is_rewritten(expression, expected):
    assert operations(expression) == expected


def test_equal_operations_are_merged_whatever_the_order_of_their_arguments():
    assert operations((x + y) * ca.sin(z), ca.exp((y + x) * ca.sin(z))) == ["add", "sin", "mul", "exp"]


def test_sine_and_cosine_of_one_angle_stand_side_by_side():
    names = operations(ca.sin(x) + ca.exp(y), ca.exp(z) * ca.cos(x))
    assert names.index("cos") == names.index("sin") + 1


def test_calls_of_other_functions_are_spliced_in():
    inner = ca.Function("inner", [x, ca.vertcat(y, z)], [x * y, ca.sin(z)])
    a = ca.SX.sym("a", 2)
    first, second = inner.call([a[0], a], False, True)
    outer = ca.Function("outer", [a], [first + second])
    assert outer.instruction_id(2) == ca.OP_CALL
    np.testing.assert_allclose(compile_function(outer)([2.0, 3.0]), [2 * 2 + np.sin(3)], rtol=1e-15)


def test_a_free_symbol_is_named():
    function = ca.Function("f", [x], [x + y], {"allow_free": True})
    with pytest.raises(CompileError, match="function 'f': y is free, expected every symbol to be an input"):
        compile_function(function)


def test_what_does_not_expand_is_named_with_what_to_do():
    a = ca.MX.sym("a", 2)
    root = ca.rootfinder("root", "newton", {"x": x, "p": y, "g": x**2 - y})
    function = ca.Function("f", [a], [root(a[0], a[1])])
    with pytest.raises(CompileError, match=r"calls 'root', .* expected operations that expand to SX; write"):
        compile_function(function)


class Doubling(ca.Callback):
    def __init__(self):
        ca.Callback.__init__(self)
        self.construct("doubling", {})

    def eval(self, arguments):
        return [2 * arguments[0]]


def test_a_callback_is_named():
    a, callback = ca.MX.sym("a"), Doubling()
    with pytest.raises(CompileError, match="function 'f': it calls 'doubling', a "):
        compile_function(ca.Function("f", [a], [callback(a)]))
