"""Plan for two futures at once: a cart that learns only after ten steps which way the wind blows.

The first ten controls must serve both; after the branch each future has its own. A tree of stages says just that.
"""

import numpy as np
from trisweep.riccati import LQProblem, Stage

STEP, SHARED, STEPS, WIND = 0.1, 10, 30, 2.0
A, B = np.array([[1, STEP], [0, 1]]), np.array([[STEP**2 / 2], [STEP]])
Q, R = np.diag([1.0, 0.1]), np.array([[0.1]])


def branch(stages, parent, steps, wind):
    """Append `steps` stages behind `parent`, the last of them at rest at the origin; returns their indices."""
    indices = []
    for k in range(steps):
        last = k == steps - 1 and wind != 0
        stop = {"Gx": np.eye(2), "g": np.zeros(2)} if last else {"R": R}
        stages.append(Stage(Q, [0, 0], **stop, parent=parent, A=A, B=B, b=B[:, 0] * wind))
        parent = len(stages) - 1
        indices.append(parent)
    return indices


stages = [Stage(Q, [0, 0], R=R)]
trunk = [0, *branch(stages, 0, SHARED, 0.0)]
futures = [branch(stages, trunk[-1], STEPS - SHARED, wind) for wind in (WIND, -WIND)]
solution = LQProblem(stages, initial_state=[1.0, 0.0]).solve()

print(solution)
for wind, future in zip((WIND, -WIND), futures):
    path = [solution.x[k][0] for k in trunk + future]
    print(
        f"wind {wind:+.0f} m/s²: position after 0, 1, 2, 3 s:",
        " ".join(f"{path[k]:+.3f}" for k in (0, 10, 20, 30)),
    )
