"""Functions of vectors, as LLVM IR: sin and cos by arithmetic on all lanes, the rest by the C library.

sin and cos: x = n pi/2 + r with |r| <= pi/4 (Cody and Waite's reduction; with fused multiply-adds and pi/2 in
three parts, r comes with the error of its rounding as a second word), then one polynomial for sin r and one
for cos r (minimax on [0, (pi/4)^2], error below 4e-18), swapped and negated by the quadrant n mod 4. Both
cost little more than one, so one call gives both. Beyond `REDUCTION_LIMIT`, and for infinities and NaN, lanes
ask the C library.
"""

import ctypes
import sys
from collections.abc import Sequence
from functools import cache

from ..straight_line_code import LOOKUP, bits_of

REDUCTION_LIMIT = 1e5
HALF_PI = (
    float.fromhex("0x1.921fb54442d18p+0"),
    float.fromhex("0x1.1a62633145c07p-54"),
    float.fromhex("-0x1.f1976b7ed8fbcp-110"),
)
SIN_COEFFICIENTS = (
    -0.16666666666666632,
    0.008333333333322314,
    -0.00019841269829725148,
    2.7557313662049733e-06,
    -2.5050753264814502e-08,
    1.5896505032862313e-10,
)
COS_COEFFICIENTS = (
    0.0416666666666666,
    -0.001388888888887399,
    2.4801587289394984e-05,
    -2.7557314326048555e-07,
    2.0875719561227167e-09,
    -1.1359448814454358e-11,
)

_UNARY_NAMES = "exp log sin cos tan asin acos atan erf sinh cosh tanh asinh acosh atanh log1p expm1"
_BINARY_NAMES = "pow fmod remainder atan2 hypot"
UNARY, BINARY = frozenset(_UNARY_NAMES.split()), frozenset(_BINARY_NAMES.split())
CALLS = UNARY | BINARY
LIBRARY_PREFIX = "trisweep_"


@cache
def library_addresses() -> dict[str, int]:
    """The C library's functions by the names under which compiled code refers to them."""
    library = ctypes.CDLL({"win32": "ucrtbase", "darwin": "libSystem.dylib"}.get(sys.platform, "libm.so.6"))
    return {LIBRARY_PREFIX + name: ctypes.cast(getattr(library, name), ctypes.c_void_p).value or 0 for name in CALLS}


def vector_type(lanes: int) -> str:
    return f"<{lanes} x double>"


def pair_type(lanes: int) -> str:
    return f"{{{vector_type(lanes)}, {vector_type(lanes)}}}"


def splat(number: float, lanes: int) -> str:
    """A constant vector with the same number in every lane."""
    return "<" + ", ".join([f"double 0x{bits_of(number):016X}"] * lanes) + ">"


def declarations(lanes: int) -> str:
    """What a module says in order to call the functions that `definitions` defines elsewhere."""
    V = vector_type(lanes)
    lines = [f"declare {pair_type(lanes)} @vector_sincos({V})"]
    lines += [f"declare {V} @vector_{name}({V})" for name in sorted(UNARY - {"sin", "cos"})]
    lines += [f"declare {V} @vector_{name}({V}, {V})" for name in sorted(BINARY)]
    return "\n".join(lines)


def lookup_declarations(tables: int, lanes: int) -> str:
    """The same of the functions that `lookup_definitions` defines."""
    V = vector_type(lanes)
    return "\n".join(f"declare {V} @vector_{LOOKUP}{k}({V})" for k in range(tables))


def lookup_definitions(tables: Sequence[tuple[int, ...]], lanes: int) -> str:
    """(places) -> numbers, lane by lane, of each table; places outside of it are its first or last, NaN the first."""
    V, I = vector_type(lanes), f"<{lanes} x i64>"
    text = [f"declare {I} @llvm.fptosi.sat.v{lanes}i64.v{lanes}f64({V})"] if tables else []
    text += [f"declare i64 @llvm.{name}.i64(i64, i64)" for name in ("smax", "smin")] if tables else []
    for k, numbers in enumerate(tables):
        n, content = len(numbers), ", ".join(f"double 0x{bits:016X}" for bits in numbers)
        text.append(f"@table_{k} = private constant [{n} x double] [{content}]")
        text.append(f"define {V} @vector_{LOOKUP}{k}({V} %x) {{")
        text.append(f"%places = call {I} @llvm.fptosi.sat.v{lanes}i64.v{lanes}f64({V} %x)")
        result = "poison"
        for i in range(lanes):
            text += [
                f"%wanted{i} = extractelement {I} %places, i32 {i}",
                f"%least{i} = call i64 @llvm.smax.i64(i64 %wanted{i}, i64 0)",
                f"%place{i} = call i64 @llvm.smin.i64(i64 %least{i}, i64 {n - 1})",
                f"%at{i} = getelementptr double, ptr @table_{k}, i64 %place{i}",
                f"%number{i} = load double, ptr %at{i}",
                f"%v{i} = insertelement {V} {result}, double %number{i}, i32 {i}",
            ]
            result = f"%v{i}"
        text += [f"ret {V} {result}", "}"]
    return "\n".join(text)


