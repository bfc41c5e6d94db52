"""The Riccati sweep on its own: a puck on a table, pushed through gates and brought to rest.

    python examples/slalom.py            # writes out/slalom.png

Position and velocity in the plane are the state, the acceleration is the control. Each gate is an equality on the
position at one step, the stop is one on position and velocity at the end; the effort in between is least.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from trisweep.riccati import LQProblem, LQSolution, Stage

STEP = 0.05  # s
START = np.array([0.0, 0.0])  # m
FINISH = np.array([6.0, 0.5])
GATES = {15: np.array([1.5, 1.0]), 30: np.array([3.0, -1.0]), 45: np.array([4.5, 1.0])}  # step: position


def slalom(steps: int = 60, velocity_weight: float = 1e-2) -> LQProblem:
    """The task as an LQProblem of `steps` steps of 50 ms, x = (position, velocity), u = acceleration."""
    eye, zero = np.eye(2), np.zeros((2, 2))
    A = np.block([[eye, STEP * eye], [zero, eye]])
    B = np.vstack([0.5 * STEP**2 * eye, STEP * eye])
    Q = np.diag([0.0, 0.0, velocity_weight, velocity_weight])
    stages = []
    for k in range(steps + 1):
        edge = {"parent": k - 1, "A": A, "B": B} if k else {}
        if k == steps:
            stages.append(Stage(Q, np.zeros(4), Gx=np.eye(4), g=-np.concatenate([FINISH, np.zeros(2)]), **edge))
            continue
        gate = {"Gx": np.hstack([eye, zero]), "g": -GATES[k]} if k in GATES else {}
        stages.append(Stage(Q, np.zeros(4), R=eye, **gate, **edge))
    return LQProblem(stages, initial_state=np.concatenate([START, np.zeros(2)]))


def plot(solution: LQSolution, path: Path) -> None:
    """Draw path, speed and acceleration to an image file."""
    from matplotlib.figure import Figure

    x, u = np.array(solution.x), np.array(solution.u[:-1])
    time = STEP * np.arange(len(x))
    figure = Figure(figsize=(10, 6), layout="constrained")
    table, speed, effort = figure.subplot_mosaic([["table", "table"], ["speed", "effort"]]).values()
    table.plot(x[:, 0], x[:, 1], ".-", color="tab:blue", markersize=4, label="path, one dot a step")
    table.plot(
        *np.array(list(GATES.values())).T,
        "d",
        color="tab:red",
        markersize=11,
        fillstyle="none",
        label="gates",
    )
    table.plot(*START, "o", color="black", label="start")
    table.plot(*FINISH, "s", color="black", label="finish, at rest")
    table.set(xlabel="x [m]", ylabel="y [m]", title="A puck through three gates, with least effort", aspect="equal")
    table.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False)
    speed.plot(time, np.hypot(x[:, 2], x[:, 3]))
    speed.set(xlabel="time [s]", ylabel="speed [m/s]")
    effort.step(time[:-1], u, where="post", label=["x", "y"])
    effort.set(xlabel="time [s]", ylabel="acceleration [m/s²]")
    effort.legend()
    for axes in (table, speed, effort):
        axes.grid(alpha=0.3)
    figure.savefig(path, dpi=120)


if __name__ == "__main__":
    answer = slalom().solve()
    print(answer)
    picture = Path("out/slalom.png")
    picture.parent.mkdir(exist_ok=True)
    plot(answer, picture)
    print(f"picture: {picture}")
