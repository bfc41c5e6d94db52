"""Large inputs: the work grows with their size and no faster. Counted in calls and lines, not in seconds."""

import sys
from collections import Counter

import casadi as ca
import numpy as np
import pytest
import trisweep as ts
from trisweep.dynamics.files.urdf_elements import Element
from trisweep.native import compile_function
from trisweep.native.compiler.llvm_ir import lowering
from trisweep.native.compiler.llvm_ir.driver import driver_module
from trisweep.native.compiler.recording import record
from trisweep.native.compiler.register_plan import StackFrame, plan

TWICE = 2.3  # at most, for twice the input: what is common to both hides the rest


def calls_of(act):
    """How many functions of Python and of C were called meanwhile."""
    counts = Counter()
    sys.setprofile(lambda frame, event, argument: counts.update([event]))
    try:
        act()
    finally:
        sys.setprofile(None)
    return counts["call"] + counts["c_call"]


class Name(str):
    """A text that counts how often it is compared."""

    compared = 0

    def __eq__(self, other):
        Name.compared += 1
        return str.__eq__(self, other)

    __hash__ = str.__hash__


def urdf(links, parent_of):
    body = "<inertial><mass value='1'/><inertia ixx='.1' iyy='.1' izz='.1'/></inertial>"
    parts = ["<robot name='large'><link name='l0'/>"]
    for i in range(1, links + 1):
        parts.append(
            f"<link name='l{i}'>{body}</link><joint name='j{i}' type='revolute'><parent link='l{parent_of(i)}'/>"
            f"<child link='l{i}'/><origin xyz='0 0 1'/><axis xyz='0 1 0'/>"
            "<limit lower='-1' upper='1' effort='3' velocity='2'/></joint>"
        )
    return "".join([*parts, "</robot>"])


@pytest.mark.parametrize(
    "parent_of", [lambda i: i - 1, lambda i: (i - 1) // 2, lambda i: 0], ids=["chain", "tree", "star"]
)
def test_a_robot_file_of_many_links(tmp_path, parent_of, monkeypatch):
    path, counts, compared = tmp_path / "large.urdf", [], []
    text = Element.text
    monkeypatch.setattr(Element, "text", lambda *given: Name(text(*given)))
    for links in (150, 300):
        path.write_text(urdf(links, parent_of))
        Name.compared = 0
        counts.append(calls_of(lambda: ts.load_urdf(path)))
        compared.append(Name.compared)
    assert counts[1] < TWICE * counts[0]
    assert compared[1] < TWICE * max(compared[0], 1000)
    assert ts.load_urdf(path).nv == 300


def compiled(function):
    plan(record(function), function.nnz_in(), function.nnz_out(), 14)
    return compile_function(function)


def many_arguments(count):
    x = [ca.SX.sym(f"x{i}") for i in range(count)]
    return ca.Function("many", x, [ca.sumsqr(ca.vertcat(*x)), *x])


def one_long_argument(count):
    x = ca.SX.sym("x", count)
    return ca.Function("long", [x], [ca.sumsqr(x), 2 * x])


@pytest.mark.parametrize("make", [many_arguments, one_long_argument])
def test_a_function_of_many_inputs(make, monkeypatch):
    monkeypatch.setenv("TRISWEEP_CACHE", "off")
    small, large = make(1000), make(2000)
    compiled(make(100))
    assert calls_of(lambda: compiled(large)) < TWICE * calls_of(lambda: compiled(small))


def test_the_driver_has_as_many_lines_whatever_the_number_of_inputs():
    def lines(inputs):
        return driver_module(StackFrame(inputs, [0], inputs, 0), [1] * inputs, [1] * inputs, 3, 4).count("\n")

    assert lines(10) == lines(10_000)


def test_a_basic_block_is_short_however_long_the_sum():
    """LLVM's time grows with the square of a block's length."""
    x = ca.SX.sym("x", 9000)
    program = record(ca.Function("sum", [x], [ca.sum1(x)]))
    _, pieces = plan(program, 9000, 1, 14)
    for i, piece in enumerate(pieces):
        module = lowering.Lowering(program, 4).module(i, piece)
        body = module[: module.index("ret void")]
        assert max(block.count("fadd") for block in body.split(":\n")) <= lowering.OPERATIONS_PER_BLOCK


def test_many_arguments_are_computed_right():
    function = many_arguments(300)
    x = np.random.default_rng(1).uniform(-1, 1, (300, 7, 1))
    total, *copies = compile_function(function).batch(*x)
    np.testing.assert_allclose(total[:, 0], (x**2).sum(axis=0)[:, 0], rtol=1e-14)
    assert np.array_equal(np.array(copies), x)


def test_blocks_hand_on_what_they_computed():
    """A chain through many blocks, sines and cosines of both sides of a border included."""
    x = ca.SX.sym("x", 3)
    y, rows = x, []
    for i in range(2 * lowering.OPERATIONS_PER_BLOCK):
        y = y * (1 + 1e-4 * ca.sin(y[i % 3])) - 1e-4 * ca.cos(y[(i + 1) % 3])
        if i % 100 == 0:
            rows.append(y)
    function = ca.Function("chain", [x], [ca.vertcat(*rows)])
    given = np.random.default_rng(2).uniform(-1, 1, (5, 3))
    expected = [np.array(function(row)).ravel() for row in given]
    np.testing.assert_allclose(compile_function(function).batch(given), expected, rtol=1e-11)
