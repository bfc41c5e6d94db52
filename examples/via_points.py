"""A full cup from one side of a post to the other, past a place above it: upright, in the least time."""

import numpy as np
import trisweep as ts

arm = ts.robot("iiwa14")
scene = ts.Scene().box("table", (0.8, 1.6, 0.05), (0.75, 0, 0.1)).cylinder("post", 0.05, 0.4, (0.6, 0, 0.3))
start = np.array([-0.8, 0.6, 0.0, -1.5, 0.0, 1.0, 0.0])
goal = ts.ToolGoal("iiwa_flange", position=(0.5, 0.4, 0.35), rotation=np.diag([1.0, -1.0, -1.0]))
above = ts.ToolGoal("iiwa_flange", position=(0.6, 0.0, 0.75), tolerance=0.02)
upright = ts.ToolGoal("iiwa_flange", pointing=((0, 0, 1), (0, 0, -1)), angle=0.3)

for mass in (2.0, 10.0):
    cup = ts.Payload("iiwa_flange", mass, centre=(0.0, 0.0, 0.1))
    plan = ts.plan(arm, start, goal, scene, ts.JointLimits(jerk=300.0), via=[above], keep=upright, payload=cup)
    print(plan)
    print(f"{mass} kg: above the post at {plan.motion.via_times[0]:.2f} s of {plan.duration:.2f} s")
