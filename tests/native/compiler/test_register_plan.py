"""Where values live: the plan is run by hand, with registers and slots that hold the names of values."""

import casadi as ca
import numpy as np
import pytest
from support.sx_functions import random_function
from trisweep.native.compiler import register_plan
from trisweep.native.compiler.llvm_ir.vector_math import CALLS
from trisweep.native.compiler.recording import record
from trisweep.native.compiler.register_plan import plan
from trisweep.native.compiler.straight_line_code import LEAVES, contract, without_unused


def planned(function: ca.Function, registers: int):
    program = without_unused(contract(record(function)))
    return program, *plan(program, function.nnz_in(), function.nnz_out(), registers)


def run_by_hand(program, frame, pieces):
    """Check that every load and argument is where the plan says; what the slots hold at the end."""
    slots = {}
    for k, (operation, arguments) in enumerate(zip(program.operations, program.arguments)):
        if operation == "constant":
            slots[frame.first_constant + frame.constants.index(arguments[0])] = k
        elif operation == "input":
            slots[frame.first_input + arguments[0]] = k
    for piece in pieces:
        in_registers = set()
        for step in piece:
            if program.operations[step.value] in CALLS:
                in_registers.clear()
            for value, slot in step.loads:
                assert slots[slot] == value
                in_registers.add(value)
            assert set(program.arguments[step.value]) <= in_registers
            in_registers.add(step.value)
            for slot in step.stores:
                assert slot < frame.outputs or frame.first_spilled <= slot < frame.slots
                slots[slot] = step.value
    return slots


def most_registers_used(program, pieces):
    """The largest number of values that, after some step, are used again before they are loaded again."""
    steps = [step for piece in pieces for step in piece]
    since, stays = {}, []  # a stay: from the step that computes or loads a value to its last use from there
    for time, step in enumerate(steps):
        for value, _ in step.loads:
            since[value] = len(stays)
            stays.append([time, time])
        for value in program.arguments[step.value]:
            stays[since[value]][1] = time
        since[step.value] = len(stays)
        stays.append([time, time])
    change = np.zeros(len(steps) + 1, dtype=int)
    for start, end in stays:
        change[start] += 1
        change[end] -= 1
    return change.cumsum().max()


@pytest.mark.parametrize("registers", [3, 6, 14, 30])
@pytest.mark.parametrize("instructions", [5, 200, 9000])
def test_every_load_finds_its_value_and_every_output_is_stored(registers, instructions):
    function = random_function(np.random.default_rng(instructions), instructions)
    program, frame, pieces = planned(function, registers)
    slots = run_by_hand(program, frame, pieces)
    for place, value in program.outputs:
        assert slots[place] == value
    assert most_registers_used(program, pieces) <= registers


def test_the_plan_holds_every_operation_once_in_order_in_pieces_of_bounded_length(monkeypatch):
    monkeypatch.setattr(register_plan, "OPERATIONS_PER_PIECE", 50)
    program, _, pieces = planned(random_function(np.random.default_rng(4), 700), 14)
    assert len(pieces) > 5
    assert max(map(len, pieces)) == 50
    order = [step.value for piece in pieces for step in piece]
    assert order == [k for k, operation in enumerate(program.operations) if operation not in LEAVES]


def test_values_that_fit_into_registers_are_never_stored():
    x = ca.SX.sym("x", 4)
    chain = x[0]
    for i in range(40):
        chain = chain * x[i % 4] + x[(i + 1) % 4]
    _, frame, pieces = planned(ca.Function("chain", [x], [chain]), 8)
    assert frame.spilled == 0
    assert sum(len(step.loads) for step in pieces[0]) == 4


def test_fewer_registers_mean_more_loads_and_slots_are_used_again():
    A = ca.SX.sym("A", 8, 8)
    power = A
    for _ in range(4):
        power = power @ A
    loads = {}
    for registers in (4, 14, 30):
        program, frame, pieces = planned(ca.Function("power", [A], [power]), registers)
        loads[registers] = sum(len(step.loads) for piece in pieces for step in piece)
        stores = sum(len(step.stores) for piece in pieces for step in piece)
        assert most_registers_used(program, pieces) == registers
        assert frame.spilled < stores / 2
    assert loads[4] > loads[14] > loads[30]
