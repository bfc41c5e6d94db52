"""An arm whose tip is held: accelerations, the force that holds it, every method, and a thousand states at once.

python examples/constrained_dynamics.py
"""

import numpy as np
import trisweep as ts

arm = ts.robot("iiwa14")
q, v, tau = arm.random_configuration(1), np.zeros(arm.nv), np.zeros(arm.nv)
tip = ts.weld("iiwa_flange", target=arm.link_pose(q, "iiwa_flange"))

print(f"{arm}, let go at rest")
print("  free:", np.round(arm.forward_dynamics(q, v, tau), 3), "rad/s^2")

a, (force,) = arm.forward_dynamics(q, v, tau, constraints=[tip])
print("  held:", np.round(a, 3), "rad/s^2")
print("  moment and force that hold the flange:", np.round(force, 3), "N m, N")

print("\nby default:", ": ".join(arm.choose_method([tip])))
for method in ("pv", "pv-early", "ltl", "riccati", "pv-soft", "ltl-soft"):
    other, _ = arm.forward_dynamics(q, v, tau, [tip], method)
    print(f"  {method:9} differs by {np.abs(other - a).max():.1e} rad/s^2")

states = np.array([arm.random_configuration(seed) for seed in range(1000)])
accelerations, (forces,) = arm.compiled.forward_dynamics(states, v, tau, [ts.weld("iiwa_flange")])
print(f"\n1000 states as machine code: accelerations {accelerations.shape}, forces {forces.shape}")
