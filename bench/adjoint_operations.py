"""Operations of dynamics and their derivatives for the iiwa, as 004 counts them in Fig. 1 and Table 1.

    python bench/adjoint_operations.py

An operation is an instruction of the CasADi function that computes the thing, its loads and stores left out. Superscripts of
004: c for CasADi's automatic differentiation through the algorithm, a for the adjoint method. Common subexpressions are
eliminated on both sides.
"""

import casadi as ca
from iiwa_step import SETTINGS, IiwaStep
from machine import describe
from trisweep.adjoint import expand, nodes_of, solved

PAPER = {"unconstrained": (1.56, 1.45), "constrained": (1.60, 2.21)}
BARS = {"dFD a": 11_000, "Euler step a": 20_000}
IDLE = (ca.OP_INPUT, ca.OP_OUTPUT, ca.OP_CONST)


def operations(*expressions: ca.SX) -> int:
    expressions = ca.cse(list(expressions))
    function = ca.Function("f", ca.symvar(ca.veccat(*expressions)), expressions)
    return sum(function.instruction_id(k) not in IDLE for k in range(function.n_instructions()))


def counts(setting: str) -> dict[str, int]:
    """Fig. 1; with constraints, ID is the residual whose root the accelerations and the forces are."""
    step = IiwaStep(setting)
    (node,) = nodes_of(step.y)
    z, inverse_dynamics, forward_dynamics = ca.vertcat(step.x, step.y), node.residual, solved(step.y)
    adjoint = expand(step.x, step.y, step.eta)
    fused, fused_casadi = step.by_adjoint(), step.by_casadi()
    return {
        "ID": operations(inverse_dynamics),
        "FD": operations(forward_dynamics),
        "dID c": operations(ca.jacobian(inverse_dynamics, z)),
        "dFD c": operations(ca.jacobian(forward_dynamics, step.x)),
        "dFD a": operations(adjoint.jacobian),
        "d2 eta'ID c": operations(ca.tril(ca.hessian(step.eta.T @ inverse_dynamics, z)[0])),
        "d2 eta'FD c": operations(ca.tril(ca.hessian(step.eta.T @ forward_dynamics, step.x)[0])),
        "d2 eta'FD a": operations(ca.tril(adjoint.hessian)),
        "Euler step c": operations(*fused_casadi(step.x, step.eta_next)),
        "Euler step a": operations(*fused(step.x, step.eta_next)),
    }


def main():
    print(describe("casadi"))
    table = {setting: counts(setting) for setting in SETTINGS}
    print(f"{'operations':14}" + "".join(f"{setting:>15}" for setting in SETTINGS))
    for name in table["unconstrained"]:
        bar = f"   (bar, unconstrained: {BARS[name]:,})" if name in BARS else ""
        print(f"{name:14}" + "".join(f"{table[setting][name]:15,}" for setting in SETTINGS) + bar)
    print("\nEuler step: Jacobian and Hessian of q + h v, v + h a in (tau, q, v), fused.\n")
    print(f"{'speed-up':14}" + "".join(f"{setting:>15} {'004':>6}" for setting in SETTINGS))
    for row, name in enumerate(("dFD", "d2 eta'FD")):
        ratios = [(table[s][f"{name} c"] / table[s][f"{name} a"], PAPER[s][row]) for s in SETTINGS]
        print(f"{name:14}" + "".join(f"{ours:14.2f}x {theirs:5.2f}x" for ours, theirs in ratios))
    step = [table[s]["Euler step c"] / table[s]["Euler step a"] for s in SETTINGS]
    print(f"{'Euler step':14}" + "".join(f"{ratio:14.2f}x {'':6}" for ratio in step))


if __name__ == "__main__":
    main()
