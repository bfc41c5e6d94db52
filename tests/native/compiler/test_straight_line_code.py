"""Fusing products and sums, and leaving out what no output needs."""

import casadi as ca
import pytest
from trisweep.native.compiler.recording import record
from trisweep.native.compiler.straight_line_code import contract, without_unused

x, y, z = ca.SX.sym("x"), ca.SX.sym("y"), ca.SX.sym("z")


def operations(*expressions):
    program = without_unused(contract(record(ca.Function("f", [x, y, z], list(expressions)))))
    return [operation for operation in program.operations if operation not in ("input", "constant")]


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        (x * y + z, ["mul_add"]),
        (z + x * y, ["mul_add"]),
        (x * y - z, ["mul_sub"]),
        (z - x * y, ["neg_mul_add"]),
        (x * y + y * z, ["mul", "mul_add"]),
        (x * x - z, ["mul_sub"]),
        (x + y, ["add"]),
    ],
)
def test_products_and_sums_are_fused(expression, expected):
    assert operations(expression) == expected


def test_a_product_with_a_second_use_is_computed_once_and_not_fused():
    assert operations(x * y + z, x * y) == ["mul", "add"]


def test_what_no_output_needs_is_left_out_and_the_rest_numbered_anew():
    program = record(ca.Function("f", [x, y, z], [ca.cos(z) + y]))
    assert "sin" in program.operations
    kept = without_unused(program)
    assert kept.operations == ["input", "input", "cos", "add"]
    assert kept.arguments == [(1,), (2,), (1,), (0, 2)]
    assert kept.outputs == [(0, 3)]
