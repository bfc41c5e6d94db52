"""The methods of constrained forward dynamics, by name, and the choice between them. Each is imported when first asked
for: most programs take one or two.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, TypeAlias, TypeVar
from weakref import WeakKeyDictionary

import casadi as ca

from ..errors import ModelError, said
from ..late import LateTable
from .algebra.arrays import Array, any_not_finite, is_symbolic
from .algebra.spatial import moments_text
from .constraints.constraint import Constraint
from .constraints.ground import LOOP_METHODS, closes_loop
from .forward_problem import Answer, ForwardProblem, Method
from .free.aba import aba
from .free.inverse_mass import inverse_mass
from .nodes.forward_node import ForwardDerivatives, Way, forward_node
from .proximal.settings import DEFAULT, Proximal, ProximalReport

if TYPE_CHECKING:
    from .model import Model
    from .proximal.factorization import ProximalFactorization

Named = TypeVar("Named")

# The proximal methods, which take dependent rows; those of `LOOP_METHODS` take loops as well.
PROXIMAL: LateTable[type[ProximalFactorization]] = LateTable(
    __package__,
    {
        "lcaba": (".proximal.lcaba", "LCABA"),
        "prox-bbo": (".proximal.prox_bbo", "ProxBBO"),
        "prox-ltl": (".proximal.prox_ltl", "ProxLTL"),
        "constrained-aba": (".proximal.constrained_aba", "ConstrainedABA"),
        "prox-pv": (".proximal.prox_pv", "ProxPV"),
    },
)


def met(method: str, problem: ForwardProblem) -> Answer:
    """Accelerations and forces by a proximal method with its default settings, of numbers if the rows can hold."""
    from .proximal.iteration import solve

    a, forces, report = solve(PROXIMAL[method], problem)
    if report is None or is_symbolic(a):  # demands or rows of symbols
        return a, forces
    if not (report.converged and report.met):
        raise ModelError(contradicting(problem.constraints, method, float(report.residual)))
    return a, forces


def contradicting(constraints: Sequence[Constraint], method: str, residual: float) -> str:
    """The sentence for rows that a proximal method has not met."""
    links = ", ".join(f"'{constraint.link}'" for constraint in constraints)
    return (
        f"constraints on {links}: their rows depend on each other at this configuration, or nearly so, and as far as "
        f"method '{method}' can tell contradict each other by {residual:.3g}, expected rows that can hold "
        "(proximal_dynamics takes them by least squares)"
    )


FORWARD: LateTable[Method] = LateTable(
    __package__,
    {
        "pv": (".constrained.pv", "pv"),
        "pv-base": (".constrained.pv_base", "pv_base"),
        "pv-early": (".constrained.pv_early", "pv_early"),
        "pv-soft": (".constrained.pv_soft", "pv_soft"),
        "ltl": (".constrained.ltl", "ltl"),
        "ltl-soft": (".constrained.ltl_soft", "ltl_soft"),
        "riccati": (".constrained.gauss", "gauss"),
    },
    {name: partial(met, name) for name in PROXIMAL},
)

# The proximal method that numbers take when none is named, and the one that bears the largest mu.
DEFAULT_PROXIMAL, STIFFEST = "lcaba", "prox-ltl"

# The methods that only press towards the constraints.
SOFT = ("pv-soft", "ltl-soft")

# Of independent rows, the methods of which symbols take the one with the fewest operations: both solve for all forces
# together, and so hold wherever the rows are independent. ("pv-early" needs fewer, but fixes the order of its pivots.)
SYMBOLIC = ("pv", "ltl")

# A method, and why it is taken.
Choice: TypeAlias = tuple[str, str]

_choices: WeakKeyDictionary[Model, dict[tuple[object, ...], Choice]] = WeakKeyDictionary()


def choose(model: Model, constraints: Sequence[Constraint]) -> Choice:
    """The method that numbers take when none is named; found once for each model and constraints."""
    return _once(_chosen, model, constraints)


def choose_counted(model: Model, constraints: Sequence[Constraint]) -> Choice:
    """The same for symbols and machine code, which are built once and run often: loops take the method with the fewest
    operations.
    """
    return _once(_counted, model, constraints)


def _once(find: Callable[..., Choice], model: Model, constraints: Sequence[Constraint]) -> Choice:
    known, key = _choices.setdefault(model, {}), (find, *(constraint.key for constraint in constraints))
    if key not in known:
        known[key] = find(model, constraints)
    return known[key]


def has_loops(model: Model, constraints: Sequence[Constraint]) -> bool:
    """True if some constraints are not against the ground alone."""
    return any(closes_loop(model, constraint) for constraint in constraints)


def _counted(model: Model, constraints: Sequence[Constraint]) -> Choice:
    if not has_loops(model, constraints):
        return choose(model, constraints)
    q, v, tau = (ca.SX.sym(name, size) for name, size in (("q", model.nq), ("v", model.nv), ("tau", model.nv)))
    problem = ForwardProblem(model, q, v, tau, constraints)
    counts = {name: operations(FORWARD[name](problem)) for name in LOOP_METHODS}
    least = min(counts, key=lambda name: counts[name])
    others = ", ".join(f"'{name}' {count:,}" for name, count in counts.items() if name != least)
    return least, (
        f"the constraints close loops, and it needs the fewest operations of the methods that take them: "
        f"{counts[least]:,}, {others}; numbers take '{DEFAULT_PROXIMAL}' without counting"
    )


def _chosen(model: Model, constraints: Sequence[Constraint]) -> Choice:
    if not constraints:
        return "aba", "there are no constraints"
    if has_loops(model, constraints):
        return DEFAULT_PROXIMAL, "the constraints close loops"
    from .constrained.row_elimination import row_pivots

    try:
        row_pivots(model, constraints)
    except ModelError as reason:
        return STIFFEST, f"it takes dependent rows: {reason}"
    return "pv", "it holds wherever the rows are independent; symbols take it or 'ltl', by the count of operations"


def named(methods: Mapping[str, Named], method: str) -> Named:
    """The method of that name; an unknown one is answered with those there are."""
    if not isinstance(method, str) or method not in methods:
        raise ModelError(f"method is {said(method)}, expected one of {', '.join(methods)}")
    return methods[method]


def forward_dynamics(problem: ForwardProblem, method: str | None) -> Answer:
    """Accelerations and forces: numbers by the method, or symbols that a node solves for."""
    constraints = problem.constraints
    if is_symbolic(problem.q, problem.v, problem.tau):
        try:
            a, *forces = forward_node(problem, node_ways(problem.model, constraints, method))
        except ZeroDivisionError:
            raise ModelError(dependent(problem.model, constraints, method)) from None
        return a, [*forces]
    try:
        return forward_method(problem.model, constraints, method)(problem)
    except ZeroDivisionError:
        if method is not None or not constraints or is_proximal(problem.model, constraints, method):
            raise ModelError(dependent(problem.model, constraints, method)) from None
        return nearly_dependent(problem)


def nearly_dependent(problem: ForwardProblem) -> Answer:
    """Numbers at a configuration where the rows depend on each other, and so have the forces of least norm, or nearly
    do, where forces too large for a proximal method are needed.
    """
    try:
        return met(STIFFEST, problem)
    except ModelError as refusal:
        try:
            return FORWARD["riccati"](problem)
        except (ModelError, ZeroDivisionError):
            raise refusal from None


def proximal_dynamics(
    problem: ForwardProblem, method: str | None, settings: Proximal | None, forces: Sequence[Array] | None
) -> tuple[Array, list[Array], ProximalReport | None]:
    """Accelerations, forces and, of numbers, a report, by a proximal method."""
    from .proximal.iteration import solve

    kind = named(PROXIMAL, DEFAULT_PROXIMAL if method is None else method)
    try:
        a, reached, report = solve(kind, problem, settings or DEFAULT, forces)
    except ZeroDivisionError:
        raise ModelError(dependent(problem.model, (), kind.name)) from None
    if any_not_finite(a, *reached):
        raise ModelError(f"method '{kind.name}': the answer is not finite, expected numbers of a sensible size")
    return a, reached, report


def expression(problem: ForwardProblem, method: str | None) -> Answer:
    """Accelerations and forces as the sweep's own expressions in the symbols of a problem, for code that has no use for
    derivatives: where no method is named, by the one whose answer takes the fewest operations.
    """
    try:
        answers = [solver(problem) for solver in symbolic_methods(problem.model, problem.constraints, method)]
    except ZeroDivisionError:
        raise ModelError(dependent(problem.model, problem.constraints, method)) from None
    return answers[0] if len(answers) == 1 else min(answers, key=operations)


def operations(answer: Answer) -> int:
    """The instructions of an answer in symbols."""
    stacked = ca.cse(ca.vertcat(answer[0], *answer[1]))
    return ca.Function("answer", ca.symvar(stacked), [stacked]).n_instructions()


def inverse_mass_matrix(model: Model, q: Array) -> Array:
    """M^-1, from the articulated-body sweep."""
    try:
        return inverse_mass(model, q)
    except ZeroDivisionError:
        raise ModelError(no_inertia(model)) from None


def free(problem: ForwardProblem) -> Answer:
    """The articulated-body algorithm, where there are no constraints."""
    return aba(problem.model, problem.q, problem.v, problem.tau, problem.external), []


def forward_method(model: Model, constraints: Sequence[Constraint], method: str | None) -> Method:
    """What solves forward dynamics with these constraints."""
    method = choose(model, constraints)[0] if method is None else method
    if method == "aba" and constraints:
        raise ModelError(f"method 'aba' got {len(constraints)} constraints, expected none")
    solver = free if method == "aba" else named(FORWARD, method)
    return solver if constraints else free


def symbolic_methods(model: Model, constraints: Sequence[Constraint], method: str | None) -> list[Method]:
    """The methods of which symbols take the one with the fewest operations: just the named one, if one is named."""
    name = choose_counted(model, constraints)[0] if method is None else method
    if method is None and constraints and name in SYMBOLIC:
        return [FORWARD[each] for each in SYMBOLIC]
    return [forward_method(model, constraints, name)]


def node_ways(model: Model, constraints: Sequence[Constraint], method: str | None) -> list[Way]:
    """How a node may solve and differentiate forward dynamics. Where no method is named, dependent rows and loops are
    for the proximal method that bears the largest mu, for the sake of derivatives.
    """
    name = choose(model, constraints)[0] if method is None else method
    if method is None and name in PROXIMAL:
        name = STIFFEST
    if constraints and name in PROXIMAL:
        from .nodes.proximal_node import ProximalDerivatives

        return [partial(ProximalDerivatives, kind=PROXIMAL[name])]
    solvers = symbolic_methods(model, constraints, method)
    return [partial(ForwardDerivatives, solve=solver, soft=method in SOFT) for solver in solvers]


def is_proximal(model: Model, constraints: Sequence[Constraint], method: str | None) -> bool:
    """True if forward dynamics takes a proximal method for these constraints."""
    return (choose(model, constraints)[0] if method is None else method) in PROXIMAL


def no_inertia(model: Model) -> str:
    """The sentence for joints without inertia to move, or with a negative one."""
    if massless := model.massless_joints():
        names = ", ".join(f"'{name}'" for name in massless)
        return f"joint {names} moves no mass, expected inertia along every joint's motion"
    if impossible := model.impossible_bodies():
        joint, moments = next(iter(impossible.items()))
        found = moments_text(moments)
        return f"joint '{joint}' moves a body with principal moments of inertia {found}, expected none below 0"
    return "a joint of this model moves no mass along its motion, expected inertia along every joint's motion"


def dependent(model: Model, constraints: Sequence[Constraint], method: str | None) -> str:
    """The sentence for rows that depend on each other, or a joint without inertia to move."""
    if not constraints or method == "riccati" or is_proximal(model, constraints, method):
        return no_inertia(model)
    links = ", ".join(f"'{constraint.link}'" for constraint in constraints)
    if method == "pv-early":
        return (
            f"constraints on {links}: a joint hardly feels the row that it is to meet, or rows depend on each other at "
            "this configuration, but method 'pv-early' expects neither (method=None takes independent rows everywhere)"
        )
    if method == "pv-base":
        return (
            f"constraints on {links}: those of a branch depend on each other without the base at this configuration, "
            "but method 'pv-base' expects independent ones (method='pv' needs the base as well)"
        )
    return (
        f"constraints on {links}: their rows depend on each other at this configuration, but method "
        f"'{method or 'pv'}' expects independent ones (method='prox-ltl' takes them as they are)"
    )
