"""The car of `car_exact_penalty` with a price of 1000 times the squared slacks."""

from casadi import sumsqr

from ..case import Case, Stated
from .car_exact_penalty import instance, state


def build() -> Stated:
    return Stated(state(lambda cut: 1000 * sumsqr(cut)), *instance(0))


CASE = Case(build, source="InteriorPointDDP.jl (Xu et al. 2025), concar_quad", instances=100, instance=instance)
