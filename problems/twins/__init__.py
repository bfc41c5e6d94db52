"""The same robot or program in other people's software: oracles of the tests, rivals of the benches, and yours to
check a model with.

`pinocchio_twin` needs the package `pin`; `ipopt` is inside casadi. Nothing imports this folder but who asks for it.
"""
