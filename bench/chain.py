"""A chain of masses on springs, held at one end and steered at the other, of the size of acados' example: 40 steps of
0.2 s, a wall beside it, speeds of the end up to 1 m/s in each direction.

    python bench/chain.py [cycles]

For chains of 3 to 9 masses: a cold solve to 1e-8, then a loop of as many cycles of one step with the exact Hessian,
from a state that a push has disturbed; milliseconds of the core at the median, and how far from rest the loop ends.
"""

import sys

import numpy as np
import trisweep as ts
from support.machine import describe
from trisweep.native import level

CYCLES = int(sys.argv[1]) if len(sys.argv) > 1 else 100
STEP, MASS, SPRING, LENGTH, GRAVITY = 0.2, 0.033, 1.0, 0.033, 9.81
WALL, ENDS = -0.05, np.array([1.0, 0.0, 0.0])


def forces(points, between: int):
    """On the masses between two ends (3 a mass), divided by their mass; points: of all, the held one first."""
    pulls = []
    for i in range(between + 1):
        along = points[3 * i + 3 : 3 * i + 6] - points[3 * i : 3 * i + 3]
        pulls.append(SPRING / MASS * (1 - LENGTH / ts.sqrt(ts.sumsqr(along))) * along)
    return ts.vertcat(*(pulls[i + 1] - pulls[i] - ts.vertcat(0, 0, GRAVITY) for i in range(between)))


def chain(masses: int):
    between = masses - 2
    ocp = ts.Problem(steps=40, step=STEP, integrator="rk4")
    wall = np.tile([-np.inf, WALL, -np.inf], masses - 1)
    place = ocp.state("place", 3 * (masses - 1), lower=wall)
    rate = ocp.state("rate", 3 * between)
    speed = ocp.control("speed", 3, lower=-1.0, upper=1.0)
    rest = ocp.parameter("rest", 3 * (masses - 1))
    ocp.derivative(place=ts.vertcat(rate, speed), rate=forces(ts.vertcat(0, 0, 0, place), between))
    end = place[-3:] - rest[-3:]
    ocp.minimize(25 * ts.sumsqr(end) + ts.sumsqr(rate) + 0.01 * ts.sumsqr(speed))
    ocp.minimize(10 * ts.sumsqr(place - rest) + 10 * ts.sumsqr(rate), at="end")
    ocp.start("place", "rate")
    return ocp.build()


def at_rest(masses: int) -> np.ndarray:
    """Where the chain hangs with its end held: the least energy of springs and weights."""
    between = masses - 2
    still = ts.Problem(steps=1, step=1.0)
    still.state("nothing")
    place = still.control("place", 3 * between)
    still.next(nothing=0)
    points = ts.vertcat(0, 0, 0, place, *ENDS)
    stretch = [ts.sqrt(ts.sumsqr(points[3 * i + 3 : 3 * i + 6] - points[3 * i : 3 * i + 3])) - LENGTH
               for i in range(between + 1)]  # fmt: skip
    weight = sum(MASS * GRAVITY * place[3 * i + 2] for i in range(between))
    still.minimize(0.5 * SPRING * sum(s**2 for s in stretch) + weight, at="steps")
    line = np.linspace(0, 1, masses)[1:-1, None] * ENDS + [0, 0, -0.3]
    found = still.build().solve(guess={"place": line.reshape(1, -1)})
    assert found.solved
    return np.concatenate([found.place[0], ENDS])


def main() -> None:
    print(describe("casadi", "llvmlite"))
    print(f"instruction set: {level}; {CYCLES} cycles\n")
    print("masses  states  cold, ms  iterations  cycle, ms  feedback  from rest")
    for masses in range(3, 10):
        solver, rest = chain(masses), at_rest(masses)
        state = {"place": rest.copy(), "rate": np.zeros(3 * (masses - 2))}
        pushed = {"place": state["place"], "rate": np.tile([-0.4, 0.3, 0.2], masses - 2)}
        cold = min(
            (solver.solve(start=pushed, guess=state, rest=rest) for _ in range(5)), key=lambda s: s.statistics.seconds
        )
        assert cold.solved, cold
        controller, here = solver.controller(guess=state), pushed
        for _ in range(CYCLES):
            controller.step(here, rest=rest)
            plan = controller.plan
            here = {"place": plan.place[1], "rate": plan.rate[1]}
        history = controller.history.since(1)
        away = np.abs(np.concatenate([here["place"] - rest, here["rate"]])).max()
        sizes = f"{masses:6}{6 * masses - 9:8}{1e3 * cold.statistics.seconds:10.2f}{cold.statistics.iterations:12}"
        cycle, feedback = 1e3 * np.median(history.prepare + history.feedback), 1e3 * np.median(history.feedback)
        print(f"{sizes}{cycle:11.3f}{feedback:10.4f}{away:11.1e}")


if __name__ == "__main__":
    main()
