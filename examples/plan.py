"""An arm moves its tool around a post over a table, in the least time that its limits allow."""

import numpy as np
import trisweep as ts

arm = ts.robot("iiwa14")
scene = ts.Scene().box("table", (0.8, 1.6, 0.05), (0.75, 0, 0.1)).cylinder("post", 0.05, 0.8, (0.6, 0, 0.5))
start = np.array([-0.8, 0.6, 0.0, -1.5, 0.0, 0.9, 0.0])
goal = ts.ToolGoal("iiwa_flange", position=(0.5, 0.4, 0.35), rotation=np.diag([1.0, -1.0, -1.0]))

plan = ts.plan(arm, start, goal, scene)
print(plan)

scene.move("post", (0.55, 0.1, 0.5)).sphere("ball", 0.1, (0.4, -0.2, 0.9))
print(ts.plan(arm, start, goal, scene))
