"""A hundred reaches of the iiwa at once: a table, a histogram, and the one that took longest as a picture."""

from pathlib import Path

import numpy as np
import trisweep as ts

task = ts.task("iiwa_reach")
arm = ts.robot("iiwa14")
goals = 0.5 * np.array([arm.random_configuration(seed) for seed in range(100)])

solver = task.build()
solutions = solver.solve_many(task.guess, **{**task.parameters, "goal": goals})  # a row of goals is a problem
print(solutions)

out = Path("out")
solutions.plot(out / "sweep.png")
slowest = int(solutions.iterations.argmax())
solutions[slowest].plot(out / "sweep_slowest.png")
print(f"pictures: {out}/sweep.png, {out}/sweep_slowest.png of problem {slowest}")
