"""Moving-horizon estimation: where a pendulum is, how fast, and how much friction it has, from noisy angles.

The same statement as for control, looking back: a measurement a stage, some of them missing (NaN), disturbances as the
controls, an unknown constant as a state that does not change. The window moves on by a step at every measurement.
"""

import numpy as np
import trisweep as ts

STEP, WINDOW, CYCLES = 0.05, 30, 80  # s, steps, -
NOISE, DISTURBANCE, FRICTION = 0.03, 0.2, 0.4  # rad, rad/s^2, 1/s: the last is what nobody knows

ocp = ts.Problem(steps=WINDOW, step=STEP, integrator="rk4")
angle, rate = ocp.state("angle"), ocp.state("rate")
friction = ocp.state("friction", lower=0.0, upper=2.0)
push = ocp.control("push")
measured, there = ocp.parameter("measured", per_stage=True), ocp.parameter("there", per_stage=True)
before, trust = ocp.parameter("before", 3), ocp.parameter("trust", 3)

ocp.derivative(angle=rate, rate=push - 9.81 * ts.sin(angle) - friction * rate, friction=0)
ocp.minimize(there * ((angle - measured) / NOISE) ** 2, at="all", name="measurements")
ocp.minimize((push / DISTURBANCE) ** 2, name="disturbances")
ocp.minimize(ts.sumsqr(trust * (ts.vertcat(angle, rate, friction) - before)), at="start", name="what was known before")
solver = ocp.build()

# The pendulum itself, and what is seen of it: every fifth angle is missing.
random, true = np.random.default_rng(0), np.zeros((WINDOW + CYCLES + 1, 2))
true[0] = 1.5, 0.0
for k in range(len(true) - 1):
    here, kick = true[k].copy(), DISTURBANCE * random.standard_normal()
    for _ in range(50):
        here[1] += STEP / 50 * (kick - 9.81 * np.sin(here[0]) - FRICTION * here[1])
        here[0] += STEP / 50 * here[1]
    true[k + 1] = here
seen = true[:, 0] + NOISE * random.standard_normal(len(true))
seen[::5] = np.nan

estimate, known, sure, errors = None, np.array([seen[1], 0.0, 1.0]), np.array([1.0, 0.5, 0.5]), []
for k in range(CYCLES):
    window = seen[k : k + WINDOW + 1]
    estimate = solver.solve(
        warm_start=estimate and estimate.shifted(),
        guess=None if estimate else {"angle": np.where(np.isnan(window), 0.0, window)[:, None], "friction": 1.0},
        measured=np.nan_to_num(window)[:, None],
        there=np.isfinite(window)[:, None].astype(float),
        before=known,
        trust=sure,
    )
    # What the window leaves behind is known as it was estimated.
    known = np.array([estimate.angle[1, 0], estimate.rate[1, 0], estimate.friction[1, 0]])
    sure = np.array([20.0, 5.0, 10.0])
    errors.append([estimate.angle[-1, 0] - true[k + WINDOW, 0], estimate.rate[-1, 0] - true[k + WINDOW, 1]])

errors = np.sqrt(np.mean(np.square(errors[20:]), axis=0))
print(f"angle within {errors[0]:.3f} rad (measured within {NOISE}), rate within {errors[1]:.3f} rad/s")
print(f"friction {estimate.friction[-1, 0]:.2f} 1/s, really {FRICTION}")
