"""Pieces of a program as LLVM IR: one function `piece_<i>(frame)` each, on vectors of lanes.

The order of the operations is final, as their residence rests on it, but LLVM's machine scheduler would look
for a better one, in time that grows with the square of a block's length. It never moves anything across a
label, so labels (which are no code) keep it to a few operations at a time: two thirds of the compile time
saved, nothing lost. LLVM's selection of instructions takes time that grows with the square of a long chain of
operations in one basic block (a sum of many terms), so a block ends after some of them.
"""

from collections.abc import Callable

from ..register_plan import PlannedOperation
from ..straight_line_code import LOOKUP, StraightLineCode
from .vector_math import BINARY, UNARY, declarations, lookup_declarations, pair_type, splat, vector_type

OPERATIONS_PER_LABEL = 20
OPERATIONS_PER_BLOCK = 1000  # or hundreds: fewer make long chains quicker to compile, and all else slower
_LABEL = "call void @llvm.codeview.annotation(metadata !0)"
_LABEL_DECLARATION = 'declare void @llvm.codeview.annotation(metadata)\n!0 = !{!"label"}'


def _templates(lanes: int) -> dict[str, str]:
    """IR of each operation, with {r} for the name of its result and {0}, {1}, {2} for its arguments."""
    V, B, suffix = vector_type(lanes), f"<{lanes} x i1>", f"v{lanes}f64"
    fma, zero, one, minus_one = (
        f"@llvm.fma.{suffix}",
        "zeroinitializer",
        splat(1.0, lanes),
        splat(-1.0, lanes),
    )

    def intrinsic(name: str, arity: int) -> str:
        arguments = ", ".join(f"{V} {{{i}}}" for i in range(arity))
        return f"{{r}} = call {V} @llvm.{name}.{suffix}({arguments})"

    def truth(condition: str) -> str:
        return f"{condition}\n{{r}} = uitofp {B} {{r}}t to {V}"

    def nonzero(name: str, argument: str) -> str:
        return f"{{r}}{name} = fcmp une {V} {argument}, {zero}"

    templates = {
        "add": f"{{r}} = fadd {V} {{0}}, {{1}}",
        "sub": f"{{r}} = fsub {V} {{0}}, {{1}}",
        "mul": f"{{r}} = fmul {V} {{0}}, {{1}}",
        "div": f"{{r}} = fdiv {V} {{0}}, {{1}}",
        "neg": f"{{r}} = fneg {V} {{0}}",
        "mul_add": intrinsic("fma", 3),
        "mul_sub": f"{{r}}n = fneg {V} {{2}}\n{{r}} = call {V} {fma}({V} {{0}}, {V} {{1}}, {V} {{r}}n)",
        "neg_mul_add": f"{{r}}n = fneg {V} {{0}}\n{{r}} = call {V} {fma}({V} {{r}}n, {V} {{1}}, {V} {{2}})",
        "sqrt": intrinsic("sqrt", 1),
        "fabs": intrinsic("fabs", 1),
        "floor": intrinsic("floor", 1),
        "ceil": intrinsic("ceil", 1),
        "fmin": intrinsic("minnum", 2),
        "fmax": intrinsic("maxnum", 2),
        "copysign": intrinsic("copysign", 2),
        "lt": truth(f"{{r}}t = fcmp olt {V} {{0}}, {{1}}"),
        "le": truth(f"{{r}}t = fcmp ole {V} {{0}}, {{1}}"),
        "eq": truth(f"{{r}}t = fcmp oeq {V} {{0}}, {{1}}"),
        "ne": truth(f"{{r}}t = fcmp une {V} {{0}}, {{1}}"),
        "not": truth(f"{{r}}t = fcmp oeq {V} {{0}}, {zero}"),
        "and": truth(f"{nonzero('a', '{0}')}\n{nonzero('b', '{1}')}\n{{r}}t = and {B} {{r}}a, {{r}}b"),
        "or": truth(f"{nonzero('a', '{0}')}\n{nonzero('b', '{1}')}\n{{r}}t = or {B} {{r}}a, {{r}}b"),
        "if_else_zero": f"{nonzero('t', '{0}')}\n{{r}} = select {B} {{r}}t, {V} {{1}}, {V} {zero}",
        "sign": f"{{r}}p = fcmp ogt {V} {{0}}, {zero}\n{{r}}m = fcmp olt {V} {{0}}, {zero}\n"
        f"{{r}}s = select {B} {{r}}p, {V} {one}, {V} {{0}}\n"
        f"{{r}} = select {B} {{r}}m, {V} {minus_one}, {V} {{r}}s",
    }
    for name in UNARY - {"sin", "cos"}:
        templates[name] = f"{{r}} = call {V} @vector_{name}({V} {{0}})"
    for name in BINARY:
        templates[name] = f"{{r}} = call {V} @vector_{name}({V} {{0}}, {V} {{1}})"
    return templates


