"""An SX function as a straight-line program.

CasADi's instruction list names places in a work array, used again and again; here every result gets a number
of its own. Equal operations are merged, calls of other functions are spliced in, and what later steps need
not know is rewritten: squares become products, and sin and cos of one angle stand side by side.
"""

from collections.abc import Callable
from functools import cache
from itertools import islice

import casadi as ca

from ...errors import CompileError
from .lookup import looked_up
from .straight_line_code import LEAVES, LOOKUP, StraightLineCode, bits_of

_SAME_NAME = (
    "add sub mul div neg exp log pow sqrt tan asin acos atan lt le eq ne not and or floor ceil fmod fabs "
    "sign copysign if_else_zero erf fmin fmax sinh cosh tanh asinh acosh atanh atan2 log1p expm1 "
    "hypot remainder"
)
_OPERATIONS = {getattr(ca, f"OP_{name.upper()}"): name for name in _SAME_NAME.split()}
_COMMUTATIVE = frozenset({"add", "mul"})


@cache
def _inverse_error_function() -> ca.Function:
    """erfinv by Winitzki's approximation (2008, a = 0.147) and Newton steps on erf(y) = x, in SX."""
    x = ca.SX.sym("x")
    a = 0.147
    log = ca.log((1 - x) * (1 + x))
    b = 2 / (ca.pi * a) + log / 2
    y = ca.copysign(ca.sqrt(ca.sqrt(b * b - log / a) - b), x)
    for _ in range(4):
        y -= (ca.erf(y) - x) * (ca.sqrt(ca.pi) / 2) * ca.exp(y * y)
    at_the_ends_and_beyond = x / ca.sqrt(1 - ca.fabs(x))
    return ca.Function("erfinv", [x], [ca.if_else(ca.fabs(x) < 1, y, at_the_ends_and_beyond)])


class _Recorder:
    def __init__(self) -> None:
        self.program = StraightLineCode()
        self._known: dict[tuple[str, tuple[int, ...]], int] = {}
        self._tables: dict[tuple[int, ...], int] = {}
        self._rewrite: dict[int, Callable[..., int]] = {
            ca.OP_SQ: lambda x: self.value("mul", x, x),
            ca.OP_TWICE: lambda x: self.value("add", x, x),
            ca.OP_INV: lambda x: self.value("div", self.constant(1.0), x),
            ca.OP_SIN: lambda x: self.sine_and_cosine(x)[0],
            ca.OP_COS: lambda x: self.sine_and_cosine(x)[1],
            ca.OP_CONSTPOW: lambda x, y: self.value("pow", x, y),
            ca.OP_ERFINV: lambda x: self.function(_inverse_error_function(), [[x]])[0][0],
            ca.OP_ASSIGN: lambda x: x,
            ca.OP_LIFT: lambda x, _guess: x,
            ca.OP_PRINTME: lambda x, _label: x,
        }

    def value(self, operation: str, *arguments: int) -> int:
        """The value of an operation, recorded now or found among those recorded before."""
        if operation in _COMMUTATIVE:
            arguments = (min(arguments), max(arguments))
        key = (operation, arguments)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = len(self.program.operations)
            self.program.operations.append(operation)
            self.program.arguments.append(arguments)
        return found

    def constant(self, number: float) -> int:
        return self.value("constant", bits_of(number))

    def table(self, numbers: tuple[int, ...]) -> int:
        """The index of a table, new or one of those before."""
        if numbers not in self._tables:
            self._tables[numbers] = len(self.program.tables)
            self.program.tables.append(numbers)
        return self._tables[numbers]

    def sine_and_cosine(self, angle: int) -> tuple[int, int]:
        return self.value("sin", angle), self.value("cos", angle)

    def function(self, function: ca.Function, inputs: list[list[int]]) -> list[list[int]]:
        """Record every instruction of an SX function on the given values; the values of its outputs."""
        work: dict[int, int] = {}
        outputs = [[0] * function.nnz_out(i) for i in range(function.n_out())]
        for k in range(function.n_instructions()):
            code = function.instruction_id(k)
            read, write = function.instruction_input(k), function.instruction_output(k)
            if code in _OPERATIONS:
                work[write[0]] = self.value(_OPERATIONS[code], *[work[i] for i in read])
            elif code == ca.OP_INPUT:
                work[write[0]] = inputs[read[0]][read[1]]
            elif code == ca.OP_OUTPUT:
                outputs[write[0]][write[1]] = work[read[0]]
            elif code == ca.OP_CONST:
                work[write[0]] = self.constant(function.instruction_constant(k))
            elif code in self._rewrite:
                work[write[0]] = self._rewrite[code](*[work[i] for i in read])
            elif code == ca.OP_CALL:
                work.update(zip(write, self._call(function, k, [work[i] for i in read])))
            else:
                raise _unknown(function, code)
        return outputs

    def _call(self, caller: ca.Function, k: int, arguments: list[int]) -> list[int]:
        """Record the function that instruction k of the caller calls; the values of its outputs in one list."""
        callee = caller.instructions_sx().nz[k].which_function()
        numbers = looked_up(callee)
        if numbers is not None:
            return [self.value(f"{LOOKUP}{self.table(tuple(map(bits_of, numbers.tolist())))}", *arguments)]
        if not callee.is_a("SXFunction") and not callee.is_a("MXFunction"):
            raise CompileError(
                f"function '{caller.name()}': it calls '{callee.name()}', a {callee.class_name()}, "
                "expected operations that expand to SX; write it with SX, or pass its result in as an input"
            )
        left = iter(arguments)
        inputs = [list(islice(left, callee.nnz_in(i))) for i in range(callee.n_in())]
        outputs = self.function(expanded(callee), inputs)
        return [value for output in outputs for value in output]


def _unknown(function: ca.Function, code: int) -> CompileError:
    if code == ca.OP_PARAMETER:
        return CompileError(
            f"function '{function.name()}': {', '.join(map(str, function.get_free()))} is free, "
            "expected every symbol to be an input; add it to the inputs"
        )
    return CompileError(
        f"function '{function.name()}': CasADi operation {code} is unknown to the compiler, "
        "expected one of the scalar operations of SX"
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


def record(function: ca.Function) -> StraightLineCode:
    """The program of an SX function; its inputs and outputs are counted through, nonzero after nonzero."""
    recorder = _Recorder()
    inputs, place = [], 0
    for i in range(function.n_in()):
        inputs.append([recorder.value("input", place + j) for j in range(function.nnz_in(i))])
        place += function.nnz_in(i)
    program = recorder.program
    for output in recorder.function(function, inputs):
        for value in output:
            # Outputs are stored where they are computed, so one that is not computed is copied.
            stored = recorder.value("copy", value) if program.operations[value] in LEAVES else value
            program.outputs.append((len(program.outputs), stored))
    return program
