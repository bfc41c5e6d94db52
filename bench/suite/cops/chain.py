"""The shape of a chain that hangs between two points: `trisweep.problems.tasks.hanging_chain` has the statement."""

from trisweep.problems import task

from ..case import Case, Stated


def build() -> Stated:
    made = task("hanging_chain", steps=200)
    return Stated(made.problem, made.guess)


CASE = Case(build, source="COPS 3.0 (Dolan, More, Munson 2004), problem 4", optimum=5.06891, tolerance=1e-5)
