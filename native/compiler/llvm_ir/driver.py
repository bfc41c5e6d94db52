"""The entry point of compiled code, and its calling convention.

    void evaluate(const double* const* inputs, const int64_t* input_strides,
                  double* const* outputs, const int64_t* output_strides,
                  int64_t count, double* work);

evaluates `count` samples. The nonzeros of input i for sample s (in CasADi's order, column after column) are
the `sizes.inputs[i]` doubles at `inputs[i] + s * input_strides[i]`, and likewise for outputs: strides count
doubles, and rows are contiguous. An input stride of 0 gives every sample the same row. An output whose
pointer is null is not written. `work` holds `sizes.work` doubles, which need no alignment and no initial
value; it is all the memory the call uses, so calls with different `work` may run at the same time. From its first
multiple of 64 bytes on it keeps the outputs of the last group of lanes, side by side: their nonzeros one after the
other, each a vector of lanes. Outputs must not overlap inputs, but for one case: with one lane the samples run one
after the other, each read before it is written, so that an output's row may be the row of an input for the next sample
(`CompiledFunction.iterate`).

Inside, `lanes` samples at a time go through a frame (see `residence`): gathered from rows to slots, run
through the pieces, scattered from slots to rows. Where the last group is short, its idle lanes repeat the
last sample and write the same numbers to the same row.
"""

from ..register_plan import StackFrame
from .vector_math import vector_type

ENTRY = "evaluate"
_FRAME_ALIGNMENT = 64


def work_size(frame: StackFrame, lanes: int) -> int:
    """Doubles of work memory: one frame, and room to align it."""
    return frame.slots * lanes + _FRAME_ALIGNMENT // 8


def driver_module(frame: StackFrame, input_sizes: list[int], output_sizes: list[int], pieces: int, lanes: int) -> str:
    """The module that defines the entry point for a function of these sizes."""
    calls = [f"call void @piece_{i}(ptr %frame)" for i in range(pieces)]
    return "\n".join(
        [
            f"define void @{ENTRY}(ptr %inputs, ptr %input_strides, ptr %outputs, ptr %output_strides, "
            "i64 %count, ptr %work) #0 {",
            "entry:",
            "%address = ptrtoint ptr %work to i64",
            f"%raised = add i64 %address, {_FRAME_ALIGNMENT - 1}",
            f"%aligned = and i64 %raised, {-_FRAME_ALIGNMENT}",
            "%frame = inttoptr i64 %aligned to ptr",
            "call void @fill_constants(ptr %frame)",
            "%some = icmp sgt i64 %count, 0",
            "br i1 %some, label %group, label %done",
            "group:",
            "%start = phi i64 [0, %entry], [%next, %group]",
            "call void @gather_all(ptr %frame, ptr %inputs, ptr %input_strides, i64 %start, i64 %count)",
            *calls,
            "call void @scatter_all(ptr %frame, ptr %outputs, ptr %output_strides, i64 %start, i64 %count)",
            f"%next = add i64 %start, {lanes}",
            "%more = icmp slt i64 %next, %count",
            "br i1 %more, label %group, label %done",
            "done:",
            "ret void",
            "}",
            *(f"declare void @piece_{i}(ptr)" for i in range(pieces)),
            _fill_constants(frame, lanes),
            _move_all("gather", input_sizes, frame.first_input, lanes),
            _move_all("scatter", output_sizes, 0, lanes),
            _mover("gather", lanes),
            _mover("scatter", lanes),
            "attributes #0 = { nounwind }",
        ]
    )


def _move_all(verb: str, sizes: list[int], first: int, lanes: int) -> str:
    """Call gather or scatter for every input or output, of which a table has the sizes, in slots from `first` on."""
    if not sizes:
        return f"define internal void @{verb}_all(ptr %f, ptr %r, ptr %s, i64 %start, i64 %count) {{\nret void\n}}"
    n, table = len(sizes), ", ".join(f"i64 {size}" for size in sizes)
    body = f"""
  %place = phi i64 [{first}, %entry], [%place1, %next]
  %size_at = getelementptr i64, ptr @{verb}_sizes, i64 %i
  %size = load i64, ptr %size_at
  %row_at = getelementptr ptr, ptr %rows, i64 %i
  %row = load ptr, ptr %row_at
  %stride_at = getelementptr i64, ptr %strides, i64 %i
  %stride = load i64, ptr %stride_at
  %slots = getelementptr {vector_type(lanes)}, ptr %frame, i64 %place
  call void @{verb}(ptr %slots, ptr %row, i64 %stride, i64 %start, i64 %count, i64 %size)
  %place1 = add i64 %place, %size"""
    loop = _loop(f"{verb}_all(ptr %frame, ptr %rows, ptr %strides, i64 %start, i64 %count)", n, body)
    return f"@{verb}_sizes = private constant [{n} x i64] [{table}]\n{loop}"


def _fill_constants(frame: StackFrame, lanes: int) -> str:
    V, n = vector_type(lanes), len(frame.constants)
    if n == 0:
        return "define internal void @fill_constants(ptr %frame) {\nret void\n}"
    table = ", ".join(f"double 0x{bits:016X}" for bits in frame.constants)
    body = f"""
  %from = getelementptr double, ptr @constants, i64 %i
  %place = add i64 %i, {frame.first_constant}
  %to = getelementptr {V}, ptr %frame, i64 %place
  %number = load double, ptr %from
  %first = insertelement {V} poison, double %number, i32 0
  %all = shufflevector {V} %first, {V} poison, <{lanes} x i32> zeroinitializer
  store {V} %all, ptr %to, align {8 * lanes}"""
    return f"@constants = private constant [{n} x double] [{table}]\n{_loop('fill_constants(ptr %frame)', n, body)}"