def definitions(operations: set[str], lanes: int, fused: bool) -> str:
    """The functions that these operations call, for processors with or without fused multiply-add."""
    wanted = sorted(operations & CALLS - {"sin", "cos"})
    text = [_lanewise(name, lanes) for name in wanted]
    library = set(wanted)
    if operations & {"sin", "cos"}:
        text.append(_SineCosine(lanes).text() if fused else _lanewise_sincos("vector_sincos", lanes))
        if fused:
            text.append(_lanewise_sincos("library_sincos", lanes))
        library |= {"sin", "cos"}
    for name in sorted(library):
        text.append(f"declare double @{LIBRARY_PREFIX}{name}(double{', double' if name in BINARY else ''})")
    return "\n".join(text)


def _lanewise(name: str, lanes: int) -> str:
    V = vector_type(lanes)
    letters = "xy" if name in BINARY else "x"
    lines = [f"define {V} @vector_{name}({', '.join(f'{V} %{a}' for a in letters)}) {{"]
    result = "poison"
    for i in range(lanes):
        lines += [f"%{a}{i} = extractelement {V} %{a}, i32 {i}" for a in letters]
        lines.append(f"%f{i} = call double @{LIBRARY_PREFIX}{name}({', '.join(f'double %{a}{i}' for a in letters)})")
        lines.append(f"%v{i} = insertelement {V} {result}, double %f{i}, i32 {i}")
        result = f"%v{i}"
    return "\n".join([*lines, f"ret {V} {result}", "}"])


def _lanewise_sincos(symbol: str, lanes: int) -> str:
    V, P = vector_type(lanes), pair_type(lanes)
    lines = [f"define {P} @{symbol}({V} %x) {{"]
    results = {"sin": "poison", "cos": "poison"}
    for i in range(lanes):
        lines.append(f"%x{i} = extractelement {V} %x, i32 {i}")
        for name in results:
            lines.append(f"%f_{name}{i} = call double @{LIBRARY_PREFIX}{name}(double %x{i})")
            lines.append(f"%{name}{i} = insertelement {V} {results[name]}, double %f_{name}{i}, i32 {i}")
            results[name] = f"%{name}{i}"
    lines.append(f"%first = insertvalue {P} poison, {V} {results['sin']}, 0")
    lines.append(f"%both = insertvalue {P} %first, {V} {results['cos']}, 1")
    return "\n".join([*lines, f"ret {P} %both", "}"])


