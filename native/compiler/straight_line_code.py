"""A straight-line program: each value is assigned once, by an operation on values assigned before.

`contract` joins products and sums to fused multiply-adds, `without_unused` drops what no output rests on.
"""

import struct
from dataclasses import dataclass, field

# An operation that reads from table k is called LOOKUP followed by k.
LOOKUP = "lookup_"

# Leaves hold a datum instead of arguments: ("input", (place among all inputs,)), ("constant", (64 bits,)).
LEAVES = frozenset({"input", "constant"})


@dataclass
class StraightLineCode:
    """`operations[k]` of `arguments[k]` is value k; `outputs` lists (place among all outputs, value). tables: the 64
    bits of each of their numbers.
    """

    operations: list[str] = field(default_factory=list)
    arguments: list[tuple[int, ...]] = field(default_factory=list)
    outputs: list[tuple[int, int]] = field(default_factory=list)
    tables: list[tuple[int, ...]] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.operations)

    def use_counts(self) -> list[int]:
        """How many arguments and outputs refer to each value."""
        counts = [0] * len(self)
        for operation, arguments in zip(self.operations, self.arguments):
            if operation not in LEAVES:
                for value in arguments:
                    counts[value] += 1
        for _, value in self.outputs:
            counts[value] += 1
        return counts

    def constants(self) -> list[int]:
        """The 64 bits of every constant."""
        return [a[0] for operation, a in zip(self.operations, self.arguments) if operation == "constant"]


def bits_of(number: float) -> int:
    """The 64 bits of a double, which tell 0 from -0 and name a NaN."""
    return struct.unpack("<Q", struct.pack("<d", number))[0]


def contract(program: StraightLineCode) -> StraightLineCode:
    """The same program with a*b + c, a*b - c and c - a*b as one operation, where a*b has no other use."""
    counts = program.use_counts()
    operations, arguments = list(program.operations), list(program.arguments)

    def is_private_product(value: int) -> bool:
        return program.operations[value] == "mul" and counts[value] == 1

    for k, operation in enumerate(program.operations):
        if operation == "add":
            x, y = program.arguments[k]
            # Of two products the later one is fused: the earlier has had time to finish.
            if is_private_product(x) and not (is_private_product(y) and y > x):
                operations[k], arguments[k] = "mul_add", (*program.arguments[x], y)
            elif is_private_product(y):
                operations[k], arguments[k] = "mul_add", (*program.arguments[y], x)
        elif operation == "sub":
            x, y = program.arguments[k]
            if is_private_product(y):
                operations[k], arguments[k] = "neg_mul_add", (*program.arguments[y], x)
            elif is_private_product(x):
                operations[k], arguments[k] = "mul_sub", (*program.arguments[x], y)
    return StraightLineCode(operations, arguments, program.outputs, program.tables)


def without_unused(program: StraightLineCode) -> StraightLineCode:
    """The same program without values that no output rests on."""
    used = [False] * len(program)
    for _, value in program.outputs:
        used[value] = True
    for k in range(len(program) - 1, -1, -1):
        if used[k] and program.operations[k] not in LEAVES:
            for value in program.arguments[k]:
                used[value] = True
    new = StraightLineCode(tables=program.tables)
    number = [-1] * len(program)
    for k, operation in enumerate(program.operations):
        if used[k]:
            number[k] = len(new)
            new.operations.append(operation)
            arguments = program.arguments[k]
            new.arguments.append(arguments if operation in LEAVES else tuple([number[v] for v in arguments]))
    new.outputs = [(place, number[value]) for place, value in program.outputs]
    return new