def _loop(signature: str, count: int, body: str) -> str:
    """A function that runs its body for %i from 0 to below count, which is positive."""
    return f"""define internal void @{signature} {{
entry:
  br label %next
next:
  %i = phi i64 [0, %entry], [%i1, %next]{body}
  %i1 = add i64 %i, 1
  %more = icmp slt i64 %i1, {count}
  br i1 %more, label %next, label %done
done:
  ret void
}}"""


def _mover(verb: str, lanes: int) -> str:
    """`gather` from rows to slots, or `scatter` from slots to rows: whole squares of lanes by transposition,
    then what is left of the row element by element."""
    skip = (
        ["%same = icmp eq i64 %stride, 0", "%later = icmp ne i64 %start, 0", "%skip = and i1 %same, %later"]
        if verb == "gather"
        else ["%skip = icmp eq ptr %rows, null"]
    )
    lines = [
        f"define internal void @{verb}(ptr %slots, ptr %rows, i64 %stride, i64 %start, i64 %count, i64 %size) {{",
        "entry:",
        *skip,
        "br i1 %skip, label %done, label %begin",
        "begin:",
        "%last = sub i64 %count, 1",
    ]
    for lane in range(lanes):
        lines += [
            f"%wanted{lane} = add i64 %start, {lane}",
            f"%sample{lane} = call i64 @llvm.smin.i64(i64 %wanted{lane}, i64 %last)",
            f"%offset{lane} = mul i64 %sample{lane}, %stride",
            f"%row{lane} = getelementptr double, ptr %rows, i64 %offset{lane}",
        ]
    lines += [
        f"%squares = and i64 %size, {-lanes}",
        "br label %square_check",
        "square_check:",
        "%i = phi i64 [0, %begin], [%i_next, %square]",
        "%square_left = icmp slt i64 %i, %squares",
        "br i1 %square_left, label %square, label %element_check",
        "square:",
        *_square(verb, lanes),
        f"%i_next = add i64 %i, {lanes}",
        "br label %square_check",
        "element_check:",
        "%j = phi i64 [%i, %square_check], [%j_next, %element]",
        "%element_left = icmp slt i64 %j, %size",
        "br i1 %element_left, label %element, label %done",
        "element:",
        *_element(verb, lanes),
        "%j_next = add i64 %j, 1",
        "br label %element_check",
        "done:",
        "ret void",
        "}",
    ]
    if verb == "gather":
        lines.append("declare i64 @llvm.smin.i64(i64, i64)")
    return "\n".join(lines)


def _square(verb: str, lanes: int) -> list[str]:
    """Move `lanes` elements of `lanes` rows, from %i on."""
    V = vector_type(lanes)
    lines = []
    for k in range(lanes):
        lines += [
            f"%at_row{k} = getelementptr double, ptr %row{k}, i64 %i",
            f"%slot_number{k} = add i64 %i, {k}",
            f"%at_slot{k} = getelementptr {V}, ptr %slots, i64 %slot_number{k}",
        ]
    source, target = ("row", "slot") if verb == "gather" else ("slot", "row")
    alignment = {"row": 8, "slot": 8 * lanes}
    vectors = []
    for k in range(lanes):
        lines.append(f"%m{k} = load {V}, ptr %at_{source}{k}, align {alignment[source]}")
        vectors.append(f"%m{k}")
    vectors = _transpose(vectors, lanes, lines)
    for k in range(lanes):
        lines.append(f"store {V} {vectors[k]}, ptr %at_{target}{k}, align {alignment[target]}")
    return lines


def _transpose(vectors: list[str], lanes: int, lines: list[str]) -> list[str]:
    """Transpose a square by swapping its off-diagonal blocks, of half the size at each turn."""
    V = vector_type(lanes)
    block = lanes // 2
    while block:
        result = list(vectors)
        for i in range(lanes):
            if i & block:
                continue
            low = [e if not e & block else lanes + e - block for e in range(lanes)]
            high = [e + block if not e & block else lanes + e for e in range(lanes)]
            pair = f"{V} {vectors[i]}, {V} {vectors[i + block]}"
            for row, picks in ((i, low), (i + block, high)):
                mask = ", ".join(f"i32 {e}" for e in picks)
                result[row] = f"%t{block}_{row}"
                lines.append(f"{result[row]} = shufflevector {pair}, <{lanes} x i32> <{mask}>")
        vectors = result
        block //= 2
    return vectors


def _element(verb: str, lanes: int) -> list[str]:
    """Move element %j of `lanes` rows."""
    V = vector_type(lanes)
    lines = [f"%element_slot = getelementptr {V}, ptr %slots, i64 %j"]
    lines += [f"%element_at{k} = getelementptr double, ptr %row{k}, i64 %j" for k in range(lanes)]
    if verb == "gather":
        vector = "poison"
        for k in range(lanes):
            lines.append(f"%element{k} = load double, ptr %element_at{k}")
            lines.append(f"%element_vector{k} = insertelement {V} {vector}, double %element{k}, i32 {k}")
            vector = f"%element_vector{k}"
        return [*lines, f"store {V} {vector}, ptr %element_slot, align {8 * lanes}"]
    lines.append(f"%element_vector = load {V}, ptr %element_slot, align {8 * lanes}")
    for k in range(lanes):
        lines.append(f"%element{k} = extractelement {V} %element_vector, i32 {k}")
        lines.append(f"store double %element{k}, ptr %element_at{k}")
    return lines
