"""A trial: one motion from one guess by one rule. Rules, what comes of trials, and the file that keeps it."""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import trisweep as ts
from motions import motion, names
from suite import case, places
from support.rivals.on_machine_code import OnMachineCode
from trisweep.native import core

ITERATIONS, SECONDS, RIVALS_SECONDS = 500, 300.0, 120.0  # limits of a solve; of the rivals' in the processor's time
DEFAULT, IPOPT = "default", "IPOPT"
RIVALS = {IPOPT: "ipopt", "FATROP": "fatrop"}
SHIFTED: dict[str, Any] = {"curvature": "shifted", "patience": 0}
FIXED: dict[str, dict[str, Any]] = {
    **{f"monotone {mu:g}": {"barrier": "monotone", "initial_barrier": mu} | SHIFTED for mu in 10.0 ** np.arange(-4, 4)},
    "adaptive": {"barrier": "adaptive"} | SHIFTED,
}
RULES: dict[str, dict[str, Any]] = {
    DEFAULT: {},
    **FIXED,
    "monotone, damped": {"barrier": "monotone", "patience": 0},
    "adaptive, no patience": {"patience": 0},
}
OWN = "its own"  # guess of a public problem


class Trial(NamedTuple):
    """The motion, or the public problem, by its name; the guess and the rule likewise."""

    motion: str
    guess: str
    rule: str


@dataclass(frozen=True)
class Outcome:
    """stamp: what solved it, so that a changed solver is asked anew."""

    motion: str
    guess: str
    rule: str
    stamp: str
    status: str
    iterations: int
    seconds: float
    objective: float

    @property
    def trial(self) -> Trial:
        return Trial(self.motion, self.guess, self.rule)

    @property
    def solved(self) -> bool:
        return self.status == "solved"


@cache
def stamp(rule: str) -> str:
    """Of the core, or of the wheel that the rivals come in."""
    if rule in RIVALS:
        return importlib.metadata.version("casadi")
    return hashlib.sha256(Path(core.__file__).read_bytes()).hexdigest()[:12]


def all_names() -> list[str]:
    """Motions, then public problems."""
    return [*names(), *places()]


def trials_of(name: str, rules: Iterable[str]) -> list[Trial]:
    guesses = [OWN] if name in places() else list(motion(name).guesses())
    return [Trial(name, guess, rule) for rule in rules for guess in guesses]


def solve(name: str, rules: list[str], known: frozenset[tuple[Trial, str]]) -> Iterator[Outcome]:
    """What comes of the trials that are not known yet."""
    wanted = [trial for trial in trials_of(name, rules) if (trial, stamp(trial.rule)) not in known]
    if not wanted:
        return
    guesses, parameters, problem = _statement(name)
    solvers: dict[str, Any] = {}
    for trial in wanted:
        run = _rival if trial.rule in RIVALS else _own
        try:
            found = run(trial.rule, problem, guesses[trial.guess], parameters, solvers)
        except (ts.TrisweepError, RuntimeError) as error:
            found = f"refused: {error}"[:200], 0, 0.0, float("nan")
        yield Outcome(*trial, stamp(trial.rule), *found)


Ending = tuple[str, int, float, float]  # status, iterations, seconds, objective


def _own(rule: str, problem: ts.Problem, guess: Any, parameters: Any, solvers: dict[str, Any]) -> Ending:
    settings = ts.Settings(iterations=ITERATIONS, seconds=SECONDS, **RULES[rule])
    if "own" not in solvers:
        solvers["own"] = problem.build()
    solution = solvers["own"].solve(guess, settings=settings, **parameters)
    taken = solution.statistics
    return str(solution.status), taken.iterations, taken.seconds, float(solution.objective)


def _rival(rule: str, problem: ts.Problem, guess: Any, parameters: Any, solvers: dict[str, Any]) -> Ending:
    """By its own word, and nobody else's."""
    if rule not in solvers:
        solvers[rule] = OnMachineCode(RIVALS[rule], problem)
    return solvers[rule].solve(guess, parameters, ITERATIONS, RIVALS_SECONDS)[:4]


def _statement(name: str) -> tuple[dict[str, Any], Any, ts.Problem]:
    """Guesses by their names, parameters, the problem."""
    if name not in places():
        made = motion(name)
        return made.guesses(), made.parameters, made.problem
    public = case(name)
    stated = public.build()
    guess, parameters = public.starts(0, stated)
    return {OWN: guess}, parameters, stated.problem


def write(path: Path, outcome: Outcome) -> None:
    """Append it to a file, as a line."""
    with path.open("a") as file:
        file.write(json.dumps(asdict(outcome)) + "\n")


def read(path: Path) -> list[Outcome]:
    """All that a file has and that the present solvers made."""
    lines = path.read_text().splitlines() if path.exists() else []
    found = (Outcome(**json.loads(line)) for line in lines)
    return [outcome for outcome in found if outcome.stamp == stamp(outcome.rule)]
