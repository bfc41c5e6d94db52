"""Operations as the papers count them: the instructions of an SX function without inputs, outputs and constants."""

import casadi as ca

NOT_ARITHMETIC = {ca.OP_INPUT, ca.OP_OUTPUT, ca.OP_CONST, ca.OP_PARAMETER}


def operations(function: ca.Function) -> int:
    """The instructions that compute something."""
    return sum(function.instruction_id(k) not in NOT_ARITHMETIC for k in range(function.n_instructions()))
