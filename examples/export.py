"""A controller to take to the robot: a folder of C++ with a C interface, without Python.

python examples/export.py [folder]
"""

import shutil
import subprocess
import sys
from pathlib import Path

import trisweep as ts

ocp = ts.Problem(steps=20, step=[0.02] * 10 + [0.08] * 10, integrator="rk4")
angle, rate = ocp.state("angle"), ocp.state("rate", lower=-8, upper=8)
torque, goal = ocp.control("torque", lower=-5, upper=5), ocp.parameter("goal")
friction = ts.table([-8, -2, 0, 2, 8], [-0.9, -0.4, 0, 0.4, 0.9], "cubic")  # measured
ocp.derivative(angle=rate, rate=torque - 9.81 * ts.sin(angle) - friction(rate))
ocp.minimize((angle - goal) ** 2 + 0.01 * rate**2 + 0.001 * torque**2)
ocp.start("angle", "rate")

controller = ocp.build().controller(seconds=0.001, iterations=3)
print(controller.step({"angle": 0.1, "rate": 0.0}, goal=0.5))

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "out/pendulum")
shutil.rmtree(folder, ignore_errors=True)
controller.export(folder)
print(f"written: {folder}")

if shutil.which("cmake") and "--build" in sys.argv:
    subprocess.run(["cmake", "-B", folder / "build", folder], check=True)
    subprocess.run(["cmake", "--build", folder / "build"], check=True)
    subprocess.run([folder / "build" / "pendulum_example"], check=True)
