"""Goddard's rocket gets as high as it can: `trisweep.problems.tasks.goddard_rocket` has the statement."""

from trisweep.problems import task

from ..case import Case, Stated


def build() -> Stated:
    made = task("goddard_rocket", steps=400)
    return Stated(made.problem, made.guess)


CASE = Case(build, source="COPS 3.0 (Dolan, More, Munson 2004), problem 10", optimum=-1.01283, tolerance=1e-5)
