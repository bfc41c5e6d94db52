"""The board as Markdown: who solves what, in how many iterations and how much time, and what is false."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby

import numpy as np
from suite import places

from .outcome import SOLVERS, Outcome, Task

MOVED = 1e-5
NAMES = {"native": "Trisweep", "ipopt": "IPOPT", "fatrop": "FATROP"}


class Board:
    """All outcomes, by task."""

    def __init__(self, outcomes: Iterable[Outcome]):
        self.of = {outcome.task: outcome for outcome in outcomes}
        self.families = places()
        self.instances = sorted(
            {(task.problem, task.instance) for task in self.of}, key=lambda at: (self.families[at[0]], *at)
        )

    def get(self, solver: str, at: tuple[str, int]) -> Outcome:
        """What a solver made of an instance; where it was not asked, a status says so."""
        task = Task(at[0], solver, at[1])
        return self.of.get(task, Outcome(*task, "not run"))

    def both(self, solver: str, chosen: list[tuple[str, int]]) -> list[tuple[Outcome, Outcome]]:
        """Outcomes of native and of another solver on the instances that both solve."""
        pairs = ((self.get("native", at), self.get(solver, at)) for at in chosen)
        return [(ours, theirs) for ours, theirs in pairs if ours.solved and theirs.solved]

    def groups(self, key: Callable[[tuple[str, int]], str]) -> Iterator[tuple[str, list[tuple[str, int]]]]:
        """The instances, put together by something that they have in common."""
        return ((name, list(chosen)) for name, chosen in groupby(self.instances, key))


def summary(board: Board) -> list[str]:
    """A line a family and one for all: counts, and native beside each rival where both solve."""
    rivals = SOLVERS[1:]
    head = ["family", "problems", "instances", *(f"solved: {NAMES[s]}" for s in SOLVERS)]
    head += [f"false: {NAMES[s]}" for s in SOLVERS]
    head += [f"iterations where both solve: Trisweep / {NAMES[s]}" for s in rivals]
    head += [f"{NAMES[s]}'s time / Trisweep's, geometric mean" for s in rivals]
    lines = [_row(head), _row(["---"] * len(head))]
    parts = [*board.groups(lambda at: board.families[at[0]]), ("all", board.instances)]
    return lines + [_row([name, *_counts(board, chosen)]) for name, chosen in parts]


def _counts(board: Board, chosen: list[tuple[str, int]]) -> list[str]:
    of_solver = {solver: [board.get(solver, at) for at in chosen] for solver in SOLVERS}
    cells = [str(len({name for name, _ in chosen})), str(len(chosen))]
    cells += [str(sum(outcome.solved for outcome in of_solver[s])) for s in SOLVERS]
    cells += [str(sum(bool(outcome.false) for outcome in of_solver[s])) for s in SOLVERS]
    pairs = {s: board.both(s, chosen) for s in SOLVERS[1:]}
    for found in pairs.values():
        cells.append(" / ".join(f"{sum(pair[i].iterations for pair in found):,}" for i in (0, 1)))
    return cells + [_ratio(found) for found in pairs.values()]


def _ratio(pairs: list[tuple[Outcome, Outcome]]) -> str:
    if not pairs:
        return ""
    return f"{np.exp(np.mean([np.log(theirs.seconds / ours.seconds) for ours, theirs in pairs])):.1f}"


def by_problem(board: Board) -> list[str]:
    """A line a problem; of several instances, how many are solved, and means over those that all three solve."""
    head = ["problem", "published", "found", "apart", *(f"{NAMES[s]}: iterations, ms" for s in SOLVERS)]
    lines: list[str] = []
    for family, chosen in board.groups(lambda at: board.families[at[0]]):
        lines += ["", f"### {family}", "", _row(head), _row(["---"] * len(head))]
        for problem, instances in groupby(chosen, lambda at: at[0]):
            lines.append(_problem(board, problem, list(instances)))
    return lines


def _problem(board: Board, problem: str, chosen: list[tuple[str, int]]) -> str:
    first = board.get("native", chosen[0])
    ours = [outcome for outcome in (board.get("native", at) for at in chosen) if outcome.published is not None]
    far = max(ours, key=lambda outcome: outcome.apart or 0.0, default=None)
    apart = "" if far is None else f"{far.apart:.1e}{'' if all(one.agrees for one in ours) else ' (!)'}"
    published = "" if first.published is None else f"{first.published:.7g}"
    cells = [problem, published, f"{first.objective:.7g}", apart]
    together = [at for at in chosen if all(board.get(s, at).solved for s in SOLVERS)]
    return _row(cells + [_cell([board.get(s, at) for at in chosen], together, board) for s in SOLVERS])


def _cell(outcomes: list[Outcome], together: list[tuple[str, int]], board: Board) -> str:
    if len(outcomes) == 1:
        one = outcomes[0]
        word = "" if one.solved else f"{'FALSE' if one.false else one.status}: "
        return f"{word}{one.iterations}, {1e3 * one.seconds:.4g}"
    solved = f"{sum(outcome.solved for outcome in outcomes)} of {len(outcomes)}"
    shared = [board.get(outcomes[0].solver, at) for at in together]
    if not shared:
        return solved
    iterations, seconds = (np.mean([getattr(one, name) for one in shared]) for name in ("iterations", "seconds"))
    return f"{solved}: {iterations:.0f}, {1e3 * seconds:.4g}"


def statuses(outcomes: Iterable[Outcome]) -> str:
    """How those ended that are not solved, and how many so."""
    counts = Counter("false" if one.false else one.status for one in outcomes if not one.solved)
    return ", ".join(f"{count} {status}" for status, count in counts.items())


def remarks(board: Board) -> list[str]:
    """Every instance that a rival solves and native does not, every "solved" that is not, every wrong "infeasible"."""
    lost, false, infeasible, differ = [], [], [], []
    for at in board.instances:
        outcomes = {solver: board.get(solver, at) for solver in SOLVERS}
        ours, name = outcomes["native"], f"{at[0]}[{at[1]}]"
        winners = [NAMES[s] for s in SOLVERS[1:] if outcomes[s].solved]
        if winners and not ours.solved:
            lost.append(f"- {name}: {ours.status}; solved by {' and '.join(winners)}")
        false += [f"- {name}, {NAMES[s]}: {one.false}" for s, one in outcomes.items() if one.false]
        solved = any(one.solved for one in outcomes.values())
        wrong = [NAMES[s] for s, one in outcomes.items() if one.status == "infeasible" and solved]
        infeasible += [f"- {name}: {' and '.join(wrong)}"] if wrong else []
        if ours.solved and not ours.agrees:
            differ.append(f"- {name}: {ours.objective:.9g}, published {ours.published:.9g}")
    parts = {
        "Solved by a rival, not by Trisweep": lost,
        'False "solved"': false,
        '"Infeasible", though another solver has an answer': infeasible,
        "Another objective than published": differ,
    }
    lines = [line for title, found in parts.items() for line in ("", f"## {title}", "", *(found or ["None."]))]
    return [*lines, *_moves(board)]


def _moves(board: Board) -> list[str]:
    """What IPOPT did to the answers of each solver."""
    lines = ["", "## IPOPT, started from the answers", ""]
    for solver in SOLVERS:
        answers = [outcome for outcome in board.of.values() if outcome.solver == solver and outcome.solved]
        moved = [outcome.moved for outcome in answers if outcome.moved is not None]
        most, more = max(moved, default=0.0), sum(share > MOVED for share in moved)
        lines.append(
            f"- {NAMES[solver]}: {len(answers)} answers, {len(moved)} confirmed; in {len(answers) - len(moved)} IPOPT "
            f"did not end. The objective changed by more than {MOVED:g} in {more}, by {most:.1e} at most."
        )
    return lines


def _row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"
