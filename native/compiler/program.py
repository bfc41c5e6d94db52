"""An SX function as a straight-line program: each value is assigned once, by an operation on earlier values.

`record` reads CasADi's instruction list, gives each result a number of its own, merges equal operations, and
rewrites what the later steps need not know: squares become products, small powers become products, sin and
cos of one argument stand side by side, calls of other functions are spliced in. `contract` then joins
products and sums to fused multiply-adds.
"""

import struct
from dataclasses import dataclass, field

import casadi as ca

# Leaves hold a datum instead of arguments: ("input", (place among all inputs,)), ("constant", (64 bits,)).
LEAVES = frozenset({"input", "constant"})

_SAME_NAME = (
    "add sub mul div neg exp log pow sqrt tan asin acos atan lt le eq ne not and or floor ceil fmod fabs "
    "sign copysign if_else_zero erf fmin fmax sinh cosh tanh asinh acosh atanh atan2 log1p expm1 "
    "hypot remainder"
)
_OPERATIONS = {getattr(ca, f"OP_{name.upper()}"): name for name in _SAME_NAME.split()}
_COMMUTATIVE = frozenset({"add", "mul"})
_SAME_VALUE = frozenset({ca.OP_ASSIGN, ca.OP_LIFT, ca.OP_PRINTME})
_LARGEST_PRODUCT_POWER = 8


class CompileError(Exception):
    """A function that cannot be compiled, and what to do about it."""


@dataclass
class Program:
    """`operations[k]` of `arguments[k]` is value k; `outputs` lists (place among all outputs, value)."""

    operations: list[str] = field(default_factory=list)
    arguments: list[tuple[int, ...]] = field(default_factory=list)
    outputs: list[tuple[int, int]] = field(default_factory=list)

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


def constant_bits(number: float) -> int:
    """The 64 bits of a double, which tell 0 from -0 and name a NaN."""
    return struct.unpack("<Q", struct.pack("<d", number))[0]


class _Recorder:
    def __init__(self) -> None:
        self.program = Program()
        self.known: dict[tuple, int] = {}

    def value(self, operation: str, *arguments: int) -> int:
        """The value of an operation, recorded now or found among those recorded before."""
        if operation in _COMMUTATIVE:
            arguments = (min(arguments), max(arguments))
        key = (operation, arguments)
        found = self.known.get(key)
        if found is None:
            found = self.known[key] = len(self.program.operations)
            self.program.operations.append(operation)
            self.program.arguments.append(arguments)
        return found

    def constant(self, number: float) -> int:
        return self.value("constant", constant_bits(number))

    def sine_and_cosine(self, angle: int) -> tuple[int, int]:
        return self.value("sin", angle), self.value("cos", angle)

    def power(self, base: int, exponent: int) -> int:
        """base ** exponent, as products where the exponent is a small whole number."""
        number = self._number(exponent)
        if number is None or number == 0 or number != int(number) or abs(number) > _LARGEST_PRODUCT_POWER:
            return self.value("pow", base, exponent)
        result, square, digits = None, base, int(abs(number))
        while digits:
            if digits % 2:
                result = square if result is None else self.value("mul", result, square)
            digits //= 2
            if digits:
                square = self.value("mul", square, square)
        return result if number > 0 else self.value("div", self.constant(1.0), result)

    def _number(self, value: int) -> float | None:
        if self.program.operations[value] != "constant":
            return None
        number = struct.unpack("<d", struct.pack("<Q", self.program.arguments[value][0]))[0]
        return number if abs(number) < 1e9 else None

    def inverse_error_function(self, x: int) -> int:
        """Winitzki's approximation of erfinv (2008, with a = 0.147), then Newton steps on erf(y) = x.

        At x = 1 and -1 the approximation is already infinite, and beyond them NaN; the steps are left out
        there.
        """
        one, half, a = self.constant(1.0), self.constant(0.5), self.constant(0.147)
        log = self.value("log", self.value("mul", self.value("sub", one, x), self.value("add", one, x)))
        b = self.value("add", self.constant(2 / (0.147 * 3.141592653589793)), self.value("mul", half, log))
        root = self.value("sqrt", self.value("sub", self.value("mul", b, b), self.value("div", log, a)))
        guess = self.value("copysign", self.value("sqrt", self.value("sub", root, b)), x)
        y = guess
        for _ in range(4):
            error = self.value("sub", self.value("erf", y), x)
            inverse_slope = self.value(
                "mul", self.constant(0.886226925452758), self.value("exp", self.value("mul", y, y))
            )
            y = self.value("sub", y, self.value("mul", error, inverse_slope))
        inside = self.value("lt", self.value("fabs", x), one)
        outside = self.value("not", inside)
        return self.value(
            "add",
            self.value("if_else_zero", inside, y),
            self.value(
                "if_else_zero",
                outside,
                self.value("div", x, self.value("sqrt", self.value("sub", one, self.value("fabs", x)))),
            ),
        )

    def function(self, function: ca.Function, inputs: list[list[int]]) -> list[list[int]]:
        """Record every instruction of an SX function on the given values; the values of its outputs."""
        work: dict[int, int] = {}
        outputs = [[0] * function.nnz_out(i) for i in range(function.n_out())]
        expressions = None
        instruction_input, instruction_output = function.instruction_input, function.instruction_output
        for k in range(function.n_instructions()):
            code = function.instruction_id(k)
            read, write = instruction_input(k), instruction_output(k)
            if code in _OPERATIONS:
                work[write[0]] = self.value(_OPERATIONS[code], *[work[i] for i in read])
            elif code == ca.OP_INPUT:
                work[write[0]] = inputs[read[0]][read[1]]
            elif code == ca.OP_OUTPUT:
                outputs[write[0]][write[1]] = work[read[0]]
            elif code == ca.OP_CONST:
                work[write[0]] = self.constant(function.instruction_constant(k))
            elif code == ca.OP_CALL:
                expressions = function.instructions_sx() if expressions is None else expressions
                callee = expressions.nz[k].which_function()
                results = self._call(function, callee, [work[i] for i in read])
                work.update((place, value) for place, value in zip(write, results) if place >= 0)
            else:
                work[write[0]] = self._rewritten(function, code, [work[i] for i in read])
        return outputs

    def _call(self, caller: ca.Function, callee: ca.Function, arguments: list[int]) -> list[int]:
        if not callee.is_a("SXFunction") and not callee.is_a("MXFunction"):
            raise CompileError(
                f"function '{caller.name()}': it calls '{callee.name()}', a {callee.class_name()}, "
                "expected operations that expand to SX; write it with SX, or pass its result in as an input"
            )
        inputs = []
        for i in range(callee.n_in()):
            inputs.append(arguments[: callee.nnz_in(i)])
            arguments = arguments[callee.nnz_in(i) :]
        outputs = self.function(expanded(callee), inputs)
        return [value for output in outputs for value in output]

    def _rewritten(self, function: ca.Function, code: int, arguments: list[int]) -> int:
        if code == ca.OP_SQ:
            return self.value("mul", arguments[0], arguments[0])
        if code == ca.OP_TWICE:
            return self.value("add", arguments[0], arguments[0])
        if code == ca.OP_INV:
            return self.value("div", self.constant(1.0), arguments[0])
        if code == ca.OP_SIN:
            return self.sine_and_cosine(arguments[0])[0]
        if code == ca.OP_COS:
            return self.sine_and_cosine(arguments[0])[1]
        if code == ca.OP_CONSTPOW:
            return self.power(*arguments)
        if code == ca.OP_ERFINV:
            return self.inverse_error_function(arguments[0])
        if code in _SAME_VALUE:
            return arguments[0]
        if code == ca.OP_PARAMETER:
            raise CompileError(
                f"function '{function.name()}': {', '.join(map(str, function.get_free()))} is free, "
                "expected every symbol to be an input; add it to the inputs"
            )
        raise CompileError(
            f"function '{function.name()}': CasADi operation {code} is unknown to the compiler, "
            "expected one of CasADi's scalar operations"
        )


