"""A particle is steered to a height and a speed in the least time.

The statement is that of `trisweep.problems.tasks.particle_steering`."""

from trisweep.problems import task

from ..case import Case, Stated


def build() -> Stated:
    made = task("particle_steering", steps=200)
    return Stated(made.problem, made.guess)


CASE = Case(build, source="COPS 3.0 (Dolan, More, Munson 2004), problem 9", optimum=0.554577, tolerance=1e-5)
