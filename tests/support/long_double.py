"""SX functions in long double, instruction by instruction: what is left of their own rounding is a 2000th."""

import casadi as ca
import numpy as np

Real = np.longdouble

_OPERATIONS = {
    ca.OP_ADD: np.add,
    ca.OP_SUB: np.subtract,
    ca.OP_MUL: np.multiply,
    ca.OP_DIV: np.divide,
    ca.OP_NEG: np.negative,
    ca.OP_INV: lambda x: Real(1) / x,
    ca.OP_SQ: np.square,
    ca.OP_TWICE: lambda x: x + x,
    ca.OP_SQRT: np.sqrt,
    ca.OP_SIN: np.sin,
    ca.OP_COS: np.cos,
    ca.OP_ATAN2: np.arctan2,
    ca.OP_FABS: np.abs,
    ca.OP_FMIN: np.minimum,
    ca.OP_FMAX: np.maximum,
    ca.OP_LT: lambda x, y: Real(1) * (x < y),
    ca.OP_LE: lambda x, y: Real(1) * (x <= y),
    ca.OP_NOT: lambda x: Real(1) * (x == 0),
    ca.OP_IF_ELSE_ZERO: lambda x, y: np.where(x != 0, y, Real(0)),
}


def evaluate(function, inputs):
    """Nonzeros (rows, nonzeros) of every output for inputs (rows, numbers), one row for all where there is one."""
    rows = max(len(each) for each in inputs)
    given = [np.broadcast_to(each, (rows, np.shape(each)[1])).T.astype(Real) for each in inputs]
    found = [np.zeros((function.nnz_out(i), rows), Real) for i in range(function.n_out())]
    work = [None] * function.sz_w()
    for k in range(function.n_instructions()):
        code, read = function.instruction_id(k), function.instruction_input(k)
        write = function.instruction_output(k)
        if code == ca.OP_OUTPUT:
            found[write[0]][write[1]] = work[read[0]]
        elif code == ca.OP_INPUT:
            work[write[0]] = given[read[0]][read[1]]
        elif code == ca.OP_CONST:
            work[write[0]] = Real(function.instruction_constant(k))
        else:
            work[write[0]] = _OPERATIONS[code](*(work[i] for i in read))
    return [each.T for each in found]