def expanded(function: ca.Function) -> ca.Function:
    """The function itself if it is one of SX, its expansion if it is one of MX."""
    if not isinstance(function, ca.Function):
        raise CompileError(f"compile_function: got {type(function).__name__}, expected a casadi.Function")
    if function.is_a("SXFunction"):
        return function
    try:
        return function.expand()
    except RuntimeError as error:
        raise CompileError(
            f"function '{function.name()}': a {function.class_name()} does not expand to SX, "
            f"expected a function of SX or MX operations; rewrite what CasADi names here: {error}"
        ) from error


def record(function: ca.Function) -> Program:
    """The program of an SX function; its inputs and outputs are counted through, nonzero after nonzero."""
    recorder = _Recorder()
    inputs, place = [], 0
    for i in range(function.n_in()):
        inputs.append([recorder.value("input", place + j) for j in range(function.nnz_in(i))])
        place += function.nnz_in(i)
    place = 0
    for output in recorder.function(function, inputs):
        for value in output:
            if recorder.program.operations[value] in LEAVES:
                value = recorder.value("copy", value)
            recorder.program.outputs.append((place, value))
            place += 1
    return recorder.program


def contract(program: Program) -> Program:
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
    return Program(operations, arguments, program.outputs)


def without_unused(program: Program) -> Program:
    """The same program without values that no output rests on."""
    used = [False] * len(program)
    for _, value in program.outputs:
        used[value] = True
    for k in range(len(program) - 1, -1, -1):
        if used[k] and program.operations[k] not in LEAVES:
            for value in program.arguments[k]:
                used[value] = True
    new = Program()
    number = [-1] * len(program)
    for k, operation in enumerate(program.operations):
        if used[k]:
            number[k] = len(new)
            new.operations.append(operation)
            arguments = program.arguments[k]
            new.arguments.append(arguments if operation in LEAVES else tuple(number[v] for v in arguments))
    new.outputs = [(place, number[value]) for place, value in program.outputs]
    return new