def _intrinsic_declarations(lanes: int) -> str:
    V, suffix = vector_type(lanes), f"v{lanes}f64"
    arities = {"fma": 3, "sqrt": 1, "fabs": 1, "floor": 1, "ceil": 1, "minnum": 2, "maxnum": 2, "copysign": 2}
    return "\n".join(f"declare {V} @llvm.{name}.{suffix}({', '.join([V] * arity)})" for name, arity in arities.items())


class Lowering:
    """Turns pieces into modules for vectors of one width."""

    def __init__(self, program: StraightLineCode, lanes: int) -> None:
        self.program = program
        self.lanes = lanes
        V = vector_type(lanes)
        templates = _templates(lanes)
        for k in range(len(program.tables)):
            templates[f"{LOOKUP}{k}"] = f"{{r}} = call {V} @vector_{LOOKUP}{k}({V} {{0}})"
        self.templates = {name: text.format for name, text in templates.items()}
        self.footer = "\n".join(
            [
                declarations(lanes),
                lookup_declarations(len(program.tables), lanes),
                _intrinsic_declarations(lanes),
                _LABEL_DECLARATION,
                "attributes #0 = { nounwind }",
            ]
        )

    def module(self, index: int, piece: list[PlannedOperation]) -> str:
        """The module that defines `piece_<index>`."""
        V, alignment = vector_type(self.lanes), 8 * self.lanes
        operations, arguments = self.program.operations, self.program.arguments
        names: dict[int, str] = {}
        pairs: dict[int, str] = {}
        addresses: dict[int, str] = {}
        lines = [f"define void @piece_{index}(ptr noalias align 64 %frame) #0 {{"]
        write = lines.append

        def address(slot: int) -> str:
            if slot not in addresses:
                addresses[slot] = f"%p{slot}_{len(lines)}"
                write(f"{addresses[slot]} = getelementptr {V}, ptr %frame, i64 {slot}")
            return addresses[slot]

        for i, step in enumerate(piece):
            if i and i % OPERATIONS_PER_BLOCK == 0:
                lines += [f"br label %block{i}", f"block{i}:"]
                addresses.clear()  # or they would have to be kept in registers
            if i % OPERATIONS_PER_LABEL == 0:
                write(_LABEL)
            for value, slot in step.loads:
                names[value] = name = f"%l{value}_{i}"
                write(f"{name} = load {V}, ptr {address(slot)}, align {alignment}")
            k = step.value
            operation = operations[k]
            if operation == "copy":
                names[k] = names[arguments[k][0]]
            elif operation in ("sin", "cos"):
                names[k] = self._sine_or_cosine(k, names[arguments[k][0]], pairs, write)
            else:
                names[k] = result = f"%v{k}"
                write(self.templates[operation](*[names[value] for value in arguments[k]], r=result))
            for slot in step.stores:
                write(f"store {V} {names[k]}, ptr {address(slot)}, align {alignment}")
        lines += ["ret void", "}", self.footer]
        return "\n".join(lines)

    def _sine_or_cosine(self, k: int, angle_name: str, pairs: dict[int, str], write: Callable[[str], None]) -> str:
        """Both come from one call, made by whichever stands first in the piece."""
        P = pair_type(self.lanes)
        angle = self.program.arguments[k][0]
        if angle not in pairs:
            pairs[angle] = f"%sincos{angle}"
            write(f"{pairs[angle]} = call {P} @vector_sincos({vector_type(self.lanes)} {angle_name})")
        write(f"%v{k} = extractvalue {P} {pairs[angle]}, {int(self.program.operations[k] == 'cos')}")
        return f"%v{k}"
