"""Simulations of closed loops: how well energy and constraints are kept, and what a step costs.

    python bench/closed_loop_simulations.py [folder]        (default: out)

A passive four-bar linkage falls and turns over for 10 s at 0.1 ms, by every integrator and with several periods of
Baumgarte's stabilisation; bar: its energy within 0.1 %. An Allegro hand, pushed, holds a cube for 5 s at 1 ms by weak
springs in its joints; bar: fingertips within 1e-4 m of their points. A Stewart platform falls for a second at 1 ms, by
every integrator and both ways to take back drift. Writes closed_loop_simulations.md and plots.
"""

import sys
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np
from support.machine import describe
from support.report import Report
from trisweep.dynamics import simulate
from trisweep.problems.mechanisms import Mechanism, four_bar, grasp, stewart_platform
from trisweep.problems.twins.pinocchio_twin import pinocchio_twin

say = Report()


def fall(folder: Path) -> None:
    """The passive four-bar linkage."""
    bars = four_bar()
    say("\n## A passive four-bar linkage, 10 s at 0.1 ms\n")
    say("energy: largest change beside that of the start, and beside the largest kinetic energy; bar 1e-3\n")
    say("| integrator | period s | energy / start | / kinetic | drift m | us a step | bar |")
    say("| --- | ---: | ---: | ---: | ---: | ---: | --- |")
    for integrator in ("rk4", "semi-implicit euler", "euler"):
        for period in (0.1, 0.05, 0.02, 0.01, 0.005):
            held = bars.stabilised(period)
            run = simulate(
                held.model, held.q, None, None, held.constraints, 10.0, 1e-4, integrator, drift="stabilisation"
            )
            kinetic = max(float(held.model.kinetic_energy(q, v)[0]) for q, v in zip(run.q[::50], run.v[::50]))
            change = np.abs(run.energy - run.energy[0]).max()
            shares = change / abs(run.energy[0]), change / kinetic
            met = "met" if max(shares) < 1e-3 else "MISSED"
            say(
                f"| {integrator} | {period} | {shares[0]:.1e} | {shares[1]:.1e} | {run.drift.position.max():.1e} "
                f"| {1e6 * run.seconds / len(run.a):.2f} | {met} |"
            )
            if (integrator, period) == ("rk4", 0.05):
                run.plot(folder / "closed_loop_four_bar.png")
    say("\nplot of the run by rk4, period 0.05 s: closed_loop_four_bar.png")


def hold(folder: Path) -> None:
    """The hand and its cube."""
    hand = grasp()
    model, rest = hand.model, np.zeros(hand.model.nv)
    fingers = model.nv - 6
    t, q, v = ca.SX.sym("t"), ca.SX.sym("q", model.nq), ca.SX.sym("v", model.nv)
    weight = model.inverse_dynamics(hand.q, rest, rest)[:fingers]
    spring = weight - (q[:fingers] - hand.q[:fingers]) - 0.01 * v[:fingers]
    policy = ca.Function("hold", [t, q, v], [ca.vertcat(spring, ca.SX.zeros(6))])
    push = np.random.default_rng(0).standard_normal(model.nv)
    terms = pinocchio_twin(hand).terms(hand.q, push)
    push = push - np.linalg.pinv(terms.J) @ terms.velocity
    say("\n## An Allegro hand holds a cube, 5 s at 1 ms, from a push\n")
    say("| period s | drift m | cube moved m | largest velocity | at the end | us a step | bar 1e-4 m |")
    say("| ---: | ---: | ---: | ---: | ---: | ---: | --- |")
    for period in (0.1, 0.05, 0.02):
        held = hand.stabilised(period)
        run = simulate(model, hand.q, push, policy, held.constraints, 5.0, 1e-3)
        drift, moved = run.drift.position.max(), np.abs(run.q[:, -7:-4] - hand.q[-7:-4]).max()
        say(
            f"| {period} | {drift:.1e} | {moved:.1e} | {np.abs(run.v).max():.1e} | {np.abs(run.v[-1]).max():.0e} "
            f"| {1e6 * run.seconds / len(run.a):.2f} | {'met' if drift < 1e-4 else 'MISSED'} |"
        )
        if period == 0.05:
            run.plot(folder / "closed_loop_hand.png")
    say("\nplot of the run with period 0.05 s: closed_loop_hand.png")


def drop() -> None:
    """The Stewart platform."""
    platform = stewart_platform().stabilised(0.05)
    say("\n## A Stewart platform falls for 1 s, 24 velocities, 18 rows\n")
    say("period of the stabilisation 0.05 s; a step is of 1 ms but where it is cut by a tolerance\n")
    say("| integrator | drift taken back by | energy J | of kinetic J | drift m | us a step |")
    say("| --- | --- | ---: | ---: | ---: | ---: |")
    for integrator in ("semi-implicit euler", "euler", "rk4"):
        for drift in ("stabilisation", "projection"):
            _row(platform, f"{integrator} | {drift}", integrator=integrator, drift=drift)
    _row(platform, "dormand-prince, tolerance 1e-9 | projection", tolerance=1e-9)


def _row(platform: Mechanism, name: str, **options: Any) -> None:
    run = simulate(platform.model, platform.q, None, None, platform.constraints, 1.0, 1e-3, **options)
    kinetic = max(float(platform.model.kinetic_energy(q, v)[0]) for q, v in zip(run.q[::20], run.v[::20]))
    change, pace = np.abs(run.energy - run.energy[0]).max(), 1e6 * run.seconds / len(run.a)
    say(f"| {name} | {change:.1e} | {kinetic:.0f} | {run.drift.position.max():.1e} | {pace:.2f} |")


def main() -> None:
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "out")
    folder.mkdir(parents=True, exist_ok=True)
    say("# Simulations of closed loops\n")
    say("```\n" + describe("casadi", "llvmlite") + "```")
    fall(folder)
    hold(folder)
    drop()
    say.write(folder / "closed_loop_simulations.md")


if __name__ == "__main__":
    main()
