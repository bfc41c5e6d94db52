"""Where every value of a program lives, decided before LLVM sees it.

A frame is an array of slots, one vector of lanes each: outputs, constants, inputs, then spilled values. A
value is in a register from where it is computed or loaded until its place is wanted for a value that is used
sooner (Belady's rule: the fewest loads). Calls and the ends of pieces empty
the registers. LLVM's own allocator then finds few enough values alive that it hardly spills, which is most of
the speed of the code, and keeps compile time linear in the length of the program.
"""

from dataclasses import dataclass, replace

from .llvm_ir.vector_math import CALLS
from .straight_line_code import LEAVES, LOOKUP, StraightLineCode

OPERATIONS_PER_PIECE = 3000


@dataclass(frozen=True)
class StackFrame:
    """Slots of one group of lanes, in this order; `slots` is their number."""

    outputs: int
    constants: list[int]  # the 64 bits of each
    inputs: int
    spilled: int

    @property
    def first_constant(self) -> int:
        return self.outputs

    @property
    def first_input(self) -> int:
        return self.first_constant + len(self.constants)

    @property
    def first_spilled(self) -> int:
        return self.first_input + self.inputs

    @property
    def slots(self) -> int:
        return self.first_spilled + self.spilled


@dataclass
class PlannedOperation:
    """One operation: values to load from their slots before it, and slots its result is stored to."""

    value: int
    loads: list[tuple[int, int]]  # value, slot
    stores: list[int]


def plan(
    program: StraightLineCode, inputs: int, outputs: int, registers: int
) -> tuple[StackFrame, list[list[PlannedOperation]]]:
    """The frame, and the program as pieces of steps that keep at most `registers` values in registers."""
    order = [k for k, operation in enumerate(program.operations) if operation not in LEAVES]
    pieces = [order[i : i + OPERATIONS_PER_PIECE] for i in range(0, len(order), OPERATIONS_PER_PIECE)]
    loads, spilled = _reside(program, pieces, registers)
    frame = StackFrame(outputs, program.constants(), inputs, 0)
    steps, slots_for_spilled = _assign_slots(program, pieces, loads, spilled, frame)
    return replace(frame, spilled=slots_for_spilled), steps


def _uses(program: StraightLineCode, pieces: list[list[int]]) -> list[list[int]]:
    """For each value the times at which it is an argument, last first."""
    uses: list[list[int]] = [[] for _ in range(len(program))]
    time = sum(map(len, pieces))
    for piece in reversed(pieces):
        for k in reversed(piece):
            time -= 1
            for value in set(program.arguments[k]):
                uses[value].append(time)
    return uses


def _reside(program: StraightLineCode, pieces: list[list[int]], registers: int) -> tuple[list[list[int]], set[int]]:
    """The values to load before each operation, and those that leave the registers before their last use."""
    pending = _uses(program, pieces)
    loads: list[list[int]] = []
    spilled: set[int] = set()
    next_use: dict[int, int] = {}  # of the values in registers
    operations, arguments_of = program.operations, program.arguments
    for piece in pieces:
        spilled.update(next_use)
        next_use.clear()
        for k in piece:
            if operations[k] in CALLS or operations[k].startswith(LOOKUP):
                spilled.update(next_use)
                next_use.clear()
            arguments = set(arguments_of[k])
            loads.append([value for value in arguments if value not in next_use])
            for value in arguments:
                uses = pending[value]
                uses.pop()
                if uses:
                    next_use[value] = uses[-1]
                else:
                    next_use.pop(value, None)
            if pending[k]:
                next_use[k] = pending[k][-1]
            while len(next_use) > registers:
                farthest = max(next_use, key=next_use.__getitem__)
                del next_use[farthest]
                spilled.add(farthest)
    return loads, spilled


def _fixed_slots(program: StraightLineCode, frame: StackFrame) -> dict[int, int]:
    """The slots of constants, inputs and outputs (of a value that is several outputs, one of them)."""
    slots: dict[int, int] = {}
    for k, operation in enumerate(program.operations):
        if operation == "constant":
            slots[k] = frame.first_constant + len(slots)
    for k, operation in enumerate(program.operations):
        if operation == "input":
            slots[k] = frame.first_input + program.arguments[k][0]
    slots.update((value, place) for place, value in program.outputs)
    return slots


def _assign_slots(
    program: StraightLineCode, pieces: list[list[int]], loads: list[list[int]], spilled: set[int], frame: StackFrame
) -> tuple[list[list[PlannedOperation]], int]:
    """The steps, and how many slots the spilled values share, each as long as it will be loaded again."""
    slots = _fixed_slots(program, frame)
    stores: dict[int, list[int]] = {}
    for place, value in program.outputs:
        stores.setdefault(value, []).append(place)
    last_load = {value: time for time, values in enumerate(loads) for value in values}
    free: list[int] = []
    untouched = first_spilled = frame.first_spilled
    steps: list[list[PlannedOperation]] = []
    time = 0
    for piece in pieces:
        steps.append([])
        for k in piece:
            step = PlannedOperation(k, [(value, slots[value]) for value in loads[time]], stores.get(k, []))
            free += [slot for value, slot in step.loads if slot >= first_spilled and last_load[value] == time]
            if k in spilled and k not in slots:
                if not free:
                    free.append(untouched)
                    untouched += 1
                slots[k] = free.pop()
                step.stores = [slots[k]]
            steps[-1].append(step)
            time += 1
    return steps, untouched - first_spilled
