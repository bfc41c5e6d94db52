"""Operations of dynamics and their derivatives for the iiwa, as Sathya 2024c counts them in Fig. 1 and Table 1.

    python bench/adjoint_operations.py

An operation is an instruction of the CasADi function that computes the thing, without its loads and stores. FD are the
accelerations; with constraints ID is the residual of accelerations and forces, and "FD + forces" has the forces too. c
is CasADi's automatic differentiation through the algorithm, of the constrained solvers through the one that is best for
it; "c forward" is the mode that CasADi does not take by itself, but should here. a is the adjoint method. Common
subexpressions are eliminated on both sides.
"""

import casadi as ca
from support.iiwa_step import METHODS, SETTINGS, IiwaStep
from support.machine import describe
from support.operations import operations
from trisweep.adjoint import expand, nodes_of, solved

PAPER = {"dFD": (1.56, 1.60), "d2 eta'FD": (1.45, 2.21)}
BARS = {"dFD a": 11_000, "Euler step a": 20_000}


def count(*expressions: ca.SX) -> int:
    """Operations of expressions, each subexpression once."""
    expressions = ca.cse(list(expressions))
    return operations(ca.Function("f", ca.symvar(ca.veccat(*expressions)), expressions))


def forward_jacobian(f: ca.SX, x: ca.SX) -> ca.SX:
    """df/dx in forward mode."""
    return ca.jtimes(f, x, ca.SX.eye(x.numel()))


def casadi_hessian(f: ca.SX, x: ca.SX) -> int:
    """Operations of the lower half of d2(eta' f)/dx2."""
    return count(ca.tril(ca.hessian(ca.SX.sym("eta", f.shape).T @ f, x)[0]))


def counts(setting: str) -> dict[str, int]:
    """Fig. 1, and the fused functions of an Euler step."""
    step = IiwaStep(setting)
    (node,) = nodes_of(step.a)
    z = ca.vertcat(step.x, node.unknowns)
    adjoint = expand(step.x, step.a, ca.SX.sym("eta", 7))
    rivals = [IiwaStep(setting, method) for method in METHODS[setting]]
    return {
        "ID": count(node.residual),
        "FD": min(count(solved(rival.a)) for rival in rivals),
        "dID c": count(ca.jacobian(node.residual, z)),
        "dFD c": min(count(ca.jacobian(solved(rival.a), rival.x)) for rival in rivals),
        "dFD c forward": min(count(forward_jacobian(solved(rival.a), rival.x)) for rival in rivals),
        "dFD a": count(expand(step.x, step.a).jacobian),
        "d(FD + forces) c": min(count(ca.jacobian(solved(rival.y), rival.x)) for rival in rivals),
        "d(FD + forces) a": count(expand(step.x, step.y).jacobian),
        "d2 eta'ID c": casadi_hessian(node.residual, z),
        "d2 eta'FD c": min(casadi_hessian(solved(rival.a), rival.x) for rival in rivals),
        "d2 eta'FD a": count(ca.tril(adjoint.hessian)),
        "Euler step c": min(count(*rival.by_casadi()(rival.x, rival.eta)) for rival in rivals),
        "Euler step a": count(*step.by_adjoint()(step.x, step.eta)),
    }


def main():
    print(describe("casadi"))
    table = {setting: counts(setting) for setting in SETTINGS}
    print(f"{'operations':18}" + "".join(f"{setting:>15}" for setting in SETTINGS))
    for name in table["unconstrained"]:
        bar = f"   (bar, unconstrained: {BARS[name]:,})" if name in BARS else ""
        print(f"{name:18}" + "".join(f"{table[setting][name]:15,}" for setting in SETTINGS) + bar)
    print("\nEuler step: Jacobian and Hessian of q + h v, v + h a in (tau, q, v), fused.\n")
    print(f"{'speed-up a over c':18}" + "".join(f"{setting:>15} {'paper':>6}" for setting in SETTINGS))
    for s in SETTINGS:
        table[s]["dFD forward c"], table[s]["dFD forward a"] = table[s]["dFD c forward"], table[s]["dFD a"]
    for name in ("dFD", "dFD forward", "d(FD + forces)", "d2 eta'FD", "Euler step"):
        ratios = [table[s][f"{name} c"] / table[s][f"{name} a"] for s in SETTINGS]
        paper = [f"{ratio:5.2f}x" for ratio in PAPER[name]] if name in PAPER else ["", ""]
        print(f"{name:18}" + "".join(f"{ours:14.2f}x {theirs:>6}" for ours, theirs in zip(ratios, paper)))


if __name__ == "__main__":
    main()
