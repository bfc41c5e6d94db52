"""Two hundred reaches of the iiwa on the workers of a Dask cluster, kept in a folder as they come.

    pip install distributed
    python examples/sweep_dask.py                       # two processes of this machine
    python examples/sweep_dask.py tcp://scheduler:8786  # a cluster that is up (docs/many.md)

Kill it at any time and start it again: it goes on where it was.
"""

import sys

import numpy as np
import trisweep as ts
from distributed import Client, LocalCluster


def main() -> None:
    """State, give out, print."""
    address = sys.argv[1] if len(sys.argv) > 1 else LocalCluster(n_workers=2, threads_per_worker=1)
    task, arm = ts.task("iiwa_reach"), ts.robot("iiwa14")
    rng = np.random.default_rng(0)
    goals = 0.5 * np.array([arm.random_configuration(rng) for _ in range(200)])
    with Client(address, direct_to_workers=True) as client:  # False where only the scheduler is in reach
        solutions = ts.solve_many(
            task.build(),
            task.guess,
            executor=client.get_executor(),
            resume="out/sweep_dask",
            **{**task.parameters, "goal": goals},
        )
    print(solutions)
    print(f"all of it: {solutions.save('out/sweep_dask.npz')}")


if __name__ == "__main__":  # workers import this file too
    main()