class _SineCosine:
    """The lines of `vector_sincos`, for one number of lanes."""

    def __init__(self, lanes: int) -> None:
        self.lanes = lanes
        self.V, self.I, self.B = vector_type(lanes), f"<{lanes} x i64>", f"<{lanes} x i1>"

    def number(self, x: float) -> str:
        return splat(x, self.lanes)

    def whole(self, x: int) -> str:
        return "<" + ", ".join([f"i64 {x}"] * self.lanes) + ">"

    def fma(self, result: str, a: str, b: str, c: str) -> str:
        V = self.V
        return f"%{result} = call {V} @llvm.fma.v{self.lanes}f64({V} {a}, {V} {b}, {V} {c})"

    def polynomial(self, name: str, coefficients: tuple[float, ...]) -> list[str]:
        """%<name>0 is the polynomial of %z with these coefficients, lowest first."""
        lines, above = [], self.number(coefficients[-1])
        for i in range(len(coefficients) - 2, -1, -1):
            lines.append(self.fma(f"{name}{i}", above, "%z", self.number(coefficients[i])))
            above = f"%{name}{i}"
        return lines

    def reduction(self) -> list[str]:
        """%x = n pi/2 + %r + %tail; the lowest bits of %quadrant are those of n."""
        V, number = self.V, self.number
        rounder = 1.5 * 2.0**52  # adding it rounds to a whole number and leaves that in the lowest bits
        return [
            self.fma("shifted", "%x", number(1 / HALF_PI[0]), number(rounder)),
            f"%n = fsub {V} %shifted, {number(rounder)}",
            f"%quadrant = bitcast {V} %shifted to {self.I}",
            self.fma("r1", "%n", number(-HALF_PI[0]), "%x"),
            # r1 is exact; r + tail is r1 less the other two parts, with what each rounding lost.
            f"%part2 = fmul {V} %n, {number(HALF_PI[1])}",
            f"%minus_part2 = fneg {V} %part2",
            self.fma("part2_lost", "%n", number(HALF_PI[1]), "%minus_part2"),
            f"%r = fsub {V} %r1, %part2",
            f"%taken = fsub {V} %r1, %r",
            f"%r_lost = fsub {V} %taken, %part2",
            f"%lost = fsub {V} %r_lost, %part2_lost",
            self.fma("tail", "%n", number(-HALF_PI[2]), "%lost"),
        ]

    def polynomials(self) -> list[str]:
        """%sin_r = r + (r^3 S(z) + tail (1 - z/2)) and %cos_r = h + ((1 - h) - z/2 - r tail + z^2 C(z)), where
        z = r^2 and h = 1 - z/2, rounded."""
        V, number = self.V, self.number
        return [
            f"%z = fmul {V} %r, %r",
            *self.polynomial("s", SIN_COEFFICIENTS),
            f"%rz = fmul {V} %r, %z",
            self.fma("slope", "%z", number(-0.5), number(1.0)),
            f"%slope_tail = fmul {V} %slope, %tail",
            self.fma("sin_rest", "%rz", "%s0", "%slope_tail"),
            f"%sin_r = fadd {V} %r, %sin_rest",
            *self.polynomial("c", COS_COEFFICIENTS),
            f"%half_z = fmul {V} %z, {number(0.5)}",
            f"%h = fsub {V} {number(1.0)}, %half_z",
            f"%h_error = fsub {V} {number(1.0)}, %h",
            f"%h_rest = fsub {V} %h_error, %half_z",
            f"%minus_r = fneg {V} %r",
            self.fma("cos_tail", "%minus_r", "%tail", "%h_rest"),
            f"%zz = fmul {V} %z, %z",
            self.fma("cos_rest", "%zz", "%c0", "%cos_tail"),
            f"%cos_r = fadd {V} %h, %cos_rest",
        ]

    def quadrants(self) -> list[str]:
        """%sine and %cos: swapped in odd quadrants, sin negated in 2 and 3, cos in 1 and 2."""
        V, I, B = self.V, self.I, self.B
        sign = self.whole(-(1 << 63))
        lines = [
            f"%odd_bit = and {I} %quadrant, {self.whole(1)}",
            f"%odd = icmp ne {I} %odd_bit, {self.whole(0)}",
            f"%sin_size = select {B} %odd, {V} %cos_r, {V} %sin_r",
            f"%cos_size = select {B} %odd, {V} %sin_r, {V} %cos_r",
            f"%next_quadrant = add {I} %quadrant, {self.whole(1)}",
        ]
        for name, quadrant in (("sin", "%quadrant"), ("cos", "%next_quadrant")):
            lines += [
                f"%{name}_turn = shl {I} {quadrant}, {self.whole(62)}",
                f"%{name}_sign = and {I} %{name}_turn, {sign}",
                f"%{name}_bits = bitcast {V} %{name}_size to {I}",
                f"%{name}_signed = xor {I} %{name}_bits, %{name}_sign",
                f"%{name} = bitcast {I} %{name}_signed to {V}",
            ]
        return [
            *lines,
            f"%is_zero = fcmp oeq {V} %x, zeroinitializer",
            f"%sine = select {B} %is_zero, {V} %x, {V} %sin",  # for the reduction turns -0 into 0
        ]

    def text(self) -> str:
        V, B, P = self.V, self.B, pair_type(self.lanes)
        return "\n".join(
            [
                f"define {P} @vector_sincos({V} %x) {{",
                *self.reduction(),
                *self.polynomials(),
                *self.quadrants(),
                f"%first = insertvalue {P} poison, {V} %sine, 0",
                f"%both = insertvalue {P} %first, {V} %cos, 1",
                f"%size = call {V} @llvm.fabs.v{self.lanes}f64({V} %x)",
                f"%near = fcmp olt {V} %size, {self.number(REDUCTION_LIMIT)}",
                f"%all_near = call i1 @llvm.vector.reduce.and.v{self.lanes}i1({B} %near)",
                "br i1 %all_near, label %done, label %far",
                "done:",
                f"ret {P} %both",
                "far:",
                f"%library = call {P} @library_sincos({V} %x)",
                f"%library_sin = extractvalue {P} %library, 0",
                f"%library_cos = extractvalue {P} %library, 1",
                f"%mixed_sin = select {B} %near, {V} %sine, {V} %library_sin",
                f"%mixed_cos = select {B} %near, {V} %cos, {V} %library_cos",
                f"%mixed_first = insertvalue {P} poison, {V} %mixed_sin, 0",
                f"%mixed = insertvalue {P} %mixed_first, {V} %mixed_cos, 1",
                f"ret {P} %mixed",
                "}",
                f"declare {V} @llvm.fma.v{self.lanes}f64({V}, {V}, {V})",
                f"declare {V} @llvm.fabs.v{self.lanes}f64({V})",
                f"declare i1 @llvm.vector.reduce.and.v{self.lanes}i1({B})",
            ]
        )
